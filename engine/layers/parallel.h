// SPDX-License-Identifier: Apache-2.0
// Work over the program's threads: rows or outputs are split into pieces, never a sum, and the split is fixed by shapes
// and the number of tasks alone. Tasks take pieces one by one, so that one on a slow core takes fewer and holds up the
// others for a piece at most. Results depend neither on the number of tasks nor on who runs them when.
#pragma once

#include <atomic>

#include "base/arithmetic.h"
#include "base/build_options.h"
#include "layers/runtime.h"

namespace goldcrest {

// Multiply-accumulates that are worth a task of their own: some 5 us of one core, where waking the others and waiting
// for them costs 1 to 2.
constexpr uint64_t kMacsPerTask = uint64_t{1} << 18;

// And those that are worth a piece of their own, where a task has several: taking one costs some 0.05 us.
constexpr uint64_t kMacsPerPiece = kMacsPerTask / 2;

// Pieces that a task has on equal cores, at most: the others then wait for a core that is a quarter as fast for half of
// their own time at most, where with one piece a task they wait for three times as long.
constexpr uint32_t kPiecesPerTask = kHasUnequalCores ? 8 : 1;

// Rows for each task from which whole layers are split by rows: every task then reads all weights, but waits for the
// others once a layer. With fewer rows each linear layer is split by outputs, so that weights are read once.
constexpr uint32_t kRowsPerTask = 8;

// Rows of a piece where a task has several: with fewer, reading the weights for each piece costs more than equal cores
// can win.
constexpr uint32_t kRowsPerPiece = 16;

// Items [first, first + count) of something.
struct Range {
  uint32_t first, count;
};

// The items that are in both; count 0: none.
inline Range common(Range a, Range b) {
  const uint32_t first = larger(a.first, b.first), end = smaller(a.first + a.count, b.first + b.count);
  return {first, end > first ? end - first : 0};
}

// Pieces of some work, and the tasks that take them: at most as many.
struct Split {
  uint32_t n_pieces, n_tasks;

  // Piece i's items of n, in order and as even as can be.
  Range part_of(uint32_t n, uint32_t i) const {
    const uint32_t each = n / n_pieces, larger = n % n_pieces;  // the first `larger` pieces have one item more
    return {i * each + (i < larger ? i : larger), each + (i < larger ? 1 : 0)};
  }
};

// `rows` rows when they are to be split by rows; one piece when they are too few.
inline Split split_rows(const Runtime& runtime, uint32_t rows) {
  const uint32_t n_tasks = runtime.threads;
  if (n_tasks == 1 || rows / kRowsPerTask < n_tasks) return {1, 1};
  return {larger(n_tasks, smaller(rows / kRowsPerPiece, n_tasks * kPiecesPerTask)), n_tasks};
}

// Multiply-accumulates of a linear layer with k inputs and n outputs. Fewer than 4 rows take as long as 4: reading the
// weights bounds them.
inline uint64_t linear_macs(uint32_t rows, uint32_t n, uint32_t k) { return uint64_t{rows < 4 ? 4 : rows} * n * k; }

// At most `most` parts of so much work.
inline uint32_t count_parts(uint64_t macs, uint64_t macs_each, uint32_t most) {
  const uint64_t worth = macs / macs_each;
  return worth >= most ? most : worth > 1 ? static_cast<uint32_t>(worth) : 1;
}

// n items of work, for at most so many tasks.
inline Split split_work(uint64_t macs, uint32_t n, uint32_t most_tasks) {
  const uint32_t n_tasks = count_parts(macs, kMacsPerTask, smaller(n, most_tasks));
  if (!kHasUnequalCores || n_tasks == 1) return {n_tasks, n_tasks};
  return {count_parts(macs, kMacsPerPiece, smaller(n, n_tasks * kPiecesPerTask)), n_tasks};
}

// task(i, i) for every i in [0, n_tasks); returns when all are done.
template <typename Task>
void run_tasks(const Runtime& runtime, uint32_t n_tasks, const Task& task) {
  if (n_tasks == 1 || runtime.parallel_for == nullptr) {
    for (uint32_t i = 0; i < n_tasks; ++i) task(i, i);
    return;
  }
  const auto call = [](void* context, size_t i) {
    (*static_cast<const Task*>(context))(static_cast<uint32_t>(i), static_cast<uint32_t>(i));
  };
  runtime.parallel_for(runtime.parallel_context, call, const_cast<Task*>(&task), n_tasks);
}

// work(piece, task) for every piece, in ascending order within a task; returns when all are done. Work must not call
// this again.
template <typename Work>
void run_pieces(const Runtime& runtime, Split split, const Work& work) {
  if constexpr (kHasUnequalCores) {
    std::atomic<uint32_t> n_taken = 0;
    run_tasks(runtime, split.n_tasks, [&](uint32_t task, uint32_t) {
      for (uint32_t i = 0; (i = n_taken.fetch_add(1, std::memory_order_relaxed)) < split.n_pieces;) work(i, task);
    });
  } else {
    run_tasks(runtime, split.n_tasks, work);  // each its own
  }
}

}  // namespace goldcrest
