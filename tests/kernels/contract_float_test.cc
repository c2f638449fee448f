// SPDX-License-Identifier: Apache-2.0
// The kernels of float32 files: every table equals the specification, float32.cc, bit for bit, and that equals sums
// made by hand. Natively, and those of x86 over emulated intrinsics.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "contract_inputs.h"
#include "kernels/reference/reference.h"

namespace goldcrest {

#if defined(__x86_64__)
extern const Kernels kernels_x86_avx512vnni_emulated;
extern const Kernels kernels_x86_avxvnni_emulated;
extern const Kernels kernels_x86_avx2_emulated;
#endif

namespace test {
namespace {

// What the engine hands on: rows that went through copy_rows.
void fill_copied(GuardedBuffer<float>& buffer, uint32_t n, Fill kind, Rng& rng) {
  fill(buffer, kind, rng);
  const auto rows = static_cast<uint32_t>(buffer.size() / n);
  kernels_reference.float32->copy_rows({buffer.get(), buffer.get(), n, n, rows, n});
}

Difference compare_copy_rows(const FloatKernels& table, const FloatKernels& specification) {
  Rng rng(1);
  for (const uint32_t n : kWidths) {
    for (uint32_t rows = 1; rows <= 9; ++rows) {
      for (const Fill kind : kFloatFills) {
        const size_t x_stride = n + 16 * rng.below(2), y_stride = n + 16 * rng.below(2);
        GuardedBuffer<float> x((rows - 1) * x_stride + n);
        fill(x, kind, rng);
        for (float& value : x) value = rng.below(16) == 0 ? std::ldexp(rng.uniform(), -60) : value;
        Outputs<float> y((rows - 1) * y_stride + n);
        table.copy_rows({x.get(), y.found.get(), x_stride, y_stride, rows, n});
        specification.copy_rows({x.get(), y.expected.get(), x_stride, y_stride, rows, n});
        if (const Difference d = y.difference("y")) {
          return in_case(d, "rows", rows, "n", n, "fill", static_cast<int>(kind));
        }
      }
    }
  }
  return {};
}

Difference compare_linear(const FloatKernels& table, const FloatKernels& specification) {
  Rng rng(2);
  uint32_t turn = 0;
  for (const uint32_t n : {16u, 48u, 80u}) {
    for (const uint32_t k : kWidths) {
      for (uint32_t rows = 1; rows <= 9; ++rows, ++turn) {
        const size_t stride = n + 16 * rng.below(2);
        GuardedBuffer<float> x(size_t{rows} * k), w(size_t{n} * k), bias(n), residual((rows - 1) * stride + n);
        fill_copied(x, k, kFloatFills[turn % 7], rng);
        fill_copied(w, k, Fill::kRandom, rng);
        fill(bias, Fill::kRandom, rng);
        fill(residual, kFloatFills[turn / 7 % 7], rng);
        Outputs<float> y(residual.size());
        for (size_t i = 0; i < residual.size(); ++i) y.set(i, residual[i]);
        LinearFloatArgs args = {x.get(), w.get(), bias.get(), nullptr, y.found.get(), stride, rows, n, k, {}};
        args.activation = kActivations[turn % 5];
        const uint32_t residual_kind = turn % 3;  // none, a buffer, y itself
        const auto run = [&](const FloatKernels& kernels, float* out) {
          args.y = out;
          args.residual = residual_kind == 0 ? nullptr : residual_kind == 1 ? residual.get() : out;
          kernels.linear(args);
        };
        run(table, y.found.get());
        run(specification, y.expected.get());
        if (const Difference d = y.difference("y")) return in_case(d, "rows", rows, "n", n, "k", k, "turn", turn);
      }
    }
  }
  return {};
}

Difference compare_embed(const FloatKernels& table, const FloatKernels& specification) {
  Rng rng(3);
  for (const uint32_t n : kWidths) {
    GuardedBuffer<float> w(size_t{32} * n), position(n);
    fill(w, Fill::kRandom, rng);
    fill(position, Fill::kRandom, rng);
    for (const uint32_t token : {0u, 17u, 31u}) {
      Outputs<float> y(n);
      table.embed({w.get(), position.get(), y.found.get(), token, n, 5.6f});
      specification.embed({w.get(), position.get(), y.expected.get(), token, n, 5.6f});
      if (const Difference d = y.difference("y")) return in_case(d, "n", n, "token", token);
    }
  }
  return {};
}

Difference compare_attention(const FloatKernels& table, const FloatKernels& specification) {
  Rng rng(4);
  uint32_t turn = 0;
  for (uint32_t n_keys = 1; n_keys <= 70; n_keys += n_keys < 20 ? 1 : 9) {
    for (const uint32_t d_head : {16u, 32u, 64u, 80u, 144u}) {
      for (const bool ancestors : {false, true}) {
        const uint32_t rows = 1 + rng.below(5), slots = ancestors ? rows + rng.below(3) : 1, n_heads = 1 + rng.below(3);
        const size_t cache_rows = size_t{n_keys} * slots, width = size_t{n_heads} * d_head, stride = width + 16;
        GuardedBuffer<float> q((rows - 1) * stride + width), keys(n_heads * cache_rows * d_head), values(keys.size()),
            weights((n_keys + 15) / 16 * 16), q_row(d_head);
        GuardedBuffer<uint8_t> ancestor(cache_rows);
        const Fill kind = kFloatFills[turn++ % 7];
        fill(q, kind, rng);
        fill_copied(keys, d_head, kind, rng);
        fill_copied(values, d_head, kFloatFills[turn % 7], rng);
        for (uint8_t& slot : ancestor) slot = static_cast<uint8_t>(rng.below(slots));
        Outputs<float> out(rows * width);
        AttentionFloatArgs args = {q.get(),
                                   keys.get(),
                                   values.get(),
                                   ancestors ? ancestor.get() : nullptr,
                                   out.found.get(),
                                   weights.get(),
                                   q_row.get(),
                                   stride,
                                   width,
                                   cache_rows,
                                   slots,
                                   slots,
                                   rows,
                                   n_keys,
                                   n_heads,
                                   d_head,
                                   0.125f};
        table.attention(args);
        args.out = out.expected.get();
        specification.attention(args);
        if (!weights.intact() || !q_row.intact()) return "a write before the start of the scratch";
        if (const Difference d = out.difference("out")) {
          return in_case(d, "rows", rows, "keys", n_keys, "heads", n_heads, "d_head", d_head, "slots", slots, "fill",
                         static_cast<int>(kind));
        }
      }
    }
  }
  return {};
}

Difference compare_logit_sums(const FloatKernels& table, const FloatKernels& specification) {
  Rng rng(5);
  for (uint32_t count = 1; count <= kOutputBlock; count += count < 40 ? 1 : 23) {
    const uint32_t rows = 1 + rng.below(5), stride = 1 + rng.below(3);
    GuardedBuffer<float> logits((rows - 1) * kOutputBlock + pad16(count));
    fill(logits, Fill::kRandom, rng);
    Outputs<float> largest((rows - 1) * stride + 1), sum((rows - 1) * stride + 1);
    table.logit_sums({logits.get(), largest.found.get(), sum.found.get(), kOutputBlock, stride, rows, count});
    specification.logit_sums(
        {logits.get(), largest.expected.get(), sum.expected.get(), kOutputBlock, stride, rows, count});
    for (const Difference& d : {largest.difference("max"), sum.difference("sum")}) {
      if (d) return in_case(d, "rows", rows, "count", count);
    }
  }
  return {};
}

void expect_reference_bits(const Kernels& kernels, const char* way) {
  ASSERT_NE(kernels.float32, nullptr) << kernels.name;
  const FloatKernels &table = *kernels.float32, &specification = *kernels_reference.float32;
  for (const auto& compare :
       {compare_copy_rows, compare_linear, compare_embed, compare_attention, compare_logit_sums}) {
    const Difference difference = compare(table, specification);
    EXPECT_FALSE(difference.has_value()) << kernels.name << ' ' << way << ": " << difference.value_or("");
  }
}

TEST(FloatContract, EveryTableEqualsTheSpecification) {
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) expect_reference_bits(*table, "native");
}

#if defined(__x86_64__)
TEST(FloatContract, EveryTableOfX86EmulatedEqualsTheSpecification) {
  for (const Kernels* table :
       {&kernels_x86_avx512vnni_emulated, &kernels_x86_avxvnni_emulated, &kernels_x86_avx2_emulated}) {
    expect_reference_bits(*table, "emulated");
  }
}
#endif

// In double, which holds these sums exactly: small integers.
TEST(FloatSpecification, LinearIsTheSumOfProducts) {
  Rng rng(6);
  const uint32_t rows = 3, n = 32, k = 48;
  std::vector<float> x(rows * k), w(n * k), bias(n), residual(rows * n), y(rows * n);
  for (std::vector<float>* values : {&x, &w, &bias, &residual}) {
    for (float& value : *values) value = static_cast<float>(rng.below(41)) - 20.0f;
  }
  kernels_reference.float32->linear(
      {x.data(), w.data(), bias.data(), residual.data(), y.data(), n, rows, n, k, Activation::kRelu});
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t output = 0; output < n; ++output) {
      double sum = double{bias[output]};
      for (uint32_t i = 0; i < k; ++i) sum += double{x[row * k + i]} * double{w[output * k + i]};
      EXPECT_EQ(double{y[row * n + output]}, std::max(sum, 0.0) + double{residual[row * n + output]});
    }
  }
}

// Partial sum i of 16 has the products i, i + 16, ...; the halves are added first.
TEST(FloatSpecification, SumsInSixteenPartsAndATree) {
  std::vector<float> x(32, 0.0f), w(16 * 32, 1.0f), bias(16, 0.0f), y(16);
  x[0] = 16777216.0f;  // 2^24, to which 1 adds nothing
  x[16] = 1.0f;        // to the same partial sum: lost
  x[8] = 1.0f;         // to partial sum 0 in the tree's first level: lost
  x[1] = x[9] = 1.0f;  // together 2 before they meet partial sum 0: kept
  kernels_reference.float32->linear(
      {x.data(), w.data(), bias.data(), nullptr, y.data(), 16, 1, 16, 32, Activation::kNone});
  EXPECT_EQ(y[0], 16777218.0f);
}

TEST(FloatSpecification, CopyRowsKeepsWhatCounts) {
  std::vector<float> x(16, 0.0f), y(16);
  const auto copied = [&] {
    kernels_reference.float32->copy_rows({x.data(), y.data(), 16, 16, 1, 16});
    return y;
  };
  x = {1.5f, std::ldexp(1.0f, -60), std::ldexp(-1.0f, -60), -0.0f, -3.0f};
  x.resize(16);
  EXPECT_EQ(copied(), x);
  x[5] = std::ldexp(0.99f, -60);
  EXPECT_EQ(copied()[5], 0.0f);
  EXPECT_EQ(copied()[0], 1.5f);
  for (const float bad : {kInfinity, kNan, std::ldexp(1.1f, 56)}) {
    x[7] = bad;
    EXPECT_EQ(copied(), std::vector<float>(16)) << bad;
  }
  x.assign(16, std::ldexp(0.99f, -40));
  EXPECT_EQ(copied(), std::vector<float>(16));
  x[3] = std::ldexp(1.0f, -40);
  EXPECT_EQ(copied(), x);
}

}  // namespace
}  // namespace test
}  // namespace goldcrest
