// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "backends/xnnpack/layer_walk.h"
#include "decoding/outputs/output_layer.h"
#include "layers/call_sites.h"

namespace goldcrest {
void walk_layers(const ModelView& model, void (*visit)(void* context, const LayerCall& call), void* context) {
  const auto visit_layer = [&](const LinearCallSite& site) {
    visit(context, {site.view, site.view.n, site.activation == Activation::kRelu, site.adds});
  };
  const auto visit_block = [&](const LinearCallSite& site) { visit(context, {site.view, kOutputBlock, false, false}); };
  for_each_call_site(model, visit_layer);
  for_each_output_call_site(model, visit_block);
}
}  // namespace goldcrest
