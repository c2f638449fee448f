// SPDX-License-Identifier: Apache-2.0
// Lists every call of a linear layer in encoder.cc and decoder.cc. decoding/outputs/output_layer.h lists those of the
// output layer.
#pragma once

#include "layers/linear.h"

namespace goldcrest {
struct CallSiteVisitor {
  void (*visit)(void* context, const LinearCallSite& site);
  void* context;
  void operator()(const LinearCallSite& site) const { visit(context, site); }
};

void for_each_encoder_call_site(const ModelView& model, const CallSiteVisitor& visit);
void for_each_decoder_call_site(const ModelView& model, const CallSiteVisitor& visit);

// Calls visit(LinearCallSite) for every call site of both stacks, but those with remainders, which are
// calls without a bias of the layer, those of packed weights, and those of a frontend: native kernels compute them.
template <typename Visit> void for_each_call_site(const ModelView& model, const Visit& visit) {
  const auto call = [](void* context, const LinearCallSite& site) {
    if (!site.view.has_remainders() && !site.view.is_packed()) (*static_cast<const Visit*>(context))(site);
  };
  const CallSiteVisitor visitor = {call, const_cast<Visit*>(&visit)};
  for_each_encoder_call_site(model, visitor);
  for_each_decoder_call_site(model, visitor);
}

// Calls visit(LinearCallSite) for every call site of one layer. Each file in blocks/ lists those of its block in
// for_each_call_site(stack, kind, view, visit).
template <typename LayerView, typename Visit>
void for_each_call_site_of_layer(const StackView& stack, const LayerView& layer, const Visit& visit) {
  for_each_block(
      [&](auto block, const auto& view) {
        if (block.belongs(layer.kind)) for_each_call_site(stack, layer.kind, view, visit);
      },
      layer);
}
}  // namespace goldcrest
