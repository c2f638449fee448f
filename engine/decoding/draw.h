// SPDX-License-Identifier: Apache-2.0
// Sampling: draws a token at random from a row's best ones. The strategies kSampling and kSeveralSamples use it.
#pragma once

#include <cstdint>

#include "goldcrest/decoding.h"

namespace goldcrest {

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

}  // namespace goldcrest
