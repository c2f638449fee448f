// SPDX-License-Identifier: Apache-2.0
// Timestamps of Whisper: ids that stand for times, one for each encoder row. The rules are those of openai/whisper's
// decoding.py at 20250625, ApplyTimestampRules.
#include "base/exact_floats.h"
#include "base/arithmetic.h"
#include "decoding/limits/rules.h"
#include "kernels/reference/math.h"

namespace goldcrest {
uint32_t count_below(const LogitBlock& block, uint32_t id) {
  return id > block.outputs.first ? smaller(id - block.outputs.first, block.outputs.count) : 0;
}

namespace {
// The ids that may follow: text from first_text on, and times.
struct Allowed {
  uint32_t first_text, first_time, last_time;  // the last is not one of them
};

Allowed allowed_after(const GenerationView& generation, const Past& past, uint32_t n_prompt) {
  const uint32_t times = generation.first_timestamp;
  const auto token_at = [&](uint32_t t) { return static_cast<uint32_t>(past.token_at(t)); };
  const uint32_t last = past.position;  // tokens after the prompt are those at n_prompt + 1 and on
  if (last <= n_prompt) return {times, times, times + generation.max_first_timestamp + 1};
  const bool ends_with_time = token_at(last) >= times;
  const bool stands_single = ends_with_time && last > n_prompt + 1 && token_at(last - 1) < times;
  uint32_t latest = last;
  while (latest > n_prompt && token_at(latest) < times) --latest;
  uint32_t first_time = times;
  if (latest > n_prompt) first_time = token_at(latest) + (stands_single ? 0 : 1);
  if (ends_with_time && !stands_single) return {0, kNoId, kNoId};
  return {stands_single ? generation.end_id : 0, first_time, kNoId};
}

// Removes the ids from `first` to before `last` from a block.
void remove_range(const LogitBlock& block, uint32_t first, uint32_t last) {
  const uint32_t end = count_below(block, last);
  for (uint32_t i = count_below(block, first); i < end; ++i) block.values[i] = kNever;
}
}  // namespace

bool ApplyTimestamps::run(const LogitBlock& block) const {
  const GenerationView& generation = *step_.options.generation;
  const uint32_t times = generation.first_timestamp;
  if (!finds_timestamps(step_.options)) {
    if (block.set.is_whole()) remove_range(block, times, kNoId);  // else a lexicon says what may follow
    return true;
  }
  if (step_.times_only && !takes_only_times(block.lists, block.row)) return false;
  const LiveSentence& sentence = sentence_of_row(step_, block.row);
  const PrefixExtent& given = step_.sentences[step_.sentence_of(sentence)].prefix;
  const Past past = past_of(step_, sentence, block.row - sentence.first_row);
  const Allowed allowed = allowed_after(generation, past, prompt_of(step_.options, given).n);
  remove_range(block, 0, step_.times_only ? times : allowed.first_text);
  remove_range(block, times - 1, allowed.first_time);
  remove_range(block, allowed.last_time, kNoId);
  return true;
}

void sum_timestamps(const LogitBlock& block, uint32_t first, size_t slot) {
  float largest = kNever, sum = 0.0f;
  for (uint32_t i = first; i < block.outputs.count; ++i)
    largest = block.values[i] > largest ? block.values[i] : largest;
  for (uint32_t i = first; i < block.outputs.count && largest != kNever; ++i)
    sum += exponential(block.values[i] - largest);
  block.lists.block_max[slot] = largest;
  block.lists.block_sum[slot] = sum;
}

bool choose_timestamps(const SearchOptions& options, const TopTokens& lists, uint32_t row) {
  const uint32_t first = options.generation->first_timestamp;
  const uint32_t n_text =
      count_output_blocks(first);  // the last of them may have times, whose sum has a slot of its own
  float* const largest = lists.block_max + size_t{row} * lists.block_stride;
  float* const sum = lists.block_sum + size_t{row} * lists.block_stride;
  const auto only_times = [&] {
    TopTokens times = lists;
    times.block_max += n_text;
    times.block_sum += n_text;
    times.n_blocks -= n_text;
    return log_sum_exp(times, row);
  };
  if (!options.needs_sums) largest[0] = 0.0f;
  if (first % kOutputBlock == 0) {  // no block has both
    largest[lists.n_blocks - 1] = kNever;
    sum[lists.n_blocks - 1] = 0.0f;
  }
  if (lists.counts[row] == 0) return false;
  const bool is_time = static_cast<uint32_t>(*lists.row_tokens(row)) >= first;
  if (!is_time && !(only_times() > *lists.row_values(row))) return false;
  for (uint32_t i = 0; i < n_text; ++i) {
    largest[i] = kNever;
    sum[i] = 0.0f;
  }
  lists.counts[row] = 0;
  return true;
}
}  // namespace goldcrest
