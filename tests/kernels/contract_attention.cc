// SPDX-License-Identifier: Apache-2.0
// Attention: of int8 numbers, and of fine rows, which have 16 bits.
#include "contract_inputs.h"
#include "kernels/reference/math.h"

namespace goldcrest::test {
namespace {
constexpr int kNoBias = 1;
constexpr uint32_t kEqualScales = 48;  // a turn of set_value_scales: all are 1
struct AttentionShape {
  uint32_t rows, n_keys, n_heads, d_head, slots;
  bool ancestors;
  int bias;  // its step from row to row, 0 or -1; kNoBias: there are no biases
};

// Seeded arguments of attention; `kind` fills the queries, kSpecial the scales too.
struct AttentionInputs {
  AttentionInputs(const AttentionShape& shape, Fill kind, Fill key_kind, bool fine, Rng& rng)
      : stride(size_t{shape.n_heads} * shape.d_head * (1 + rng.below(3))),
        q((shape.rows - 1) * stride + size_t{shape.n_heads} * shape.d_head),
        keys(size_t{shape.n_keys} * shape.slots * shape.n_heads * shape.d_head * (fine ? 2 : 1)),
        values(keys.size()),
        query(size_t{shape.d_head} * (fine ? 3 : 1)),
        key_scales(size_t{shape.n_keys} * shape.slots * shape.n_heads),
        value_scales(key_scales.size()),
        weights(pad16(shape.n_keys)),
        ancestor(size_t{2} * shape.n_keys * shape.slots),  // the second half is of the call that follows
        bias_stride(shape.rows - 1 + pad16(shape.n_keys) + rng.below(3)),
        bias((shape.n_heads - 1) * bias_stride + shape.rows - 1 + pad16(shape.n_keys)) {
    fill(bias, Fill::kRandom, rng);
    fill(q, kind, rng);
    fill(keys, key_kind, rng);
    fill(values, key_kind, rng);
    for (GuardedBuffer<float>* scales : {&key_scales, &value_scales}) {
      fill_scales(*scales, rng);
      const float special[] = {kNan, kInfinity, -kInfinity, -1.0f};
      if (kind == Fill::kSpecial) (*scales)[rng.below(static_cast<uint32_t>(scales->size()))] = special[rng.below(4)];
    }
    const size_t n_common = rng.below(shape.n_keys + 1);  // hypotheses share their past up to this position
    for (size_t i = 0; i < ancestor.size(); ++i) {
      const bool common = i / shape.slots < n_common && i % shape.slots != 0;
      ancestor[i] = common ? ancestor[i - 1] : static_cast<uint8_t>(rng.below(shape.slots));
    }
  }

  // If scores are equal, the largest scaled weight is at a guard of integer weights or next to it; one scale may
  // dominate.
  void set_value_scales(uint32_t turn, Rng& rng) {
    const float e = short_exp_float(0.0f), next = std::ldexp(1.0f + 0x1p-23f, static_cast<int>(turn % 3) - 1);
    const float guards[] = {kSmallestScaled / e * next, kLargestScaled / e * next, std::ldexp(1.0f, -140), 0.0f, 1.0f};
    const float single[] = {0x1p20f, 0x1p-20f, std::ldexp(1.0f, -130), kInfinity, kNan, -1.0f};
    if (turn % 11 < 5) std::fill(value_scales.begin(), value_scales.end(), guards[turn % 11]);
    if (turn % 7 < 6) value_scales[rng.below(static_cast<uint32_t>(value_scales.size()))] = single[turn % 7];
  }

  AttentionArgs<int8_t> args(const AttentionShape& shape, float* out) {
    AttentionArgs<int8_t> args = {};
    args.q = q.get();
    args.keys = keys.get();
    args.values = values.get();
    args.key_scales = key_scales.get();
    args.value_scales = value_scales.get();
    args.ancestor = shape.ancestors ? ancestor.get() : nullptr;
    args.out = out;
    args.weights = weights.get();
    args.q_row = query.get();
    args.q_stride = stride;
    args.out_stride = size_t{shape.n_heads} * shape.d_head;
    args.head_stride = size_t{shape.n_keys} * shape.slots;
    args.position_stride = args.ancestor_stride = shape.slots;
    args.rows = shape.rows;
    args.n_keys = shape.n_keys;
    args.n_heads = shape.n_heads;
    args.d_head = shape.d_head;
    args.scale = 0.125f;
    args.to_next = shape.ancestors ? args.head_stride : 0;
    if (shape.bias == kNoBias) return args;
    args.bias = bias.get() + shape.rows - 1;
    args.bias_stride = bias_stride;
    args.bias_step = shape.bias;
    return args;
  }

  size_t stride;
  GuardedBuffer<float> q;
  GuardedBuffer<int8_t> keys, values, query;
  GuardedBuffer<float> key_scales, value_scales, weights;
  GuardedBuffer<uint8_t> ancestor;
  size_t bias_stride;
  GuardedBuffer<float> bias;
};

using Attention = void (*)(const AttentionArgs<int8_t>&);
enum class Kind { kInt8, kFine, kIntegers };

Difference compare_attentions(Attention attention, Attention specified, uint64_t run, Kind attention_kind) {
  const bool fine = attention_kind == Kind::kFine, integer = attention_kind == Kind::kIntegers;
  Rng rng = rng_of(run, fine ? 14 : integer ? 15 : 5);
  uint32_t turn = 0;
  // More keys than fit the stack together with 4, 2 or 1 queries; then bounds of shared passes, which boards lack.
  std::vector<uint32_t> key_counts = {64, 95, 96, 127, 129, 200, 255, 256, 257};
  uint32_t most_rows = 9, most_keys = 300;  // with wide heads
#if !defined(__ARM_ARCH_PROFILE) || __ARM_ARCH_PROFILE != 'M'
  most_rows = 18, most_keys = 4096, key_counts.insert(key_counts.end(), {512, 513, 1025, 1500, 3072, 3073});
  if (integer) key_counts.insert(key_counts.end(), {16384, kMostIntegerKeys});
#endif
  if (integer) key_counts.push_back(1033);  // from here on, sums of equal weights are bounded
  for (uint32_t n = 1; n <= 70; ++n) key_counts.push_back(run == 0 ? n : rng.between(1, 300));
  for (const uint32_t n_keys : key_counts) {
    for (const uint32_t d_head : sizes_of(run, {16, 32, 48, 64, 80, 128, 144}, rng)) {
      for (const bool ancestors : {false, true}) {
        const bool is_long = n_keys > most_keys;  // the largest sums: equal weights, the largest values
        if (is_long && (d_head > 32 || ancestors)) continue;
        const uint32_t rows = 1 + rng.below(is_long       ? 5
                                            : n_keys > 70 ? most_rows
                                                          : 9),
                       slots = ancestors ? rows + rng.below(3) : 1 + rng.below(2);
        const uint32_t n_heads = n_keys > 64 ? 1 : 1 + rng.below(3);
        const int bias = static_cast<int>(turn % 3) - 1;  // each kind for each number of keys
        const AttentionShape shape = {rows, n_keys, n_heads, d_head, slots, ancestors, bias};
        const Fill kind = is_long ? Fill::kZero : kFloatFills[turn % 7];
        const Fill key_kind = is_long && d_head == 16 ? Fill::kLargest : kWeightFills[turn++ % 3];
        AttentionInputs inputs(shape, kind, key_kind, fine, rng);
        if (integer) inputs.set_value_scales(is_long && d_head == 16 ? kEqualScales : turn, rng);
        Outputs<float> out(size_t{rows} * n_heads * d_head);
        AttentionArgs<int8_t> args = inputs.args(shape, out.found.get());
        args.integer = integer;
        attention(args);
        args.out = out.expected.get();
        specified(args);
        if (!inputs.weights.intact() || !inputs.query.intact()) return "a write before the start of the scratch";
        if (const Difference d = out.difference("out")) {
          return in_case(d, "rows", rows, "keys", n_keys, "heads", n_heads, "d_head", d_head, "slots", slots,
              "ancestors", ancestors, "bias", shape.bias, "fill", static_cast<int>(kind));
        }
      }
    }
  }
  return {};
}

using Columns = std::array<float, 16>;
// Value scales: the first times e is 1, the last three times e and 16383 are 0.5, 2.5 and 3.5.
constexpr Columns kSteep = {0x1.0004b8p0f, 1.0f / 16383, 0.25f, 0x1.0008b8p-15f, 0x1.400ae4p-13f, 0x1.c00f4p-13f};

// Returns the outputs of keys with equal scores. Key t of the first six has this value scale times `factor`, and the
// value 1 in column t. All others have the scale 1 and no value.
Columns attend_to_units(const Kernels& table, const Columns& scales, float factor, uint32_t n_keys) {
  Rng rng(1);
  const AttentionShape shape = {1, n_keys, 1, 16, 1, false, kNoBias};
  AttentionInputs inputs(shape, Fill::kZero, Fill::kZero, false, rng);
  std::fill(inputs.value_scales.begin(), inputs.value_scales.end(), 1.0f);
  for (uint32_t t = 0; t < 6; ++t) inputs.value_scales[t] = factor * scales[t], inputs.values[t * 17] = 1;
  Columns out = {};
  AttentionArgs<int8_t> args = inputs.args(shape, out.data());
  args.integer = true;
  table.int8.attention(args);
  return out;
}

// Compares the contract's bounds as numbers of their own: tables and the reference share the constants. An output is a
// weight times the unit times the factor.
Difference compare_bounds(const Kernels& table) {
  constexpr Columns kFlat = {1, 1.0f / 8192, 0.4f / 8192, 0, 1, 1};
  constexpr float kFlatUnit = 0x1.ff404ap-25f, kSteepUnit = 0x1.5560f4p-17f;
  const struct {
    float factor, unit;
  } cases[] = {{1, kFlatUnit}, {1, kSteepUnit}, {0x1p-80f, kSteepUnit}, {0x1p60f, kSteepUnit}, {0x1.ffffp-81f, 0},
      {0x1.0001p60f, 0}, {kInfinity, 0}, {kNan, 0}};
  for (const auto& [factor, unit] : cases) {
    const bool is_flat = unit == kFlatUnit;
    const Columns out = attend_to_units(table, is_flat ? kFlat : kSteep, factor, is_flat ? 2051 : 6);
    const Columns weights = is_flat ? Columns{8192, 1, 0, 0, 8192, 8192} : Columns{16383, 1, 4095, 0, 2, 4};
    for (uint32_t t = 0; t < 16; ++t)
      if (!same(out[t], unit == 0 ? 0.0f : weights[t] * (unit * factor)))
        return in_case(Difference("a bound of integer weights"), "weight", t, "output", out[t], "factor", factor);
  }
  return {};
}

// Returns whether a table's weights may be integers: out is then +0 if the value scales are below their guard.
bool computes_integers(const Kernels& table) { return attend_to_units(table, kSteep, 0x1p-100f, 6) == Columns(); }
}  // namespace

Difference compare_attention(const Kernels& table, const Kernels& specification, uint64_t run) {
  return compare_attentions(table.int8.attention, specification.int8.attention, run, Kind::kInt8);
}

Difference compare_integer_attention(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (!computes_integers(specification)) return {};  // a build without them
  if (const Difference difference = compare_bounds(table)) return difference;
  return compare_attentions(table.int8.attention, specification.int8.attention, run, Kind::kIntegers);
}

Difference compare_fine_attention(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (table.fine_attention == nullptr || specification.fine_attention == nullptr) {
    return table.fine_attention == specification.fine_attention ? Difference()
                                                                : Difference("one of the tables lacks it");
  }
  return compare_attentions(table.fine_attention, specification.fine_attention, run, Kind::kFine);
}

Difference compare_quantize_fine(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (table.quantize_fine == nullptr || specification.quantize_fine == nullptr)
    return table.quantize_fine == specification.quantize_fine ? Difference() : Difference("one of the tables lacks it");
  Rng rng = rng_of(run, 13);
  for (const uint32_t n : sizes_of(run, kWidths, rng)) {
    for (uint32_t rows = 1; rows <= 5; ++rows) {
      for (const Fill kind : kFloatFills) {
        const size_t x_stride = n + 16 * rng.below(2), q_stride = 2 * n + 16 * rng.below(2);
        const size_t scale_stride = 1 + rng.below(3);
        GuardedBuffer<float> x((rows - 1) * x_stride + n);
        fill(x, kind, rng);
        Outputs<int8_t> q((rows - 1) * q_stride + 2 * n);
        Outputs<float> scale((rows - 1) * scale_stride + 1);
        table.quantize_fine({x.get(), q.found.get(), scale.found.get(), x_stride, q_stride, scale_stride, rows, n});
        specification.quantize_fine(
            {x.get(), q.expected.get(), scale.expected.get(), x_stride, q_stride, scale_stride, rows, n});
        for (const Difference& d : {q.difference("q"), scale.difference("scale")})
          if (d) return in_case(d, "rows", rows, "n", n, "fill", static_cast<int>(kind));
      }
    }
  }
  return {};
}
}  // namespace goldcrest::test
