// SPDX-License-Identifier: Apache-2.0
#include "model/idle_weights.h"

#include "model/model_view.h"

namespace goldcrest {

namespace {

void report_matrix(const IdleWeights& idle, const void* model, const LinearView& matrix) {
  report_idle(idle, static_cast<const uint8_t*>(model) + size_t{matrix.weights} * kAlignment,
              size_t{matrix.n} * matrix.k * bytes_of(matrix.weight_type));
}

}  // namespace

void report_idle(const IdleWeights& idle, const void* weights, size_t bytes) {
  if (idle.report != nullptr) idle.report(idle.context, weights, bytes);
}

void report_idle_encoder_layer(const IdleWeights& idle, const void* model, uint32_t layer) {
  if (idle.report == nullptr) return;
  const EncoderLayerView view = view_encoder_layer(model, layer);
  report_matrix(idle, model, view.self_attention.query_key_value);
  report_matrix(idle, model, view.self_attention.out);
  report_matrix(idle, model, view.feed_forward.in);
  report_matrix(idle, model, view.feed_forward.out);
}

void report_idle_source_keys(const IdleWeights& idle, const void* model, uint32_t decoder_layer) {
  if (idle.report == nullptr) return;
  report_matrix(idle, model, view_decoder_layer(model, decoder_layer).cross_attention.key_value);
}

}  // namespace goldcrest
