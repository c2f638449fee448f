// SPDX-License-Identifier: Apache-2.0
// The roofline of a case (Williams, Waterman, Patterson 2009): this machine, at its measured speeds, needs at least
// this time for the case's multiply-accumulates and for reading its bytes.
#pragma once

#include <cstdint>

#include "kernel_recorder.h"
#include "machine.h"

namespace bench {

// A part of a translation that reads the same bytes in several passes.
struct Roofline {
  uint64_t macs = 0, bytes = 0;  // of all passes
  double macs_per_s = 0;         // the machine's
  double bytes_per_s = 0;        // the machine's, for a buffer with as many bytes as one pass reads

  double compute_s() const { return static_cast<double>(macs) / macs_per_s; }
  double memory_s() const { return static_cast<double>(bytes) / bytes_per_s; }
  double seconds() const { return compute_s() > memory_s() ? compute_s() : memory_s(); }
  const char* limit() const { return compute_s() > memory_s() ? "arithmetic" : "memory"; }
};

inline Roofline roofline(const KernelWorks& works, uint64_t passes, Machine& machine) {
  const KernelWork sum = total(works);
  return {sum.macs, sum.bytes, machine.macs_per_s().per_s,
          machine.bytes_per_s(static_cast<size_t>(sum.bytes / passes)).per_s};
}

// Decoding follows encoding, so their times add up.
struct Bound {
  Roofline encode, decode;
  double tokens_per_s = 0;  // encoding included
};

}  // namespace bench
