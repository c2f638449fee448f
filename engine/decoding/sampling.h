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
  uint32_t stream;  // of its sentence
  uint32_t sample;  // which of the sentence's samples it is, from 0
};

// All null if limits.max_sampled is 0.
struct SamplingBuffers {
  SampleSlot* slots;
  // The rows' lists without and with sampling.
  TaskBuffer<float> values, sampled_values;
  TaskBuffer<int32_t> tokens, sampled_tokens;
};

// Leaves *refs as it is if the limits ask for no sampling.
void plan_sampling(Plan& plan, SamplingRefs* refs);
// `lists` are the rows' lists without sampling.
void place_sampling(const Runtime& runtime, const SamplingRefs& refs, const TopTokenBuffers& lists,
                    SamplingBuffers* placed);

// Lets a search use the lists for sampling, or the others.
void choose_lists(const SamplingBuffers& buffers, bool draws, TopTokenBuffers* lists);

}  // namespace goldcrest
