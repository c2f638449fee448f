// SPDX-License-Identifier: Apache-2.0
#include "host/thread_pool.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace {
constexpr uint32_t kMaxThreads = 64;  // as many as goldcrest_limits allows
constexpr int kYields = 50;           // a worker yields this often before it goes to sleep
// The time for which a thread polls a shared value before it gives way: longer than an engine works on one thread
// between two regions.
constexpr std::chrono::microseconds kLooking(100);

using Task = void (*)(void* task_context, size_t i);

// Leaves more of the core to its other hardware thread.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  asm volatile("yield");
#endif
}

// Returns whether is_there() becomes true within kLooking.
template <typename IsThere> bool look_for(IsThere is_there) {
  constexpr int kLooks = 32;  // polls between two readings of the clock
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < kLooks; ++i) {
      if (is_there()) return true;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() - start < kLooking);
  return false;
}
}  // namespace

class ThreadPool::Workers {
 public:
  ~Workers();
  void start(uint32_t n);  // throws std::system_error
  void run(Task task, void* task_context, size_t n);
 private:
  // state_: the number of the job (upper half), its number of tasks, the number of claimed tasks (the lowest 16 bits).
  static constexpr uint64_t kNextJob = uint64_t{1} << 32;
  static uint32_t task_count(uint64_t state) { return static_cast<uint32_t>(state >> 16) & 0xffff; }
  static uint32_t claimed(uint64_t state) { return static_cast<uint32_t>(state) & 0xffff; }

  void work();
  void serve();
  bool wait_for_job(uint64_t last);

  std::atomic<uint64_t> state_ = 0;
  std::atomic<Task> task_ = nullptr;
  std::atomic<void*> task_context_ = nullptr;
  std::atomic<size_t> n_finished_ = 0;
  std::atomic<uint32_t> n_asleep_ = 0;
  bool stopping_ = false;  // under mutex_
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
};

ThreadPool::Workers::~Workers() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::Workers::start(uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) threads_.emplace_back([this] { serve(); });
}

void ThreadPool::Workers::run(Task task, void* task_context, size_t n) {
  // All tasks of the last job are finished, and no claim can succeed until state_ names the new job.
  task_.store(task, std::memory_order_relaxed);
  task_context_.store(task_context, std::memory_order_relaxed);
  n_finished_.store(0, std::memory_order_relaxed);
  const uint64_t job = (state_.load(std::memory_order_relaxed) / kNextJob + 1) * kNextJob;
  state_.store(job | uint64_t{n} << 16);
  if (n_asleep_ > 0) {
    { const std::lock_guard<std::mutex> lock(mutex_); }  // no worker is between its last look at state_ and its sleep
    wake_.notify_all();
  }
  work();
  const auto is_done = [&] { return n_finished_.load(std::memory_order_acquire) >= n; };
  if (!look_for(is_done))
    while (!is_done()) std::this_thread::yield();
}

// Claims and does tasks of the current job until all are claimed.
void ThreadPool::Workers::work() {
  uint64_t state = state_.load(std::memory_order_acquire);
  while (claimed(state) < task_count(state)) {
    const Task task = task_.load(std::memory_order_relaxed);
    void* const task_context = task_context_.load(std::memory_order_relaxed);
    // Succeeds only while this job has an unclaimed task. Then the values read above belong to this job.
    if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    task(task_context, claimed(state));
    n_finished_.fetch_add(1, std::memory_order_release);
    state = state_.load(std::memory_order_acquire);
  }
}

// The main function of a worker.
void ThreadPool::Workers::serve() {
  uint64_t last = 0;
  while (wait_for_job(last)) {
    last = state_.load(std::memory_order_relaxed) / kNextJob;
    work();
  }
}

// Waits for a job other than `last`. Returns false if the pool ends.
bool ThreadPool::Workers::wait_for_job(uint64_t last) {
  const auto is_there = [&] { return state_.load(std::memory_order_relaxed) / kNextJob != last; };
  if (look_for(is_there)) return true;
  for (int yields = 0; yields < kYields; ++yields) {
    std::this_thread::yield();
    if (is_there()) return true;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  ++n_asleep_;
  wake_.wait(lock, [&] { return stopping_ || state_ / kNextJob != last; });
  --n_asleep_;
  return !stopping_;
}

ThreadPool::ThreadPool() = default;
ThreadPool::~ThreadPool() = default;

std::string ThreadPool::start(uint32_t n_threads) {
  if (n_threads == 0) n_threads = std::clamp(std::thread::hardware_concurrency(), 1u, kMaxThreads);
  if (n_threads > kMaxThreads) return "threads: " + std::to_string(n_threads) + ", where at most 64 are possible";
  if (n_threads == 1) return "";
  auto workers = std::make_unique<Workers>();
  try {
    workers->start(n_threads - 1);
  } catch (const std::system_error& error) {
    return "threads: " + std::to_string(n_threads) + " could not be started: " + error.what();
  }
  workers_ = std::move(workers);
  n_threads_ = n_threads;
  return "";
}

goldcrest_parallel_for ThreadPool::parallel_for() const {
  if (workers_ == nullptr) return nullptr;
  return [](void* context, Task task, void* task_context, size_t n) {
    static_cast<Workers*>(context)->run(task, task_context, n);
  };
}

void* ThreadPool::context() const { return workers_.get(); }
