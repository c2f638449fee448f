// SPDX-License-Identifier: Apache-2.0
// The kernels of float32 files. Every table equals the specification, float32.cc, bit for bit, and float32.cc equals
// sums that are computed here. Tables run natively, those of x86 also over emulated intrinsics.
#include "contract_inputs.h"
#include "emulated_tables.h"
#include "kernels/reference/reference.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
// Fills rows as the engine passes them on: after quantize_rows.
void fill_copied(GuardedBuffer<float>& buffer, uint32_t n, Fill kind, Rng& rng) {
  fill(buffer, kind, rng);
  const auto rows = static_cast<uint32_t>(buffer.size() / n);
  kernels_reference.float32->quantize_rows({buffer.get(), buffer.get(), nullptr, n, n, 0, rows, n});
}

Difference compare_quantize_rows(const TypedKernels<float>& table, const TypedKernels<float>& specification) {
  Rng rng(1);
  for (const uint32_t n : kWidths) {
    for (uint32_t rows = 1; rows <= 9; ++rows) {
      for (const Fill kind : kFloatFills) {
        const size_t x_stride = n + 16 * rng.below(2), q_stride = n + 16 * rng.below(2);
        GuardedBuffer<float> x((rows - 1) * x_stride + n);
        fill(x, kind, rng);
        for (float& value : x) value = rng.below(16) == 0 ? std::ldexp(rng.uniform(), -60) : value;
        Outputs<float> q((rows - 1) * q_stride + n);
        table.quantize_rows({x.get(), q.found.get(), nullptr, x_stride, q_stride, 0, rows, n});
        specification.quantize_rows({x.get(), q.expected.get(), nullptr, x_stride, q_stride, 0, rows, n});
        if (const Difference d = q.difference("q"))
          return in_case(d, "rows", rows, "n", n, "fill", static_cast<int>(kind));
      }
    }
  }
  return {};
}

LinearArgs<float> linear_args(const float* x, const float* w, const float* bias, float* y, size_t y_stride,
    uint32_t rows, uint32_t n, uint32_t k) {
  return {
      x, nullptr, w, nullptr, bias, nullptr, nullptr, y, y_stride, rows, n, k, Layout::kRowMajor, Activation::kNone};
}

Difference compare_linear(const TypedKernels<float>& table, const TypedKernels<float>& specification) {
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
        LinearArgs<float> args = linear_args(x.get(), w.get(), bias.get(), nullptr, stride, rows, n, k);
        args.activation = kActivations[turn % 5];
        const uint32_t residual_kind = turn % 3;  // none, a buffer, or y itself
        const auto run = [&](const TypedKernels<float>& kernels, float* out) {
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

Difference compare_embed(const TypedKernels<float>& table, const TypedKernels<float>& specification) {
  Rng rng(3);
  for (const uint32_t n : kWidths) {
    GuardedBuffer<float> w(size_t{32} * n), position(n);
    fill(w, Fill::kRandom, rng);
    fill(position, Fill::kRandom, rng);
    for (const uint32_t token : {0u, 17u, 31u}) {
      Outputs<float> y(n);
      table.embed({w.get(), nullptr, position.get(), y.found.get(), token, n, 5.6f, Layout::kRowMajor});
      specification.embed({w.get(), nullptr, position.get(), y.expected.get(), token, n, 5.6f, Layout::kRowMajor});
      if (const Difference d = y.difference("y")) return in_case(d, "n", n, "token", token);
    }
  }
  return {};
}

Difference compare_attention(const TypedKernels<float>& table, const TypedKernels<float>& specification) {
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
        AttentionArgs<float> args = {};
        args.q = q.get();
        args.keys = keys.get();
        args.values = values.get();
        args.ancestor = ancestors ? ancestor.get() : nullptr;
        args.out = out.found.get();
        args.weights = weights.get();
        args.q_row = q_row.get();
        args.q_stride = stride;
        args.out_stride = width;
        args.head_stride = cache_rows;
        args.position_stride = args.ancestor_stride = slots;
        args.rows = rows;
        args.n_keys = n_keys;
        args.n_heads = n_heads;
        args.d_head = d_head;
        args.scale = 0.125f;
        GuardedBuffer<float> bias(size_t{n_heads} * (rows - 1 + pad16(n_keys)));
        fill(bias, Fill::kRandom, rng);
        if (turn % 3 != 0) args.bias = bias.get() + rows - 1;
        args.bias_stride = rows - 1 + pad16(n_keys);
        args.bias_step = turn % 3 == 1 ? 0 : -1;
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

Difference compare_output_block(const TypedKernels<float>& table, const TypedKernels<float>& specification) {
  Rng rng(5);
  for (uint32_t count = 1; count <= kOutputBlock; count += count < 40 ? 1 : 23) {
    const uint32_t rows = 1 + rng.below(5), stride = 1 + rng.below(3), n = pad16(count), k = 16 * (1 + rng.below(4));
    GuardedBuffer<float> x(size_t{rows} * k), w(size_t{n} * k), bias(n);
    fill_copied(x, k, Fill::kRandom, rng);
    fill_copied(w, k, Fill::kRandom, rng);
    fill(bias, Fill::kRandom, rng);
    Outputs<float> logits((rows - 1) * kOutputBlock + n), largest((rows - 1) * stride + 1), sum(largest.found.size());
    OutputBlockArgs<float> args = {};
    args.linear = linear_args(x.get(), w.get(), bias.get(), logits.found.get(), kOutputBlock, rows, n, k);
    args.count = count;
    args.block_max = count % 4 != 0 ? largest.found.get() : nullptr;
    args.block_sum = sum.found.get();
    args.stride = stride;
    table.output_block(args);
    args.linear.y = logits.expected.get();
    if (args.block_max != nullptr) args.block_max = largest.expected.get();
    args.block_sum = sum.expected.get();
    specification.output_block(args);
    for (const Difference& d : {logits.difference("logits"), largest.difference("max"), sum.difference("sum")})
      if (d) return in_case(d, "rows", rows, "count", count, "k", k);
  }
  return {};
}

// Some logits, or all, belong to tokens that must not be chosen.
Difference compare_logit_sums(const Kernels& table, const Kernels& specification) {
  Rng rng(7);
  for (uint32_t count = 1; count <= kOutputBlock; count += count < 40 ? 1 : 23) {
    for (const uint32_t removed : {0u, 1u, 4u}) {  // removed among 4 logits
      for (const Fill kind : kFloatFills) {
        const uint32_t rows = 1 + rng.below(5), stride = 1 + rng.below(3);
        GuardedBuffer<float> logits((rows - 1) * kOutputBlock + pad16(count));
        fill(logits, kind, rng);
        for (float& logit : logits) logit = rng.below(4) < removed ? -kInfinity : logit;
        Outputs<float> largest((rows - 1) * stride + 1), sum((rows - 1) * stride + 1);
        LogitSumsArgs args = {logits.get(), largest.found.get(), sum.found.get(), kOutputBlock, stride, rows, count};
        table.logit_sums(args);
        args.block_max = largest.expected.get();
        args.block_sum = sum.expected.get();
        specification.logit_sums(args);
        for (const Difference& d : {largest.difference("max"), sum.difference("sum")})
          if (d) return in_case(d, "rows", rows, "count", count, "removed", removed, "fill", static_cast<int>(kind));
      }
    }
  }
  return {};
}

void expect_reference_bits(const Kernels& kernels, const char* way) {
  ASSERT_NE(kernels.float32, nullptr) << kernels.name;
  const TypedKernels<float>&table = *kernels.float32, &specification = *kernels_reference.float32;
  for (const auto& compare :
      {compare_quantize_rows, compare_linear, compare_embed, compare_attention, compare_output_block}) {
    const Difference difference = compare(table, specification);
    EXPECT_FALSE(difference.has_value()) << kernels.name << ' ' << way << ": " << difference.value_or("");
  }
  ASSERT_NE(kernels.logit_sums, nullptr) << kernels.name;
  const Difference difference = compare_logit_sums(kernels, kernels_reference);
  EXPECT_FALSE(difference.has_value()) << kernels.name << ' ' << way << ": " << difference.value_or("");
}

TEST(FloatContract, EveryTableEqualsTheSpecification) {
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) expect_reference_bits(*table, "native");
}

#if defined(__x86_64__)
TEST(FloatContract, EveryTableOfX86EmulatedEqualsTheSpecification) {
  for (const Kernels* table : kEmulatedTables) expect_reference_bits(*table, "emulated");
}
#endif

// A token that must not be chosen adds nothing. If no token may be chosen, the block adds nothing.
TEST(FloatSpecification, LogitSumsOfWhatMayBeChosen) {
  const float never = -std::numeric_limits<float>::infinity();
  float largest = 0, sum = 0;
  std::vector<float> logits = {never, 2.0f, never, 2.0f, never};
  kernels_reference.logit_sums({logits.data(), &largest, &sum, 5, 1, 1, 5});
  EXPECT_EQ(largest, 2.0f);
  EXPECT_EQ(sum, 2.0f);
  logits.assign(5, never);
  kernels_reference.logit_sums({logits.data(), &largest, &sum, 5, 1, 1, 5});
  EXPECT_EQ(largest, never);
  EXPECT_EQ(sum, 0.0f);
}

// Sums in double, which holds them exactly: all inputs are small integers.
TEST(FloatSpecification, LinearIsTheSumOfProducts) {
  Rng rng(6);
  const uint32_t rows = 3, n = 32, k = 48;
  std::vector<float> x(rows * k), w(n * k), bias(n), residual(rows * n), y(rows * n);
  for (std::vector<float>* values : {&x, &w, &bias, &residual})
    for (float& value : *values) value = static_cast<float>(rng.below(41)) - 20.0f;
  LinearArgs<float> args = linear_args(x.data(), w.data(), bias.data(), y.data(), n, rows, n, k);
  args.residual = residual.data();
  args.activation = Activation::kRelu;
  kernels_reference.float32->linear(args);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t output = 0; output < n; ++output) {
      double sum = double{bias[output]};
      for (uint32_t i = 0; i < k; ++i) sum += double{x[row * k + i]} * double{w[output * k + i]};
      EXPECT_EQ(double{y[row * n + output]}, std::max(sum, 0.0) + double{residual[row * n + output]});
    }
  }
}

// Partial sum i of 16 adds the products i, i + 16, ...; then the tree adds the halves.
TEST(FloatSpecification, SumsInSixteenPartsAndATree) {
  std::vector<float> x(32, 0.0f), w(16 * 32, 1.0f), bias(16, 0.0f), y(16);
  x[0] = 16777216.0f;  // 2^24: adding 1 does not change it
  x[16] = 1.0f;        // added to the same partial sum: lost
  x[8] = 1.0f;         // added to partial sum 0 in the tree's first level: lost
  x[1] = x[9] = 1.0f;  // 2 together, before they meet partial sum 0: kept
  kernels_reference.float32->linear(linear_args(x.data(), w.data(), bias.data(), y.data(), 16, 1, 16, 32));
  EXPECT_EQ(y[0], 16777218.0f);
}

TEST(FloatSpecification, QuantizeRowsKeepsWhatCounts) {
  std::vector<float> x(16, 0.0f), y(16);
  const auto copied = [&] {
    kernels_reference.float32->quantize_rows({x.data(), y.data(), nullptr, 16, 16, 0, 1, 16});
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
}}  // namespace goldcrest::test
