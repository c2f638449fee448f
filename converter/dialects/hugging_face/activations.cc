// SPDX-License-Identifier: Apache-2.0
#include "dialects/hugging_face/activations.h"

#include <map>

#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {

Activation read_activation(const Config& config, const char* key) {
  static const std::map<std::string, Activation> kNames = {
      {"relu", Activation::kRelu},          {"gelu", Activation::kGelu},
      {"gelu_python", Activation::kGelu},   {"gelu_new", Activation::kGeluTanh},
      {"gelu_fast", Activation::kGeluTanh}, {"gelu_pytorch_tanh", Activation::kGeluTanh},
      {"swish", Activation::kSilu},         {"silu", Activation::kSilu}};
  const std::string name = config.text(key);
  const auto found = kNames.find(name);
  if (found == kNames.end()) {
    throw Error("{} is {}, expected {}", config.where(key), in_quotes(name), kActivationNames);
  }
  return found->second;
}

}  // namespace goldcrest::converter
