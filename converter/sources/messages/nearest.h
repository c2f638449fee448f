// SPDX-License-Identifier: Apache-2.0
// Guesses the name that the user meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// Prefers a name of `names` that ends with `name`, or with which `name` ends (another prefix). Else returns the name
// that needs the fewest edits: at most a quarter of its letters and at most 3. Returns "" if none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& names);

// Returns "; did you mean "scale_embedding"?", or "" if no name is near.
std::string guess(std::string_view name, const std::vector<std::string>& names);

// The end of a warning about a setting that was not read: it is none of `names`, or it has no effect.
std::string why_ignored(std::string_view name, const std::vector<std::string>& names);

}  // namespace goldcrest::converter
