// SPDX-License-Identifier: Apache-2.0
// Work in pieces: each runs once, on any task, and fast tasks run most of them.
#include "layers/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace goldcrest {
namespace {

// The simplest pool: task i runs on a thread of its own.
void run_on_threads(void*, void (*task)(void*, size_t), void* task_context, size_t n) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < n; ++i) threads.emplace_back(task, task_context, i);
  for (std::thread& thread : threads) thread.join();
}

Runtime runtime_of(uint32_t threads, goldcrest_parallel_for parallel_for) {
  Runtime runtime = {};
  runtime.threads = threads;
  runtime.parallel_for = parallel_for;
  return runtime;
}

TEST(Split, FollowsFromTheWorkAndTheTasksAlone) {
  const Split one = split_work(kMacsPerTask, 100, 4), most = split_work(1000 * kMacsPerTask, 100, 4);
  EXPECT_EQ(one.n_tasks, 1u);
  EXPECT_EQ(one.n_pieces, 1u);
  EXPECT_EQ(most.n_tasks, 4u);
  EXPECT_EQ(most.n_pieces, 4 * kPiecesPerTask);
  const Split small = split_work(3 * kMacsPerTask, 100, 4), few = split_work(1000 * kMacsPerTask, 5, 4);
  EXPECT_EQ(small.n_tasks, 3u);
  EXPECT_EQ(small.n_pieces, 6u) << "each piece is worth a task";
  EXPECT_EQ(few.n_tasks, 4u);
  EXPECT_EQ(few.n_pieces, 5u);
}

TEST(Split, OfRowsHasPiecesThatAreWorthReadingTheWeightsFor) {
  const auto pieces = [](uint32_t threads, uint32_t rows) {
    const Split split = split_rows(runtime_of(threads, nullptr), rows);
    EXPECT_EQ(split.n_tasks, split.n_pieces == 1 ? 1u : threads);
    return split.n_pieces;
  };
  EXPECT_EQ(pieces(1, 1000), 1u);
  EXPECT_EQ(pieces(4, 31), 1u) << "too few to split";
  EXPECT_EQ(pieces(4, 32), 4u);
  EXPECT_EQ(pieces(4, 64), 4u);
  EXPECT_EQ(pieces(4, 128), 8u);
  EXPECT_EQ(pieces(4, 10000), 4 * kPiecesPerTask);
}

TEST(Split, PartsAreAllItemsInOrder) {
  for (const uint32_t n : {0u, 1u, 7u, 100u}) {
    for (const uint32_t n_pieces : {1u, 3u, 8u, 24u}) {
      uint32_t next = 0;
      for (uint32_t i = 0; i < n_pieces; ++i) {
        const Range part = Split{n_pieces, 1}.part_of(n, i);
        EXPECT_EQ(part.first, next);
        EXPECT_LE(part.count, n / n_pieces + 1);
        next += part.count;
      }
      EXPECT_EQ(next, n);
    }
  }
}

TEST(RunPieces, EveryPieceOnceAndInOrderWithinATask) {
  for (const goldcrest_parallel_for pool : {goldcrest_parallel_for{nullptr}, goldcrest_parallel_for{run_on_threads}}) {
    std::vector<uint32_t> runs(50);  // plain memory, so that a sanitizer sees a missing order
    std::vector<std::vector<uint32_t>> of_task(3);
    run_pieces(runtime_of(3, pool), {50, 3}, [&](uint32_t piece, uint32_t task) {
      ++runs[piece];
      of_task[task].push_back(piece);
    });
    EXPECT_EQ(runs, std::vector<uint32_t>(50, 1));
    for (const std::vector<uint32_t>& pieces : of_task) EXPECT_TRUE(std::is_sorted(pieces.begin(), pieces.end()));
  }
}

// One core is so slow that the others do all other pieces while it does one. They do not wait for its share.
TEST(RunPieces, TheOthersTakeOverFromASlowTask) {
  constexpr uint32_t kPieces = 32, kTasks = 4;
  std::atomic<uint32_t> n_done = 0, done_of[kTasks] = {};
  run_pieces(runtime_of(kTasks, run_on_threads), {kPieces, kTasks}, [&](uint32_t, uint32_t task) {
    while (task == 0 && n_done < kPieces - 1) std::this_thread::yield();
    ++done_of[task];
    ++n_done;
  });
  EXPECT_EQ(n_done, kPieces);
  EXPECT_LE(done_of[0], 1u);
}

}  // namespace
}  // namespace goldcrest
