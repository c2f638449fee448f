// SPDX-License-Identifier: Apache-2.0
// Drafts the config.json of an nn.Transformer from its tensors.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>
#include "sources/values/value.h"

namespace goldcrest::converter {
// Guesses the roles of a checkpoint's tables from their names.

using Names = std::vector<std::string>;

// Returns true if a name has one of these parts, in any case.
bool has_any(const std::string& name, const std::vector<const char*>& parts);
// Return true if a name says that its table is of the source, or of the target. A name may say both.
bool is_of_source(const std::string& name);
bool is_of_target(const std::string& name);
// Return the same for a table of positions; the "enc" of "encoding" does not count.
bool has_source_positions(const std::string& name);
bool has_target_positions(const std::string& name);

// Returns "head" for "head.weight".
std::string without_weight(const std::string& name);

// Returns the names that `predicate` holds for.
Names only(const Names& names, const auto& predicate) {
  Names result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result), predicate);
  return result;
}

// A setting that shapes cannot determine is null, with its choices under KEY + "?". The nn_transformer dialect refuses
// it until it is set. `path` is a weight file or its folder, with or without a config.json. Throws Error if there is no
// nn.Transformer.
Value config_template(const std::filesystem::path& path);
}  // namespace goldcrest::converter
