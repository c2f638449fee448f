// SPDX-License-Identifier: Apache-2.0
// Returns results: hypotheses as ids and as text.
#include "base/exact_floats.h"
#include "api/engine.h"
#include "decoding/outputs/output_choice.h"
#include "decoding/search/hypotheses.h"
#include "goldcrest/speech.h"
#include "text/detokenizer.h"

using namespace goldcrest;

// Runs, then writes the text of the best hypothesis. A firmware has one of its callers: its code stays in one function.
[[gnu::always_inline]] static inline int64_t run_to_text(goldcrest_engine* engine, char* out, size_t out_bytes) {
  GOLDCREST_TRY(goldcrest_run(engine));
  goldcrest_result result;
  GOLDCREST_TRY(goldcrest_get_result(engine, 0, 0, &result));
  // Token by token: if `out` is too small, the text that fits is written all the same.
  goldcrest_text_state state = {};
  size_t written = 0;
  for (uint32_t i = 0; i <= result.n_tokens; ++i) {
    const bool flush = i == result.n_tokens;
    const int64_t bytes =
        goldcrest_detokenize(engine, &state, result.tokens + i, flush ? 0 : 1, out + written, out_bytes - 1 - written);
    if (bytes < 0) return bytes;
    written += static_cast<size_t>(bytes);
    out[written] = '\0';
  }
  return static_cast<int64_t>(written);
}

// Leaves the detail of an error of the detokenizer. Returns `bytes`.
static int64_t explained(const goldcrest_engine& engine, int64_t bytes) {
  if (bytes >= 0) return bytes;
  const goldcrest_status status = static_cast<goldcrest_status>(bytes);
  return fail(*engine.detail, status,
      status == GOLDCREST_ERROR_TRUNCATED     ? "out: too small for the text"
      : status == GOLDCREST_ERROR_TOKEN_RANGE ? "tokens: id outside the vocabulary"
                                              : "state: no call has left it");
}

extern "C" {

int goldcrest_get_result(const goldcrest_engine* engine, uint32_t sentence, uint32_t rank, goldcrest_result* result) {
  if (!usable(engine) || result == nullptr) return GOLDCREST_ERROR_ARGUMENT;
  goldcrest_detail& detail = *engine->detail;
  const bool done = engine->state == EngineState::kDone || engine->state == EngineState::kLastTokenGiven;
  GOLDCREST_REQUIRE(done, GOLDCREST_ERROR_STATE, "get_result: not done", -1);
  GOLDCREST_REQUIRE(sentence < engine->batch.n_sentences, GOLDCREST_ERROR_ARGUMENT, "sentence: no such source", -1);
  const SentenceView view = sentence_view(engine->buffers, sentence);
  GOLDCREST_REQUIRE(rank < view.state->n_finished && rank < engine->runtime.limits.n_best, GOLDCREST_ERROR_ARGUMENT,
      "rank: no such hypothesis", static_cast<int32_t>(view.state->n_finished));
  const Hypothesis& hypothesis = view.hypotheses[rank];
  result->tokens = view.hypothesis_tokens + size_t{hypothesis.storage} * engine->runtime.limits.max_target_tokens;
  result->n_tokens = hypothesis.n_tokens;
  result->log_prob = hypothesis.log_prob;
  result->score = hypothesis.score;
  result->was_cut = was_cut(engine->options, view, hypothesis.n_tokens, result->tokens[hypothesis.n_tokens - 1]);
  result->logits_hash = hashes_logits(engine->options) ? view.state->logits_hash : 0;
  result->n_outputs = count_outputs(engine->options, *view.state);
  result->n_prefix = prompt_of(engine->options, view.state->prefix).n;
  result->token_log_probs = nullptr;
  if (kHasInspection && view.recorded.hypothesis_log_probs != nullptr) {
    result->token_log_probs =
        view.recorded.hypothesis_log_probs + size_t{hypothesis.storage} * engine->runtime.limits.max_target_tokens;
  }
  return GOLDCREST_OK;
}

int64_t goldcrest_detokenize_token(const goldcrest_engine* engine, goldcrest_text_state* state,
    const goldcrest_token* token, char* out, size_t out_bytes) {
  if (!usable(engine) || state == nullptr || token == nullptr || (out == nullptr && out_bytes > 0) ||
      (token->text == nullptr && token->text_bytes > 0) || token->text_bytes > INT32_MAX)
    return GOLDCREST_ERROR_ARGUMENT;
  DetokenizerView view;
  if (!view_detokenizer(engine->runtime.model.file, &view))
    return fail(*engine->detail, GOLDCREST_ERROR_UNSUPPORTED, "detokenize: the model has no detokenizer");
  return explained(*engine, detokenize_piece(view, state, *token, out, out_bytes));
}

// NOLINTNEXTLINE(readability-function-size): the C API's parameters
int64_t goldcrest_detokenize(const goldcrest_engine* engine, goldcrest_text_state* state, const int32_t* tokens,
    size_t n, char* out, size_t out_bytes) {
  if (!usable(engine) || state == nullptr || (tokens == nullptr && n > 0) || (out == nullptr && out_bytes > 0))
    return GOLDCREST_ERROR_ARGUMENT;
  DetokenizerView view;
  if (!view_detokenizer(engine->runtime.model.file, &view))
    return fail(*engine->detail, GOLDCREST_ERROR_UNSUPPORTED, "detokenize: the model has no detokenizer");
  return explained(*engine, detokenize(view, state, tokens, n, out, out_bytes));
}

int64_t goldcrest_translate(
    goldcrest_engine* engine, const char* text, size_t text_bytes, char* out, size_t out_bytes) {
  if (!usable(engine) || out == nullptr || out_bytes == 0) return GOLDCREST_ERROR_ARGUMENT;
  out[0] = '\0';
  GOLDCREST_TRY(goldcrest_begin_text(engine, text, text_bytes));
  return run_to_text(engine, out, out_bytes);
}

// NOLINTNEXTLINE(readability-function-size): the C API's parameters
int64_t goldcrest_transcribe(goldcrest_engine* engine, const int16_t* samples, size_t n, char* out, size_t out_bytes) {
  if (!usable(engine) || out == nullptr || out_bytes == 0) return GOLDCREST_ERROR_ARGUMENT;
  out[0] = '\0';
  GOLDCREST_TRY(goldcrest_begin_audio(engine, samples, n));
  return run_to_text(engine, out, out_bytes);
}

}  // extern "C"
