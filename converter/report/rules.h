// SPDX-License-Identifier: Apache-2.0
// What the programs say of the rules that a file has for its search.
#pragma once

#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"
#include "spec/spec.h"

namespace goldcrest::converter {

// One text for each rule; none where the search is as in files without rules. `more_ends` and `biases`: how many.
std::vector<std::string> describe_rules(const goldcrest_search& search, size_t more_ends, size_t biases);

// The options of goldcrest-convert with which a file has none of these rules; empty where no options do that.
std::string options_without_rules(const RulesSpec& rules);

// A warning for firmware, whose builds leave rules out by default: the file has these rules.
std::string firmware_rules_warning(const RulesSpec& rules);

}  // namespace goldcrest::converter
