// SPDX-License-Identifier: Apache-2.0
// The schema's number of an activation.
#pragma once

#include "file/format.h"
#include "spec/error.h"
#include "spec/spec.h"

namespace goldcrest::converter {
inline format::Activation stored_activation(Activation activation) {
  switch (activation) {
    case Activation::kRelu: return format::Activation::Relu;
    case Activation::kGelu: return format::Activation::Gelu;
    case Activation::kGeluTanh: return format::Activation::GeluTanh;
    case Activation::kSilu: return format::Activation::Silu;
    case Activation::kTanh: return format::Activation::Tanh;
    case Activation::kNone: return format::Activation::None;
  }
  throw Error("activation {} is unknown", static_cast<int>(activation));
}
}  // namespace goldcrest::converter
