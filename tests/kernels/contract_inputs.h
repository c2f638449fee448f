// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of the contract's cases: seeded arguments of many kinds, and the outputs of two tables.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <vector>
#include "contract_cases.h"
#include "support/guarded_buffer.h"
#include "support/rng.h"

namespace goldcrest::test {
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline const float kNan = std::numeric_limits<float>::quiet_NaN();

// Powers of two and their neighbours, padded as the engine pads them.
inline constexpr uint32_t kWidths[] = {16, 32, 48, 64, 80, 112, 128, 144, 240, 256, 272, 512, 528, 1024, 1040};

inline Rng rng_of(uint64_t run, uint64_t contract_case) { return Rng(contract_case + (run << 8)); }

// Run 0 has the usual sizes; other runs have as many sizes, multiples of 16 up to the largest usual one.
template <size_t n> std::vector<uint32_t> sizes_of(uint64_t run, const uint32_t (&usual)[n], Rng& rng) {
  std::vector<uint32_t> sizes(std::begin(usual), std::end(usual));
  const uint32_t most = *std::max_element(sizes.begin(), sizes.end()) / 16;
  for (uint32_t& size : sizes) size = run == 0 ? size : 16 * rng.between(1, most);
  return sizes;
}

// Kinds of contents for int8 and float arrays: everything that the engine can meet, and bits that it never should. No
// product of two special floats is a denormal, because some units flush these to zero.
enum class Fill { kRandom, kLargest, kSmallest, kZero, kOneHot, kMiddle, kHuge, kTiny, kTies, kSpecial };
inline constexpr Activation kActivations[] = {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh,
    Activation::kSilu, Activation::kTanh, Activation::kNone};
inline constexpr Fill kWeightFills[] = {Fill::kRandom, Fill::kLargest, Fill::kSmallest, Fill::kZero, Fill::kOneHot};
inline constexpr Fill kFloatFills[] = {
    Fill::kRandom, Fill::kZero, Fill::kOneHot, Fill::kHuge, Fill::kTiny, Fill::kTies, Fill::kSpecial};

inline void fill(GuardedBuffer<int8_t>& buffer, Fill kind, Rng& rng) {
  const int sign = kind == Fill::kMiddle && rng.below(2) == 0 ? -1 : 1;
  for (int8_t& value : buffer) {
    value = kind == Fill::kLargest ? 127 : kind == Fill::kSmallest ? -127 : kind == Fill::kRandom ? rng.weight() : 0;
    if (kind == Fill::kMiddle) value = static_cast<int8_t>(sign * static_cast<int>(64 + rng.below(2)));
  }
  if (kind == Fill::kOneHot) buffer[rng.below(static_cast<uint32_t>(buffer.size()))] = 127;
}

inline void fill(GuardedBuffer<float>& buffer, Fill kind, Rng& rng) {
  const float special[] = {
      0.0f, -0.0f, 1.0f, std::ldexp(1.0f, 56), std::ldexp(-1.0f, -60), kInfinity, -kInfinity, kNan};
  for (float& value : buffer) {
    switch (kind) {
      case Fill::kHuge: value = std::ldexp(rng.uniform(), 56); break;
      case Fill::kTiny: value = std::ldexp(rng.uniform(), -38); break;
      case Fill::kTies: value = static_cast<float>(rng.below(21)) * 0.5f - 5.0f; break;
      case Fill::kSpecial: value = rng.below(4) == 0 ? special[rng.below(8)] : rng.uniform(); break;
      case Fill::kRandom: value = 4 * rng.uniform(); break;
      default: value = 0.0f; break;
    }
  }
  const uint32_t n = static_cast<uint32_t>(buffer.size());
  if (kind == Fill::kOneHot) buffer[rng.below(n)] = 3.0f;
  // amax = 127 makes the factor 1, so that ties reach the rounding.
  if (kind == Fill::kTies) buffer[rng.below(n)] = 127.0f;
}

inline void fill_scales(GuardedBuffer<float>& buffer, Rng& rng) {
  for (float& value : buffer) value = rng.below(8) == 0 ? 0.0f : 0.01f + 0.009f * rng.uniform();
}

// NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are what is compared
inline bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b)); }
inline bool same(int8_t a, int8_t b) { return a == b; }

inline std::string text_of(const char* text) { return text; }
template <typename T> inline std::string text_of(T number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.9g", static_cast<double>(number));
  return digits;
}

// The outputs of the two tables.
template <typename T> struct Outputs {
  explicit Outputs(size_t n) : found(n), expected(n) {}
  void set(size_t i, T value) { found[i] = expected[i] = value; }

  Difference difference(const char* name) const {
    if (!found.intact()) return std::string(name) + ": a write before its start";
    for (size_t i = 0; i < found.size(); ++i) {
      if (same(found[i], expected[i])) continue;
      return std::string(name) + "[" + text_of(i) + "] is " + text_of(found[i]) + ", expected " + text_of(expected[i]);
    }
    return {};
  }

  GuardedBuffer<T> found, expected;
};

template <typename... Parts> Difference in_case(const Difference& difference, const Parts&... parts) {
  if (!difference) return {};
  return *difference + " (" + ((text_of(parts) + " ") + ...) + ")";
}

// All inputs of a linear layer.
struct LinearInputs {
  LinearInputs(uint32_t rows, uint32_t n, uint32_t k, Fill kind, Rng& rng)
      : x(size_t{rows} * k), w(size_t{n} * k), x_scale(rows), w_scale(n), bias(n), residual(size_t{rows} * n), sum(n) {
    fill(x, kind == Fill::kSmallest ? Fill::kLargest : kind, rng);
    fill(w, kind == Fill::kMiddle ? Fill::kLargest : kind, rng);
    fill_scales(x_scale, rng);
    fill_scales(w_scale, rng);
    fill(bias, Fill::kRandom, rng);
    fill(residual, Fill::kRandom, rng);
  }

  LinearArgs<int8_t> args(uint32_t rows, uint32_t n, uint32_t k, Layout layout, float* y) {
    for (uint32_t row = 0; row < n; ++row) {  // FORMAT.md, section 5
      sum[row] = 0;
      for (uint32_t column = 0; column < k; ++column) {
        sum[row] += layout == Layout::kN16K4
                        ? w[size_t{row / 16} * 16 * k + size_t{column / 4} * 64 + row % 16 * 4 + column % 4]
                        : w[size_t{row / 4} * 4 * k + size_t{column / 16} * 64 + row % 4 * 16 + column % 16];
      }
    }
    return {.x = x.get(),
        .x_scale = x_scale.get(),
        .w = w.get(),
        .w_scale = w_scale.get(),
        .bias = bias.get(),
        .weight_sum = sum.get(),
        .y = y,
        .y_stride = n,
        .rows = rows,
        .n = n,
        .k = k,
        .layout = layout,
        .activation = Activation::kNone};
  }

  GuardedBuffer<int8_t> x, w;
  GuardedBuffer<float> x_scale, w_scale, bias, residual;
  GuardedBuffer<int32_t> sum;
};
}  // namespace goldcrest::test
