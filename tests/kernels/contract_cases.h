// SPDX-License-Identifier: Apache-2.0
// Two kernel tables on the same arguments: the first difference in what they write, or none.
#pragma once

#include <optional>
#include <string>

#include "kernels/kernels.h"

namespace goldcrest::test {

// A description of the first case whose output bits differ (two NaN are equal, whatever their payload). All buffers end
// on an unmapped page and are checked for writes before their start.
using Difference = std::optional<std::string>;

// Run 0 has the sizes that are easy to get wrong; each further run draws its own, and all runs their contents, from the
// run's number.
struct ContractCase {
  const char* slot;
  Difference (*compare)(const Kernels& table, const Kernels& specification, uint64_t run);
};

Difference compare_recurrence(const Kernels& table, const Kernels& specification, uint64_t run);

// One for each slot of Kernels; null slot at the end.
extern const ContractCase kContractCases[];

}  // namespace goldcrest::test
