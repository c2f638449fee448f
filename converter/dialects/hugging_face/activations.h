// SPDX-License-Identifier: Apache-2.0
// The activations of a feed-forward network, by transformers' names (transformers/activations.py at v5.2).
#pragma once

#include "dialects/config.h"
#include "spec/spec.h"

namespace goldcrest::converter {

// for messages: the usual names
inline constexpr const char* kActivationNames = "relu, gelu, gelu_new, gelu_pytorch_tanh, silu or swish";

// Throws Error if the setting `key` names no activation.
Activation read_activation(const Config& config, const char* key);

}  // namespace goldcrest::converter
