// SPDX-License-Identifier: Apache-2.0
// The choice of a kernel table: by the list, the name, the environment.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "goldcrest/goldcrest.h"
#include "kernels/kernels.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {

// Sets GOLDCREST_KERNELS for a scope.
class KernelsVariable {
 public:
  explicit KernelsVariable(const char* value) {
    const char* before = getenv("GOLDCREST_KERNELS");
    had_ = before != nullptr;
    if (had_) before_ = before;
    if (value != nullptr)
      setenv("GOLDCREST_KERNELS", value, 1);
    else
      unsetenv("GOLDCREST_KERNELS");
  }
  ~KernelsVariable() {
    if (had_)
      setenv("GOLDCREST_KERNELS", before_.c_str(), 1);
    else
      unsetenv("GOLDCREST_KERNELS");
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

bool computes_reference_bits(const Kernels& kernels) {
  alignas(64) uint8_t scratch[kBuildCheckBytes];
  return kernels_compute_reference_bits(kernels, scratch);
}

TEST(BuildCheck, EveryTablePasses) {
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) {
    EXPECT_TRUE(computes_reference_bits(*table)) << table->name;
  }
}

// Changes the last bit of one result, as a fused multiply-add or another order of a sum would.
TEST(BuildCheck, ATableWithOneOtherBitFails) {
  Kernels linear = kernels_reference;
  linear.int8.linear = [](const LinearArgs<int8_t>& args) {
    reference_linear(args);
    args.y[3] = std::nextafter(args.y[3], 1e30f);
  };
  EXPECT_FALSE(computes_reference_bits(linear));
  Kernels norm = kernels_reference;
  norm.layer_norm = [](const LayerNormArgs& args) {
    reference_layer_norm(args);
    args.y[5] = std::nextafter(args.y[5], 1e30f);
  };
  EXPECT_FALSE(computes_reference_bits(norm));
  Kernels attention = kernels_reference;
  attention.int8.attention = [](const AttentionArgs<int8_t>& args) {
    reference_attention(args);
    args.out[7] = std::nextafter(args.out[7], 1e30f);
  };
  EXPECT_FALSE(computes_reference_bits(attention));
}

}  // namespace
}  // namespace goldcrest
