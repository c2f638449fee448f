// SPDX-License-Identifier: Apache-2.0
// Tests the slots of a kernel table one by one: seeded arguments of many shapes and kinds, two runs, one comparison.
#include "contract_cases.h"
#include "contract_inputs.h"

namespace goldcrest::test {
namespace {
constexpr Layout kPackedLayouts[] = {Layout::kN16K4, Layout::kN4K16};
constexpr Layout kAllLayouts[] = {Layout::kRowMajor, Layout::kN16K4, Layout::kN4K16};

Difference compare_quantize_rows(const Kernels& table, const Kernels& specification, uint64_t run) {
  Rng rng = rng_of(run, 1);
  for (const uint32_t n : sizes_of(run, kWidths, rng)) {
    for (uint32_t rows = 1; rows <= 9; ++rows) {
      for (const Fill kind : kFloatFills) {
        const size_t x_stride = n + 16 * rng.below(2), q_stride = n + 16 * rng.below(2),
                     scale_stride = 1 + rng.below(3);
        GuardedBuffer<float> x((rows - 1) * x_stride + n);
        fill(x, kind, rng);
        Outputs<int8_t> q((rows - 1) * q_stride + n);
        Outputs<float> scale((rows - 1) * scale_stride + 1);
        table.int8.quantize_rows(
            {x.get(), q.found.get(), scale.found.get(), x_stride, q_stride, scale_stride, rows, n});
        specification.int8.quantize_rows(
            {x.get(), q.expected.get(), scale.expected.get(), x_stride, q_stride, scale_stride, rows, n});
        for (const Difference& d : {q.difference("q"), scale.difference("scale")})
          if (d) return in_case(d, "rows", rows, "n", n, "fill", static_cast<int>(kind));
      }
    }
  }
  return {};
}

struct LinearShape {
  uint32_t rows, n, k;
  Layout layout;
};

Difference compare_linear_shape(
    const Kernels& table, const Kernels& specification, const LinearShape& shape, uint32_t turn, Rng& rng) {
  const auto [rows, n, k, layout] = shape;
  // Two products of 254 with 64 or 65 are next to 2^15, where x86_avx2 must not add them in 16 bits.
  const Fill kind = turn % 11 == 0 ? Fill::kMiddle : kWeightFills[turn % 5];
  const auto activation = kActivations[turn % 7 % 5];
  LinearInputs inputs(rows, n, k, kind, rng);
  Outputs<float> y(size_t{rows} * n);
  LinearArgs<int8_t> args = inputs.args(rows, n, k, layout, y.found.get());
  args.activation = activation;
  args.residual = (turn + 1) % 3 == 0 ? inputs.residual.get() : nullptr;
  table.int8.linear(args);
  args.y = y.expected.get();
  specification.int8.linear(args);
  const Difference d = y.difference("y");
  if (!d) return {};
  return in_case(d, "rows", rows, "n", n, "k", k, "layout", static_cast<int>(layout), "activation",
      static_cast<int>(activation), "fill", static_cast<int>(kind));
}

Difference compare_linear(const Kernels& table, const Kernels& specification, uint64_t run) {
  Rng rng = rng_of(run, 2);
  uint32_t turn = 0;
  for (const Layout layout : kPackedLayouts) {
    for (uint32_t rows = 1; rows <= 18; ++rows) {
      if (rows == 18) rows = 259;  // more rows than some tables take at once
      for (const uint32_t n : sizes_of(run, {16, 32, 48, 80}, rng)) {
        for (const uint32_t k : sizes_of(run, kWidths, rng)) {
          if (rows > 17 && n + k > 64) continue;
          if (Difference d = compare_linear_shape(table, specification, {rows, n, k, layout}, turn++, rng)) return d;
        }
      }
    }
    // More inputs than some tables keep for all rows; more rows or weights than some take at once.
    for (const uint32_t k : {2048u, 2064u, 4096u, 4112u, 12288u, 12304u}) {
      for (const uint32_t rows : {2u, 5u, 13u, 17u}) {
        const uint32_t n = rows == 17 && k == 4096 ? 144 : 80;
        if (Difference d = compare_linear_shape(table, specification, {rows, n, k, layout}, turn++, rng)) return d;
      }
    }
  }
  return {};
}

Difference compare_embed(const Kernels& table, const Kernels& specification, uint64_t run) {
  Rng rng = rng_of(run, 3);
  for (const Layout layout : kAllLayouts) {
    for (const uint32_t n : sizes_of(run, kWidths, rng)) {
      const uint32_t vocab_size = 32;
      GuardedBuffer<int8_t> w(size_t{vocab_size} * n);
      fill(w, Fill::kRandom, rng);
      GuardedBuffer<float> scale(vocab_size), position(n);
      fill_scales(scale, rng);
      fill(position, Fill::kRandom, rng);
      for (uint32_t token = 0; token < vocab_size; ++token) {
        Outputs<float> y(n);
        EmbedArgs<int8_t> args = {w.get(), scale.get(), position.get(), y.found.get(), token, n, 2.5f, layout};
        table.int8.embed(args);
        args.y = y.expected.get();
        specification.int8.embed(args);
        if (const Difference d = y.difference("y"))
          return in_case(d, "token", token, "n", n, "layout", static_cast<int>(layout));
      }
    }
  }
  return {};
}

Difference compare_layer_norm(const Kernels& table, const Kernels& specification, uint64_t run) {
  Rng rng = rng_of(run, 4);
  uint32_t turn = 0;
  for (uint32_t n = 1; n <= 1030; n += n < 130 ? 1 : 37) {
    for (const Fill kind : kFloatFills) {
      const uint32_t padded = pad16(n), rows = 1 + rng.below(5);
      const size_t stride = padded + 16 * rng.below(2), size = (rows - 1) * stride + padded;
      GuardedBuffer<float> x(size), gamma(padded), beta(padded);
      fill(x, kind, rng);
      fill(gamma, Fill::kRandom, rng);
      fill(beta, Fill::kRandom, rng);
      Outputs<float> y(size), in_place(size);
      for (size_t i = 0; i < size; ++i) in_place.set(i, x[i]);
      LayerNormArgs args = {x.get(), y.found.get(), gamma.get(), beta.get(), stride, rows, n, padded, 1e-5f};
      args.centred = turn++ % 2 == 0;  // with both, each width
      table.layer_norm(args);
      args.y = y.expected.get();
      specification.layer_norm(args);
      args.x = args.y = in_place.found.get();
      table.layer_norm(args);
      args.x = args.y = in_place.expected.get();
      specification.layer_norm(args);
      for (const Difference& d : {y.difference("y"), in_place.difference("y, in place")})
        if (d) return in_case(d, "rows", rows, "n", n, "centred", args.centred, "fill", static_cast<int>(kind));
    }
  }
  return {};
}

Difference compare_output_block(const Kernels& table, const Kernels& specification, uint64_t run) {
  Rng rng = rng_of(run, 6);
  for (const Layout layout : kPackedLayouts) {
    for (uint32_t count = 1; count <= kOutputBlock; count += count < 40 || count > 230 ? 1 : 23) {
      const uint32_t rows = 1 + rng.below(9), n = pad16(count), k = 16 * (1 + rng.below(8)), stride = 1 + rng.below(4);
      LinearInputs inputs(rows, n, k, kWeightFills[count % 5], rng);
      Outputs<float> y((rows - 1) * kOutputBlock + n), largest((rows - 1) * stride + 1), sum((rows - 1) * stride + 1);
      OutputBlockArgs<int8_t> args = {};
      args.linear = inputs.args(rows, n, k, layout, y.found.get());
      args.linear.y_stride = kOutputBlock;
      args.count = count;
      args.block_max = count % 4 != 0 ? largest.found.get() : nullptr;
      args.block_sum = sum.found.get();
      args.stride = stride;
      InputSpace<> space;
      for (size_t i = 0; i < y.found.size(); ++i) y.set(i, rng.uniform());  // with fine inputs, of the remainders
      args.linear.residual = count % 3 == 1 ? y.found.get() : nullptr;
      if (count % 3 == 0) {  // the second call reuses what the first has stored in `shared`
        args.linear.shared = &space.shared;
        table.int8.output_block(args);
      }
      table.int8.output_block(args);
      args.linear.y = y.expected.get();
      if (count % 3 == 1) args.linear.residual = y.expected.get();
      if (args.block_max != nullptr) args.block_max = largest.expected.get();
      args.block_sum = sum.expected.get();
      specification.int8.output_block(args);
      for (const Difference& d : {y.difference("logits"), largest.difference("max"), sum.difference("sum")})
        if (d) return in_case(d, "rows", rows, "count", count, "k", k, "layout", static_cast<int>(layout));
    }
  }
  return {};
}

// A list of the largest numbers in guarded memory.
struct List {
  explicit List(uint32_t capacity) : values(capacity), tokens(capacity) {}

  LargestNumbers numbers() { return {values.get(), tokens.get(), &count, static_cast<uint32_t>(values.size())}; }
  bool operator==(const List& other) const {
    return count == other.count && std::memcmp(values.get(), other.values.get(), count * sizeof(float)) == 0 &&
           std::equal(tokens.get(), tokens.get() + count, other.tokens.get());
  }

  GuardedBuffer<float> values;
  GuardedBuffer<int32_t> tokens;
  uint32_t count = 0;
};

Difference compare_list_largest(const Kernels& table, const Kernels& specification, uint64_t run) {
  Rng rng = rng_of(run, 7);
  for (uint32_t n = 1; n <= 256; n += 1 + n / 20) {
    for (const Fill kind : kFloatFills) {
      for (const uint32_t capacity : {1u, 2u, 5u, 8u, 16u, 17u, 32u}) {
        List found(capacity), expected(capacity);
        std::vector<uint32_t> ids(n);
        // Several blocks enter the same list. The tokens of all ascend.
        for (uint32_t block = 0, token = 0; block < 4; ++block, token += 3 * n) {
          GuardedBuffer<float> x(n);
          fill(x, kind, rng);
          for (uint32_t i = 0; i < n; ++i) ids[i] = token + 2 * i + 1;
          const uint32_t* const given = rng.below(2) == 0 ? ids.data() : nullptr;
          table.list_largest({x.get(), given, token, n, found.numbers()});
          specification.list_largest({x.get(), given, token, n, expected.numbers()});
          if (!(found == expected)) return in_case(Difference("list"), block, "n", n, "capacity", capacity);
        }
      }
    }
  }
  return {};
}

Difference compare_checksums(const Kernels& table, const Kernels& specification, size_t n, Rng& rng) {
  constexpr size_t kAlignments = 16;
  GuardedBuffer<int8_t> bytes(n + kAlignments);
  fill(bytes, Fill::kRandom, rng);
  for (size_t begin = 0; begin <= kAlignments; ++begin) {  // the last range ends on the unmapped page
    const auto crc = static_cast<uint32_t>(rng.bits());    // the checksum of the bytes before
    if (table.crc32c(crc, bytes.get() + begin, n) != specification.crc32c(crc, bytes.get() + begin, n))
      return in_case(Difference("checksum"), "begin", begin, "n", n);
  }
  return {};
}

Difference compare_crc32c(const Kernels& table, const Kernels& specification, uint64_t run) {
  Rng rng = rng_of(run, 8);
  for (size_t n = 0; n <= 600; ++n)
    if (Difference d = compare_checksums(table, specification, n, rng)) return d;
  for (const size_t n : {1023u, 4096u, 6143u, 6144u, 6145u, 12287u, 12288u, 12295u, 20000u})
    if (Difference d = compare_checksums(table, specification, n, rng)) return d;
  return {};
}

enum Damage { kNone, kMinus128, kMinus128WithItsSum, kOneSum, kTwoSums, kDamages };

struct WeightsCase {
  uint32_t k;
  Layout layout;
  const int32_t* sums;  // null: the check leaves them out
};

Difference compare_damaged_weights(
    const Kernels& table, const Kernels& specification, LinearInputs& inputs, const WeightsCase& weights, Rng& rng) {
  const auto [k, layout, sums] = weights;
  const auto size = static_cast<uint32_t>(inputs.w.size()), n = size / k;
  for (int damage = 0; damage < (sums != nullptr ? kDamages : kMinus128WithItsSum); ++damage) {
    for (const uint32_t at : {rng.below(2) * (size - 1), rng.below(size)}) {  // at one end, and anywhere
      const int8_t weight = inputs.w[at];
      const uint32_t output = rng.below(n), other = output ^ 1;
      const std::vector<int32_t> right(inputs.sum.begin(), inputs.sum.end());
      if (damage == kMinus128 || damage == kMinus128WithItsSum) inputs.w[at] = -128;
      if (damage == kMinus128WithItsSum) inputs.args(1, n, k, layout, nullptr);
      if (damage >= kOneSum) inputs.sum[output] += 1;
      if (damage >= kTwoSums) inputs.sum[other] -= 1;
      const bool found = table.weights_valid(inputs.w.get(), sums, n, k, layout);
      if (found != specification.weights_valid(inputs.w.get(), sums, n, k, layout)) {
        return in_case(Difference("answer"), found, "n", n, "k", k, "layout", static_cast<int>(layout), "damage",
            damage, "at", at, "output", output);
      }
      inputs.w[at] = weight;
      std::copy(right.begin(), right.end(), inputs.sum.begin());
    }
  }
  return {};
}

Difference compare_weights_valid(const Kernels& table, const Kernels& specification, uint64_t run) {
  Rng rng = rng_of(run, 9);
  for (const Layout layout : kAllLayouts) {
    for (const uint32_t n : sizes_of(run, {16, 48}, rng)) {
      for (const uint32_t k : sizes_of(run, kWidths, rng)) {
        for (const Fill kind : {Fill::kRandom, Fill::kSmallest}) {
          LinearInputs inputs(1, n, k, kind, rng);
          const int32_t *const none = nullptr, *const sums = inputs.args(1, n, k, layout, nullptr).weight_sum;
          for (const int32_t* checked : {layout != Layout::kRowMajor ? sums : none, none}) {
            const WeightsCase weights = {k, layout, checked};
            if (Difference d = compare_damaged_weights(table, specification, inputs, weights, rng)) return d;
          }
        }
      }
    }
  }
  return {};
}
}  // namespace

const ContractCase kContractCases[] = {
    {"quantize_rows", compare_quantize_rows},
    {"linear", compare_linear},
    {"embed", compare_embed},
    {"layer_norm", compare_layer_norm},
    {"recurrence", compare_recurrence},
    {"finish_fine", compare_finish_fine},
    {"quantize_fine_inputs", compare_quantize_fine_inputs},
    {"linear_fine", compare_linear_fine},
    {"linear_packed", compare_linear_packed},
    {"attention", compare_attention},
    {"integer_attention", compare_integer_attention},
    {"quantize_fine", compare_quantize_fine},
    {"fine_attention", compare_fine_attention},
    {"output_block", compare_output_block},
    {"list_largest", compare_list_largest},
    {"crc32c", compare_crc32c},
    {"weights_valid", compare_weights_valid},
    {nullptr, nullptr},
};
}  // namespace goldcrest::test
