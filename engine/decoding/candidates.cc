// SPDX-License-Identifier: Apache-2.0
#include "decoding/candidates.h"

#include "kernels/reference/math.h"

namespace goldcrest {

namespace {

constexpr float kNever = -__builtin_huge_valf();

// Puts a token into a full or partial list, behind all that are at least as good; a full list loses its last.
void insert(float* values, int32_t* tokens, uint32_t* count, uint32_t capacity, float value, int32_t token) {
  uint32_t at = *count < capacity ? (*count)++ : capacity - 1;
  while (at > 0 && values[at - 1] < value) {
    values[at] = values[at - 1];
    tokens[at] = tokens[at - 1];
    --at;
  }
  values[at] = value;
  tokens[at] = token;
}

}  // namespace

CandidateRefs plan_candidates(Plan& plan, const ModelView& model) {
  const uint32_t n_blocks = (model.vocab_size + kOutputBlock - 1) / kOutputBlock;
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH, kThreads = GOLDCREST_FACTOR_THREADS;
  const auto rows_of = [](uint64_t bytes) { return BufferSize{0, bytes, {kBeam, kBatch, 0, 0}}; };
  const auto task_rows_of = [](uint64_t bytes) { return BufferSize{0, bytes, {kBeam, kBatch, kThreads, 0}}; };
  const BufferSize list = {0, 2 * 4, {kBeam, kBeam, kBatch, kThreads}};
  CandidateRefs refs;
  refs.logits = plan.add("output.logits", Phase::kDecode, Region::kScratch, task_rows_of(4 * kOutputBlock));
  refs.block_max = plan.add("output.block_max", Phase::kDecode, Region::kScratch, rows_of(4ull * n_blocks));
  refs.block_sum = plan.add("output.block_sum", Phase::kDecode, Region::kScratch, rows_of(4ull * n_blocks));
  refs.values = plan.add("candidates.values", Phase::kDecode, Region::kScratch, list);
  refs.tokens = plan.add("candidates.tokens", Phase::kDecode, Region::kScratch, list);
  refs.counts = plan.add("candidates.counts", Phase::kDecode, Region::kScratch, task_rows_of(4));
  return refs;
}

Candidates candidates(const Runtime& runtime, const CandidateRefs& refs, uint32_t per_row, uint32_t task) {
  return {runtime.task_buffer<float>(refs.logits, task),
          runtime.buffer<float>(refs.block_max),
          runtime.buffer<float>(refs.block_sum),
          runtime.task_buffer<float>(refs.values, task),
          runtime.task_buffer<int32_t>(refs.tokens, task),
          runtime.task_buffer<uint32_t>(refs.counts, task),
          per_row,
          (runtime.model.vocab_size + kOutputBlock - 1) / kOutputBlock};
}

bool may_enter(const Candidates& candidates, uint32_t row, uint32_t block) {
  const uint32_t kept = candidates.counts[row];
  if (kept < candidates.per_row) return true;
  // Not "is larger": a block_max that is not a number says nothing of the block.
  return !(candidates.block_max[size_t{row} * candidates.n_blocks + block] <= candidates.row_values(row)[kept - 1]);
}

void collect(const Runtime& runtime, const Candidates& candidates, uint32_t row, uint32_t first, uint32_t count) {
  const float* logits = candidates.logits + size_t{row} * kOutputBlock;
  float* values = candidates.row_values(row);
  int32_t* tokens = candidates.row_tokens(row);
  uint32_t* kept = candidates.counts + row;
  uint32_t i = 0;
  while (true) {
    const float threshold = *kept == candidates.per_row ? values[*kept - 1] : kNever;
    i = runtime.kernels->next_above(logits, i, count, threshold);
    if (i == count) return;
    insert(values, tokens, kept, candidates.per_row, logits[i], static_cast<int32_t>(first + i));
    ++i;
  }
}

void merge_candidates(const Candidates& into, const Candidates& higher, uint32_t row) {
  float* values = into.row_values(row);
  uint32_t* kept = into.counts + row;
  for (uint32_t i = 0; i < higher.counts[row]; ++i) {
    const float value = higher.row_values(row)[i];
    if (*kept == into.per_row && !(value > values[*kept - 1])) return;
    insert(values, into.row_tokens(row), kept, into.per_row, value, higher.row_tokens(row)[i]);
  }
}

float log_sum_exp(const Candidates& candidates, uint32_t row) {
  const float* block_max = candidates.block_max + size_t{row} * candidates.n_blocks;
  const float* block_sum = candidates.block_sum + size_t{row} * candidates.n_blocks;
  float largest = block_max[0];
  for (uint32_t b = 1; b < candidates.n_blocks; ++b) largest = block_max[b] > largest ? block_max[b] : largest;
  float sum = 0.0f;
  for (uint32_t b = 0; b < candidates.n_blocks; ++b) sum += block_sum[b] * exp_float(block_max[b] - largest);
  return largest + log_float(sum);
}

}  // namespace goldcrest
