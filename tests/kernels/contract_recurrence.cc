// SPDX-License-Identifier: Apache-2.0
// The recurrent block: gates of every kind, cells that keep their value, cells that become zero, the first position.
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

}  // namespace goldcrest::test
