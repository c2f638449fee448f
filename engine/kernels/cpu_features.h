// SPDX-License-Identifier: Apache-2.0
// The CPU features that a kernel table may need.
#pragma once

#include <stdint.h>

namespace goldcrest {
enum CpuFeature : uint32_t {
  kCpuAvx2 = 1u << 0,
  kCpuAvxVnni = 1u << 1,
  kCpuAvx512 = 1u << 2,  // F, BW, DQ, VL
  kCpuAvx512Vnni = 1u << 3,
  kCpuNeon = 1u << 8,  // Advanced SIMD, of AArch64 or of ARMv7
  kCpuDotProduct = 1u << 9,
  kCpuMatrixInt8 = 1u << 10,
  kCpuCrc32 = 1u << 11,   // optional before ARMv8.1, but every Cortex-A has CRC-32
  kCpuVector = 1u << 16,  // RISC-V's extension V 1.0
};

// The needs of the tables of 64-bit Arm, best first.
constexpr uint32_t kI8mmNeeds = kCpuDotProduct | kCpuMatrixInt8, kDotprodNeeds = kCpuDotProduct,
                   kNeonNeeds = kCpuNeon | kCpuCrc32;

// A feature of 64-bit Arm CPUs, and where each system tells of it.
struct ArmFeature {
  CpuFeature feature;
  uint32_t linux_bit;  // bit in AT_HWCAP; from 32 on: in AT_HWCAP2
  const char* macos;   // the name for sysctlbyname; systems before macOS 12 lack the names with FEAT
  uint32_t windows;    // the number for IsProcessorFeaturePresent; older versions of Windows do not know 66
};
constexpr ArmFeature kArmFeatures[] = {
    {kCpuCrc32, 7, "hw.optional.armv8_crc32", 31},
    {kCpuDotProduct, 20, "hw.optional.arm.FEAT_DotProd", 43},
    {kCpuMatrixInt8, 32 + 13, "hw.optional.arm.FEAT_I8MM", 66},
};

// Returns the features of a 64-bit Arm CPU. `has` returns whether the system tells of an ArmFeature.
template <typename Has> uint32_t arm64_features(const Has& has) {
  uint32_t features = kCpuNeon;  // every 64-bit Arm has NEON
  for (const ArmFeature& entry : kArmFeatures)
    if (has(entry)) features |= entry.feature;
  return features;
}

// Returns the features of a 64-bit RISC-V CPU. hwcap: Linux's AT_HWCAP, which has a bit for each extension of one
// letter.
constexpr uint32_t riscv64_features(uint64_t hwcap) { return (hwcap >> ('V' - 'A') & 1) != 0 ? kCpuVector : 0u; }

// Returns the features of the CPU that runs it.
uint32_t detect_cpu_features();
}  // namespace goldcrest
