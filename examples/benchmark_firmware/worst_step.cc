// SPDX-License-Identifier: Apache-2.0
// Runs the largest step instead of computing it. The engine's own code works on the longest source up to the last
// position, with kernels and a search whose values lead to the most work. Shapes decide nearly all work. Values decide:
//   attention     equal scores: no exponential is left out as too small
//   output layer  ascending logits, all of them listed: each output enters its row's list, in front of all others
//   beams         equal scores of all hypotheses, so that none ever joins another's past; at the last position only
//                 the first does not end, and the others change places, so that the whole past is reordered
// kAllowance covers the rest, such as the outcome of comparisons of two numbers.
#include "worst_step.h"
#include "api/engine.h"
#include "base/arithmetic.h"
#include "board_api.h"
#include "decoding/limits/options.h"

namespace goldcrest { namespace {
constexpr uint64_t kAllowance = 32;  // one part in this many

// The difference between one logit and the next. All of 80,000 are within 40; smaller ones would have no exponential.
constexpr float kLogitStep = 1.0f / 2048;

constexpr float kLowest = -1.0f;  // below all logits

constexpr uint32_t kNoPosition = UINT32_MAX;

const float kNoScale[kOutputBlock] = {};

// The state of the kernels below, which have no context argument.
const Kernels* native;
uint32_t n_outputs;  // computed outputs of the current position
// Parameters of an output layer with fine inputs, which passes linear and finish_fine instead of output_block.
const float *output_scales, *output_biases;
uint32_t n_output_scales;  // those of a second matrix included

void attend_to_equals(const AttentionArgs<int8_t>& args) {
  AttentionArgs<int8_t> equal = args;
  equal.scale = 0.0f;
  native->int8.attention(equal);
}

void attend_to_fine_equals(const AttentionArgs<int8_t>& args) {
  AttentionArgs<int8_t> equal = args;
  equal.scale = 0.0f;
  native->fine_attention(equal);
}

void ascending_outputs(const OutputBlockArgs<int8_t>& args) {
  static float logits[kOutputBlock];
  for (uint32_t i = 0; i < args.count; ++i) logits[i] = static_cast<float>(n_outputs++) * kLogitStep;
  OutputBlockArgs<int8_t> ascending = args;
  ascending.linear.w_scale = kNoScale;
  ascending.linear.bias = logits;
  native->int8.output_block(ascending);
}

// Returns whether a parameter is one of the output layer's.
bool is_of_outputs(const float* parameter, const float* of_outputs) {
  return reinterpret_cast<uintptr_t>(parameter) - reinterpret_cast<uintptr_t>(of_outputs) <
         n_output_scales * sizeof(float);
}

// All products of the output layer are zeros.
void multiply_outputs_by_zero(const LinearArgs<int8_t>& args) {
  LinearArgs<int8_t> zeros = args;
  if (is_of_outputs(args.w_scale, output_scales)) zeros.w_scale = kNoScale;
  native->int8.linear(zeros);
}

void finish_ascending_outputs(const LinearArgs<int8_t>& args, const float* products) {
  if (!is_of_outputs(args.bias, output_biases)) return native->finish_fine(args, products);
  static float logits[kOutputBlock];
  const auto first = static_cast<uint32_t>(args.bias - output_biases);
  for (uint32_t i = 0; i < args.n; ++i) logits[i] = static_cast<float>(first + i) * kLogitStep;
  LinearArgs<int8_t> ascending = args;
  ascending.bias = logits;
  native->finish_fine(ascending, products);
}

// Runs the native kernel as it is called: all of the ascending logits enter a full list. The reference inserts as many
// into a list that is not full. Other kernels do not, so they then run once more with a list of numbers that all others
// exceed. No single call costs more.
void list_all(const ListLargestArgs& args) {
  const LargestNumbers& list = args.list;
  const bool was_full = *list.count == list.capacity;
  native->list_largest(args);
  if (was_full || native->list_largest == reference_list_largest) return;
  for (uint32_t i = 0; i < list.capacity; ++i) list.values[i] = kLowest;
  *list.count = list.capacity;
  native->list_largest(args);
  while (*list.count > 0 && list.values[*list.count - 1] == kLowest) --*list.count;
}

// Returns the token with the largest logit.
uint32_t last_token(const Runtime& runtime) {
  const GenerationView& generation = runtime.generation;
  uint32_t token = runtime.model.vocab_size - 1;
  for (uint32_t i = generation.n_suppressed; i > 0 && generation.suppressed_ids[i - 1] == token; --i) --token;
  return token;
}

// Sets the score of each hypothesis. They differ by less than a step of the logits, so that each continues with its own
// best token.
void set_scores(const goldcrest_engine& engine) {
  const bool is_last = engine.step.position + 2 == engine.options.max_target_tokens;
  for (uint32_t sentence = 0; sentence < engine.batch.n_sentences; ++sentence) {
    const SentenceView view = sentence_view(engine.buffers, sentence);
    for (uint32_t b = 0; b < view.state->n_live; ++b) view.scores[b] = is_last ? static_cast<float>(b) / 65536 : 0.0f;
    if (is_last) view.scores[0] = -1000.0f;
  }
}

int begin(goldcrest_engine* engine, const worst_search& wanted) {
  goldcrest_search search = wanted.search;
  const goldcrest_limits& limits = engine->runtime.limits;
  search.max_target_tokens = limits.max_target_tokens;
  search.min_target_tokens = limits.max_target_tokens - 1;
  GOLDCREST_TRY(goldcrest_set_search(engine, &search));
  GOLDCREST_TRY(goldcrest_begin(engine, wanted.source, wanted.n_source));
  for (uint32_t i = 1; i < limits.batch; ++i) GOLDCREST_TRY(goldcrest_add(engine, wanted.source, wanted.n_source));
  return GOLDCREST_OK;
}

uint64_t with_allowance(uint64_t ticks) { return ticks + ticks / kAllowance + 1; }

// Measures steps of layers. A position takes no more than its layers together.
int measure(goldcrest_engine* engine, const worst_search& wanted, worst_step* most) {
  GOLDCREST_TRY(begin(engine, wanted));
  uint64_t of_position = 0;
  uint32_t position_before = kNoPosition;
  for (int status = GOLDCREST_WORKING; status != GOLDCREST_DONE;) {
    const bool decodes = engine->state == EngineState::kDecoding;
    if (decodes) set_scores(*engine);
    const uint32_t position = decodes ? engine->step.position : kNoPosition;
    n_outputs = 0;
    const uint64_t start = board_ticks();
    status = goldcrest_step(engine, nullptr);
    const uint64_t ticks = board_ticks() - start;
    if (status < 0) return status;
    of_position = (decodes && position == position_before ? of_position : 0) + ticks;
    position_before = position;
    most->layer_ticks = larger(most->layer_ticks, with_allowance(ticks));
    most->position_ticks = larger(most->position_ticks, with_allowance(of_position));
  }
  return GOLDCREST_OK;
}

#if (defined(__arm__) && !defined(__ARM_FP)) || (defined(__riscv) && !defined(__riscv_flen))
constexpr bool kHasFpu = false;  // the time of a float operation depends on its values
#else
constexpr bool kHasFpu = true;
#endif

// Returns whether the work depends not only on shapes but also on the source or on the text so far.
bool is_unbounded(const goldcrest_engine& engine) {
  const GenerationView& generation = engine.runtime.generation;
  const bool has_rules = penalizes_repetition(engine.next_search) || forbids_ngrams(engine.next_search) ||
                         generation.n_biased > 0 || generation.n_more_ends > 0;
  return !kHasFpu || has_rules || plans_shortlist(engine.runtime.limits);
}
}}  // namespace goldcrest

using namespace goldcrest;

extern "C" int measure_worst_step(goldcrest_engine* engine, const worst_search* wanted, worst_step* most) {
  *most = {0, 0};
  GOLDCREST_TRY(goldcrest_set_search(engine, &wanted->search));
  if (is_unbounded(*engine)) return GOLDCREST_OK;
  Runtime& runtime = engine->runtime;
  const uint32_t step_size = engine->step_size, end_id = runtime.generation.end_id;
  native = runtime.kernels;
  Kernels adverse = *native;
  adverse.int8.attention = attend_to_equals;
  if constexpr (kHasAccuracy) adverse.fine_attention = attend_to_fine_equals;
  adverse.int8.output_block = ascending_outputs;
  adverse.list_largest = list_all;
  const LinearView& outputs = runtime.model.projection;
  if (kHasAccuracy && outputs.has_remainders()) {
    output_scales = runtime.tensor<float>(outputs.scale);
    output_biases = runtime.tensor<float>(outputs.bias);
    n_output_scales = outputs.n + outputs.rows_to_second();
    adverse.int8.linear = multiply_outputs_by_zero;
    adverse.finish_fine = finish_ascending_outputs;
    adverse.linear_fine = nullptr;
  }
  runtime.kernels = &adverse;
  runtime.generation.end_id = last_token(runtime);
  engine->step_size = GOLDCREST_STEP_LAYER;
  const int status = measure(engine, *wanted, most);
  goldcrest_reset(engine);
  engine->step_size = step_size;
  runtime.generation.end_id = end_id;
  runtime.kernels = native;
  GOLDCREST_TRY(status);
  return goldcrest_set_search(engine, &wanted->search);
}
