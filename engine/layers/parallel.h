// SPDX-License-Identifier: Apache-2.0
// Work over the program's threads: rows or outputs are split, never a sum, and the split is fixed by shapes alone. So
// results depend neither on the number of tasks nor on who runs them when.
#pragma once

#include "base/arithmetic.h"
#include "layers/runtime.h"

namespace goldcrest {

// Multiply-accumulates that are worth a task of their own: some 5 us of one core, where waking the others and waiting
// for them costs 1 to 2.
constexpr uint64_t kMacsPerTask = uint64_t{1} << 18;

// Rows for each task from which whole layers are split by rows: every task then reads all weights, but waits for the
// others once a layer. With fewer rows each linear layer is split by outputs, so that weights are read once.
constexpr uint32_t kRowsPerTask = 8;

// Items [first, first + count) of something.
struct Range {
  uint32_t first, count;
};

// The items that are in both; count 0: none.
inline Range common(Range a, Range b) {
  const uint32_t first = larger(a.first, b.first), end = smaller(a.first + a.count, b.first + b.count);
  return {first, end > first ? end - first : 0};
}

// Task i's items of n, in order and as even as can be.
inline Range part_of(uint32_t n, uint32_t i, uint32_t n_tasks) {
  const uint32_t each = n / n_tasks, larger = n % n_tasks;  // the first `larger` tasks have one item more
  return {i * each + (i < larger ? i : larger), each + (i < larger ? 1 : 0)};
}

// Tasks for `rows` rows when they are to be split by rows; 1 when they are too few.
inline uint32_t count_row_tasks(const Runtime& runtime, uint32_t rows) {
  return rows / kRowsPerTask >= runtime.threads ? runtime.threads : 1;
}

// Multiply-accumulates of a linear layer with k inputs and n outputs. Fewer than 4 rows take as long as 4: reading the
// weights bounds them.
inline uint64_t linear_macs(uint32_t rows, uint32_t n, uint32_t k) { return uint64_t{rows < 4 ? 4 : rows} * n * k; }

// At most `most` tasks for so much work.
inline uint32_t count_tasks(uint64_t macs, uint32_t most) {
  const uint64_t worth = macs / kMacsPerTask;
  return worth >= most ? most : worth > 1 ? static_cast<uint32_t>(worth) : 1;
}

// task(i) for every i in [0, n_tasks); returns when all are done. Tasks must not call this again.
template <typename Task>
void run_tasks(const Runtime& runtime, uint32_t n_tasks, const Task& task) {
  if (n_tasks == 1 || runtime.parallel_for == nullptr) {
    for (uint32_t i = 0; i < n_tasks; ++i) task(i);
    return;
  }
  const auto call = [](void* context, size_t i) { (*static_cast<const Task*>(context))(static_cast<uint32_t>(i)); };
  runtime.parallel_for(runtime.parallel_context, call, const_cast<Task*>(&task), n_tasks);
}

}  // namespace goldcrest
