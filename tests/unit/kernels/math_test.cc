// SPDX-License-Identifier: Apache-2.0
// Compares the elementary functions with the C library's in double: the errors that math.h and top_tokens.h state hold.
#include "kernels/reference/math.h"
#include "base/hash.h"
#include "decoding/outputs/top_tokens.h"
#include "kernels/kernels.h"
#include "kernels/reference/reference.h"
#include "kernels/riscv/floats-inl.h"
#include "recomputed.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

// Every 1009th float of [low, high], both ends included.
std::vector<float> dense_floats(float low, float high) {
  // Returns the bits as an integer that ascends with the float.
  const auto ordinal = [](float x) {
    const auto bits = static_cast<int32_t>(float_bits(x));
    return bits < 0 ? INT32_MIN - bits : bits;
  };
  std::vector<float> values = {low, high};
  for (int64_t i = ordinal(low); i <= ordinal(high); i += 1009) {
    const auto at = static_cast<int32_t>(i);
    values.push_back(bits_float(static_cast<uint32_t>(at < 0 ? INT32_MIN - at : at)));
  }
  return values;
}

// Returns the largest |f(x) - expected(x)| over [low, high], divided by |expected(x)| if `relative` (unless that is 0).
template <typename F, typename Expected>
double largest_error(float low, float high, bool relative, F f, Expected expected) {
  double largest = 0;
  for (const float x : dense_floats(low, high)) {
    const double right = expected(double{x});
    const double error = std::fabs(double{f(x)} - right) / (relative && right != 0 ? std::fabs(right) : 1.0);
    if (!(error <= largest)) largest = error;
  }
  return largest;
}

TEST(RoundHalfEven, EqualsRint) {
  for (const float x : dense_floats(-300.0f, 300.0f)) ASSERT_EQ(round_half_even(x), std::rint(x)) << x;
  for (int i = -4000; i <= 4000; ++i) {
    const float half = static_cast<float>(i) * 0.5f;
    EXPECT_EQ(round_half_even(half), std::rint(half)) << half;
  }
}

// All mantissas for an even and an odd exponent, then every 1009th float.
TEST(Sqrt, ThePortableOneIsCorrectlyRounded) {
  for (uint32_t bits = float_bits(1.0f); bits <= float_bits(4.0f); ++bits) {
    const float x = bits_float(bits);
    ASSERT_EQ(sqrt_float_portable(x), std::sqrt(x)) << x;
  }
  for (const float x : dense_floats(0.0f, std::numeric_limits<float>::max()))
    ASSERT_EQ(sqrt_float_portable(x), std::sqrt(x)) << x;
  for (const float x : {-0.0f, 0x1p-149f, 0x1p-127f, kInfinity})
    EXPECT_EQ(float_bits(sqrt_float_portable(x)), float_bits(std::sqrt(x))) << x;
  for (const float x : {kNan, -kNan, -1.0f, -0x1p-149f, -kInfinity}) EXPECT_TRUE(std::isnan(sqrt_float_portable(x)));
}

TEST(Exp, RelativeErrorIsBelow2e7) {
  EXPECT_LT(largest_error(-40.0f, 88.0f, true, exp_float, [](double x) { return std::exp(x); }), 2e-7);
}

TEST(Exp, IsExactAtTheEdges) {
  EXPECT_EQ(exp_float(0.0f), 1.0f);
  EXPECT_EQ(exp_float(-0.0f), 1.0f);
  EXPECT_GT(exp_float(-40.0f), 0.0f);
  EXPECT_EQ(float_bits(exp_float(std::nextafter(-40.0f, -41.0f))), 0u);
  for (const float x : {-41.0f, -1e30f, -kInfinity, kNan, -kNan}) EXPECT_EQ(float_bits(exp_float(x)), 0u) << x;
  for (const float x : {std::nextafter(88.0f, 89.0f), 88.5f, 1e30f, kInfinity})
    EXPECT_EQ(exp_float(x), exp_float(88.0f)) << x;
}

TEST(ShortExp, RelativeErrorIsBelow8e5AndItIsExactAtTheEdges) {
  EXPECT_LT(largest_error(-40.0f, 0.0f, true, short_exp_float, [](double x) { return std::exp(x); }), 8e-5);
  EXPECT_GT(short_exp_float(-40.0f), 0.0f);
  for (const float x : {std::nextafter(-40.0f, -41.0f), -1e30f, -kInfinity, kNan, -kNan})
    EXPECT_EQ(float_bits(short_exp_float(x)), 0u) << x;
}

TEST(Exp, IsMonotonic) {
  float previous = 0;
  for (float x = -40.0f; x < 88.0f; x += 0.0137f) {
    const float y = exp_float(x);
    EXPECT_GE(y, previous) << x;
    previous = y;
  }
}

TEST(Log, RelativeErrorIsBelow3e7) {
  EXPECT_LT(largest_error(std::numeric_limits<float>::min(), std::numeric_limits<float>::max(), true, log_float,
                [](double x) { return std::log(x); }),
      3e-7);
  EXPECT_EQ(log_float(1.0f), 0.0f);
}

// Small lengths and the usual exponents.
TEST(Pow, RelativeErrorGrowsWithTheLogarithm) {
  for (int base = 1; base <= 1024; ++base) {
    for (const float exponent : {-2.0f, -0.6f, 0.2f, 0.6f, 0.7f, 1.5f, 2.0f, 3.0f}) {
      const double expected = std::pow(base, double{exponent});
      const double bound = 2e-7 + 4e-7 * std::fabs(exponent * std::log(base));
      EXPECT_LE(std::fabs(power(static_cast<float>(base), exponent) / expected - 1), bound) << base << "^" << exponent;
    }
    EXPECT_EQ(power(static_cast<float>(base), 0.0f), 1.0f);
    EXPECT_EQ(power(static_cast<float>(base), 1.0f), static_cast<float>(base));
  }
}

TEST(Sigmoid, Errors) {
  const auto expected = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(largest_error(-40.0f, 40.0f, true, sigmoid_float, expected), 4e-7);
  EXPECT_EQ(sigmoid_float(-kInfinity), 0.0f);
  EXPECT_EQ(sigmoid_float(kInfinity), 1.0f);
  EXPECT_EQ(sigmoid_float(0.0f), 0.5f);
}

TEST(Tanh, Errors) {
  EXPECT_LT(largest_error(-20.0f, 20.0f, false, tanh_float, [](double x) { return std::tanh(x); }), 2e-7);
  EXPECT_EQ(tanh_float(kInfinity), 1.0f);
  EXPECT_EQ(tanh_float(-kInfinity), -1.0f);
  EXPECT_EQ(tanh_float(0.0f), 0.0f);
}

TEST(Erf, Errors) {
  EXPECT_LT(largest_error(-8.0f, 8.0f, false, erf_float, [](double x) { return std::erf(x); }), 6e-7);
  EXPECT_EQ(erf_float(kInfinity), 1.0f);
  EXPECT_EQ(erf_float(-kInfinity), -1.0f);
}

// For any bits: no trap, no endless loop, and (under the sanitizers) no undefined conversion.
TEST(AllFunctions, AcceptAnyBits) {
  float sum = 0;
  uint32_t bits = 1;
  for (int i = 0; i < 1 << 16; ++i) {
    bits = bits * 1664525u + 1013904223u;
    const float x = bits_float(bits);
    for (const float y : {exp_float(x), log_float(x), sigmoid_float(x), tanh_float(x), erf_float(x)})
      if (std::isfinite(y)) sum += y > 0 ? 1.0f : 0.0f;
    const float e = exp_float(x);
    EXPECT_TRUE(e >= 0 && e <= exp_float(88.0f));
  }
  EXPECT_GT(sum, 0);
}

// Floats that show a last bit of a constant, which dense ones do not.
constexpr float kShowing[] = {0x1.670bfep-2f, -0x1.5ebc62p-2f, 0x1.62e602p+3f, 0x1.6a6b1ap+3f};

// Returns a hash of the bits of f over dense floats, and over those at which the power of two in exp_float changes.
uint64_t bits_of(float (*f)(float), float low, float high) {
  std::vector<float> values = dense_floats(low, high);
  for (int i = -58; i <= 126; ++i) {
    const auto half = static_cast<float>((i + 0.5) * std::log(2.0));
    for (int step = -64; step <= 64 && half > low && half < high; ++step)
      values.push_back(bits_float(float_bits(half) + static_cast<uint32_t>(step)));
  }
  for (const float x : kShowing)
    if (low < x && x < high) values.push_back(x);
  uint64_t hash = kHashStart;
  for (const float x : values) hash = hash_word(hash, float_bits(f(x)));
  return hash;
}

// All tables compute the same bits, so the constants are a part of the contract. A last bit more or less in one shows.
TEST(AllFunctions, BitsAreThoseOfTheConstants) {
  EXPECT_EQ(bits_of(exp_float, -41.0f, 89.0f), 0x1aebce1fe97efbbdu);
  EXPECT_EQ(bits_of(short_exp_float, -41.0f, 0.0f), 0x5b22aafe531ed061u);
  EXPECT_EQ(
      bits_of(log_float, std::numeric_limits<float>::min(), std::numeric_limits<float>::max()), 0xf8a73231cb642810u);
  EXPECT_EQ(bits_of(sigmoid_float, -41.0f, 41.0f), 0xfc3e767e1b91c314u);
  EXPECT_EQ(bits_of(tanh_float, -20.0f, 20.0f), 0x4e1999564e0431c7u);
  EXPECT_EQ(bits_of(erf_float, -8.0f, 8.0f), 0x4ec54b292fdb21b4u);
}

// Compares the reference's attention with a naive one: int64 sums, keys looked up through the ancestor table one by
// one.

// A cache of keys and values [n_heads, cache_rows, d_head] and queries; key t of query row r is at row_of(t, r).
void check_attention(uint32_t n_keys, uint32_t d_head, bool beams, bool integers, uint64_t seed) {
  Rng rng(seed);
  const uint32_t heads = 2, rows = 3, slots = beams ? 4 : 1, cache_rows = n_keys * slots + 2;
  const std::vector<float> q = random_floats(rng, size_t{rows} * heads * d_head, 2);
  const std::vector<int8_t> keys = random_weights(rng, size_t{heads} * cache_rows * d_head);
  const std::vector<int8_t> values = random_weights(rng, keys.size());
  std::vector<float> key_scales(heads * cache_rows), value_scales(heads * cache_rows);
  for (float& scale : key_scales) scale = 0.01f + 0.005f * rng.uniform();
  for (float& scale : value_scales) scale = 0.01f + 0.005f * rng.uniform();
  std::vector<uint8_t> ancestor(size_t{n_keys} * slots);
  for (uint8_t& slot : ancestor) slot = static_cast<uint8_t>(rng.below(slots));

  std::vector<float> out(q.size(), 99.0f), scratch(pad16(n_keys));
  std::vector<int8_t> query_row(d_head);
  const size_t stride = size_t{heads} * d_head;
  AttentionArgs<int8_t> args = {q.data(), keys.data(), values.data(), key_scales.data(), value_scales.data(),
      beams ? ancestor.data() : nullptr, out.data(), scratch.data(), query_row.data(), stride, stride, cache_rows,
      slots, slots, rows, n_keys, heads, d_head, 0.3f};
  args.integer = integers;
  reference_attention(args);

  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t head = 0; head < heads; ++head) {
      const size_t at = (size_t{row} * heads + head) * d_head;
      const QuantizedRow query =
          quantized({q.begin() + static_cast<long>(at), q.begin() + static_cast<long>(at + d_head)});
      const auto cache_row = [&](uint32_t t) {
        return head * cache_rows + t * slots + (beams ? ancestor[t * slots + row] : 0u);
      };
      std::vector<float> weights;
      for (uint32_t t = 0; t < n_keys; ++t) {
        int64_t dot = 0;
        for (uint32_t j = 0; j < d_head; ++j) dot += int64_t{query.q[j]} * keys[size_t{cache_row(t)} * d_head + j];
        weights.push_back((static_cast<float>(dot) * (query.scale * key_scales[cache_row(t)])) * 0.3f);
      }
      const float largest = *std::max_element(weights.begin(), weights.end());
      for (float& weight : weights) weight = integers ? short_exp_float(weight - largest) : exp_float(weight - largest);
      const float inverse = 1.0f / strided_sum(weights);
      for (uint32_t t = 0; t < n_keys; ++t)
        weights[t] = (integers ? weights[t] : weights[t] * inverse) * value_scales[cache_row(t)];
      const float f =
          std::fmin(16383.0f / *std::max_element(weights.begin(), weights.end()), 16777216.0f / strided_sum(weights));
      for (uint32_t j = 0; j < d_head; ++j) {
        float sum = 0;
        int64_t exact_sum = 0;
        for (uint32_t t = 0; t < n_keys && integers; ++t)
          exact_sum += std::llrint(weights[t] * f) * values[size_t{cache_row(t)} * d_head + j];
        if (integers) {
          ASSERT_EQ(out[at + j], static_cast<float>(exact_sum) * (inverse / f)) << n_keys << " keys, row " << row;
          continue;
        }
        for (uint32_t t = 0; t < n_keys; ++t)
          sum += weights[t] * static_cast<float>(values[size_t{cache_row(t)} * d_head + j]);
        ASSERT_EQ(out[at + j], sum) << n_keys << " keys, row " << row << ", head " << head << ", " << j;
      }
    }
  }
}

TEST(Attention, OverASentence) {
  for (uint32_t n_keys = 1; n_keys <= 40; ++n_keys) check_attention(n_keys, 16, false, false, n_keys);
  check_attention(20, 64, false, false, 100);
}

TEST(Attention, ThroughTheAncestorTable) {
  for (uint32_t n_keys = 1; n_keys <= 40; ++n_keys) check_attention(n_keys, 32, true, false, n_keys);
}

// From 1,033 equal weights on, their sum bounds them.
TEST(Attention, WithIntegerWeights) {
  for (uint32_t n_keys = 1; n_keys <= 40; ++n_keys) check_attention(n_keys, 32, n_keys % 2 == 0, true, n_keys);
  check_attention(5000, 16, false, true, 100);
}

bool computes_reference_bits(const Kernels& kernels) {
  alignas(64) uint8_t scratch[kBuildCheckBytes];
  return kernels_compute_reference_bits(kernels, scratch);
}

// Returns bits of all kinds: the ends of the range, anything, numbers like `other` and numbers a few exponents away.
uint32_t bits_like(uint32_t other, Rng& rng) {
  constexpr uint32_t kEnds[] = {0x00000000u, 0x00000001u, 0x007fffffu, 0x00800000u, 0x33800000u, 0x3f800000u,
      0x4b7fffffu, 0x7f000000u, 0x7f7fffffu, 0x7f800000u, 0x7fc00000u};
  const auto random = static_cast<uint32_t>(rng.bits());
  switch (rng.below(4)) {
    case 0: return kEnds[rng.below(static_cast<uint32_t>(std::size(kEnds)))] | (random & 0x80000000u);
    case 1: return (other ^ 0x80000000u) + rng.below(64) - 32;
    case 2:
      return (random & (rng.below(2) == 0 ? 0x807fffffu : 0x80000001u)) |
             ((other + (rng.below(56) << 23)) & 0x7f800000u);
    default: return random;
  }
}

bool same_number(float a, float b) { return float_bits(a) == float_bits(b) || (std::isnan(a) && std::isnan(b)); }

TEST(SoftFloats, EqualThisCpus) {
  Rng rng(1);
  for (uint32_t i = 0; i < 2000000; ++i) {
    const uint32_t a_bits = bits_like(static_cast<uint32_t>(rng.bits()), rng);
    const float a = bits_float(a_bits), b = bits_float(bits_like(a_bits, rng));
    ASSERT_TRUE(same_number(soft_multiply(a, b), a * b)) << a << " * " << b;
    ASSERT_TRUE(same_number(soft_add(a, b), a + b)) << a << " + " << b;
    const int32_t number = static_cast<int32_t>(a_bits) >> rng.below(32);
    ASSERT_TRUE(same_number(soft_to_float(number), static_cast<float>(number))) << number;
    const int32_t small = static_cast<int32_t>(rng.below(257)) - 128;
    ASSERT_TRUE(same_number(soft_multiply_int8(a, small), a * static_cast<float>(small))) << a << " * " << small;
  }
}

// Each factor that quantization can have, with numbers whose products are up to 127, next to halves, or tiny.
TEST(SoftFloats, RoundedProductsAreThoseOfTheFpu) {
  Rng rng(16);
  for (uint32_t i = 0; i < 400000; ++i) {
    const float amax = bits_float(0x2b800000u + static_cast<uint32_t>(rng.bits()) % (0x5b800001u - 0x2b800000u));
    const float factor = 127.0f / amax, half = (static_cast<float>(rng.below(255)) - 127.0f) * 0.5f;
    const float numbers[] = {amax * rng.uniform(), bits_float(float_bits(half / factor) + rng.below(3) - 1),
        bits_float(float_bits(amax * rng.uniform()) - (rng.below(40) << 23)), 0.0f, amax};
    for (const float x : numbers) {
      if (!(std::fabs(x) <= amax)) continue;
      ASSERT_EQ(soft_round_product(x, factor), static_cast<int32_t>(round_half_even(x * factor))) << x << ' ' << factor;
    }
  }
}

TEST(SoftFloats, ExponentialsAreThoseOfTheFpu) {
  for (uint64_t bits = 0x80000000u; bits <= 0xffffffffu; bits += 997) {
    const float x = bits_float(static_cast<uint32_t>(bits));
    ASSERT_EQ(float_bits(soft_exponential(x)), float_bits(exp_float(x))) << x;
  }
  for (const float x : {0.0f, -40.0f, std::nextafter(-40.0f, -41.0f), std::nextafter(-40.0f, 0.0f)})
    EXPECT_EQ(float_bits(soft_exponential(x)), float_bits(exp_float(x))) << x;
  EXPECT_EQ(float_bits(soft_exponential(bits_float(0x7fc00000u))), 0u);
}

TEST(BuildCheck, EveryTablePasses) {
  for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i)
    EXPECT_TRUE(computes_reference_bits(*table)) << table->name;
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
}}  // namespace goldcrest::test
