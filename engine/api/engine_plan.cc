// SPDX-License-Identifier: Apache-2.0
// Collects every layer's buffers into one plan, and counts the work of a step.
#include "api/engine.h"
#include "base/arithmetic.h"
#include "model/blocks.h"
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

// Products of one row with a layer's matrices: those that read the source, and the others.
struct LayerMacs {
  BlockWidths widths;
  uint64_t of_source = 0, of_own = 0;

  LayerMacs(const StackView& stack, const StackView& encoder)
      : widths{{stack.d_model_padded, stack.attention_width(), stack.d_ff_padded, encoder.d_model_padded}} {}
  void operator()(const MatrixEntry& matrix) {
    const uint64_t macs = uint64_t{matrix.n.in(widths)} * matrix.k.in(widths);
    (matrix.reads_source() ? of_source : of_own) += macs;
  }
};

}  // namespace

uint64_t largest_step_macs(const ModelView& model, const goldcrest_limits& limits, uint32_t step_size) {
  const StackView &encoder = model.encoder, &decoder = model.decoder;
  const uint64_t block = limits.encoder_rows, rows = uint64_t{limits.beam_size} * limits.batch;
  LayerMacs encoder_layer(encoder, encoder), decoder_layer(decoder, encoder);
  for_each_encoder_block([&](auto list) { list.for_each_matrix(encoder_layer); });
  for_each_block([&](auto list) { list.for_each_matrix(decoder_layer); });
  const uint64_t keys = 2 * block * encoder.d_model_padded * encoder.attention_width();  // keys and values of a layer
  const uint64_t rest = block * encoder_layer.of_own - keys + attention_macs(encoder, block, limits.max_source_tokens);
  const uint64_t memory = block * decoder_layer.of_source;
  const uint64_t layer = rows * decoder_layer.of_own +
                         attention_macs(decoder, rows, uint64_t{limits.max_source_tokens} + limits.max_target_tokens);
  const uint64_t output = rows * decoder.d_model_padded * model.projection.n;
  const uint64_t decode = step_size == GOLDCREST_STEP_LAYER ? larger(layer, output) : decoder.n_layers * layer + output;
  return larger(larger(keys, rest), larger(memory, decode));
}

}  // namespace goldcrest
