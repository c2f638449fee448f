// SPDX-License-Identifier: Apache-2.0
// Measures the machine's limits: how fast it reads memory and how fast a kernel table multiplies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include "host/thread_pool.h"
#include "kernels/kernels.h"
#include "timing.h"

namespace bench {
// A measured speed, and the spread of its timing.
struct Rate {
  double per_s = 0, spread = 0;
};

// The median quotient of two times that are measured in turns, and the spread of the quotients.
struct Ratio {
  double value = 0, spread = 0;
};

// The speeds of a kernel table on some threads at once, each with a core of its own. A speed is measured at its first
// call.
class Machine {
 public:
  // kernels: the name of a table that this CPU runs.
  Machine(const std::string& kernels, const ThreadPool& pool, const Patience& patience)
      : kernels_(kernels), pool_(pool), patience_(patience) {}

  // Returns the bytes per second of reading a buffer of `bytes` repeatedly, from a cache if it fits one. Each thread
  // reads its own part. It is the fastest of a plain sum, the C library's memchr and the table's linear slot with one
  // row.
  Rate bytes_per_s(size_t bytes);

  // Returns the multiply-accumulates per second of the table's linear slot, with normally distributed values. It is the
  // fastest of some shapes with many rows, whose weights and rows fit the first- or second-level cache.
  Rate macs_per_s();

  // Returns the exponentials per second of one thread in the sums of the table's output layer, with the logits in the
  // first-level cache.
  Rate exponentials_per_s();

  // Returns the time of one thread's attention to kAttentionKeys keys over that of a linear layer with as many
  // multiply-accumulates: 32 rows, 6 heads of 64, 384 inputs and outputs. Both are measured in turns.
  static constexpr uint32_t kAttentionKeys = 1500;
  Ratio attention_over_linear(bool integer_weights) const;
 private:
  const goldcrest::Kernels& kernels() const;

  std::string kernels_;
  const ThreadPool& pool_;
  Patience patience_;
  std::map<size_t, Rate> bytes_per_s_;  // by size
  Rate macs_per_s_, exponentials_per_s_;
};

// Describes the machine that a figure was measured on: the board, its cores and their clock, as Linux reports them, and
// the program's own build.

// A field is empty or 0 if the system does not tell it.
struct Host {
  std::string board;  // from the device tree, "Raspberry Pi 4 Model B Rev 1.4"
  std::string cpu;    // "Cortex-A72"; with cores of several kinds "Cortex-A55 + Cortex-A76"; on x86 its model name
  std::string architecture;
  uint32_t cpus = 0;
  uint64_t clock_hz = 0;  // the highest of any core
};

// root: prefix of /proc and /sys; only tests set it.
Host host_of(const std::string& root);

// Returns for example "GCC 12.2.0" or "Clang 14.0.6".
std::string compiler_name();
}  // namespace bench
