// SPDX-License-Identifier: Apache-2.0
// Each row is one position of one sentence's source: d_model floats, padded with zeros to a multiple of 16, as every
// dimension is. x is the residual stream: a block norms it first (pre-norm) or last (post-norm), and
// the block's last matrix adds to it. Tasks share out the rows (for_all_rows). From another task's rows a task reads
// only keys and values, which encoder_layer_keys has written one pass earlier.
#include "base/exact_floats.h"
#include "layers/encoder.h"
#include "layers/blocks/feed_forward.h"
#include "layers/blocks/self_attention.h"
#include "layers/call_sites.h"
#include "layers/inputs/embedding.h"
#include "layers/inputs/frontend.h"
#include "layers/norm.h"

namespace goldcrest {
namespace {
// Computes a layer except its keys and values: Vaswani et al. 2017, figure 1, left.
void run_layer(const Pass& pass, const SentencesOfRows& sentences, const EncoderLayerView& layer, float* x) {
  add_self_attention(pass, layer.self_attention, sentences, x);
  add_feed_forward(pass, layer.feed_forward, x);
}

LayerKind encoder_layer_kind(const ModelView& model) { return {false, false, model.features}; }
}  // namespace

EncoderRefs plan_encoder(Plan& plan, const ModelView& model) {
  constexpr uint8_t kSource = GOLDCREST_FACTOR_SOURCE_TOKENS, kBatch = GOLDCREST_FACTOR_BATCH;
  EncoderRefs refs;
  if (has_frontend(model)) refs.frontend = plan_frontend(plan, view_frontend(model.file));
  refs.x = plan.add("encoder.x", Phase::kEncode, Region::kMain,
      {0, sizeof(float) * uint64_t{model.encoder.d_model_padded}, {kSource, kBatch, 0, 0}});
  refs.keys = plan_sentence_keys(plan, model.encoder);
  PassNeeds needs = {};
  add_layer(encoder_layer_kind(model), model.encoder, model.encoder.d_model, needs);
  add_layer({true, false, model.features}, model.decoder, model.encoder.d_model, needs);
  refs.pass = plan_pass(plan, model.encoder,
      {Phase::kEncode, needs.encoder, {GOLDCREST_FACTOR_ENCODER_ROWS, 0}, kSource, model.fine_encoder});
  return refs;
}

uint64_t largest_encoder_step_macs(const ModelView& model, const goldcrest_limits& limits) {
  const StackView& stack = model.encoder;
  const uint64_t rows = limits.encoder_rows, keys = products_of_rows(model.fine_encoder) * products_of_weights(model) *
                                                    sentence_keys_macs(stack, rows);
  PassNeeds needs = {};
  add_layer(encoder_layer_kind(model), stack, stack.d_model, needs);
  const uint64_t layer =
      rows * row_macs(model, model.fine_encoder, needs.encoder) + attention_macs(stack, rows, limits.max_source_tokens);
  return larger(keys, layer - keys);
}

void for_each_encoder_call_site(const ModelView& model, const CallSiteVisitor& visit) {
  for (uint32_t i = 0; i < model.encoder.n_layers; ++i)
    for_each_call_site_of_layer(model.encoder, view_encoder_layer(model.file, i), visit);
}

void encoder_embed(const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, Range block) {
  const StackView& stack = runtime.model.encoder;
  float* x = encoder_rows(runtime, refs, block.first);
  if (has_frontend(runtime.model)) {
    run_frontend(runtime, refs.frontend, batch, block, x);
  } else {
    for_each_position(batch, block, [&](uint32_t i, uint32_t, uint32_t position) {
      embed(runtime, stack, static_cast<uint32_t>(batch.ids[block.first + i]), position,
          x + size_t{i} * stack.d_model_padded);
    });
  }
  trace_rows(runtime, {"encoder.embed", -1, block.first, x, block.count, stack.d_model, stack.d_model_padded});
}

void encoder_layer_keys(
    const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, uint32_t layer, Range block) {
  const StackView& stack = runtime.model.encoder;
  const SelfAttentionView self = view_encoder_layer(runtime.model.file, layer).self_attention;
  const KvCache keys = kv_cache_layer(runtime, stack, refs.keys, 0, batch.row_capacity);
  for_all_rows(runtime, stack, refs.pass, block, [&](const Pass& pass) {
    const Quantized h =
        block_input(pass, self.norm, self.query_key_value, encoder_rows(runtime, refs, pass.rows.first));
    store_sentence_keys(pass, self, {batch, keys}, h);
  });
}

void encoder_layer_rest(
    const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, uint32_t layer, Range block) {
  const StackView& stack = runtime.model.encoder;
  const EncoderLayerView view = view_encoder_layer(runtime.model.file, layer);
  const KvCache keys = kv_cache_layer(runtime, stack, refs.keys, 0, batch.row_capacity);
  for_all_rows(runtime, stack, refs.pass, block, [&](const Pass& pass) {
    float* x = encoder_rows(runtime, refs, pass.rows.first);
    run_layer(pass, {batch, keys}, view, x);
    trace(pass, "encoder.layers", static_cast<int32_t>(layer), pass.rows.first, x);
    if (layer + 1 < stack.n_layers || !stack.final_norm.present()) return;
    layer_norm(pass, stack.final_norm, x);
    trace(pass, "encoder.norm", -1, pass.rows.first, x);
  });
}
}  // namespace goldcrest
