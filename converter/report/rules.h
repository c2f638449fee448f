// SPDX-License-Identifier: Apache-2.0
// Describes the search rules of a file for the programs that print them.
#pragma once

#include <string>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// Returns one text per rule; none if the search is that of a file without rules. `more_ends` and `biases` are their
// counts.
std::vector<std::string> describe_rules(const goldcrest_search& search, size_t more_ends, size_t biases);

// Returns what a file's sequences ask for; none if it has none.
std::vector<std::string> describe_sequences(const SequencesSpec& sequences);

// The options of goldcrest-convert with which a file has none of these rules; empty where no options do that.
std::string options_without_rules(const RulesSpec& rules);

// A warning for firmware, whose builds lack all of the engine's options by default: a file with these rules needs some.
std::string firmware_warning(const std::vector<std::string>& engine_options, const RulesSpec& rules);
}  // namespace goldcrest::converter
