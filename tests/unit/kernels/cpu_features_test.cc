// SPDX-License-Identifier: Apache-2.0
// The choice of a kernel table: what a 64-bit Arm or RISC-V CPU takes on each system (this machine need not be one,
// since the features follow from what the systems say), and the choice by the list, the name and the environment.
#include "kernels/cpu_features.h"
#include "goldcrest/goldcrest.h"
#include "kernels/kernels.h"
#include "kernels/reference/reference.h"
#include "support/test.h"

namespace goldcrest { namespace {
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

// Linux has a bit for each extension of one letter: A 0, B 1, C 2 and so on.
TEST(RiscvFeatures, LinuxTellsOfVectors) {
  constexpr uint64_t kImafdc = 0x112d, kV = 1u << 21;  // those of a SiFive U74, as its kernel prints them
  EXPECT_EQ(riscv64_features(kImafdc), 0u);
  EXPECT_EQ(riscv64_features(kImafdc | kV), kCpuVector);
  EXPECT_EQ(riscv64_features(kImafdc | kV << 1 | kV >> 1), 0u);  // neighbours
  EXPECT_EQ(riscv64_features(uint64_t{kV} << 32), 0u);
}

// Sets GOLDCREST_KERNELS for a scope.
class KernelsVariable {
 public:
  explicit KernelsVariable(const char* value) {
    const char* before = getenv("GOLDCREST_KERNELS");
    had_ = before != nullptr;
    if (had_) before_ = before;
    if (value != nullptr) setenv("GOLDCREST_KERNELS", value, 1);
    else unsetenv("GOLDCREST_KERNELS");
  }
  ~KernelsVariable() {
    if (had_) setenv("GOLDCREST_KERNELS", before_.c_str(), 1);
    else unsetenv("GOLDCREST_KERNELS");
  }
 private:
  bool had_;
  std::string before_;
};

TEST(SelectKernels, TheListHasEachTableOnceAndTheReferenceLast) {
  std::set<std::string> names;
  uint32_t n = 0;
  for (; const Kernels* table = kernels_at(n); ++n) {
    EXPECT_TRUE(names.insert(table->name).second) << table->name;
    EXPECT_STREQ(goldcrest_kernels_at(n), table->name);
  }
  ASSERT_GE(n, 1u);
  EXPECT_EQ(kernels_at(n - 1), &kernels_reference);
  for (const uint32_t past : {n, n + 1, UINT32_MAX}) {
    EXPECT_EQ(kernels_at(past), nullptr);
    EXPECT_EQ(goldcrest_kernels_at(past), nullptr);
  }
}

TEST(SelectKernels, WhatRunsHereIsAmongWhatWasBuiltInTheSameOrder) {
  uint32_t n_running = 0, n_built = 0;
  while (const char* name = goldcrest_kernels_built(n_built++)) {
    const char* running = goldcrest_kernels_at(n_running);
    ASSERT_NE(running, nullptr) << "past the reference: " << name;
    if (std::string(running) == name) ++n_running;
  }
  EXPECT_EQ(goldcrest_kernels_at(n_running), nullptr);
  EXPECT_GT(n_running, 0u);
  EXPECT_EQ(goldcrest_kernels_built(UINT32_MAX), nullptr);
}

#if defined(__x86_64__) && defined(__linux__)
TEST(SelectKernels, TheTableForAmdComesFirstOnItsCpusOnly) {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_NE(text.find("vendor_id"), std::string::npos);
  const bool is_amd = text.find("AuthenticAMD") != std::string::npos;
  EXPECT_STREQ(goldcrest_kernels_built(0), is_amd ? "x86_avx512vnni_amd" : "x86_avx512vnni");
}
#endif

TEST(SelectKernels, ByNameElseByTheEnvironmentElseTheBest) {
  const KernelsVariable unset(nullptr);
  EXPECT_EQ(select_kernels(nullptr), kernels_at(0));
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) {
    EXPECT_EQ(select_kernels(table->name), table);
    const KernelsVariable forced(table->name);
    EXPECT_EQ(select_kernels(nullptr), table);
  }
}

TEST(SelectKernels, AnUnknownNameIsNeverASilentFallback) {
  for (const char* name : {"", "Reference", "reference ", "x86"}) {
    EXPECT_EQ(select_kernels(name), nullptr) << name;
    const KernelsVariable forced(name);
    EXPECT_EQ(select_kernels(nullptr), nullptr) << name;
    EXPECT_EQ(select_kernels("reference"), &kernels_reference) << "a name given in the call goes first";
  }
}
}}  // namespace goldcrest
