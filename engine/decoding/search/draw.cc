// SPDX-License-Identifier: Apache-2.0
// Draws tokens, and plans the memory of it. The order of the rules is that of transformers' generate (5.23.0). All of
// it is float operations of the contract and the engine's own exponential, so that a draw is the same on every machine.
#include "base/exact_floats.h"
#include "base/bounds.h"
#include "decoding/search/hypotheses.h"
#include "decoding/search/sampling.h"
#include "kernels/reference/math.h"

namespace goldcrest {
float token_weight(const goldcrest_sampling& sampling, const float* values, uint32_t i) {
  if (i == 0) return 1.0f;  // also if the value is infinite
  return exponential((values[i] - values[0]) / sampling.temperature);
}

namespace {
// Returns the first of n tokens, as many as it takes for the sum of their weights to reach `bound`; the list ends
// before a weight below `least`.
[[gnu::noinline]] KeptTokens add_weights(
    const goldcrest_sampling& sampling, const float* values, uint32_t n, float bound, float least) {
  KeptTokens added = {0, 0.0f};
  for (; added.n < n && added.sum < bound; ++added.n) {
    const float weight = token_weight(sampling, values, added.n);
    if (weight < least) break;
    added.sum += weight;
  }
  return added;
}

constexpr float kNoBound = __builtin_huge_valf();
}  // namespace

KeptTokens keep_tokens(const goldcrest_sampling& sampling, const float* values, uint32_t n) {
  float bound = kNoBound;
  if (sampling.top_p < 1.0f) bound = sampling.top_p * add_weights(sampling, values, n, bound, 0.0f).sum;
  return add_weights(sampling, values, n, bound, sampling.min_p);
}

// Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3": Philox4x32 with ten rounds.
uint32_t random_bits(uint64_t seed, const DrawPlace& place) {
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

uint32_t draw_token(const goldcrest_sampling& sampling, const float* values, uint32_t n, const DrawPlace& place) {
  const KeptTokens kept = keep_tokens(sampling, values, n);
  const float drawn = static_cast<float>(random_bits(sampling.seed, place)) * 0x1p-24f * kept.sum;
  // The bound is the float above `drawn`, because the sum must exceed it. `drawn` is below the sum of all.
  return add_weights(sampling, values, kept.n, bits_float(float_bits(drawn) + 1), 0.0f).n - 1;
}

namespace {
// Samples draw their tokens. Alternatives are equal at the first free position: there each takes another token of their
// list, and after it the best. If the list or the probabilities do not reach so far, it ends without a result.
int32_t choose(const SearchOptions& options, uint32_t position, const SentenceView& view, const TopTokens& lists) {
  const Sampler& sampling = *options.sampling;
  const bool is_first = sampling.expands && position == first_free_position(options, view);
  Continuation living[kMaxBeams], next = {};
  uint32_t n_living = 0;
  for (; next.parent < view.state->n_live; ++next.parent) {
    const uint32_t row = view.state->first_row + next.parent, n_listed = lists.counts[row];
    SampleSlot slot = view.samples[next.parent];
    uint32_t i = is_first ? slot.sample : 0;
    if (i > 0 && i >= n_listed) continue;
    next.token = static_cast<int32_t>(options.generation->end_id);
    next.token_log_prob = 0.0f;
    if (n_listed > 0) {  // else every token is suppressed: end, as in greedy search
      const float* const values = lists.row_values(row);
      if (!sampling.expands)
        i = draw_token(sampling, values, n_listed, {position, sampling.first_sample + slot.sample, slot.stream});
      next.token = lists.row_tokens(row)[i];
      if (options.needs_sums) next.token_log_prob = values[i] - log_sum_exp(lists, row);
    }
    if (is_first) {
      if (i > 0 && exponential(next.token_log_prob) < sampling.min_p) continue;
      view.samples[next.parent].stream = slot.stream = float_bits(next.token_log_prob);
    }
    next.log_prob = view.scores[next.parent] + next.token_log_prob;
    if (ends_text(options, view, position, next.token)) {
      finish_hypothesis(options, view, position, next);
    } else {
      view.samples[n_living] = slot;
      living[n_living++] = next;
    }
  }
  reorder(view, position, living, n_living);
  return next.token;
}

bool needs_sums(const goldcrest_search& options) {
  const Sampler& sampling = *static_cast<const SearchOptions&>(options).sampling;
  return needs_sums_for_scores(options) || (sampling.expands && sampling.min_p > 0.0f);
}

uint32_t list_size(const goldcrest_search& options, uint32_t) {
  return static_cast<const SearchOptions&>(options).sampling->top_k;
}
}  // namespace

const Strategy kSampling = {true, false, list_size, needs_sums, choose};
const Strategy kSeveralSamples = {false, false, list_size, needs_sums, choose};

SamplingRefs plan_sampling(Plan& plan) {
  SamplingRefs refs = {};
  if (plan.limits().max_sampled == 0) return refs;
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH;
  // Phase kAlways, because streams are given before the source is encoded.
  refs.slots =
      plan.add("sampling.slots", Phase::kAlways, Region::kMain, {0, sizeof(SampleSlot), {kBeam, kBatch, 0, 0}});
  refs.lists = plan.add("sampling.lists", Phase::kDecode, Region::kScratch,
      {0, 8, {GOLDCREST_FACTOR_SAMPLED, kBeam, kBatch, GOLDCREST_FACTOR_THREADS}});
  return refs;
}

SampleSlot* place_sampling(const Runtime& runtime, const SamplingRefs& refs, TopTokenBuffers* lists) {
  const goldcrest_limits& limits = runtime.limits;
  if (limits.max_sampled == 0) return nullptr;
  if (limits.max_sampled > (1 + runtime.model.n_ends) * limits.beam_size) {
    place(runtime, refs.lists, &lists->values);
    place(runtime, refs.lists, &lists->tokens);
    lists->tokens.first += size_t{limits.max_sampled} * limits.batch * limits.beam_size;
  }
  return static_cast<SampleSlot*>(address_of(runtime, refs.slots));
}
}  // namespace goldcrest
