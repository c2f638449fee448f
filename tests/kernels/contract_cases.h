// SPDX-License-Identifier: Apache-2.0
// Runs two kernel tables on the same arguments and returns the first difference in their outputs, if any.
#pragma once

#include <optional>
#include <string>
#include "kernels/kernels.h"

namespace goldcrest::test {
// Describes the first case whose output bits differ (two NaN are equal, whatever their payload). All buffers end on an
// unmapped page and are checked for writes before their start.
using Difference = std::optional<std::string>;

// Run 0 has the sizes that are easy to get wrong; each further run draws its own sizes. All runs draw their contents
// from the run's number.
struct ContractCase {
  const char* slot;
  Difference (*compare)(const Kernels& table, const Kernels& specification, uint64_t run);
};

Difference compare_attention(const Kernels& table, const Kernels& specification, uint64_t run);
Difference compare_integer_attention(const Kernels& table, const Kernels& specification, uint64_t run);
Difference compare_quantize_fine(const Kernels& table, const Kernels& specification, uint64_t run);
Difference compare_fine_attention(const Kernels& table, const Kernels& specification, uint64_t run);
Difference compare_recurrence(const Kernels& table, const Kernels& specification, uint64_t run);
Difference compare_finish_fine(const Kernels& table, const Kernels& specification, uint64_t run);
Difference compare_quantize_fine_inputs(const Kernels& table, const Kernels& specification, uint64_t run);
Difference compare_linear_fine(const Kernels& table, const Kernels& specification, uint64_t run);
Difference compare_linear_packed(const Kernels& table, const Kernels& specification, uint64_t run);

// One case for each slot of Kernels; a null slot ends the list.
extern const ContractCase kContractCases[];
}  // namespace goldcrest::test
