// SPDX-License-Identifier: Apache-2.0
// Each row is one position of one sentence's source: floats of d_model, padded with zeros to a multiple of 16, as every
// dimension is. x is the residual stream: `residual` norms it before a block (pre-norm) or after it (post-norm), and
// the block's last matrix adds to it. Rows are given out to tasks (for_all_rows); a task reads nothing of another's
// rows but their keys and values, which are complete before any row reads them: encoder_layer_keys writes them, one
// pass earlier.
#include "layers/encoder.h"

#include "layers/attention.h"
#include "layers/blocks/feed_forward.h"
#include "layers/blocks/self_attention.h"
#include "layers/embedding.h"
#include "layers/norm.h"

namespace goldcrest {

namespace {

// Each of the pass's rows attends to all rows of its own sentence.
void attend_within_sentences(const Pass& pass, const Batch& batch, const KvCache& keys, const float* query,
                             float* out) {
  AttentionRows all = {};
  all.query = query;
  all.query_stride = pass.stack.attention_width();
  all.out = out;
  all.cache = keys;
  all.position_stride = 1;
  all.n_products = uint64_t{pass.rows.count} * (batch.n_rows / batch.n_sentences);
  attend(pass, all, batch.n_sentences, [&](uint32_t i) {
    const Sentence& sentence = batch.sentences[i];
    const Range rows = common({sentence.first_row, sentence.n_rows}, pass.rows);
    return SentenceKeys{{rows.first - pass.rows.first, rows.count}, sentence.first_row, sentence.n_rows, nullptr};
  });
}

// All of a layer but the keys and values: Vaswani et al. 2017, figure 1, left.
void run_layer(const Pass& pass, const Batch& batch, const EncoderLayerView& layer, const KvCache& keys, float* x) {
  const SelfAttentionView& self = layer.self_attention;
  residual(pass, self.norm, x, [&](const float* h) {
    linear(pass, query_of(pass.stack, self), h, pass.query());
    attend_within_sentences(pass, batch, keys, pass.query(), pass.mixed);
    add_linear(pass, self.out, pass.mixed, x);
  });
  residual(pass, layer.feed_forward.norm, x, [&](const float* h) { add_feed_forward(pass, layer.feed_forward, h, x); });
}

}  // namespace

EncoderRefs plan_encoder(Plan& plan, const ModelView& model) {
  constexpr uint8_t kSource = GOLDCREST_FACTOR_SOURCE_TOKENS, kBatch = GOLDCREST_FACTOR_BATCH;
  EncoderRefs refs;
  refs.x = plan.add("encoder.x", Phase::kEncode, Region::kMain,
                    {0, sizeof(float) * uint64_t{model.encoder.d_model_padded}, {kSource, kBatch, 0, 0}});
  refs.keys = plan_kv_cache(plan, model.encoder,
                            {"encoder.keys",
                             "encoder.values",
                             "encoder.key_scales",
                             "encoder.value_scales",
                             Phase::kEncode,
                             1,
                             {kSource, kBatch, 0}});
  refs.pass =
      plan_pass(plan, model.encoder,
                {Phase::kEncode, 2 * model.decoder.attention_width(), {GOLDCREST_FACTOR_ENCODER_ROWS, 0}, kSource});
  return refs;
}

void encoder_embed(const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, Range block) {
  const StackView& stack = runtime.model.encoder;
  float* x = encoder_rows(runtime, refs, block.first);
  uint32_t sentence = 0;
  for (uint32_t i = 0; i < block.count; ++i) {
    const uint32_t row = block.first + i;
    while (row >= batch.sentences[sentence].first_row + batch.sentences[sentence].n_rows) ++sentence;
    const uint32_t position = row - batch.sentences[sentence].first_row;
    embed(runtime, stack, static_cast<uint32_t>(batch.ids[row]), position, x + size_t{i} * stack.d_model_padded);
  }
  trace_rows(runtime, {"encoder.embed", -1, block.first, x, block.count, stack.d_model, stack.d_model_padded});
}

void encoder_layer_keys(const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, uint32_t layer,
                        Range block) {
  const StackView& stack = runtime.model.encoder;
  const SelfAttentionView self = view_encoder_layer(runtime.file, layer).self_attention;
  const KvCache keys = kv_cache_layer(runtime, stack, refs.keys, 0, batch.row_capacity);
  for_all_rows(runtime, stack, refs.pass, block, [&](const Pass& pass) {
    const float* h = block_input(pass, self.norm, encoder_rows(runtime, refs, pass.rows.first));
    linear(pass, key_value_of(stack, self), h, pass.key_value());
    store_keys_values(pass, stack, pass.key_value(), keys);
  });
}

void encoder_layer_rest(const Runtime& runtime, const EncoderRefs& refs, const Batch& batch, uint32_t layer,
                        Range block) {
  const StackView& stack = runtime.model.encoder;
  const EncoderLayerView view = view_encoder_layer(runtime.file, layer);
  const KvCache keys = kv_cache_layer(runtime, stack, refs.keys, 0, batch.row_capacity);
  for_all_rows(runtime, stack, refs.pass, block, [&](const Pass& pass) {
    float* x = encoder_rows(runtime, refs, pass.rows.first);
    run_layer(pass, batch, view, keys, x);
    trace(pass, "encoder.layers", static_cast<int32_t>(layer), pass.rows.first, x);
    if (layer + 1 < stack.n_layers || !stack.final_norm.present()) return;
    layer_norm(pass, stack.final_norm, x);
    trace(pass, "encoder.norm", -1, pass.rows.first, x);
  });
}

}  // namespace goldcrest
