// SPDX-License-Identifier: Apache-2.0
// Every call of a linear layer that encoder.cc and decoder.cc make, block by block; decoding/output_layer.h has those
// of the output layer.
#pragma once

#include "layers/blocks/cross_attention.h"
#include "layers/blocks/feed_forward.h"
#include "layers/blocks/recurrent.h"
#include "layers/blocks/self_attention.h"

namespace goldcrest {

// visit(LinearUse)
template <typename Visit>
void for_each_layer_use(const void* file, const ModelView& model, const Visit& visit) {
  for (uint32_t i = 0; i < model.encoder.n_layers; ++i) {
    const EncoderLayerView layer = view_encoder_layer(file, i);
    for_each_encoder_use(model.encoder, layer.self_attention, visit);
    for_each_linear_use(model.encoder, layer.feed_forward, visit);
  }
  for (uint32_t i = 0; i < model.decoder.n_layers; ++i) {
    const DecoderLayerView layer = view_decoder_layer(file, i);
    if (model.n_recurrent > 0 && layer.is_recurrent)
      for_each_decoder_use(layer.recurrent, visit);
    else
      for_each_decoder_use(layer.self_attention, visit);
    for_each_linear_use(layer.cross_attention, visit);
    for_each_linear_use(model.decoder, layer.feed_forward, visit);
  }
}

}  // namespace goldcrest
