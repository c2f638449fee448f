// SPDX-License-Identifier: Apache-2.0
// The activations of a feed-forward network, by transformers' names (transformers/activations.py at v5.2).
#pragma once

#include "dialects/config.h"
#include "spec/spec.h"

namespace goldcrest::converter {

// For messages: the usual ones.
inline constexpr const char* kActivationNames = "relu, gelu, gelu_new, gelu_pytorch_tanh, silu or swish";

// Throws Error where the setting `key` names none.
Activation read_activation(const Config& config, const char* key);

}  // namespace goldcrest::converter
