// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/limits/prefix.h"
#include "base/arithmetic.h"
#include "decoding/limits/options.h"
#include "decoding/search/place.h"
#include "goldcrest/decoding.h"

namespace goldcrest {
BufferRef plan_prefixes(Plan& plan) {
  if (plan.limits().max_prefix_tokens == 0) return {};
  // Phase kAlways, because prefixes are given before the source is encoded.
  return plan.add("prefixes.ids", Phase::kAlways, Region::kMain,
      {0, 4, {GOLDCREST_FACTOR_PREFIX_TOKENS, GOLDCREST_FACTOR_BATCH, 0, 0}});
}

void place_prefixes(const Runtime& runtime, const BufferRef& ref, PrefixBuffers* placed) {
  placed->capacity = runtime.limits.max_prefix_tokens;
  if (placed->capacity > 0) place(runtime, ref, &placed->ids);
}

Prompt prompt_of(const SearchOptions& options, const PrefixExtent& given) {
  if (scores_targets(options)) return {0, 0, 0};
  const GenerationView& generation = *options.generation;
  const bool replaces = given.n() > 0 && !given.has(GOLDCREST_PREFIX_BEHIND_PROMPT);
  // The last id of the prompt says that there are no timestamps.
  const uint32_t n_file = replaces ? 0 : generation.n_prompt - (finds_timestamps(options) ? 1 : 0);
  const uint32_t n_counted =
      (generation.forced_first_id >= 0 ? n_file : 0) + (given.has(GOLDCREST_PREFIX_IN_LENGTHS) ? given.n() : 0);
  const uint32_t n = n_file + given.n();
  return {n_file, n, n - n_counted};
}

uint32_t most_with_prompt(const Prompt& prompt, const PrefixExtent& given, uint32_t most, uint32_t capacity) {
  most += prompt.n_uncounted;
  if (given.n() > 0) most = larger(most, prompt.n + 1);
  return smaller(most, capacity);
}
}  // namespace goldcrest
