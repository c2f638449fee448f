// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "backends/xnnpack/parts.h"
#include "backends/xnnpack/choice.h"
#include "base/arithmetic.h"

namespace goldcrest {
Extent extent_of(const ModelView& model) {
  Extent extent;
  for_each_layer(model, [&](const LayerCall& call) {
    ++extent.n_layers;
    extent.widest_input = larger(extent.widest_input, call.view.k);
    extent.widest_output = larger(extent.widest_output, call.y_stride);
    if (call.residual) extent.widest_residual = larger(extent.widest_residual, call.view.n);
    extent.is_float = call.is_float();
  });
  return extent;
}

ModelParts lay_out_model(Space& space, const Extent& extent) {
  ModelParts parts;
  parts.model = space.take<XnnpackModel>(1);
  parts.provider = space.take<uint8_t>(xnnpack::provider_bytes());
  parts.offsets = space.take<size_t>(extent.n_layers);
  parts.packed = space.take<uint8_t>(0);
  return parts;
}

EngineParts lay_out_engine(Space& space, const Extent& extent, const goldcrest_limits& limits) {
  const uint32_t lanes = limits.threads, rows = larger(limits.encoder_rows, limits.beam_size * limits.batch);
  EngineParts parts;
  parts.scales_stride = rows + xnnpack::kExtraRowScales;
  parts.engine = space.take<XnnpackEngine>(1);
  parts.layers = space.take<XnnpackLayer>(extent.n_layers);
  parts.operators = space.take<xnnpack::Operator>(size_t{extent.n_layers} * lanes);
  parts.lanes = space.take<XnnpackLane>(lanes);
  parts.scales = space.take<xnnpack::RowScale>(lanes * parts.scales_stride);
  parts.sums = space.take<float>(size_t{lanes} * kResidualRows * extent.widest_residual);
  parts.trial.rows = smaller(rows, kMaxTrialRows);
  const size_t input_bytes = extent.is_float ? sizeof(float) : 1;
  parts.trial.x = space.take<uint8_t>(size_t{parts.trial.rows} * extent.widest_input * input_bytes + kAlignment);
  parts.trial.scales = space.take<float>(parts.trial.rows);
  parts.trial.y = space.take<float>(size_t{parts.trial.rows} * extent.widest_output);
  parts.objects_bytes = size_t{extent.n_layers} * lanes * xnnpack::operator_bytes(extent.is_float);
  parts.objects = space.take<uint8_t>(parts.objects_bytes);
  return parts;
}

xnnpack::Layer layer_of(const void* file, const LayerCall& call, const int8_t* rows) {
  xnnpack::Layer layer = {};
  layer.n = call.view.n;
  layer.k = call.view.k;
  layer.output_stride = call.y_stride;
  layer.int8_weights = rows;
  if (call.is_float()) layer.float_weights = tensor<float>(file, call.view.weights);
  layer.scale = tensor<float>(file, call.view.scale);
  layer.bias = tensor<float>(file, call.view.bias);
  layer.relu = call.relu;
  return layer;
}
}  // namespace goldcrest
