// SPDX-License-Identifier: Apache-2.0
// The buffers of sampling. A source may have several samples: its hypotheses, which grow independently of each other.
#pragma once

#include <type_traits>

#include "base/build_options.h"
#include "decoding/top_tokens.h"

namespace goldcrest {

struct PlannedSampling {
  BufferRef slots;  // SampleSlot [slots]
  BufferRef lists;  // float [rows, max_sampled], then int32 [rows, max_sampled]: of each task
};

// Takes no room in the frame of goldcrest_init if the build lacks sampling.
struct NoSampling {};
using SamplingRefs = std::conditional_t<kHasSampling, PlannedSampling, NoSampling>;

// A hypothesis of a sentence.
struct SampleSlot {
  // The sentence's. A hypothesis of alternatives has the log-probability of its first free token here, as bits.
  uint32_t stream;
  uint32_t sample;  // which of the sentence's samples it is, from 0
};

// Leaves *refs as it is if the limits ask for no sampling.
void plan_sampling(Plan& plan, SamplingRefs* refs);
// Returns the slots; null if the limits ask for no sampling. Gives *lists the longer lists: those of sampling serve
// beams too, if limits.max_sampled is above what beams need.
SampleSlot* place_sampling(const Runtime& runtime, const SamplingRefs& refs, TopTokenBuffers* lists);

}  // namespace goldcrest
