// SPDX-License-Identifier: Apache-2.0
// Collects every layer's buffers into one plan, and counts the work of a step.
#include "api/engine.h"
#include "base/compare.h"
#include "text/tokenizer.h"

namespace goldcrest {

EngineRefs plan_engine(Plan& plan, const ModelView& model, const TokenizerView* tokenizer) {
  EngineRefs refs;
  refs.engine = plan.add("engine", Phase::kAlways, Region::kMain, {kEngineBytes, 0, {}});
  refs.source_ids = plan.add("source.ids", Phase::kAlways, Region::kMain,
                             {0, 4, {GOLDCREST_FACTOR_SOURCE_TOKENS, GOLDCREST_FACTOR_BATCH, 0, 0}});
  refs.sources =
      plan.add("source.extents", Phase::kAlways, Region::kMain, {0, sizeof(Source), {GOLDCREST_FACTOR_BATCH, 0, 0, 0}});
  BufferSize text = {};
  if (tokenizer != nullptr) {
    const ScratchSize scratch = tokenizer_scratch(tokenizer->kind);
    text = {scratch.constant, scratch.per_byte, {GOLDCREST_FACTOR_SOURCE_BYTES, 0, 0, 0}};
  }
  refs.text_scratch = plan.add("text.scratch", Phase::kText, Region::kMain, text);
  refs.encoder = plan_encoder(plan, model);
  refs.decoder = plan_decoder(plan, model);
  refs.search = plan_search(plan, model);
  return refs;
}

namespace {

uint64_t attention_macs(const StackView& stack, uint64_t rows, uint64_t keys) {
  return 2 * rows * keys * stack.attention_width();
}

}  // namespace

uint64_t largest_step_macs(const ModelView& model, const goldcrest_limits& limits, uint32_t step_size) {
  const StackView &encoder = model.encoder, &decoder = model.decoder;
  const uint64_t block = limits.encoder_rows, rows = uint64_t{limits.beam_size} * limits.batch;
  const uint64_t encoder_width = encoder.attention_width(), decoder_width = decoder.attention_width();
  const uint64_t keys = 2 * block * encoder.d_model_padded * encoder_width;
  const uint64_t rest = block * 2 * encoder.d_model_padded * (encoder_width + encoder.d_ff_padded) +
                        attention_macs(encoder, block, limits.max_source_tokens);
  const uint64_t memory = 2 * block * encoder.d_model_padded * decoder_width;
  const uint64_t layer = rows * decoder.d_model_padded * (6 * decoder_width + 2 * decoder.d_ff_padded) +
                         attention_macs(decoder, rows, uint64_t{limits.max_source_tokens} + limits.max_target_tokens);
  const uint64_t output = rows * decoder.d_model_padded * model.projection.n;
  const uint64_t decode = step_size == GOLDCREST_STEP_LAYER ? larger(layer, output) : decoder.n_layers * layer + output;
  return larger(larger(keys, rest), larger(memory, decode));
}

}  // namespace goldcrest
