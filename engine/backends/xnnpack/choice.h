// SPDX-License-Identifier: Apache-2.0
// Measures which kernel computes a layer faster on this machine: XNNPACK's or the native one.
#pragma once

#include "backends/xnnpack/table.h"

namespace goldcrest {
constexpr uint32_t kMaxTrialRows = 32;

// Returns XnnpackLayer.row_classes: the classes in which table.linear on one thread is at least 5 % faster than
// native.linear. args: the rows of one layer to compute, at most kMaxTrialRows; all row_classes of that layer must be
// set in the table. Takes about a millisecond.
uint32_t faster_row_classes(
    const TypedKernels<int8_t>& table, const TypedKernels<int8_t>& native, const LinearArgs<int8_t>& args);
uint32_t faster_row_classes(
    const TypedKernels<float>& table, const TypedKernels<float>& native, const LinearArgs<float>& args);
}  // namespace goldcrest
