// SPDX-License-Identifier: Apache-2.0
// Which kernel computes a layer faster on this machine, XNNPACK's or the native one: by measurement.
#pragma once

#include "backends/xnnpack/table.h"

namespace goldcrest {

constexpr uint32_t kMaxTrialRows = 32;

// XnnpackLayer.row_classes: the classes in which table.linear, one thread, is at least 5 % faster than native.linear.
// args: [rows] rows of one layer to compute, which the table finds with all its row_classes set; rows <=
// kMaxTrialRows. Takes about a millisecond.
uint32_t faster_row_classes(const TypedKernels<int8_t>& table, const TypedKernels<int8_t>& native,
                            const LinearArgs<int8_t>& args);
uint32_t faster_row_classes(const TypedKernels<float>& table, const TypedKernels<float>& native,
                            const LinearArgs<float>& args);

}  // namespace goldcrest
