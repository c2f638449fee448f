// SPDX-License-Identifier: Apache-2.0
// Splits work over the program's threads: rows or outputs into pieces, but never a sum. Only shapes and the number of
// tasks decide the split. Tasks take pieces one by one: a task on a slow core takes fewer, and delays the others by at
// most one piece. Results depend neither on the number of tasks nor on the order in which threads run them.
#pragma once

#include "base/arithmetic.h"
#include "base/build_options.h"
#include "layers/runtime.h"

namespace goldcrest {
// The multiply-accumulates that are worth a task of their own. They take one core some 5 us; waking the other cores and
// waiting for them costs 1 to 2 us.
constexpr uint64_t kMacsPerTask = uint64_t{1} << 18;

// The multiply-accumulates that are worth a piece of their own if a task has several. Taking a piece costs some 0.05
// us.
constexpr uint64_t kMacsPerPiece = kMacsPerTask / 2;

// The most pieces of a task on equal cores. Suppose that one core has a quarter of the others' speed. With 8
// pieces the others wait for it for at most half of their own time; with one piece, for three times their own time.
constexpr uint32_t kPiecesPerTask = kHasSystem ? 8 : 1;

// With at least this many rows for each task, whole layers are split by rows. Every task then reads all weights, but
// waits for the others only once a layer. With fewer rows each linear layer is split by outputs, so that weights are
// read once.
constexpr uint32_t kRowsPerTask = 8;

// The fewest rows of a piece if a task has several. With fewer, reading the weights again for each piece costs more
// than evenly loaded cores gain.
constexpr uint32_t kRowsPerPiece = 16;

// Items [first, first + count) of something.
struct Range {
  uint32_t first, count;
};

// Returns the items that are in both; count 0 if none is.
inline Range common(Range a, Range b) {
  const uint32_t first = larger(a.first, b.first), end = smaller(a.first + a.count, b.first + b.count);
  return {first, end > first ? end - first : 0};
}

// The pieces of some work, and the tasks that take them: at most as many tasks as pieces.
struct Split {
  uint32_t n_pieces, n_tasks;

  // Returns piece i's items of n, in order; pieces differ by at most one item.
  Range part_of(uint32_t n, uint32_t i) const {
    const uint32_t each = n / n_pieces, larger = n % n_pieces;  // the first `larger` pieces get an item more
    return {i * each + (i < larger ? i : larger), each + (i < larger ? 1 : 0)};
  }
};

// Splits `rows` rows over all tasks; returns one piece if they are too few.
inline Split split_rows(const Runtime& runtime, uint32_t rows) {
  const uint32_t n_tasks = runtime.threads;
  if (n_tasks == 1 || rows / kRowsPerTask < n_tasks) return {1, 1};
  return {larger(n_tasks, smaller(rows / kRowsPerPiece, n_tasks * kPiecesPerTask)), n_tasks};
}

// Returns the multiply-accumulates of a linear layer with k inputs and n outputs. Fewer than 4 rows count as 4, because
// they take as long: reading the weights bounds them.
inline uint64_t linear_macs(uint32_t rows, uint32_t n, uint32_t k) { return uint64_t{rows < 4 ? 4 : rows} * n * k; }

// Returns the number of parts with at least macs_each for this work, from 1 to `most`.
inline uint32_t count_parts(uint64_t macs, uint64_t macs_each, uint32_t most) {
  const uint64_t worth = macs / macs_each;
  return worth >= most ? most : worth > 1 ? static_cast<uint32_t>(worth) : 1;
}

// Splits n items of work over at most `most_tasks` tasks.
inline Split split_work(uint64_t macs, uint32_t n, uint32_t most_tasks) {
  const uint32_t n_tasks = count_parts(macs, kMacsPerTask, smaller(n, most_tasks));
  if (!kHasSystem || n_tasks == 1) return {n_tasks, n_tasks};
  return {count_parts(macs, kMacsPerPiece, smaller(n, n_tasks * kPiecesPerTask)), n_tasks};
}

// Calls task(i, i) for every i in [0, n_tasks); returns when all are done.
template <typename Task> void run_tasks(const Runtime& runtime, uint32_t n_tasks, const Task& task) {
  if (n_tasks == 1 || runtime.parallel_for == nullptr) {
    for (uint32_t i = 0; i < n_tasks; ++i) task(i, i);
    return;
  }
  const auto call = [](void* context, size_t i) {
    (*static_cast<const Task*>(context))(static_cast<uint32_t>(i), static_cast<uint32_t>(i));
  };
  runtime.parallel_for(runtime.parallel_context, call, const_cast<Task*>(&task), n_tasks);
}

// Calls work(piece, task) for every piece, in ascending order within a task; returns when all are done. `work` must not
// call run_pieces.
template <typename Work> void run_pieces(const Runtime& runtime, Split split, const Work& work) {
  if constexpr (kHasSystem) {
    uint32_t n_taken = 0;  // by all tasks, atomically
    run_tasks(runtime, split.n_tasks, [&](uint32_t task, uint32_t) {
      for (uint32_t i = 0; (i = __atomic_fetch_add(&n_taken, 1, __ATOMIC_RELAXED)) < split.n_pieces;) work(i, task);
    });
  } else {
    run_tasks(runtime, split.n_tasks, work);  // one piece for each task
  }
}
}  // namespace goldcrest
