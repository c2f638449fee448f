// SPDX-License-Identifier: Apache-2.0
#include "layers/decoder.h"

#include "layers/attention.h"
#include "layers/embedding.h"
#include "layers/feed_forward.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"

namespace goldcrest {

namespace {

constexpr KvCacheNames kCrossNames = {"cross.keys", "cross.values", "cross.key_scales", "cross.value_scales"};
constexpr KvCacheNames kSelfNames = {"decoder.keys", "decoder.values", "decoder.key_scales", "decoder.value_scales"};

// Each hypothesis attends to its own past, found through the ancestor table.
void attend_to_past(const Runtime& runtime, const TargetRows& rows, const KvCache& cache, const RowScratch& scratch) {
  const StackView& stack = runtime.model.decoder;
  const size_t stride = size_t{3} * stack.attention_width();
  for (uint32_t i = 0; i < rows.n_sentences; ++i) {
    const TargetSentence& sentence = rows.sentences[i];
    const uint8_t* ancestor = rows.ancestor ? rows.ancestor + sentence.first_ancestor : nullptr;
    attend(runtime, stack, scratch.wide + sentence.first_row * stride, stride, sentence.first_row, sentence.n_rows,
           cache, {sentence.first_slot, rows.n_slots, rows.position + 1, ancestor, rows.beam_size}, scratch);
  }
}

// All hypotheses of a sentence attend to its source.
void attend_to_source(const Runtime& runtime, const TargetRows& rows, const KvCache& cache, const RowScratch& scratch) {
  const StackView& stack = runtime.model.decoder;
  const size_t stride = stack.attention_width();
  for (uint32_t i = 0; i < rows.n_sentences; ++i) {
    const TargetSentence& sentence = rows.sentences[i];
    attend(runtime, stack, scratch.wide + sentence.first_row * stride, stride, sentence.first_row, sentence.n_rows,
           cache, {sentence.source.first_row, 1, sentence.source.length, nullptr, 0}, scratch);
  }
}

void store_new_keys(const Runtime& runtime, const TargetRows& rows, const KvCache& cache, const RowScratch& scratch) {
  const StackView& stack = runtime.model.decoder;
  const size_t width = stack.attention_width();
  for (uint32_t i = 0; i < rows.n_sentences; ++i) {
    const TargetSentence& sentence = rows.sentences[i];
    for (uint32_t b = 0; b < sentence.n_rows; ++b) {
      const float* key = scratch.wide + (sentence.first_row + b) * 3 * width + width;
      store_key_value(runtime, stack, key, key + width, rows.position * rows.n_slots + sentence.first_slot + b, cache);
    }
  }
}

}  // namespace

DecoderRefs plan_decoder(Plan& plan, const ModelView& model) {
  DecoderRefs refs;
  refs.cross_kv = plan_kv_cache(plan, kCrossNames, Phase::kAlways, model.decoder.n_layers, model.decoder,
                                GOLDCREST_FACTOR_SOURCE_TOKENS, GOLDCREST_FACTOR_BATCH, 0);
  refs.self_kv = plan_kv_cache(plan, kSelfNames, Phase::kDecode, model.decoder.n_layers, model.decoder,
                               GOLDCREST_FACTOR_TARGET_TOKENS, GOLDCREST_FACTOR_BEAM, GOLDCREST_FACTOR_BATCH);
  refs.x = plan.add("decoder.x", Phase::kDecode, Region::kScratch,
                    {0, 4ull * model.decoder.d_model_padded, {GOLDCREST_FACTOR_BEAM, GOLDCREST_FACTOR_BATCH, 0, 0}});
  refs.rows = plan_row_scratch(plan, Phase::kDecode, model.decoder, 0, GOLDCREST_FACTOR_BEAM, GOLDCREST_FACTOR_BATCH,
                               GOLDCREST_FACTOR_LONGEST);
  return refs;
}

void decoder_layer_memory(const Runtime& runtime, const EncoderRefs& encoder, const DecoderRefs& refs,
                          const SourceBatch& batch, uint32_t layer, RowBlock block) {
  const StackView& stack = runtime.model.decoder;
  const CrossAttentionView attention = view_decoder_layer(runtime.file, layer).cross_attention;
  const uint32_t width = stack.attention_width(), source_width = runtime.model.encoder.d_model_padded;
  const RowScratch scratch = row_scratch(runtime, encoder.rows);
  const KvCache cache = kv_cache_layer(runtime, refs.cross_kv, layer, stack, batch.row_capacity);

  quantize(runtime, runtime.buffer<float>(encoder.x) + size_t{block.first} * source_width, block.count, source_width,
           scratch);
  linear(runtime, attention.key_value, scratch, block.count, Activation::kNone, nullptr, scratch.wide);
  for (uint32_t i = 0; i < block.count; ++i) {
    const float* key = scratch.wide + size_t{i} * 2 * width;
    store_key_value(runtime, stack, key, key + width, block.first + i, cache);
  }
}

void decoder_embed(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& rows, uint32_t row,
                   uint32_t token) {
  const StackView& stack = runtime.model.decoder;
  float* x = runtime.buffer<float>(refs.x) + size_t{row} * stack.d_model_padded;
  embed(runtime, stack, token, rows.position, x);
  trace_rows(runtime, "decoder.embed", -1, rows.position, x, 1, stack.d_model, stack.d_model_padded);
}

void decoder_layer(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& rows, uint32_t layer) {
  const StackView& stack = runtime.model.decoder;
  const DecoderLayerView view = view_decoder_layer(runtime.file, layer);
  const SelfAttentionView& self = view.self_attention;
  const CrossAttentionView& cross = view.cross_attention;
  const uint32_t n_rows = rows.n_rows, width = stack.attention_width();
  const RowScratch scratch = row_scratch(runtime, refs.rows);
  const KvCache past = kv_cache_layer(runtime, refs.self_kv, layer, stack, rows.position_capacity * rows.n_slots);
  const KvCache source = kv_cache_layer(runtime, refs.cross_kv, layer, stack, rows.source_capacity);
  float* x = runtime.buffer<float>(refs.x);

  enter_block(runtime, stack, self.norm, x, n_rows, scratch);
  linear(runtime, self.query_key_value, scratch, n_rows, Activation::kNone, nullptr, scratch.wide);
  store_new_keys(runtime, rows, past, scratch);
  attend_to_past(runtime, rows, past, scratch);
  quantize(runtime, scratch.attention_out, n_rows, width, scratch);
  leave_block(runtime, stack, self.out, self.norm, x, n_rows, scratch);

  enter_block(runtime, stack, cross.norm, x, n_rows, scratch);
  linear(runtime, cross.query, scratch, n_rows, Activation::kNone, nullptr, scratch.wide);
  attend_to_source(runtime, rows, source, scratch);
  quantize(runtime, scratch.attention_out, n_rows, width, scratch);
  leave_block(runtime, stack, cross.out, cross.norm, x, n_rows, scratch);

  feed_forward(runtime, stack, view.feed_forward, x, n_rows, scratch);
  trace_rows(runtime, "decoder.layers", static_cast<int32_t>(layer), rows.position, x, n_rows, stack.d_model,
             stack.d_model_padded);

  if (layer + 1 == stack.n_layers && stack.final_norm.present()) {
    layer_norm(runtime, stack.final_norm, stack, x, n_rows, x);
    trace_rows(runtime, "decoder.norm", -1, rows.position, x, n_rows, stack.d_model, stack.d_model_padded);
  }
}

void output_begin(const Runtime& runtime, const DecoderRefs& refs, uint32_t n_rows) {
  quantize(runtime, runtime.buffer<float>(refs.x), n_rows, runtime.model.decoder.d_model_padded,
           row_scratch(runtime, refs.rows));
}

uint32_t output_block(const Runtime& runtime, const DecoderRefs& refs, uint32_t n_rows, uint32_t block, float* logits,
                      float* block_max, float* block_sum, size_t stride) {
  const uint32_t first = block * kOutputBlock;
  const uint32_t left = runtime.model.vocab_size - first;
  const uint32_t count = left < kOutputBlock ? left : kOutputBlock;
  const RowScratch scratch = row_scratch(runtime, refs.rows);
  OutputBlockArgs args = {};
  args.linear = linear_args(runtime, slice_outputs(runtime.model.projection, first, pad16(count)), scratch, n_rows);
  args.linear.y = logits;
  args.linear.y_stride = kOutputBlock;
  args.count = count;
  args.block_max = block_max;
  args.block_sum = block_sum;
  args.stride = stride;
  runtime.kernels->output_block(args);
  return count;
}

}  // namespace goldcrest
