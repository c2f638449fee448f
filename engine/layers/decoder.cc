// SPDX-License-Identifier: Apache-2.0
// Each row is one hypothesis at the current target position: d_model floats, padded with zeros to a multiple of 16, as
// every dimension is. x is the residual stream: a block norms it first (pre-norm) or last (post-norm),
// and the block's last matrix adds to it. Tasks share out the rows (for_all_rows); no task reads or writes another
// task's rows. Hypotheses share the keys and values that their ancestors stored, which are never written again. The
// source's keys and values are complete before the first position (decoder_layer_source_keys).
#include "base/exact_floats.h"
#include "layers/decoder.h"
#include "layers/blocks/cross_attention.h"
#include "layers/blocks/feed_forward.h"
#include "layers/blocks/recurrent.h"
#include "layers/blocks/self_attention.h"
#include "layers/call_sites.h"
#include "layers/inputs/embedding.h"
#include "layers/norm.h"
#include "model/frontend_view.h"

namespace goldcrest {
namespace {
// A layer's keys and values (or cells) of earlier positions, and its keys and values of the source.
struct LayerKeys {
  union {
    KvCache past;
    Cells cells;  // a recurrent layer's
  };
  KvCache source;
  const KvCache* queries;  // recorded for alignments; null if the layer records none
};

LayerKeys keys_of_layer(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& targets,
    const DecoderLayerView& view, uint32_t layer) {
  const StackView& stack = runtime.model.decoder;
  if (view.kind.is_recurrent()) {
    LayerKeys keys;
    keys.cells = cells_of_layer(runtime, refs.cells, view.index_among_kind, targets.n_slots);
    keys.source = kv_cache_layer(runtime, stack, refs.source_keys, layer, targets.source_capacity);
    return keys;
  }
  return {
      {kv_cache_layer(runtime, stack, refs.past, view.index_among_kind, targets.position_capacity * targets.n_slots)},
      kv_cache_layer(runtime, stack, refs.source_keys, layer, targets.source_capacity), nullptr};
}

// Computes one layer: Vaswani et al. 2017, figure 1, right.
void run_layer(
    const Pass& pass, const TargetRows& targets, const DecoderLayerView& layer, const LayerKeys& keys, float* x) {
  if (layer.kind.is_recurrent()) add_recurrent(pass, layer.recurrent, {targets, keys.cells}, x);
  else add_self_attention(pass, layer.self_attention, PastOfRows{targets, keys.past}, x);
  add_cross_attention(pass, layer.cross_attention, {targets, keys.source, keys.queries}, x);
  add_feed_forward(pass, layer.feed_forward, x);
}

// Returns the number of layers with self-attention. Only these store keys of each target position.
uint32_t count_self_attending(const ModelView& model) { return model.decoder.n_layers - model.count_recurrent(); }

// Calls add(kind) for each kind of layer that the model's decoder has.
template <typename Add> void for_each_kind(const ModelView& model, const Add& add) {
  add(LayerKind{true, false, model.features});
  if (model.count_recurrent() > 0) add(LayerKind{true, true, model.features});
}
}  // namespace

DecoderRefs plan_decoder(Plan& plan, const ModelView& model) {
  constexpr uint8_t kBeam = GOLDCREST_FACTOR_BEAM, kBatch = GOLDCREST_FACTOR_BATCH;
  const StackView& stack = model.decoder;
  const bool self_attends = count_self_attending(model) > 0;
  DecoderRefs refs = {};  // buffers that no layer needs stay unplanned
  refs.source_keys = plan_source_keys(plan, stack);
  if (self_attends) refs.past = plan_past(plan, stack, count_self_attending(model));
  if (model.count_recurrent() > 0) refs.cells = plan_cells(plan, model);
  refs.x = plan.add("decoder.x", Phase::kDecode, Region::kScratch,
      {0, sizeof(float) * uint64_t{stack.d_model_padded}, {kBeam, kBatch, 0, 0}});
  PassNeeds needs = {};
  for_each_kind(model, [&](const LayerKind& kind) { add_layer(kind, stack, model.encoder.d_model, needs); });
  const uint8_t keys = self_attends ? GOLDCREST_FACTOR_LONGEST : GOLDCREST_FACTOR_SOURCE_TOKENS;
  refs.pass = plan_pass(plan, stack, {Phase::kDecode, needs.decoder, {kBeam, kBatch}, keys, model.fine_decoder});
  refs.alignment = plan_alignment(plan, stack);
  return refs;
}

DecoderMacs decoder_macs(const ModelView& model, const goldcrest_limits& limits) {
  const StackView& stack = model.decoder;
  const uint64_t rows = uint64_t{limits.beam_size} * limits.batch;
  const uint32_t n_self_attending = count_self_attending(model);
  DecoderMacs macs = {};
  for_each_kind(model, [&](const LayerKind& kind) {
    const uint32_t n_layers = kind.is_recurrent() ? model.count_recurrent() : n_self_attending;
    const uint64_t keys = uint64_t{limits.max_source_tokens} + (kind.is_recurrent() ? 0 : limits.max_target_tokens);
    PassNeeds needs = {};
    add_layer(kind, stack, model.encoder.d_model, needs);
    const uint32_t head = has_feature(model.features, kFeatureImage) ? stack.d_model_padded : 0;  // there may be one
    const uint64_t layer = rows * (row_macs(model, model.fine_decoder, needs.decoder) + uint64_t{head} * head) +
                           attention_macs(stack, rows, keys);
    macs.source_keys = limits.encoder_rows * row_macs(model, model.fine_encoder, needs.encoder);
    macs.largest_layer = larger(macs.largest_layer, n_layers > 0 ? layer : 0);
    macs.layers += n_layers * layer;
  });
  return macs;
}

void for_each_decoder_call_site(const ModelView& model, const CallSiteVisitor& visit) {
  for (uint32_t i = 0; i < model.decoder.n_layers; ++i)
    for_each_call_site_of_layer(model.decoder, view_decoder_layer(model.file, i), visit);
}

void decoder_layer_source_keys(
    const Runtime& runtime, const DecoderRefs& refs, const SourceRows& source, uint32_t layer) {
  const CrossAttentionView cross = view_decoder_layer(runtime.model.file, layer).cross_attention;
  const KvCache keys =
      kv_cache_layer(runtime, runtime.model.decoder, refs.source_keys, layer, source.batch.row_capacity);
  for_all_rows(runtime, runtime.model.encoder, source.encoder.pass, source.block, [&](const Pass& pass) {
    store_source_keys(pass, runtime.model.decoder, cross, encoder_rows(runtime, source.encoder, pass.rows.first), keys);
  });
}

void decoder_embed(const Runtime& runtime, const DecoderRefs& refs, uint32_t position, uint32_t row, uint32_t token) {
  const StackView& stack = runtime.model.decoder;
  float* x = decoder_rows(runtime, refs, row);
  embed(runtime, stack, token, position, x);
  trace_rows(runtime, {"decoder.embed", -1, position, x, 1, stack.d_model, stack.d_model_padded});
}

void decoder_layer(const Runtime& runtime, const DecoderRefs& refs, const TargetRows& targets, uint32_t layer) {
  const StackView& stack = runtime.model.decoder;
  const DecoderLayerView view = view_decoder_layer(runtime.model.file, layer);
  LayerKeys keys = keys_of_layer(runtime, refs, targets, view, layer);
  const bool is_recorded = records_queries(runtime.limits, layer);
  const KvCache queries =
      is_recorded ? recorded_queries(runtime, refs.alignment, layer, targets.position_capacity * targets.n_slots)
                  : KvCache{};
  keys.queries = is_recorded ? &queries : nullptr;
  for_all_rows(runtime, stack, refs.pass, {0, targets.n_rows}, [&](const Pass& pass) {
    float* x = decoder_rows(runtime, refs, pass.rows.first);
    run_layer(pass, targets, view, keys, x);
    trace(pass, "decoder.layers", static_cast<int32_t>(layer), targets.position, x);
    if (layer + 1 < stack.n_layers || !stack.final_norm.present()) return;
    if (has_feature(runtime.model.features, kFeatureImage)) {
      const LinearView head = view_head(runtime.model.file);
      if (head.n != 0) multiply(pass, head, quantize(pass, head, x), {stack.activation}, x);
    }
    layer_norm(pass, stack.final_norm, x);
    trace(pass, "decoder.norm", -1, targets.position, x);
  });
}
}  // namespace goldcrest
