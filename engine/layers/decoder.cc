// SPDX-License-Identifier: Apache-2.0
// Each row is one hypothesis at the current target position: floats of d_model, padded with zeros to a multiple of 16,
// as every dimension is. x is the residual stream: `residual` norms it before a block (pre-norm) or after it
// (post-norm), and the block's last matrix adds to it. Rows are given out to tasks (for_all_rows); a task reads and
// writes nothing of another's rows. Of the past, hypotheses share what their ancestors stored, which is never written
// again; the source's keys and values are complete before the first position (decoder_layer_source_keys).
#include "layers/decoder.h"

#include "layers/attention.h"
#include "layers/blocks/feed_forward.h"
#include "layers/blocks/recurrent.h"
#include "layers/embedding.h"
#include "layers/norm.h"

namespace goldcrest {

namespace {

// What a pass has of one sentence: hypotheses [first, first + rows.count) in `rows` of the pass.
struct SentencePart {
  uint32_t first;
  Range rows;
};

SentencePart part_of_sentence(const Pass& pass, const LiveSentence& sentence) {
  const Range rows = common({sentence.first_row, sentence.n_rows}, pass.rows);
  return {rows.first - sentence.first_row, {rows.first - pass.rows.first, rows.count}};
}

// store(row of the pass, row of a cache) for each hypothesis: what it stores at the current position lies in its own
// slot.
template <typename Store>
void for_each_new_row(const Pass& pass, const TargetRows& all, const Store& store) {
  for (uint32_t i = 0; i < all.n_sentences; ++i) {
    const LiveSentence& sentence = all.sentences[i];
    const SentencePart part = part_of_sentence(pass, sentence);
    for (uint32_t b = 0; b < part.rows.count; ++b) {
      const size_t hypothesis = part.first + b;
      store(size_t{part.rows.first + b}, sentence.first_past + size_t{all.position} * all.beam_size + hypothesis);
    }
  }
}

void store_new_keys(const Pass& pass, const TargetRows& all, const float* query_key_value, const KvCache& past) {
  const size_t width = pass.stack.attention_width();
  for_each_new_row(pass, all, [&](size_t row, size_t stored) {
    const float* key = query_key_value + row * 3 * width + width;
    store_key_value(pass, {key, key + width, stored}, past);
  });
}

void keep_new_queries(const Pass& pass, const TargetRows& all, const float* query, const KvCache& queries) {
  for_each_new_row(pass, all, [&](size_t row, size_t stored) {
    keep_query(pass, query + row * pass.stack.attention_width(), stored, queries);
  });
}

// Each hypothesis attends to its own past, found through the ancestor table.
void attend_to_past(const Pass& pass, const TargetRows& all, const KvCache& past, const float* query_key_value,
                    float* out) {
  AttentionRows rows = {};
  rows.query = query_key_value;
  rows.query_stride = size_t{3} * pass.stack.attention_width();
  rows.out = out;
  rows.cache = past;
  rows.position_stride = all.beam_size;
  rows.ancestor_stride = all.beam_size;
  rows.n_products = uint64_t{pass.rows.count} * (all.position + 1);
  attend(pass, rows, all.n_sentences, [&](uint32_t i) {
    const LiveSentence& sentence = all.sentences[i];
    const SentencePart part = part_of_sentence(pass, sentence);
    if (part.rows.count == 0) return SentenceKeys{};
    const uint8_t* ancestor = all.ancestor ? all.ancestor + sentence.first_past + part.first : nullptr;
    return SentenceKeys{part.rows, sentence.first_past, all.position + 1, ancestor};
  });
}

// x = x + relu(cell): each hypothesis makes its cell from the one of its past, and keeps it in its own slot.
void add_recurrence(const Pass& pass, const TargetRows& all, const Cells& cells, const float* input_forget, float* x) {
  const size_t width = cells.width;
  for (uint32_t i = 0; i < all.n_sentences; ++i) {
    const LiveSentence& sentence = all.sentences[i];
    const SentencePart part = part_of_sentence(pass, sentence);
    const uint8_t* before = nullptr;  // of each hypothesis: its slot at the position before
    if (all.ancestor != nullptr && all.position > 0)
      before = all.ancestor + sentence.first_past + size_t{all.position - 1} * all.beam_size + part.first;
    for (uint32_t b = 0; b < part.rows.count; ++b) {
      const size_t row = part.rows.first + b, slot_before = sentence.first_slot + (before != nullptr ? before[b] : 0u);
      const float* input = input_forget + row * 2 * width;
      pass.runtime.kernels->recurrence({input, input + width,
                                        all.position > 0 ? cells.at(all.position - 1, slot_before) : nullptr,
                                        cells.at(all.position, sentence.first_slot + part.first + b), x + row * width,
                                        static_cast<uint32_t>(width)});
    }
  }
}

// All hypotheses of a sentence attend to its source.
void attend_to_source(const Pass& pass, const TargetRows& all, const KvCache& source_keys, const float* query,
                      float* out) {
  AttentionRows rows = {};
  rows.query = query;
  rows.query_stride = pass.stack.attention_width();
  rows.out = out;
  rows.cache = source_keys;
  rows.position_stride = 1;
  rows.n_products = uint64_t{pass.rows.count} * all.sentences[0].source.n_rows;
  attend(pass, rows, all.n_sentences, [&](uint32_t i) {
    const LiveSentence& sentence = all.sentences[i];
    return SentenceKeys{part_of_sentence(pass, sentence).rows, sentence.source.first_row, sentence.source.n_rows,
                        nullptr};
  });
}

// What a layer has of earlier positions, and of the source.
struct LayerKeys {
  union {
    KvCache past;
    Cells cells;  // of a recurrent layer
  };
  KvCache source;
  const KvCache* queries;  // for alignments; null where the layer keeps none
};

LayerKeys keys_of_layer(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& all,
                        const DecoderLayerView& view, uint32_t layer) {
  const StackView& stack = runtime.model.decoder;
  if (kHasSsru && view.is_recurrent) {
    LayerKeys keys;
    keys.cells = cells_of_layer(runtime, refs.cells, view.n_alike_before, all.n_slots);
    keys.source = kv_cache_layer(runtime, stack, refs.source_keys, layer, all.source_capacity);
    return keys;
  }
  const uint32_t self_attending = kHasSsru ? view.n_alike_before : layer;
  return {{kv_cache_layer(runtime, stack, refs.past, self_attending, all.position_capacity * all.n_slots)},
          kv_cache_layer(runtime, stack, refs.source_keys, layer, all.source_capacity),
          nullptr};
}

// One layer: Vaswani et al. 2017, figure 1, right.
void run_layer(const Pass& pass, const TargetRows& all, const DecoderLayerView& layer, const LayerKeys& keys,
               float* x) {
  if (kHasSsru && layer.is_recurrent) {
    residual(pass, layer.recurrent.norm, x, [&](const float* h) {
      linear(pass, layer.recurrent.input_forget, h, pass.input_forget());
      add_recurrence(pass, all, keys.cells, pass.input_forget(), x);
    });
  } else {
    const SelfAttentionView& self = layer.self_attention;
    residual(pass, self.norm, x, [&](const float* h) {
      linear(pass, self.query_key_value, h, pass.query_key_value());
      store_new_keys(pass, all, pass.query_key_value(), keys.past);
      attend_to_past(pass, all, keys.past, pass.query_key_value(), pass.mixed);
      add_linear(pass, self.out, pass.mixed, x);
    });
  }
  const CrossAttentionView& cross = layer.cross_attention;
  residual(pass, cross.norm, x, [&](const float* h) {
    linear(pass, cross.query, h, pass.query());
    if (kHasInspection && keys.queries != nullptr) keep_new_queries(pass, all, pass.query(), *keys.queries);
    attend_to_source(pass, all, keys.source, pass.query(), pass.mixed);
    add_linear(pass, cross.out, pass.mixed, x);
  });
  residual(pass, layer.feed_forward.norm, x, [&](const float* h) { add_feed_forward(pass, layer.feed_forward, h, x); });
}

}  // namespace

DecoderRefs plan_decoder(Plan& plan, const ModelView& model) {
  constexpr uint8_t kSource = GOLDCREST_FACTOR_SOURCE_TOKENS, kTarget = GOLDCREST_FACTOR_TARGET_TOKENS,
                    kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH, kLongest = GOLDCREST_FACTOR_LONGEST;
  const StackView& stack = model.decoder;
  const bool self_attends = !kHasSsru || count_self_attending(model) > 0;
  DecoderRefs refs;
  if (kHasSsru) refs = {};  // without buffers that no layer has
  refs.source_keys = plan_kv_cache(plan, stack,
                                   {"cross.keys",
                                    "cross.values",
                                    "cross.key_scales",
                                    "cross.value_scales",
                                    Phase::kAlways,
                                    stack.n_layers,
                                    {kSource, kBatch, 0}});
  if (self_attends) {
    refs.past = plan_kv_cache(plan, stack,
                              {"decoder.keys",
                               "decoder.values",
                               "decoder.key_scales",
                               "decoder.value_scales",
                               Phase::kDecode,
                               count_self_attending(model),
                               {kTarget, kBeam, kBatch}});
  }
  if (kHasSsru && model.n_recurrent > 0) refs.cells = plan_cells(plan, model);
  refs.x = plan.add("decoder.x", Phase::kDecode, Region::kScratch,
                    {0, sizeof(float) * uint64_t{stack.d_model_padded}, {kBeam, kBatch, 0, 0}});
  refs.pass = plan_pass(plan, stack,
                        {Phase::kDecode, recurrent_width(model), {kBeam, kBatch}, self_attends ? kLongest : kSource});
  if constexpr (kHasInspection) refs.alignment = plan_alignment(plan, stack);
  return refs;
}

void decoder_layer_source_keys(const Runtime& runtime, const DecoderRefs& refs, const SourceRows& source,
                               uint32_t layer) {
  const CrossAttentionView cross = view_decoder_layer(runtime.file, layer).cross_attention;
  const KvCache keys =
      kv_cache_layer(runtime, runtime.model.decoder, refs.source_keys, layer, source.batch.row_capacity);
  for_all_rows(runtime, runtime.model.encoder, source.encoder.pass, source.block, [&](const Pass& pass) {
    linear(pass, cross.key_value, encoder_rows(runtime, source.encoder, pass.rows.first), pass.key_value());
    store_keys_values(pass, runtime.model.decoder, pass.key_value(), keys);
  });
}

void decoder_embed(const Runtime& runtime, const DecoderRefs& refs, uint32_t position, uint32_t row, uint32_t token) {
  const StackView& stack = runtime.model.decoder;
  float* x = decoder_rows(runtime, refs, row);
  embed(runtime, stack, token, position, x);
  trace_rows(runtime, {"decoder.embed", -1, position, x, 1, stack.d_model, stack.d_model_padded});
}

void decoder_layer(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& all, uint32_t layer) {
  const StackView& stack = runtime.model.decoder;
  const DecoderLayerView view = view_decoder_layer(runtime.file, layer);
  LayerKeys keys = keys_of_layer(runtime, refs, all, view, layer);
  const bool keeps_queries = keeps_alignment(runtime.limits, layer);
  const KvCache queries =
      keeps_queries ? kept_queries(runtime, refs.alignment, layer, all.position_capacity * all.n_slots) : KvCache{};
  keys.queries = keeps_queries ? &queries : nullptr;
  for_all_rows(runtime, stack, refs.pass, {0, all.n_rows}, [&](const Pass& pass) {
    float* x = decoder_rows(runtime, refs, pass.rows.first);
    run_layer(pass, all, view, keys, x);
    trace(pass, "decoder.layers", static_cast<int32_t>(layer), all.position, x);
    if (layer + 1 < stack.n_layers || !stack.final_norm.present()) return;
    layer_norm(pass, stack.final_norm, x);
    trace(pass, "decoder.norm", -1, all.position, x);
  });
}

}  // namespace goldcrest
