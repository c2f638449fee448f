// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/layer_walk.h"

#include "kernels/kernels.h"
#include "layers/linear.h"

namespace goldcrest {

void walk_layers(const void* file, const ModelView& model, void (*visit)(void* context, const LayerUse& use),
                 void* context) {
  const auto plain = [&](const LinearView& view) { visit(context, {view, view.n, false, false}); };
  const auto out = [&](const LinearView& view) { visit(context, {view, view.n, false, true}); };
  const auto feed_forward = [&](const StackView& stack, const FeedForwardView& layer) {
    visit(context, {layer.in, layer.in.n, stack.activation == Activation::kRelu, false});
    out(layer.out);
  };
  const uint32_t width = model.encoder.attention_width();
  for (uint32_t i = 0; i < model.encoder.n_layers; ++i) {
    const EncoderLayerView layer = view_encoder_layer(file, i);
    plain(slice_outputs(layer.self_attention.query_key_value, 0, width));
    plain(slice_outputs(layer.self_attention.query_key_value, width, 2 * width));
    out(layer.self_attention.out);
    feed_forward(model.encoder, layer.feed_forward);
  }
  for (uint32_t i = 0; i < model.decoder.n_layers; ++i) {
    const DecoderLayerView layer = view_decoder_layer(file, i);
    plain(layer.self_attention.query_key_value);
    out(layer.self_attention.out);
    plain(layer.cross_attention.query);
    plain(layer.cross_attention.key_value);
    out(layer.cross_attention.out);
    feed_forward(model.decoder, layer.feed_forward);
  }
  for (uint32_t first = 0; first < model.vocab_size; first += kOutputBlock) {
    const uint32_t left = pad16(model.vocab_size - first);
    const LinearView block = slice_outputs(model.projection, first, left < kOutputBlock ? left : kOutputBlock);
    visit(context, {block, kOutputBlock, false, false});
  }
}

}  // namespace goldcrest
