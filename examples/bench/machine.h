// SPDX-License-Identifier: Apache-2.0
// What the machine allows, measured: how fast it reads memory and how fast a kernel table multiplies.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "../support/thread_pool.h"
#include "kernels/kernels.h"
#include "timing.h"

namespace bench {

// A measured speed, and the spread of the timing that it comes from.
struct Rate {
  double per_s = 0, spread = 0;
};

// The speeds of one kernel table on some threads at once, each with a core of its own. A speed is measured when it is
// first asked for.
class Machine {
 public:
  // kernels: a table that this CPU runs.
  Machine(const std::string& kernels, const ThreadPool& pool, const Patience& patience)
      : kernels_(kernels), pool_(pool), patience_(patience) {}

  // Bytes per second of reading a buffer of `bytes` over and over, one that fits a cache from there, each thread its
  // own part: the fastest of a plain sum, the C library's memchr and the table's linear slot with one row.
  Rate bytes_per_s(size_t bytes);

  // Multiply-accumulates per second of the table's linear slot, of normally distributed values: the fastest of some
  // shapes with many rows whose weights and rows fit the first or second cache.
  Rate macs_per_s();

  // Exponentials per second of one thread in the sums of the table's output layer, its logits in the first cache.
  Rate exponentials_per_s();

 private:
  const goldcrest::Kernels& kernels() const;

  std::string kernels_;
  const ThreadPool& pool_;
  Patience patience_;
  std::map<size_t, Rate> bytes_per_s_;  // by size
  Rate macs_per_s_, exponentials_per_s_;
};

}  // namespace bench
