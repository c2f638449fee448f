// SPDX-License-Identifier: Apache-2.0
#include "backends/xnnpack/layer_walk.h"

#include "decoding/output_layer.h"
#include "layers/linear_uses.h"

namespace goldcrest {

void walk_layers(const void* file, const ModelView& model, void (*visit)(void* context, const LayerUse& use),
                 void* context) {
  const auto visit_layer = [&](const LinearUse& use) {
    visit(context, {use.view, use.view.n, use.activation == Activation::kRelu, use.adds});
  };
  const auto visit_block = [&](const LinearUse& use) { visit(context, {use.view, kOutputBlock, false, false}); };
  for_each_layer_use(file, model, visit_layer);
  for_each_output_use(model, visit_block);
}

}  // namespace goldcrest
