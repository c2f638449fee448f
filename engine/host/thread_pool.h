// SPDX-License-Identifier: Apache-2.0
// The threads that a program lends to its engine. A caller waits only for tasks that another thread has begun. A thread
// that the system does not run in time costs nothing, because the others do its tasks. (In pthreadpool and OpenMP every
// thread reports to every region. The regions here last microseconds, so on a busy machine such a pool is far slower
// than a single thread.)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include "goldcrest/goldcrest.h"

class ThreadPool {
 public:
  ThreadPool();
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Starts n_threads threads, including the caller's; 0: one for each CPU that the process may use, at most 64. Call it
  // once. Returns an empty string, or the reason of the failure.
  std::string start(uint32_t n_threads);

  // Values for goldcrest_limits.threads, goldcrest_config.parallel_for and parallel_context. Only one caller at a time
  // may use the pool. An engine must not run after its pool is gone.
  uint32_t threads() const { return n_threads_; }
  goldcrest_parallel_for parallel_for() const;
  void* context() const;
 private:
  class Workers;

  uint32_t n_threads_ = 1;
  std::unique_ptr<Workers> workers_;
};
