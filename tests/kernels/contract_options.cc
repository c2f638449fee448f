// SPDX-License-Identifier: Apache-2.0
// Slots that a build has only with their option; without it they are null. The recurrent block: gates of every kind,
// cells that keep their value, cells that become zero, the first position. The end of a layer with fine inputs, and
// such inputs and layers in one pass. Packed weights.
#include "contract_inputs.h"
#include "kernels/reference/reference.h"

namespace goldcrest::test {
namespace {
// Computes a layer with fine inputs as tables without linear_fine do.
void linear_and_finish(const Kernels& table, const LinearArgs<int8_t>& args) {
  std::vector<float> products(size_t{2} * args.rows * args.n);
  const std::vector<float> zeros(args.n);
  LinearArgs<int8_t> both = args;
  both.rows = 2 * args.rows;
  both.bias = zeros.data();
  both.residual = nullptr;
  both.y = products.data();
  both.y_stride = args.n;
  both.activation = Activation::kNone;
  both.shared = nullptr;
  table.int8.linear(both);
  table.finish_fine(args, products.data());
}

struct FineShape {
  uint32_t rows, n, k;
};

Difference compare_fine_shape(
    const Kernels& table, const Kernels& specification, const FineShape& shape, uint32_t turn, Rng& rng) {
  const auto [rows, n, k] = shape;
  const Fill kind = kWeightFills[turn % 5];
  const uint32_t place = turn % 3, n_calls = 1 + turn % 2;  // no residual, one that is apart, one that is y
  const size_t y_stride = n + 16 * rng.below(2), size = (rows - 1) * y_stride + n;
  LinearInputs inputs(2 * rows, n, k, kind, rng);
  fill(inputs.bias, Fill::kSpecial, rng);
  GuardedBuffer<float> residual(size);
  fill(residual, Fill::kSpecial, rng);
  Outputs<float> y(size);
  for (size_t i = 0; i < size; ++i) y.set(i, rng.uniform());
  LinearArgs<int8_t> args = inputs.args(rows, n, k, Layout::kN16K4, y.found.get());
  args.y_stride = y_stride;
  args.activation = kActivations[turn % 7 % 5];
  InputSpace<> space;
  if (turn % 4 == 0) args.shared = &space.shared;
  for (uint32_t call = 0; call < n_calls; ++call) {  // a second call reuses the shared inputs
    if (place != 0) args.residual = place == 1 ? residual.get() : y.found.get();
    args.y = y.found.get();
    table.linear_fine(args);
    if (place == 2) args.residual = y.expected.get();
    args.y = y.expected.get();
    linear_and_finish(specification, args);
  }
  return in_case(y.difference("y"), "rows", rows, "n", n, "k", k, "activation", static_cast<int>(args.activation),
      "residual", place, "calls", n_calls, "shared", args.shared != nullptr, "fill", static_cast<int>(kind));
}
}  // namespace

Difference compare_recurrence(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (table.recurrence == nullptr && specification.recurrence == nullptr)
    return {};  // both are null without GOLDCREST_LAYERS
  Rng rng = rng_of(run, 10);
  for (const uint32_t n : sizes_of(run, kWidths, rng)) {
    for (const Fill kind : kFloatFills) {
      for (const bool first : {false, true}) {  // the first position, later ones
        GuardedBuffer<float> input(n), forget(n), past(n);
        fill(input, kind, rng);
        fill(forget, Fill::kSpecial, rng);
        fill(past, kind, rng);
        for (float& value : forget) value *= 30;  // so some gates close and open fully
        Outputs<float> cell(n), y(n);
        for (size_t i = 0; i < n; ++i) y.set(i, 4 * rng.uniform());
        const float* const before = first ? nullptr : past.get();
        table.recurrence({input.get(), forget.get(), before, cell.found.get(), y.found.get(), n});
        specification.recurrence({input.get(), forget.get(), before, cell.expected.get(), y.expected.get(), n});
        for (const Difference& d : {cell.difference("cell"), y.difference("y")})
          if (d) return in_case(d, "n", n, "fill", static_cast<int>(kind), "first position", first);
      }
    }
  }
  return {};
}

Difference compare_finish_fine(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (table.finish_fine == nullptr || specification.finish_fine == nullptr)
    return table.finish_fine == specification.finish_fine ? Difference() : Difference("one of the tables lacks it");
  Rng rng = rng_of(run, 12);
  uint32_t turn = 0;
  for (const uint32_t n : sizes_of(run, kWidths, rng)) {
    for (const Fill kind : kFloatFills) {
      for (const Activation activation : kActivations) {
        const uint32_t rows = 1 + rng.below(4), place = turn++ % 3;  // no residual, one that is apart, one that is y
        const size_t y_stride = n + 16 * rng.below(2), size = (rows - 1) * y_stride + n;
        GuardedBuffer<float> products(size_t{2} * rows * n), bias(n), residual(size);
        fill(products, kind, rng);
        fill(bias, Fill::kSpecial, rng);
        fill(residual, kind, rng);
        Outputs<float> y(size);
        for (size_t i = 0; i < size; ++i) y.set(i, rng.uniform());
        LinearArgs<int8_t> args = {};
        args.bias = bias.get();
        args.residual = place == 0 ? nullptr : place == 1 ? residual.get() : y.found.get();
        args.y = y.found.get();
        args.y_stride = y_stride;
        args.rows = rows;
        args.n = n;
        args.activation = activation;
        table.finish_fine(args, products.get());
        if (place == 2) args.residual = y.expected.get();
        args.y = y.expected.get();
        specification.finish_fine(args, products.get());
        if (const Difference d = y.difference("y")) {
          return in_case(d, "rows", rows, "n", n, "activation", static_cast<int>(activation), "residual", place, "fill",
              static_cast<int>(kind));
        }
      }
    }
  }
  return {};
}

Difference compare_quantize_fine_inputs(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (table.quantize_fine_inputs == nullptr) return {};
  Rng rng = rng_of(run, 16);
  for (const uint32_t n : sizes_of(run, kWidths, rng)) {
    for (const Fill kind : kFloatFills) {
      const uint32_t rows = 1 + rng.below(4);
      const size_t x_stride = n + 16 * rng.below(2), size = size_t{rows} * n;
      GuardedBuffer<float> x((rows - 1) * x_stride + n), remainders(n);
      fill(x, kind, rng);
      Outputs<int8_t> q(2 * size);
      Outputs<float> scale(2 * rows);
      table.quantize_fine_inputs(
          {x.get(), q.found.get(), scale.found.get(), x_stride, n, 1, rows, n}, remainders.get());
      for (uint32_t row = 0; row < rows; ++row) {
        const float* const inputs = x.get() + row * x_stride;
        int8_t* const quantized = q.expected.get() + size_t{row} * n;
        float* const input_scale = scale.expected.get() + row;
        specification.int8.quantize_rows({inputs, quantized, input_scale, n, n, 1, 1, n});
        for (uint32_t i = 0; i < n; ++i) remainders[i] = static_cast<float>(quantized[i]) * -*input_scale + inputs[i];
        specification.int8.quantize_rows({remainders.get(), quantized + size, input_scale + rows, n, n, 1, 1, n});
      }
      for (const Difference& d : {q.difference("q"), scale.difference("scale")})
        if (d) return in_case(d, "rows", rows, "n", n, "fill", static_cast<int>(kind));
    }
  }
  return {};
}

Difference compare_linear_fine(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (table.linear_fine == nullptr) return {};
  if (specification.finish_fine == nullptr) return Difference("this build has no fine inputs");
  Rng rng = rng_of(run, 15);
  uint32_t turn = 0;
  for (uint32_t rows = 1; rows <= 10; ++rows) {
    if (rows == 10) rows = 131;
    for (const uint32_t n : sizes_of(run, {16, 48, 80}, rng)) {
      for (const uint32_t k : sizes_of(run, kWidths, rng)) {
        if (rows > 9 && n + k > 64) continue;
        if (Difference d = compare_fine_shape(table, specification, {rows, n, k}, turn++, rng)) return d;
      }
    }
  }
  // More rows, inputs or weights than a table takes at once.
  const uint32_t many_inputs[] = {2048, 2064, 4096, kMostFineInputs - 16, kMostFineInputs};
  for (const uint32_t k : many_inputs) {
    for (const uint32_t rows : {1u, 3u, 5u, 17u}) {
      const uint32_t n = rows == 17 && k == 4096 ? 144 : 80;
      if (Difference d = compare_fine_shape(table, specification, {rows, n, k}, turn++, rng)) return d;
    }
  }
  return {};
}

namespace {
// Fills a packed matrix, and inputs.w with the int8 matrix that it is (FORMAT.md, "Packed weights").
void fill_packed(GuardedBuffer<int8_t>& nibbles, GuardedBuffer<int8_t>& multipliers, LinearInputs& inputs, uint32_t k,
    Layout layout, uint32_t turn, Rng& rng) {
  const uint32_t outputs = layout == Layout::kN16K4 ? 16 : 4, each = 64 / outputs, groups = (k + 31) / 32;
  const auto n = static_cast<uint32_t>(inputs.w.size() / k);
  std::memset(nibbles.get(), 0x88, nibbles.size());
  for (int8_t& m : multipliers) m = static_cast<int8_t>(turn % 3 == 0 ? 15 : static_cast<int>(rng.below(31)) - 15);
  for (uint32_t row = 0; row < n; ++row) {
    for (uint32_t column = 0; column < k; ++column) {
      const int nibble = turn % 3 == 0   ? 0
                         : turn % 3 == 1 ? 15 * static_cast<int>(rng.below(2))
                                         : static_cast<int>(rng.below(16));
      const size_t at = size_t{row / outputs} * outputs * groups * 16 + size_t{column / (2 * each)} * 64 +
                        row % outputs * each + column % each;
      const int shift = column / each % 2 == 0 ? 0 : 4;
      nibbles[at] = static_cast<int8_t>((nibbles[at] & ~(15 << shift)) | nibble << shift);
      const int m = multipliers[(size_t{row / 16} * groups + column / 32) * 16 + row % 16];
      inputs
          .w[size_t{row / outputs} * outputs * k + size_t{column / each} * 64 + row % outputs * each + column % each] =
          static_cast<int8_t>(m * (nibble - 8));
    }
  }
}

#if defined(__linux__) || defined(__wasm__)
constexpr bool kIsBoard = false;
#else
constexpr bool kIsBoard = true;
#endif

struct PackedShape {
  uint32_t rows, n, k;
  Layout layout;
};

Difference compare_packed_shape(
    const Kernels& table, const Kernels& specification, const PackedShape& shape, uint32_t turn, Rng& rng) {
  const auto [rows, n, k, layout] = shape;
  LinearInputs inputs(rows, n, k, turn % 3 == 0 ? Fill::kLargest : Fill::kRandom, rng);
  GuardedBuffer<int8_t> nibbles(size_t{n} * ((k + 31) / 32) * 16), multipliers(size_t{n} * ((k + 31) / 32));
  fill_packed(nibbles, multipliers, inputs, k, layout, turn, rng);
  Outputs<float> y(size_t{rows} * n);
  const LinearArgs<int8_t> args = inputs.args(rows, n, k, layout, y.expected.get());
  specification.int8.linear(args);
  LinearArgs<int8_t> packed = args;
  packed.w = nibbles.get();
  packed.multipliers = multipliers.get();
  packed.y = y.found.get();
  linear_packed(table, packed);
  return in_case(y.difference("y"), "rows", rows, "n", n, "k", k, "layout", static_cast<int>(layout), "turn", turn);
}
}  // namespace

Difference compare_linear_packed(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (!runs_packed()) return {};
  Rng rng = rng_of(run, 15);
  uint32_t turn = 0;
  for (const Layout layout : {Layout::kN16K4, Layout::kN4K16}) {
    for (const uint32_t rows : {1u, 2u, 3u, 4u, 5u, 8u, 13u, 17u, 64u})
      for (const uint32_t n : sizes_of(run, {16, 32, 80, 272}, rng))
        for (const uint32_t k : sizes_of(run, kWidths, rng))
          if (Difference d = compare_packed_shape(table, specification, {rows, n, k, layout}, turn++, rng)) return d;
    for (const uint32_t k : {2048u, 2064u, 4096u, 12304u, 65536u}) {
      for (const uint32_t rows : {1u, 5u, kIsBoard ? 1u : 9u}) {
        const uint32_t n = kIsBoard && k == 65536 ? 16 : 48;  // what a board's memory holds
        if (Difference d = compare_packed_shape(table, specification, {rows, n, k, layout}, turn++, rng)) return d;
      }
    }
  }
  if (kIsBoard) return {};
  return compare_packed_shape(table, specification, {1, 40000, 16, Layout::kN16K4}, turn, rng);
}
}  // namespace goldcrest::test
