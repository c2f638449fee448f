// SPDX-License-Identifier: Apache-2.0
// Slots that a build has only with their option; without it they are null. The recurrent block: gates of every kind,
// cells that keep their value, cells that become zero, the first position. The end of a layer with fine inputs.
#include "contract_inputs.h"

namespace goldcrest::test {

Difference compare_recurrence(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (table.recurrence == nullptr && specification.recurrence == nullptr)
    return {};  // both are null without GOLDCREST_SSRU
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
        for (const Difference& d : {cell.difference("cell"), y.difference("y")}) {
          if (d) return in_case(d, "n", n, "fill", static_cast<int>(kind), "first position", first);
        }
      }
    }
  }
  return {};
}

Difference compare_finish_fine(const Kernels& table, const Kernels& specification, uint64_t run) {
  if (table.finish_fine == nullptr || specification.finish_fine == nullptr) {
    return table.finish_fine == specification.finish_fine ? Difference() : Difference("one of the tables lacks it");
  }
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
        FinishFineArgs args = {products.get(), bias.get(), residual.get(), y.found.get(), y_stride,
                               rows,           n,          activation};
        if (place != 1) args.residual = place == 0 ? nullptr : y.found.get();
        table.finish_fine(args);
        if (place == 2) args.residual = y.expected.get();
        args.y = y.expected.get();
        specification.finish_fine(args);
        if (const Difference d = y.difference("y")) {
          return in_case(d, "rows", rows, "n", n, "activation", static_cast<int>(activation), "residual", place, "fill",
                         static_cast<int>(kind));
        }
      }
    }
  }
  return {};
}

}  // namespace goldcrest::test
