// SPDX-License-Identifier: Apache-2.0
// Visits every linear layer that an engine computes for a model, in the form in which the engine calls it.
#pragma once

#include "model/model_view.h"

namespace goldcrest {
// One linear layer as the engine calls it.
struct LayerCall {
  LinearView view;
  uint32_t y_stride;  // elements
  bool relu, residual;

  bool is_float() const { return view.weight_type == WeightType::kFloat32; }
};

// Returns the call's weights, int8_t or float: the `w` that kernels receive.
inline const void* weights_of(const void* file, const LayerCall& call) {
  return static_cast<const uint8_t*>(file) + size_t{call.view.weights} * kAlignment;
}

// Calls visit(context, call) for every call site that layers/ and decoding/ list. The native table computes a call that
// is missing here.
void walk_layers(const ModelView& model, void (*visit)(void* context, const LayerCall& call), void* context);

template <typename Visit> void for_each_layer(const ModelView& model, const Visit& visit) {
  const auto visit_one = [](void* context, const LayerCall& call) { (*static_cast<const Visit*>(context))(call); };
  walk_layers(model, visit_one, const_cast<Visit*>(&visit));
}
}  // namespace goldcrest
