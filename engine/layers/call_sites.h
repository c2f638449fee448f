// SPDX-License-Identifier: Apache-2.0
// Every call of a linear layer that encoder.cc and decoder.cc make; decoding/output_layer.h has those of the output
// layer.
#pragma once

#include "layers/linear.h"

namespace goldcrest {

struct CallSiteVisitor {
  void (*visit)(void* context, const LinearCallSite& site);
  void* context;
  void operator()(const LinearCallSite& site) const { visit(context, site); }
};

void for_each_encoder_call_site(const void* file, const ModelView& model, const CallSiteVisitor& visit);
void for_each_decoder_call_site(const void* file, const ModelView& model, const CallSiteVisitor& visit);

// visit(LinearCallSite) for the layers of both stacks.
template <typename Visit>
void for_each_call_site(const void* file, const ModelView& model, const Visit& visit) {
  const auto call = [](void* context, const LinearCallSite& site) { (*static_cast<const Visit*>(context))(site); };
  const CallSiteVisitor visitor = {call, const_cast<Visit*>(&visit)};
  for_each_encoder_call_site(file, model, visitor);
  for_each_decoder_call_site(file, model, visitor);
}

// For one layer, by the lists in blocks/: each file there has for_each_call_site(stack, kind, view, visit) of its
// block.
template <typename LayerView, typename Visit>
void for_each_call_site_of_layer(const StackView& stack, const LayerView& layer, const Visit& visit) {
  for_each_block(
      [&](auto block, const auto& view) {
        if (block.belongs(layer.kind)) for_each_call_site(stack, layer.kind, view, visit);
      },
      layer);
}

}  // namespace goldcrest
