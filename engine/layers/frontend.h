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

// Returns the multiply-accumulates of the largest step of either function below.
uint64_t largest_frontend_step_macs(const FrontendView& view, const goldcrest_limits& limits);

BufferRef plan_frontend(Plan& plan, const FrontendView& view);

// The first pass over all rows, where view.measures(): what the second pass must know of the whole clip.
void measure_clips(const Runtime& runtime, BufferRef scratch, const Batch& batch, Range block);

// x <- a block of the batch's rows, [block.count, d_model padded], positions added.
void run_frontend(const Runtime& runtime, BufferRef scratch, const Batch& batch, Range block, float* x);

// Continues each clip's checksum with the samples of these rows. Returns false if a clip that ends in the block is not
// the clip that was given.
bool check_clips(const Runtime& runtime, const Batch& batch, Range block);

// Returns the checksum of the clip's samples or feature rows.
uint32_t checksum_clip(const Runtime& runtime, const FrontendView& view, const Clip& clip);

}  // namespace goldcrest
