// SPDX-License-Identifier: Apache-2.0
// Describes the search rules of a file for the programs that print them.
#pragma once

#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"

namespace goldcrest::converter {

// Returns one text per rule; none if the search is that of a file without rules. `more_ends` and `biases` are their
// counts.
std::vector<std::string> describe_rules(const goldcrest_search& search, size_t more_ends, size_t biases);

}  // namespace goldcrest::converter
