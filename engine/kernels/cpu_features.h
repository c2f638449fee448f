// SPDX-License-Identifier: Apache-2.0
// The CPU features that a kernel table may need.
#pragma once

#include <cstdint>

namespace goldcrest {

enum CpuFeature : uint32_t {
  kCpuAvx2 = 1u << 0,
  kCpuAvxVnni = 1u << 1,
  kCpuAvx512 = 1u << 2,  // F, BW, DQ, VL
  kCpuAvx512Vnni = 1u << 3,
  kCpuNeon = 1u << 8,  // Advanced SIMD, of AArch64 or of ARMv7
  kCpuDotProduct = 1u << 9,
  kCpuMatrixInt8 = 1u << 10,
  kCpuCrc32 = 1u << 11,  // optional before ARMv8.1, but every Cortex-A has CRC-32
};

// Returns the features of the CPU that runs it.
uint32_t detect_cpu_features();

}  // namespace goldcrest
