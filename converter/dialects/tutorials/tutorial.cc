// SPDX-License-Identifier: Apache-2.0
#include "dialects/tutorials/tutorial.h"

#include <algorithm>

#include "base/bounds.h"
#include "sources/values/json_text.h"

namespace goldcrest::converter {
namespace {

// Returns the prefix of all the model's names: "" or, for instance, "model.".
std::string prefix_of(const Tutorial& tutorial, const TensorReader& tensors) {
  const std::string first = tutorial.module + ("encoder." + tutorial.names.first("encoder"));
  for (const std::string& name : tensors.names()) {
    if (name == first || name.ends_with("." + first)) return name.substr(0, name.size() - first.size());
  }
  return "";
}

}  // namespace

const Tutorial* tutorial_of(KindId kind) {
  for (const Tutorial* tutorial : {&kAnnotatedTransformer, &kSeq2SeqTransformer, &kTrevettTransformer})
    if (kind == tutorial->kind) return tutorial;
  return nullptr;
}

Value tutorial_settings(const Tutorial& tutorial, const TensorReader& tensors) {
  const std::string prefix = prefix_of(tutorial, tensors);
  Value settings = parse_json(tutorial.settings, kSettingsDepth, tutorial.model_type);
  settings["tensors"] = parse_json(tutorial.tensors, kSettingsDepth, tutorial.model_type);
  for (Value& name : settings["tensors"].items()) name = prefix + name.text();
  if (tutorial.sinusoids != nullptr && tensors.has(prefix + tutorial.sinusoids)) {
    std::vector<uint64_t> shape = tensors.shape(prefix + tutorial.sinusoids);  // [1, rows, d_model], [rows, 1, d_model]
    if (!shape.empty()) shape.pop_back();
    if (!shape.empty()) {
      settings["max_positions"] = std::min<uint64_t>(*std::max_element(shape.begin(), shape.end()), kMaxPositions);
    }
  }
  return settings;
}

}  // namespace goldcrest::converter
