// SPDX-License-Identifier: Apache-2.0
// Inspection: scores given targets and returns the alignments of results.
#include "base/exact_floats.h"
#include "goldcrest/inspection.h"
#include <string.h>
#include "api/engine.h"
#include "base/arithmetic.h"

namespace goldcrest {
int choose_targets(const goldcrest_engine& engine, bool* follows) {
  uint32_t n_given = 0;
  for (uint32_t i = 0; takes_targets(engine.runtime.limits) && i < engine.batch.n_sentences; ++i)
    n_given += *engine.buffers.targets.of(i).n != 0 ? 1 : 0;
  *follows = n_given != 0;
  if (n_given == 0 || n_given == engine.batch.n_sentences) return GOLDCREST_OK;
  return fail(*engine.detail, GOLDCREST_ERROR_STATE, "score: only some sources of the batch have a target");
}

namespace {
// An alignment is the mean over these layers and heads.
struct HeadSet {
  Range layers, heads;
};

int choose_heads(const goldcrest_engine& engine, const goldcrest_alignment& wanted, HeadSet* chosen) {
  const StackView& stack = engine.runtime.model.decoder;
  goldcrest_detail& detail = *engine.detail;
  const uint32_t layer = static_cast<uint32_t>(wanted.layer), head = static_cast<uint32_t>(wanted.head);
  GOLDCREST_REQUIRE(wanted.layer == -1 || records_queries(engine.runtime.limits, layer), GOLDCREST_ERROR_ARGUMENT,
      "alignment: a layer that limits.alignment_layers lacks", -1);
  GOLDCREST_REQUIRE(wanted.head == -1 || head < stack.n_heads, GOLDCREST_ERROR_ARGUMENT, "alignment: no such head",
      static_cast<int32_t>(stack.n_heads));
  *chosen = {wanted.layer == -1 ? Range{0, smaller(stack.n_layers, uint32_t{32})} : Range{layer, 1},
      wanted.head == -1 ? Range{0, stack.n_heads} : Range{head, 1}};
  return GOLDCREST_OK;
}

// weights [source.n_rows] <- the mean over the heads.
void mean_of_heads(
    const goldcrest_engine& engine, const HeadSet& heads, const Sentence& source, size_t query_row, float* weights) {
  const Runtime& runtime = engine.runtime;
  const DecoderRefs& decoder = engine.decoder;
  float* const of_head = runtime.task_buffer<float>(decoder.pass.attention_weights, 0);
  const size_t query_rows = runtime.limits.max_target_tokens * count_slots(runtime.limits);
  uint32_t n = 0;
  for (uint32_t i = 0; i < source.n_rows; ++i) weights[i] = 0.0f;
  for (uint32_t l = heads.layers.first; l < heads.layers.first + heads.layers.count; ++l) {
    if (!records_queries(runtime.limits, l)) continue;
    const KvCache queries = recorded_queries(runtime, decoder.alignment, l, query_rows);
    const KvCache keys =
        kv_cache_layer(runtime, runtime.model.decoder, decoder.source_keys, l, engine.batch.row_capacity);
    for (uint32_t h = heads.heads.first; h < heads.heads.first + heads.heads.count; ++h, ++n) {
      align_head(runtime, {queries, keys, h, query_row, {source.first_row, source.n_rows}}, of_head);
      for (uint32_t i = 0; i < source.n_rows; ++i) weights[i] += of_head[i];
    }
  }
  for (uint32_t i = 0; i < source.n_rows; ++i) weights[i] = weights[i] / static_cast<float>(n);
}
}  // namespace
}  // namespace goldcrest

using namespace goldcrest;

extern "C" {

int goldcrest_score(goldcrest_engine* engine, uint32_t sentence, const int32_t* target, size_t n) {
  if (!usable(engine)) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  const goldcrest_limits& limits = engine->runtime.limits;
  GOLDCREST_REQUIRE(kHasInspection, GOLDCREST_ERROR_UNSUPPORTED, "score: this build lacks GOLDCREST_INSPECTION", -1);
  GOLDCREST_REQUIRE(takes_targets(limits), GOLDCREST_ERROR_UNSUPPORTED,
      "score: limits.inspection lacks GOLDCREST_INSPECT_TARGETS", -1);
  GOLDCREST_REQUIRE(target != nullptr && n > 0, GOLDCREST_ERROR_ARGUMENT, "target: empty", -1);
  GOLDCREST_REQUIRE(
      awaits_step(*engine), GOLDCREST_ERROR_STATE, "score: begin first, and give targets before the first step", -1);
  GOLDCREST_REQUIRE(sentence < engine->batch.n_sentences, GOLDCREST_ERROR_ARGUMENT, "sentence: no such source", -1);
  GOLDCREST_REQUIRE(engine->options.sampling == nullptr, GOLDCREST_ERROR_ARGUMENT, "score: sampling is set", -1);
  GOLDCREST_REQUIRE(n <= limits.max_target_tokens, GOLDCREST_ERROR_TOO_LONG,
      "target: more ids than limits.max_target_tokens", static_cast<int32_t>(limits.max_target_tokens));
  for (size_t i = 0; i < n; ++i) {
    GOLDCREST_REQUIRE(target[i] >= 0 && static_cast<uint32_t>(target[i]) < engine->runtime.model.vocab_size,
        GOLDCREST_ERROR_TOKEN_RANGE, "target: id outside the vocabulary", static_cast<int32_t>(i));
  }
  const Target given = engine->buffers.targets.of(sentence);
  memmove(given.ids, target, n * sizeof *target);
  *given.n = static_cast<uint32_t>(n);
  return GOLDCREST_OK;
}

int goldcrest_get_alignment(
    const goldcrest_engine* engine, const goldcrest_alignment* wanted, float* weights, size_t n_weights) {
  if (!usable(engine) || wanted == nullptr || weights == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  const goldcrest_limits& limits = engine->runtime.limits;
  GOLDCREST_REQUIRE(
      kHasInspection, GOLDCREST_ERROR_UNSUPPORTED, "alignment: this build lacks GOLDCREST_INSPECTION", -1);
  GOLDCREST_REQUIRE(
      records_alignments(limits), GOLDCREST_ERROR_UNSUPPORTED, "alignment: limits.alignment_layers is 0", -1);
  goldcrest_result result;
  GOLDCREST_TRY(goldcrest_get_result(engine, wanted->sentence, wanted->rank, &result));
  GOLDCREST_REQUIRE(wanted->token < result.n_tokens, GOLDCREST_ERROR_ARGUMENT, "alignment: no such token",
      static_cast<int32_t>(result.n_tokens));
  HeadSet heads = {};
  GOLDCREST_TRY(choose_heads(*engine, *wanted, &heads));
  const Sentence& source = engine->batch.sentences[wanted->sentence];
  GOLDCREST_REQUIRE(n_weights >= source.n_rows, GOLDCREST_ERROR_TRUNCATED, "weights: fewer than the source has ids",
      static_cast<int32_t>(source.n_rows));

  const SentenceView view = sentence_view(engine->buffers, wanted->sentence);
  const size_t storage = view.hypotheses[wanted->rank].storage;
  const uint8_t slot = view.recorded.hypothesis_slots[storage * limits.max_target_tokens + wanted->token];
  // Same layout as the past: see LiveSentence::first_past.
  const size_t query_row =
      (size_t{wanted->sentence} * limits.max_target_tokens + wanted->token) * limits.beam_size + slot;
  mean_of_heads(*engine, heads, source, query_row, weights);
  return static_cast<int>(source.n_rows);
}

}  // extern "C"
