// SPDX-License-Identifier: Apache-2.0
#include "layers/decoder.h"

#include "layers/attention.h"
#include "layers/embedding.h"
#include "layers/feed_forward.h"
#include "layers/float32.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"

namespace goldcrest {

namespace {

constexpr KvCacheNames kCrossNames = {"cross.keys", "cross.values", "cross.key_scales", "cross.value_scales"};
constexpr KvCacheNames kSelfNames = {"decoder.keys", "decoder.values", "decoder.key_scales", "decoder.value_scales"};

// What a range of rows has of one sentence: hypotheses [first, first + count), from row `row` of the range.
struct SentencePart {
  uint32_t first, count, row;
};

SentencePart part_of_sentence(const TargetSentence& sentence, Range rows) {
  const uint32_t begin = sentence.first_row > rows.first ? sentence.first_row : rows.first;
  const uint32_t sentence_end = sentence.first_row + sentence.n_rows, rows_end = rows.first + rows.count;
  const uint32_t end = sentence_end < rows_end ? sentence_end : rows_end;
  if (begin >= end) return {0, 0, 0};
  return {begin - sentence.first_row, end - begin, begin - rows.first};
}

// Each hypothesis attends to its own past, found through the ancestor table.
void attend_to_past(const Runtime& runtime, const TargetRows& all, Range rows, const KvCache& cache,
                    const RowScratch& scratch) {
  const StackView& stack = runtime.model.decoder;
  const size_t stride = size_t{3} * stack.attention_width();
  const auto attend_heads = [&](const HeadGroup& group) {
    for (uint32_t i = 0; i < all.n_sentences; ++i) {
      const TargetSentence& sentence = all.sentences[i];
      const SentencePart part = part_of_sentence(sentence, rows);
      if (part.count == 0) continue;
      const uint8_t* ancestor = all.ancestor ? all.ancestor + sentence.first_ancestor + part.first : nullptr;
      attend(runtime, stack, {scratch.wide + part.row * stride, stride, part.row, part.count}, cache,
             {sentence.first_slot, all.n_slots, all.position + 1, ancestor, all.beam_size}, group, scratch);
    }
  };
  for_all_heads(runtime, stack, uint64_t{rows.count} * (all.position + 1), scratch, attend_heads);
}

// All hypotheses of a sentence attend to its source.
void attend_to_source(const Runtime& runtime, const TargetRows& all, Range rows, const KvCache& cache,
                      const RowScratch& scratch) {
  const StackView& stack = runtime.model.decoder;
  const size_t stride = stack.attention_width();
  const auto attend_heads = [&](const HeadGroup& group) {
    for (uint32_t i = 0; i < all.n_sentences; ++i) {
      const TargetSentence& sentence = all.sentences[i];
      const SentencePart part = part_of_sentence(sentence, rows);
      if (part.count == 0) continue;
      attend(runtime, stack, {scratch.wide + part.row * stride, stride, part.row, part.count}, cache,
             {sentence.source.first_row, 1, sentence.source.length, nullptr, 0}, group, scratch);
    }
  };
  for_all_heads(runtime, stack, uint64_t{rows.count} * all.sentences[0].source.length, scratch, attend_heads);
}

void store_new_keys(const Runtime& runtime, const TargetRows& all, Range rows, const KvCache& cache,
                    const RowScratch& scratch) {
  const StackView& stack = runtime.model.decoder;
  const size_t width = stack.attention_width();
  for (uint32_t i = 0; i < all.n_sentences; ++i) {
    const TargetSentence& sentence = all.sentences[i];
    const SentencePart part = part_of_sentence(sentence, rows);
    for (uint32_t b = 0; b < part.count; ++b) {
      const float* key = scratch.wide + (part.row + b) * 3 * width + width;
      const size_t slot = sentence.first_slot + part.first + b;
      store_key_value(runtime, stack, key, key + width, all.position * all.n_slots + slot, cache);
    }
  }
}

// decoder_layer for the rows of one task.
void decoder_rows(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& all, uint32_t layer, Range rows,
                  const RowScratch& scratch) {
  const StackView& stack = runtime.model.decoder;
  const DecoderLayerView view = view_decoder_layer(runtime.file, layer);
  const SelfAttentionView& self = view.self_attention;
  const CrossAttentionView& cross = view.cross_attention;
  const uint32_t n_rows = rows.count, width = stack.attention_width();
  const KvCache past = kv_cache_layer(runtime, refs.self_kv, layer, stack, all.position_capacity * all.n_slots);
  const KvCache source = kv_cache_layer(runtime, refs.cross_kv, layer, stack, all.source_capacity);
  float* x = runtime.buffer<float>(refs.x) + size_t{rows.first} * stack.d_model_padded;

  enter_block(runtime, stack, self.norm, x, n_rows, scratch);
  linear(runtime, self.query_key_value, scratch, n_rows, Activation::kNone, nullptr, scratch.wide);
  store_new_keys(runtime, all, rows, past, scratch);
  attend_to_past(runtime, all, rows, past, scratch);
  quantize(runtime, scratch.attention_out, n_rows, width, scratch);
  leave_block(runtime, stack, self.out, self.norm, x, n_rows, scratch);

  enter_block(runtime, stack, cross.norm, x, n_rows, scratch);
  linear(runtime, cross.query, scratch, n_rows, Activation::kNone, nullptr, scratch.wide);
  attend_to_source(runtime, all, rows, source, scratch);
  quantize(runtime, scratch.attention_out, n_rows, width, scratch);
  leave_block(runtime, stack, cross.out, cross.norm, x, n_rows, scratch);

  feed_forward(runtime, stack, view.feed_forward, x, n_rows, scratch);
  trace_rows(runtime, "decoder.layers", static_cast<int32_t>(layer), all.position, x, n_rows, stack.d_model,
             stack.d_model_padded);

  if (layer + 1 == stack.n_layers && stack.final_norm.present()) {
    layer_norm(runtime, stack.final_norm, stack, x, n_rows, x);
    trace_rows(runtime, "decoder.norm", -1, all.position, x, n_rows, stack.d_model, stack.d_model_padded);
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
                          const SourceBatch& batch, uint32_t layer, Range block) {
  const StackView& stack = runtime.model.decoder;
  const CrossAttentionView attention = view_decoder_layer(runtime.file, layer).cross_attention;
  const uint32_t source_width = runtime.model.encoder.d_model_padded;
  const KvCache cache = kv_cache_layer(runtime, refs.cross_kv, layer, stack, batch.row_capacity);

  for_all_rows(runtime, encoder.rows, block.count, [&](Range part, const RowScratch& scratch) {
    const Range rows = {block.first + part.first, part.count};
    const float* x = runtime.buffer<float>(encoder.x) + size_t{rows.first} * source_width;
    quantize(runtime, x, rows.count, source_width, scratch);
    linear(runtime, attention.key_value, scratch, rows.count, Activation::kNone, nullptr, scratch.wide);
    store_keys_values(runtime, stack, scratch.wide, rows, cache);
  });
}

void decoder_embed(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& rows, uint32_t row,
                   uint32_t token) {
  const StackView& stack = runtime.model.decoder;
  float* x = runtime.buffer<float>(refs.x) + size_t{row} * stack.d_model_padded;
  embed(runtime, stack, token, rows.position, x);
  trace_rows(runtime, "decoder.embed", -1, rows.position, x, 1, stack.d_model, stack.d_model_padded);
}

void decoder_layer(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& all, uint32_t layer) {
  for_all_rows(runtime, refs.rows, all.n_rows,
               [&](Range rows, const RowScratch& scratch) { decoder_rows(runtime, refs, all, layer, rows, scratch); });
}

void output_begin(const Runtime& runtime, const DecoderRefs& refs, Range rows) {
  const uint32_t width = runtime.model.decoder.d_model_padded;
  quantize(runtime, runtime.buffer<float>(refs.x) + size_t{rows.first} * width, rows.count, width,
           row_scratch(runtime, refs.rows, rows.first, 0, 1));
}

uint32_t output_block(const Runtime& runtime, const DecoderRefs& refs, Range rows, uint32_t block, float* logits,
                      float* block_max, float* block_sum, size_t stride) {
  const uint32_t first = block * kOutputBlock;
  const uint32_t left = runtime.model.vocab_size - first;
  const uint32_t count = left < kOutputBlock ? left : kOutputBlock;
  const RowScratch scratch = row_scratch(runtime, refs.rows, rows.first, 0, 1);
  const LinearView outputs = slice_outputs(runtime.model.projection, first, pad16(count));
  OutputBlockArgs<int8_t> args = {};
  args.linear = linear_args(runtime, outputs, scratch, rows.count);
  args.linear.y = logits;
  args.linear.y_stride = kOutputBlock;
  args.count = count;
  args.block_max = block_max;
  args.block_sum = block_sum;
  args.stride = stride;
  if (runs_float32(runtime)) {
    output_block_float(runtime, outputs, scratch, args);
  } else {
    runtime.kernels->int8.output_block(args);
  }
  return count;
}

}  // namespace goldcrest
