// SPDX-License-Identifier: Apache-2.0
// The buffers of sampling. A source may have several samples: its hypotheses, which grow independently of each other.
#pragma once

#include "decoding/top_tokens.h"

namespace goldcrest {

struct SamplingRefs {
  BufferRef slots;  // SampleSlot [slots]
  BufferRef lists;  // float [rows, max_sampled], then int32 [rows, max_sampled]: of each task
};

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

SamplingRefs plan_sampling(Plan& plan);
// `lists` are the rows' lists without sampling.
void place_sampling(const Runtime& runtime, const SamplingRefs& refs, const TopTokenBuffers& lists,
                    SamplingBuffers* placed);

// Lets a search use the lists for sampling, or the others.
void choose_lists(const SamplingBuffers& buffers, bool draws, TopTokenBuffers* lists);

}  // namespace goldcrest
