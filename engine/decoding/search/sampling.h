// SPDX-License-Identifier: Apache-2.0
// Sampling: draws a token at random from a row's best ones; its buffers. A source may have several samples: its
// hypotheses, which grow independently of each other.
#pragma once

#include "base/build_options.h"
#include "base/types.h"
#include "decoding/outputs/top_tokens.h"
#include "goldcrest/decoding.h"

namespace goldcrest {
struct SamplingRefs {
  BufferRef slots;  // SampleSlot [slots]
  BufferRef lists;  // float [rows, max_sampled], then int32 [rows, max_sampled]: of each task
};

// A hypothesis of a sentence.
struct SampleSlot {
  // The sentence's. A hypothesis of alternatives has the log-probability of its first free token here, as bits.
  uint32_t stream;
  uint32_t sample;  // number of the sample among the sentence's, from 0
};

SamplingRefs plan_sampling(Plan& plan);  // plans nothing if the limits ask for no sampling
// Returns the slots; null if the limits ask for no sampling. Gives *lists the longer lists: those of sampling serve
// beams too, if limits.max_sampled is above what beams need.
SampleSlot* place_sampling(const Runtime& runtime, const SamplingRefs& refs, TopTokenBuffers* lists);

// A row's best tokens that may be drawn are the first n of its list.
struct KeptTokens {
  uint32_t n;
  float sum;  // sum of their weights
};

// Returns exp((values[i] - values[0]) / temperature), which is proportional to the probability of token i.
float token_weight(const goldcrest_sampling& sampling, const float* values, uint32_t i);

// values [n]: a row's list, n > 0
KeptTokens keep_tokens(const goldcrest_sampling& sampling, const float* values, uint32_t n);

// A draw depends on this, the seed and the values only.
struct DrawPlace {
  uint32_t position, sample, stream;
};

// Returns 24 random bits: the upper ones of the first word of Philox4x32-10.
uint32_t random_bits(uint64_t seed, const DrawPlace& place);

// Returns the index of the drawn one of n > 0 values.
uint32_t draw_token(const goldcrest_sampling& sampling, const float* values, uint32_t n, const DrawPlace& place);
}  // namespace goldcrest
