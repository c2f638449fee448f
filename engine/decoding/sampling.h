// SPDX-License-Identifier: Apache-2.0
// Sampling: each token is drawn at random from the list of its row's best ones. A source may have several samples: its
// hypotheses, which grow independently of each other.
#pragma once

#include "base/build_options.h"
#include "decoding/top_tokens.h"
#include "goldcrest/decoding.h"

namespace goldcrest {

struct SearchOptions;
struct SearchBuffers;

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

// A row's best tokens that may be drawn are the first n of its list.
struct KeptTokens {
  uint32_t n;
  float sum;  // of their weights
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

SamplingRefs plan_sampling(Plan& plan);
// Call it when the lists without sampling are placed.
void place_sampling(const Runtime& runtime, const SamplingRefs& refs, SearchBuffers* placed);

// Lets the search use the lists that its options ask for.
void choose_lists(const SearchOptions& options, SearchBuffers* buffers);

// Gives a sentence one hypothesis for each of its samples.
void start_samples(const SearchOptions& options, const SearchBuffers& buffers, uint32_t sentence);

}  // namespace goldcrest
