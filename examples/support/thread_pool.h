// SPDX-License-Identifier: Apache-2.0
// The threads that a program lends to its engine. A caller waits only for tasks that another thread has begun: one that
// the system does not run in time costs nothing, since its tasks are done by the others. (Pools in which every thread
// reports to every region, as in pthreadpool and OpenMP, fall far behind a single thread on a busy machine: the regions
// here last microseconds.)
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

  // Once: n_threads of them, the caller's among them; 0: one for each CPU that the process may use, at most 64. Returns
  // an empty string, or why it failed.
  std::string start(uint32_t n_threads);

  // For goldcrest_limits.threads, goldcrest_config.parallel_for and parallel_context. One caller at a time. An engine
  // must not run after its pool is gone.
  uint32_t threads() const { return n_threads_; }
  goldcrest_parallel_for parallel_for() const;
  void* context() const;

 private:
  class Workers;

  uint32_t n_threads_ = 1;
  std::unique_ptr<Workers> workers_;
};
