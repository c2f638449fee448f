// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "decoding/outputs/top_tokens.h"
#include "decoding/limits/options.h"
#include "decoding/outputs/output_set.h"
#include "decoding/search/place.h"
#include "kernels/reference/math.h"

namespace goldcrest {
namespace {
// Returns the sums of a row: one for each block, and one more if the file has timestamps.
uint32_t sum_slots(const ModelView& model) {
  return count_output_blocks(model.vocab_size) +
         (kHasTimestamps && has_feature(model.features, kFeatureTimestamps) ? 1 : 0);
}
}  // namespace

TopTokenRefs plan_top_tokens(Plan& plan, const ModelView& model) {
  const uint32_t n_blocks = sum_slots(model);
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH, kThreads = GOLDCREST_FACTOR_THREADS;
  const auto rows_of = [](uint64_t bytes) { return BufferSize{0, bytes, {kBeam, kBatch, 0, 0}}; };
  const auto task_rows_of = [](uint64_t bytes) { return BufferSize{0, bytes, {kBeam, kBatch, kThreads, 0}}; };
  const BufferSize list = {0, (1 + model.n_ends) * sizeof(float), {kBeam, kBeam, kBatch, kThreads}};
  TopTokenRefs refs;
  refs.logits =
      plan.add("output.logits", Phase::kDecode, Region::kScratch, task_rows_of(sizeof(float) * uint64_t{kOutputBlock}));
  refs.block_max = plan.add("output.block_max", Phase::kDecode, Region::kScratch, rows_of(4ull * n_blocks));
  refs.block_sum = plan.add("output.block_sum", Phase::kDecode, Region::kScratch, rows_of(4ull * n_blocks));
  refs.values = plan.add("top_tokens.values", Phase::kDecode, Region::kScratch, list);
  refs.tokens = plan.add("top_tokens.tokens", Phase::kDecode, Region::kScratch, list);
  refs.counts = plan.add("top_tokens.counts", Phase::kDecode, Region::kScratch, task_rows_of(4));
  return refs;
}

void place_top_tokens(const Runtime& runtime, const TopTokenRefs& refs, TopTokenBuffers* placed) {
  place(runtime, refs.logits, &placed->logits);
  place(runtime, refs.block_max, &placed->block_max);
  place(runtime, refs.block_sum, &placed->block_sum);
  place(runtime, refs.values, &placed->values);
  place(runtime, refs.tokens, &placed->tokens);
  place(runtime, refs.counts, &placed->counts);
  placed->block_stride = sum_slots(runtime.model);
}

TopTokens top_tokens(const TopTokenBuffers& buffers, uint32_t per_row, uint32_t n_outputs, uint32_t task) {
  return {buffers.logits.of(task), buffers.block_max, buffers.block_sum, buffers.values.of(task),
      buffers.tokens.of(task), buffers.counts.of(task), per_row, count_output_blocks(n_outputs), buffers.block_stride};
}

bool may_enter(const TopTokens& lists, uint32_t row, uint32_t block) {
  const LargestNumbers list = lists.of(row);
  if (*list.count < list.capacity) return true;
  // Not "is larger", because a block_max that is not a number tells nothing about the block.
  return !(lists.block_max[size_t{row} * lists.block_stride + block] <= list.bound());
}

void merge_top_tokens(const TopTokens& into, const TopTokens& others, uint32_t row) {
  const LargestNumbers list = into.of(row), other = others.of(row);
  const uint32_t last = list.capacity - 1;
  for (uint32_t i = 0; i < *other.count; ++i) {
    const float value = other.values[i];
    const int32_t token = other.tokens[i];
    if (*list.count == list.capacity && !comes_before(value, token, list.values[last], list.tokens[last])) return;
    insert_number(list, value, token);
  }
}

float power(float base, float exponent) {
  if (exponent == 0.0f) return 1.0f;
  if (exponent == 1.0f) return base;
  return exponential(exponent * logarithm(base));
}

float log_sum_exp(const TopTokens& lists, uint32_t row) {
  const float* block_max = lists.block_max + size_t{row} * lists.block_stride;
  const float* block_sum = lists.block_sum + size_t{row} * lists.block_stride;
  float largest = block_max[0];
  for (uint32_t b = 1; b < lists.n_blocks; ++b) largest = block_max[b] > largest ? block_max[b] : largest;
  float sum = 0.0f;
  for (uint32_t b = 0; b < lists.n_blocks; ++b) sum += block_sum[b] * exponential(block_max[b] - largest);
  return largest + logarithm(sum);
}
}  // namespace goldcrest
