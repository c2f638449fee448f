// SPDX-License-Identifier: Apache-2.0
// The roles of a checkpoint's tables, as their names tell them.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace goldcrest::converter {

using Names = std::vector<std::string>;

// True where a name has one of these parts, in capitals too.
bool has_any(const std::string& name, const std::vector<const char*>& parts);
// True where a name says that its table is of the source, or of the target. A name may say both.
bool is_of_source(const std::string& name);
bool is_of_target(const std::string& name);
// The same of a table of positions, where the "enc" of "encoding" says nothing.
bool has_source_positions(const std::string& name);
bool has_target_positions(const std::string& name);

// "head" of "head.weight".
std::string without_weight(const std::string& name);

// The names that `predicate` holds for.
Names only(const Names& names, const auto& predicate) {
  Names result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result), predicate);
  return result;
}

}  // namespace goldcrest::converter
