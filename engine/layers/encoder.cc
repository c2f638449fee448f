// SPDX-License-Identifier: Apache-2.0
#include "layers/encoder.h"

#include "layers/attention.h"
#include "layers/embedding.h"
#include "layers/feed_forward.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"

namespace goldcrest {

namespace {

constexpr KvCacheNames kCacheNames = {"encoder.keys", "encoder.values", "encoder.key_scales", "encoder.value_scales"};

float* rows_of(const Runtime& runtime, const EncoderRefs& refs, Range rows) {
  return runtime.buffer<float>(refs.x) + size_t{rows.first} * runtime.model.encoder.d_model_padded;
}

// Each row attends to the rows of its own sentence.
void attend_within_sentences(const Runtime& runtime, const SourceBatch& batch, const KvCache& cache, Range rows,
                             const RowScratch& scratch) {
  const StackView& stack = runtime.model.encoder;
  const size_t width = stack.attention_width();
  const auto attend_heads = [&](const HeadGroup& group) {
    for (uint32_t i = 0; i < batch.n_sources; ++i) {
      const Source& source = batch.sources[i];
      const uint32_t begin = source.first_row > rows.first ? source.first_row : rows.first;
      const uint32_t source_end = source.first_row + source.length, rows_end = rows.first + rows.count;
      const uint32_t end = source_end < rows_end ? source_end : rows_end;
      if (begin >= end) continue;
      const uint32_t row = begin - rows.first;
      attend(runtime, stack, {scratch.wide + row * width, width, row, end - begin}, cache,
             {source.first_row, 1, source.length, nullptr, 0}, group, scratch);
    }
  };
  for_all_heads(runtime, stack, uint64_t{rows.count} * (batch.n_rows / batch.n_sources), scratch, attend_heads);
}

// encoder_layer_rest for the rows of one task.
void encoder_rows_rest(const Runtime& runtime, const EncoderRefs& refs, const SourceBatch& batch, uint32_t layer,
                       Range rows, const RowScratch& scratch) {
  const StackView& stack = runtime.model.encoder;
  const EncoderLayerView view = view_encoder_layer(runtime.file, layer);
  const SelfAttentionView& attention = view.self_attention;
  const uint32_t width = stack.attention_width();
  const KvCache cache = kv_cache_layer(runtime, refs.kv, 0, stack, batch.row_capacity);
  float* x = rows_of(runtime, refs, rows);

  enter_block(runtime, stack, attention.norm, x, rows.count, scratch);
  linear(runtime, slice_outputs(attention.query_key_value, 0, width), scratch, rows.count, Activation::kNone, nullptr,
         scratch.wide);
  attend_within_sentences(runtime, batch, cache, rows, scratch);
  quantize(runtime, scratch.attention_out, rows.count, width, scratch);
  leave_block(runtime, stack, attention.out, attention.norm, x, rows.count, scratch);

  feed_forward(runtime, stack, view.feed_forward, x, rows.count, scratch);
  trace_rows(runtime, "encoder.layers", static_cast<int32_t>(layer), rows.first, x, rows.count, stack.d_model,
             stack.d_model_padded);

  if (layer + 1 == stack.n_layers && stack.final_norm.present()) {
    layer_norm(runtime, stack.final_norm, stack, x, rows.count, x);
    trace_rows(runtime, "encoder.norm", -1, rows.first, x, rows.count, stack.d_model, stack.d_model_padded);
  }
}

}  // namespace

EncoderRefs plan_encoder(Plan& plan, const ModelView& model) {
  EncoderRefs refs;
  refs.x = plan.add(
      "encoder.x", Phase::kEncode, Region::kMain,
      {0, 4ull * model.encoder.d_model_padded, {GOLDCREST_FACTOR_SOURCE_TOKENS, GOLDCREST_FACTOR_BATCH, 0, 0}});
  refs.kv = plan_kv_cache(plan, kCacheNames, Phase::kEncode, 1, model.encoder, GOLDCREST_FACTOR_SOURCE_TOKENS,
                          GOLDCREST_FACTOR_BATCH, 0);
  refs.rows = plan_row_scratch(plan, Phase::kEncode, model.encoder, 2 * model.decoder.attention_width(),
                               GOLDCREST_FACTOR_ENCODER_ROWS, 0, GOLDCREST_FACTOR_SOURCE_TOKENS);
  return refs;
}

void encoder_embed(const Runtime& runtime, const EncoderRefs& refs, const SourceBatch& batch, Range block) {
  const StackView& stack = runtime.model.encoder;
  float* x = rows_of(runtime, refs, block);
  uint32_t sentence = 0;
  for (uint32_t i = 0; i < block.count; ++i) {
    const uint32_t row = block.first + i;
    while (row >= batch.sources[sentence].first_row + batch.sources[sentence].length) ++sentence;
    const uint32_t position = row - batch.sources[sentence].first_row;
    embed(runtime, stack, static_cast<uint32_t>(batch.ids[row]), position, x + size_t{i} * stack.d_model_padded);
  }
  trace_rows(runtime, "encoder.embed", -1, block.first, x, block.count, stack.d_model, stack.d_model_padded);
}

void encoder_layer_keys(const Runtime& runtime, const EncoderRefs& refs, const SourceBatch& batch, uint32_t layer,
                        Range block) {
  const StackView& stack = runtime.model.encoder;
  const SelfAttentionView attention = view_encoder_layer(runtime.file, layer).self_attention;
  const uint32_t width = stack.attention_width();
  const KvCache cache = kv_cache_layer(runtime, refs.kv, 0, stack, batch.row_capacity);

  for_all_rows(runtime, refs.rows, block.count, [&](Range part, const RowScratch& scratch) {
    const Range rows = {block.first + part.first, part.count};
    enter_block(runtime, stack, attention.norm, rows_of(runtime, refs, rows), rows.count, scratch);
    linear(runtime, slice_outputs(attention.query_key_value, width, 2 * width), scratch, rows.count, Activation::kNone,
           nullptr, scratch.wide);
    store_keys_values(runtime, stack, scratch.wide, rows, cache);
  });
}

void encoder_layer_rest(const Runtime& runtime, const EncoderRefs& refs, const SourceBatch& batch, uint32_t layer,
                        Range block) {
  for_all_rows(runtime, refs.rows, block.count, [&](Range part, const RowScratch& scratch) {
    encoder_rows_rest(runtime, refs, batch, layer, {block.first + part.first, part.count}, scratch);
  });
}

}  // namespace goldcrest
