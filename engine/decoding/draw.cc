// SPDX-License-Identifier: Apache-2.0
// Draws tokens. The order of the rules is that of transformers' generate (5.23.0). All of it is float operations of the
// contract and the engine's own exponential, so that a draw is the same on every machine.
#include "decoding/draw.h"

#include "decoding/hypotheses.h"
#include "kernels/reference/reference.h"

namespace goldcrest {

[[gnu::noinline, gnu::cold]] float token_weight(const goldcrest_sampling& sampling, const float* values, uint32_t i) {
  if (i == 0) return 1.0f;  // also if the value is infinite
  float weight = (values[i] - values[0]) / sampling.temperature;
  reference_exponentials(&weight, 1, 0.0f);
  return weight;
}

[[gnu::cold]] KeptTokens keep_tokens(const goldcrest_sampling& sampling, const float* values, uint32_t n) {
  KeptTokens kept = {n, 0.0f};
  for (uint32_t i = 0; i < n; ++i) kept.sum += token_weight(sampling, values, i);
  const float most = sampling.top_p * kept.sum;
  if (sampling.top_p == 1.0f && sampling.min_p == 0.0f) return kept;
  const bool cuts = sampling.top_p < 1.0f;
  kept = {1, 1.0f};
  for (float weight; kept.n < n && !(cuts && kept.sum >= most); ++kept.n, kept.sum += weight) {
    weight = token_weight(sampling, values, kept.n);
    if (weight < sampling.min_p) break;
  }
  return kept;
}

// Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3": Philox4x32 with ten rounds.
[[gnu::cold]] uint32_t random_bits(uint64_t seed, const DrawPlace& place) {
  uint32_t a = place.position, b = place.sample, c = place.stream, d = 0;
  uint32_t low_key = static_cast<uint32_t>(seed), high_key = static_cast<uint32_t>(seed >> 32);
  for (uint32_t round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53u} * a, second = uint64_t{0xCD9E8D57u} * c;
    a = static_cast<uint32_t>(second >> 32) ^ b ^ low_key;
    b = static_cast<uint32_t>(second);
    c = static_cast<uint32_t>(first >> 32) ^ d ^ high_key;
    d = static_cast<uint32_t>(first);
    low_key += 0x9E3779B9u;
    high_key += 0xBB67AE85u;
  }
  return a >> 8;
}

[[gnu::cold]] uint32_t draw_token(const goldcrest_sampling& sampling, const float* values, uint32_t n,
                                  const DrawPlace& place) {
  const KeptTokens kept = keep_tokens(sampling, values, n);
  const float drawn = static_cast<float>(random_bits(sampling.seed, place)) * 0x1p-24f * kept.sum;
  float sum = 0.0f;
  uint32_t i = 0;
  for (; i + 1 < kept.n; ++i) {
    sum += token_weight(sampling, values, i);
    if (sum > drawn) break;
  }
  return i;
}

namespace {

// Moves a hypothesis to a lower slot, whose own has finished or has moved.
void move_hypothesis(const SentenceView& view, uint32_t position, uint32_t from, uint32_t to) {
  for (uint32_t t = 0; t <= position; ++t) {
    uint8_t* const slots = view.ancestor + size_t{t} * view.beam_size;
    slots[to] = slots[from];
  }
  view.scores[to] = view.scores[from];
  view.samples[to] = view.samples[from];
}

[[gnu::cold]] int32_t choose(const SearchOptions& options, uint32_t position, const SentenceView& view,
                             const TopTokens& lists) {
  int32_t token = -1;
  uint32_t n_left = 0;
  for (uint32_t b = 0; b < view.state->n_live; ++b) {
    const uint32_t row = view.state->first_row + b, n_listed = lists.counts[row];
    const float* const values = lists.row_values(row);
    const uint32_t sample = options.sampling->first_sample + view.samples[b].sample;
    float log_prob = 0.0f;
    token = static_cast<int32_t>(options.generation->end_id);
    if (n_listed > 0) {  // else every token is suppressed: end, as in greedy search
      const uint32_t i = draw_token(*options.sampling, values, n_listed, {position, sample, view.samples[b].stream});
      token = lists.row_tokens(row)[i];
      if (options.needs_sums) log_prob = values[i] - log_sum_exp(lists, row);
      view.scores[b] += log_prob;
    }
    if (ends_text(options, view, position, token)) {
      finish_hypothesis(options, view, position, {view.scores[b], log_prob, b, token});
    } else {
      if (n_left < b) move_hypothesis(view, position, b, n_left);
      feed_token(view, position, n_left++, token, log_prob);
    }
  }
  view.state->n_live = static_cast<LiveCount>(n_left);
  return token;
}

uint32_t list_size(const goldcrest_search& options, uint32_t) {
  return static_cast<const SearchOptions&>(options).sampling->top_k;
}

bool needs_sums(const goldcrest_search& options) { return (options.flags & GOLDCREST_SEARCH_SCORES) != 0; }

}  // namespace

const Strategy kSampling = {true, false, list_size, needs_sums, choose};
const Strategy kSeveralSamples = {false, false, list_size, needs_sums, choose};

}  // namespace goldcrest
