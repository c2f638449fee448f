// SPDX-License-Identifier: Apache-2.0
// Cross-attention of the decoder. Keys and values are computed once for each source, from the encoder's output; the
// rest is computed at every target position.
#pragma once

#include "layers/alignment.h"
#include "layers/attention.h"
#include "layers/norm.h"
#include "layers/rows.h"

namespace goldcrest {
// [layer][head][source row]
inline KvCacheRefs plan_source_keys(Plan& plan, const StackView& stack) {
  return plan_kv_cache(plan, stack,
      {"cross.keys", "cross.values", "cross.key_scales", "cross.value_scales", Phase::kAlways, stack.n_layers,
          {GOLDCREST_FACTOR_SOURCE_TOKENS, GOLDCREST_FACTOR_BATCH, 0}});
}

// Stores keys and values of the encoder's output rows. pass: that of the encoder; stack: the decoder.
inline void store_source_keys(const Pass& pass, const StackView& stack, const CrossAttentionView& block,
    const float* encoded, const KvCache& source_keys) {
  float* const key_value = pass.projected;  // [rows, 2, n_heads * d_head]
  multiply(pass, block.key_value, quantize(pass, block.key_value, encoded), {}, key_value);
  store_keys_values(pass, stack, key_value, source_keys);
}

// The source's keys and values for a layer's cross-attention, and the cache that records its queries for alignments.
struct SourceOfRows {
  const TargetRows& targets;
  const KvCache& keys;
  const KvCache* recorded_queries;  // null if the layer records none
};

// Records each hypothesis' query in its slot of the current position.
inline void record_queries(const Pass& pass, const SourceOfRows& source, const float* query) {
  for_each_new_row(pass, source.targets, [&](size_t row, size_t stored) {
    record_query(pass, query + row * pass.stack.attention_width(), stored, *source.recorded_queries);
  });
}

// attended <- the attention of all hypotheses to their sentence's source.
inline void attend_to_source(const Pass& pass, const SourceOfRows& source, const float* query, float* attended) {
  const TargetRows& targets = source.targets;
  AttentionRows rows = {};
  rows.query = query;
  rows.query_stride = pass.stack.attention_width();
  rows.out = attended;
  rows.cache = source.keys;
  rows.position_stride = 1;
  rows.n_products = uint64_t{pass.rows.count} * targets.sentences[0].source.n_rows;
  attend(pass, rows, targets.n_sentences, [&](uint32_t i) {
    const LiveSentence& sentence = targets.sentences[i];
    return SentenceKeys{
        part_of_sentence(pass, sentence).rows, sentence.source.first_row, sentence.source.n_rows, nullptr};
  });
}

// Computes the block with its norm; x: [rows, d_model padded]
inline void add_cross_attention(
    const Pass& pass, const CrossAttentionView& block, const SourceOfRows& source, float* x) {
  const Quantized h = block_input(pass, block.norm, block.query, x);
  float* const query = pass.projected;  // [rows, n_heads * d_head]
  multiply(pass, block.query, h, {}, query);
  if (kHasInspection && source.recorded_queries != nullptr) record_queries(pass, source, query);
  attend_to_source(pass, source, query, pass.attended);
  multiply(pass, block.out, quantize(pass, block.out, pass.attended), {Activation::kNone, x}, x);
  end_block(pass, block.norm, x);
}

template <typename Visit>
void for_each_call_site(const StackView&, const LayerKind&, const CrossAttentionView& block, const Visit& visit) {
  visit(LinearCallSite{block.key_value, Activation::kNone, false});
  visit(LinearCallSite{block.query, Activation::kNone, false});
  visit(LinearCallSite{block.out, Activation::kNone, true});
}
}  // namespace goldcrest
