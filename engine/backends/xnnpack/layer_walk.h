// SPDX-License-Identifier: Apache-2.0
// Every linear layer that an engine computes for a model, as it calls it.
#pragma once

#include "model/model_view.h"

namespace goldcrest {

// One linear layer as the engine calls it.
struct LayerUse {
  LinearView view;
  uint32_t y_stride;  // elements
  bool relu, residual;

  bool is_float() const { return view.weight_type == WeightType::kFloat32; }
};

// The call's weights, int8_t or float: what the kernels are given as `w`.
inline const void* weights_of(const void* file, const LayerUse& use) {
  return static_cast<const uint8_t*>(file) + size_t{use.view.weights} * kAlignment;
}

// visit(context, use) for every call that the lists of layers/ and decoding/ have. One that is
// forgotten here is computed by the native table.
void walk_layers(const void* file, const ModelView& model, void (*visit)(void* context, const LayerUse& use),
                 void* context);

template <typename Visit>
void for_each_layer(const void* file, const ModelView& model, const Visit& visit) {
  const auto call = [](void* context, const LayerUse& use) { (*static_cast<const Visit*>(context))(use); };
  walk_layers(file, model, call, const_cast<Visit*>(&visit));
}

}  // namespace goldcrest
