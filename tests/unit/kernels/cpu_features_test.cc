// SPDX-License-Identifier: Apache-2.0
// The kernel table that a 64-bit Arm CPU takes on each system. This machine need not be one: the features follow from
// what the systems say.
#include "kernels/cpu_features.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace goldcrest {
namespace {

// Returns the first table that runs, without its variants for in-order cores.
std::string table_of(uint32_t features) {
  if ((kI8mmNeeds & ~features) == 0) return "arm_i8mm";
  if ((kDotprodNeeds & ~features) == 0) return "arm_dotprod";
  return (kNeonNeeds & ~features) == 0 ? "arm_neon" : "reference";
}

std::string table_on_macos(const std::set<std::string>& names) {
  return table_of(arm64_features([&](const ArmFeature& entry) { return names.count(entry.macos) != 0; }));
}
std::string table_on_windows(const std::set<uint32_t>& numbers) {
  return table_of(arm64_features([&](const ArmFeature& entry) { return numbers.count(entry.windows) != 0; }));
}
std::string table_on_linux(uint64_t hwcap, uint64_t hwcap2) {
  return table_of(arm64_features([&](const ArmFeature& entry) {
    return ((entry.linux_bit < 32 ? hwcap : hwcap2) >> entry.linux_bit % 32 & 1) != 0;
  }));
}

TEST(ArmFeatures, AppleTakesDotProductsAndFromTheM2OnMatrices) {
  const std::string crc32 = "hw.optional.armv8_crc32", dot = "hw.optional.arm.FEAT_DotProd";
  EXPECT_EQ(table_on_macos({crc32, dot, "hw.optional.arm.FEAT_I8MM"}), "arm_i8mm");  // M2
  EXPECT_EQ(table_on_macos({crc32, dot}), "arm_dotprod");                            // M1
  EXPECT_EQ(table_on_macos({crc32}), "arm_neon");                                    // macOS 11, without the names
  EXPECT_EQ(table_on_macos({}), "reference");
}

TEST(ArmFeatures, WindowsTakesWhatItsVersionKnows) {
  EXPECT_EQ(table_on_windows({31, 43, 66}), "arm_i8mm");
  EXPECT_EQ(table_on_windows({31, 43}), "arm_dotprod");  // no number for matrices, or a Snapdragon 8cx
  EXPECT_EQ(table_on_windows({31}), "arm_neon");         // a Cortex-A72
  EXPECT_EQ(table_on_windows({}), "reference");
}

// The bits of Linux's asm/hwcap.h: floats and vectors, CRC-32, dot products; among those of AT_HWCAP2, matrices.
TEST(ArmFeatures, LinuxTakesTheBitsOfTheKernel) {
  constexpr uint64_t kVectors = 3, kCrc32 = 1u << 7, kDotProducts = 1u << 20, kMatrices = 1u << 13;
  EXPECT_EQ(table_on_linux(kVectors | kCrc32, 0), "arm_neon");
  EXPECT_EQ(table_on_linux(kVectors | kCrc32 | kMatrices, 0), "arm_neon");  // another feature in the first word
  EXPECT_EQ(table_on_linux(kVectors | kCrc32 | kDotProducts, 0), "arm_dotprod");
  EXPECT_EQ(table_on_linux(kVectors | kCrc32 | kDotProducts, kMatrices), "arm_i8mm");
  EXPECT_EQ(table_on_linux(kVectors, 0), "reference");
}

}  // namespace
}  // namespace goldcrest
