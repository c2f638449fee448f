// SPDX-License-Identifier: Apache-2.0
// What the programs say of the rules that a file has for its search.
#pragma once

#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"

namespace goldcrest::converter {

// One text for each rule; none where the search is as in files without rules. `more_ends` and `biases`: how many.
std::vector<std::string> describe_rules(const goldcrest_search& search, size_t more_ends, size_t biases);

}  // namespace goldcrest::converter
