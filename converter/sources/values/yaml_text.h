// SPDX-License-Identifier: Apache-2.0
// YAML from an untrusted file as values, bounded in size, depth and number of values. Aliases, tags and second
// documents are refused.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include "sources/values/value.h"

namespace goldcrest::converter {
struct YamlBounds {
  uint64_t most_bytes = 0, most_values = 0;
  size_t most_depth = 0;  // 1: a flat mapping
};

// Plain scalars are typed as in YAML 1.2's core schema, so `n` is a text; keys are texts. `where` begins the message of
// an Error, for instance "model.npz: special:model.yml".
Value parse_yaml(std::string_view text, const YamlBounds& bounds, const std::string& where);

// Settings: a mapping of at most 64 KiB.
constexpr YamlBounds kYamlSettings = {uint64_t{64} << 10, 10'000, 8};
Value parse_yaml_settings(std::string_view text, const std::string& where);
}  // namespace goldcrest::converter
