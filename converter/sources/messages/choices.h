// SPDX-License-Identifier: Apache-2.0
// Every program answers a wrong command line with these texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// Returns "a, b or c".
std::string list_choices(const std::vector<std::string>& words);

// Returns "" if `word` is one of `words`, or else an error that names all of them and the most similar one.
std::string choice_problem(std::string_view word, const std::vector<std::string>& words);

// Returns the answer to an error in a command line. It guesses which of `names` an unknown option was meant to be.
std::string usage_text(const std::string& program, const std::string& error, const std::vector<std::string>& names);

}  // namespace goldcrest::converter
