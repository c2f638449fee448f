// SPDX-License-Identifier: Apache-2.0
// The frontend: samples or feature rows pass convolutions and become encoder rows. A convolution is a linear layer over
// windows, which are contiguous because rows are stored one after another. A task computes a few encoder rows at a time
// and all input rows that these need, so its scratch does not grow with the clip.
#pragma once

#include "layers/rows.h"
#include "model/frontend_view.h"

namespace goldcrest {
// Below every feature of a log-mel: the largest feature of a clip before anything is measured.
constexpr float kLeastFeature = -100.0f;

// Returns the multiply-accumulates of the largest step of run_frontend, measuring or computing.
uint64_t largest_frontend_step_macs(const FrontendView& view, const goldcrest_limits& limits);

BufferRef plan_frontend(Plan& plan, const FrontendView& view);

// x <- a block of the batch's rows, [block.count, d_model padded], positions added. Continues each clip's checksum with
// the samples of these rows. If x is null, this is the first pass over all rows, where view.measures(): it finds what
// the second pass must know of the whole clip.
void run_frontend(const Runtime& runtime, const BufferRef& scratch, const Batch& batch, const Range& block, float* x);

// Returns whether all clips, of which run_frontend has read every row, were those that were given.
bool were_same(const Batch& batch);

// Returns the checksum of the clip's samples or feature rows.
uint32_t checksum_clip(const Runtime& runtime, const FrontendView& view, const Clip& clip);
}  // namespace goldcrest
