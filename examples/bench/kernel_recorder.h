// SPDX-License-Identifier: Apache-2.0
// Counts and times the kernels of an engine. It replaces the engine's table by one that does the same and keeps the
// books (engine/api/observe.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include "goldcrest/goldcrest.h"
#include "observed_kernels.h"
#include "timing.h"

namespace bench {
// The CallWork of all calls of a kernel, and their time.
struct KernelWork {
  uint64_t calls = 0;
  uint64_t macs = 0;
  uint64_t bytes = 0;
  uint64_t exponentials = 0;
  double seconds = 0;  // without the clock's own time
  double again_s = 0;  // a second run of each call, with all its operands in the caches
};
using KernelWorks = std::array<KernelWork, kSlots>;

// The record of one piece of work.
struct Record {
  KernelWorks kernels;
  double rest_s = 0;  // outside of kernels, without the recorder's own time
  double spread = 0;  // Timing::spread of the whole, if it ran several times
};

// kTwice measures KernelWork::again_s instead of `seconds` and rest_s. Its second calls change the engine's results.
enum class Calls { kOnce, kTwice };

// The engine must run on one thread. Only one recorder may exist at a time, and it must not outlive the engine.
class KernelRecorder {
 public:
  KernelRecorder(goldcrest_engine* engine, Calls calls);
  ~KernelRecorder();
  KernelRecorder(const KernelRecorder&) = delete;
  KernelRecorder& operator=(const KernelRecorder&) = delete;

  // Runs work() and returns its record.
  template <typename Work> Record record(const Work& work) {
    begin();
    const double seconds = time_once(work);
    return end(seconds);
  }
 private:
  void begin();
  Record end(double seconds);

  goldcrest_engine* engine_;
  goldcrest::Kernels table_;
  goldcrest::TypedKernels<float> float_table_;
  double clock_s_;  // seconds that a timing adds to its own result
  double cost_s_;   // seconds that a timing adds to the whole
};

// Returns a - b, slot by slot, with the spread of a.
Record difference(const Record& a, const Record& b);
KernelWork total(const KernelWorks& works);
}  // namespace bench
