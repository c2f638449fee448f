// SPDX-License-Identifier: Apache-2.0
// The name that was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// The name of `names` that `name` ends with, or that ends with it, as under another prefix; else the one that fewest
// edits make of it, when these are at most a quarter of its letters and at most 3. "" when none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& names);

// "; did you mean "scale_embedding"?", or "" when none is near.
std::string guess(std::string_view name, const std::vector<std::string>& names);

// The end of a warning about a setting that was not read: it is none of `names`, or it has no effect.
std::string why_ignored(std::string_view name, const std::vector<std::string>& names);

}  // namespace goldcrest::converter
