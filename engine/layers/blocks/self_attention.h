// SPDX-License-Identifier: Apache-2.0
// Self-attention. The encoder computes a layer in two passes: keys and values of all rows first, then their queries.
// The decoder computes all three in one call: each hypothesis attends to its own past.
#pragma once

#include "layers/attention.h"
#include "layers/norm.h"
#include "layers/rotary.h"
#include "layers/rows.h"

namespace goldcrest {
inline LinearView query_of(const StackView& stack, const SelfAttentionView& block) {
  return slice_outputs(block.query_key_value, 0, stack.attention_width());
}

inline LinearView key_value_of(const StackView& stack, const SelfAttentionView& block) {
  return slice_outputs(block.query_key_value, stack.attention_width(), 2 * stack.attention_width());
}

// The encoder's keys and values: [head][source row]. The layers use the buffers one after another.
inline KvCacheRefs plan_sentence_keys(Plan& plan, const StackView& stack) {
  // static: otherwise GCC makes a writable copy of it for position-independent RISC-V.
  static constexpr KvCachePlan kWanted = {"encoder.keys", "encoder.values", "encoder.key_scales",
      "encoder.value_scales", Phase::kEncode, 1, {GOLDCREST_FACTOR_SOURCE_TOKENS, GOLDCREST_FACTOR_BATCH, 0}};
  return plan_kv_cache(plan, stack, kWanted);
}

// Returns the multiply-accumulates of an encoder layer's keys and values.
inline uint64_t sentence_keys_macs(const StackView& stack, uint64_t rows) {
  return 2 * rows * stack.d_model_padded * stack.attention_width();
}

// The sentences and the keys that the encoder's rows attend to.
struct SentencesOfRows {
  const Batch& batch;
  const KvCache& keys;
};

// Turns queries or keys of the pass's rows by their positions. heads: [rows, n_heads * d_head], row stride `stride`
[[gnu::noinline]] inline void turn_rows(const Pass& pass, const Batch& batch, float* heads, size_t stride) {
  if (!pass.stack.turns()) return;
  for_each_position(batch, pass.rows, [&](uint32_t i, uint32_t, uint32_t position) {
    turn_heads(pass.runtime, pass.stack, position, pass.stack.n_heads, heads + i * stride);
  });
}

// Stores the keys and values of the pass's rows.
inline void store_sentence_keys(
    const Pass& pass, const SelfAttentionView& block, const SentencesOfRows& sentences, Quantized h) {
  float* const key_value = pass.projected;  // [rows, 2, n_heads * d_head]
  multiply(pass, key_value_of(pass.stack, block), h, {}, key_value);
  turn_rows(pass, sentences.batch, key_value, size_t{2} * pass.stack.attention_width());
  store_keys_values(pass, pass.stack, key_value, sentences.keys);
}

// attended <- the attention of each of the pass's rows to all rows of its own sentence.
inline void attend_within_sentences(const Pass& pass, const AttentionBiasView& bias, const SentencesOfRows& sentences,
    const float* query, float* attended) {
  const Batch& batch = sentences.batch;
  AttentionRows rows = {};
  rows.query = query;
  rows.query_stride = pass.stack.attention_width();
  rows.out = attended;
  rows.cache = sentences.keys;
  rows.bias = bias;
  rows.bias_step = -1;
  rows.position_stride = 1;
  rows.n_products = uint64_t{pass.rows.count} * (batch.n_rows / batch.n_sentences);
  attend(pass, rows, batch.n_sentences, [&](uint32_t i) {
    const Sentence& sentence = batch.sentences[i];
    const Range part = common({sentence.first_row, sentence.n_rows}, pass.rows);
    return SentenceKeys{{part.first - pass.rows.first, part.count}, sentence.first_row, sentence.n_rows, nullptr,
        part.first - sentence.first_row};
  });
}

// In the encoder: the block with its norm; x: [rows, d_model padded]
inline void add_self_attention(
    const Pass& pass, const SelfAttentionView& block, const SentencesOfRows& sentences, float* x) {
  const Quantized h = block_input(pass, block.norm, block.query_key_value, x);
  float* const query = pass.projected;  // [rows, n_heads * d_head]
  multiply(pass, query_of(pass.stack, block), h, {}, query);
  turn_rows(pass, sentences.batch, query, pass.stack.attention_width());
  attend_within_sentences(pass, block.bias, sentences, query, pass.attended);
  multiply(pass, block.out, quantize(pass, block.out, pass.attended), {Activation::kNone, x}, x);
  end_block(pass, block.norm, x);
}

// The decoder's keys and values: [layer][head][sentence][position][hypothesis], only of layers with self-attention.
inline KvCacheRefs plan_past(Plan& plan, const StackView& stack, uint32_t n_layers) {
  return plan_kv_cache(plan, stack,
      {"decoder.keys", "decoder.values", "decoder.key_scales", "decoder.value_scales", Phase::kDecode, n_layers,
          {GOLDCREST_FACTOR_TARGET_TOKENS, GOLDCREST_FACTOR_BEAM, GOLDCREST_FACTOR_BATCH}});
}

// One layer's keys and values of earlier positions, which the decoder's rows attend to.
struct PastOfRows {
  const TargetRows& targets;
  const KvCache& keys;
};

// Turns the queries and keys of all hypotheses by their positions. A draft's rows are all in one pass.
[[gnu::noinline]] inline void turn_new_rows(const Pass& pass, const TargetRows& targets, float* query_key_value) {
  if (!pass.stack.turns()) return;
  for (uint32_t i = 0; i < pass.rows.count; ++i, query_key_value += 3 * pass.stack.attention_width())
    turn_heads(pass.runtime, pass.stack, targets.position_of(i), 2 * pass.stack.n_heads, query_key_value);
}

inline void store_new_keys(const Pass& pass, const PastOfRows& past, const float* query_key_value) {
  const size_t width = pass.stack.attention_width();
  for_each_new_row(pass, past.targets, [&](size_t row, size_t stored) {
    const float* key = query_key_value + row * 3 * width + width;
    store_key_value(pass, {key, key + width, stored}, past.keys);
  });
}

// attended <- the attention of each hypothesis to its own past, which the ancestor table leads to.
inline void attend_to_past(const Pass& pass, const AttentionBiasView& bias, const PastOfRows& past,
    const float* query_key_value, float* attended) {
  const TargetRows& targets = past.targets;
  AttentionRows rows = {};
  rows.query = query_key_value;
  rows.query_stride = size_t{3} * pass.stack.attention_width();
  rows.out = attended;
  rows.cache = past.keys;
  rows.bias = bias;
  rows.position_stride = targets.beam_size;
  rows.ancestor_stride = targets.beam_size;
  rows.n_products = uint64_t{pass.rows.count} * (targets.position + 1);
  attend(pass, rows, targets.is_draft() ? pass.rows.count : targets.n_sentences, [&](uint32_t i) {
    const LiveSentence& sentence = targets.sentences[targets.is_draft() ? 0 : i];
    if (targets.is_draft()) {
      const uint32_t position = targets.position_of(i);
      return SentenceKeys{{i, 1}, sentence.first_past, position + 1, nullptr, position};
    }
    const SentencePart part = part_of_sentence(pass, sentence);
    if (part.rows.count == 0) return SentenceKeys{};
    const uint8_t* ancestor = targets.ancestor ? targets.ancestor + sentence.first_past + part.first : nullptr;
    return SentenceKeys{part.rows, sentence.first_past, targets.position + 1, ancestor, targets.position};
  });
}

// In the decoder: the block with its norm; x: [rows, d_model padded]
inline void add_self_attention(const Pass& pass, const SelfAttentionView& block, const PastOfRows& past, float* x) {
  const Quantized h = block_input(pass, block.norm, block.query_key_value, x);
  float* const query_key_value = pass.projected;  // [rows, 3, n_heads * d_head]
  multiply(pass, block.query_key_value, h, {}, query_key_value);
  turn_new_rows(pass, past.targets, query_key_value);
  store_new_keys(pass, past, query_key_value);
  attend_to_past(pass, block.bias, past, query_key_value, pass.attended);
  multiply(pass, block.out, quantize(pass, block.out, pass.attended), {Activation::kNone, x}, x);
  end_block(pass, block.norm, x);
}

template <typename Visit>
void for_each_call_site(
    const StackView& stack, const LayerKind& layer, const SelfAttentionView& block, const Visit& visit) {
  if (layer.is_decoder) {
    visit(LinearCallSite{block.query_key_value, Activation::kNone, false});
  } else {
    visit(LinearCallSite{key_value_of(stack, block), Activation::kNone, false});
    visit(LinearCallSite{query_of(stack, block), Activation::kNone, false});
  }
  visit(LinearCallSite{block.out, Activation::kNone, true});
}
}  // namespace goldcrest
