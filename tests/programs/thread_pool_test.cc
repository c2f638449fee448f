// SPDX-License-Identifier: Apache-2.0
// The programs' thread pool runs every task once. At the end all are done and visible, on any thread.
#include "examples/support/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

namespace goldcrest::test {
namespace {

// One entry for each task; plain memory, so that a sanitizer sees a missing order.
struct Counts {
  std::vector<size_t> values;
  static void add(void* counts, size_t i) { static_cast<Counts*>(counts)->values[i] += i + 1; }
};

TEST(ThreadPoolTest, EveryTaskRunsOnce) {
  for (const uint32_t threads : {2u, 3u, 5u, 64u}) {
    ThreadPool pool;
    ASSERT_EQ(pool.start(threads), "");
    EXPECT_EQ(pool.threads(), threads);
    Counts counts;
    for (size_t n = 0; n <= 64; ++n) {
      for (int again = 1; again <= 20; ++again) {
        if (again == 1) counts.values.assign(n, 0);
        pool.parallel_for()(pool.context(), Counts::add, &counts, n);
        for (size_t i = 0; i < n; ++i) {
          ASSERT_EQ(counts.values[i], (i + 1) * static_cast<size_t>(again)) << n << " tasks, " << threads << " threads";
        }
      }
    }
  }
}

TEST(ThreadPoolTest, SleepingThreadsWakeUp) {
  ThreadPool pool;
  ASSERT_EQ(pool.start(4), "");
  Counts counts = {std::vector<size_t>(8)};
  for (size_t again = 1; again <= 5; ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // longer than idle threads look for work
    pool.parallel_for()(pool.context(), Counts::add, &counts, counts.values.size());
    for (size_t i = 0; i < counts.values.size(); ++i) EXPECT_EQ(counts.values[i], (i + 1) * again);
  }
}

// While its tasks take time, more than one thread runs them.
TEST(ThreadPoolTest, ThreadsShareTheTasks) {
  ThreadPool pool;
  ASSERT_EQ(pool.start(4), "");
  std::vector<std::thread::id> runners(16);
  const auto work = [](void* context, size_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    (*static_cast<std::vector<std::thread::id>*>(context))[i] = std::this_thread::get_id();
  };
  pool.parallel_for()(pool.context(), work, &runners, runners.size());
  const std::set<std::thread::id> different(runners.begin(), runners.end());
  EXPECT_GT(different.size(), 1u);
  EXPECT_LE(different.size(), 4u);
  EXPECT_EQ(different.count(std::thread::id()), 0u) << "a task did not run";
}

TEST(ThreadPoolTest, CountsOfThreads) {
  ThreadPool one, all, none, many;
  EXPECT_EQ(one.start(1), "");
  EXPECT_EQ(one.threads(), 1u);
  EXPECT_EQ(one.parallel_for(), nullptr);
  EXPECT_EQ(all.start(0), "");
  EXPECT_EQ(all.threads(), std::min(64u, std::max(1u, std::thread::hardware_concurrency())));
  EXPECT_EQ(none.threads(), 1u) << "not started";
  EXPECT_NE(many.start(65), "");
}

}  // namespace
}  // namespace goldcrest::test
