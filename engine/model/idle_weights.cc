// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "model/idle_weights.h"
#include "base/build_options.h"
#include "model/frontend_view.h"
#include "model/packed.h"

namespace goldcrest {
namespace {
void report_matrix(const IdleWeights& idle, const void* model, const LinearView& matrix) {
  report_idle(idle, static_cast<const uint8_t*>(model) + size_t{matrix.weights} * kAlignment,
      matrix.is_packed() ? static_cast<size_t>(packed_bytes(matrix.n, matrix.k))
                         : size_t{matrix.n + matrix.rows_to_second()} * matrix.k * bytes_of(matrix.weight_type));
}
}  // namespace

void report_idle(const IdleWeights& idle, const void* weights, size_t bytes) {
  if (idle.report != nullptr) idle.report(idle.context, weights, bytes);
}

void report_idle_frontend(const IdleWeights& idle, const void* model) {
  if (idle.report == nullptr) return;
  const FrontendView view = view_frontend(model);
  for (uint32_t i = 0; i < view.n_convolutions; ++i) report_matrix(idle, model, view.convolutions[i].linear);
}

void report_idle_encoder_layer(const IdleWeights& idle, const void* model, uint32_t layer) {
  if (idle.report == nullptr) return;
  const EncoderLayerView view = view_encoder_layer(model, layer);
  const auto report = [&](const MatrixEntry&, const LinearView& matrix) { report_matrix(idle, model, matrix); };
  for_each_block(
      [&](auto block, const auto& of_layer) {
        if (block.belongs(view.kind)) block.for_each_matrix(report, of_layer);
      },
      view);
}

void report_idle_source_keys(const IdleWeights& idle, const void* model, uint32_t decoder_layer) {
  if (idle.report == nullptr) return;
  const DecoderLayerView view = view_decoder_layer(model, decoder_layer);
  const auto report = [&](const MatrixEntry& entry, const LinearView& matrix) {
    if (entry.reads_source()) report_matrix(idle, model, matrix);
  };
  CrossAttentionBlock::for_each_matrix(report, view.cross_attention);  // no other block reads the source
}
}  // namespace goldcrest
