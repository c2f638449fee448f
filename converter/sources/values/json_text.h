// SPDX-License-Identifier: Apache-2.0
// JSON as values. Text from an untrusted file is bounded in size, depth and number of values; duplicate keys are
// refused.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include "sources/values/value.h"

namespace goldcrest::converter {
// `where` begins the message of an Error, for instance "model.safetensors: header". Depth 1 is a flat object.
Value parse_json(std::string_view text, int most_depth, const std::string& where);

constexpr int kSettingsDepth = 16;  // more than any config.json has

// Throws Error unless the file holds a JSON object of at most 32 MiB.
Value read_json_object(const std::filesystem::path& path);

struct JsonStyle {
  int indent = -1;        // spaces per level; -1: one line
  bool is_ascii = false;  // escape all other characters
};

// Replaces bytes that are not UTF-8 by U+FFFD.
std::string write_json(const Value& value, const JsonStyle& style = {});
}  // namespace goldcrest::converter
