// SPDX-License-Identifier: Apache-2.0
// Every program answers a wrong command line with these texts. The templates take CLI11's types without its header,
// because only the file with a program's options may include that (tests/link/heavy_headers_test.cc).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// Returns "a, b or c".
std::string list_choices(const std::vector<std::string>& words);

// Returns "" if `word` is one of `words`, or else an error that names all of them and the most similar one.
std::string choice_problem(std::string_view word, const std::vector<std::string>& words);

// Makes an option of CLI11 take only these words. The help shows them.
template <typename Option>
Option* take_words(Option* option, const std::vector<std::string>& words) {
  std::string shown;
  for (const std::string& word : words) shown += (shown.empty() ? "{" : ",") + word;
  return option->check([words](const std::string& word) { return choice_problem(word, words); }, shown + "}");
}

// Returns the answer to an error in a command line. It guesses which of `names` an unknown option was meant to be.
std::string usage_text(const std::string& program, const std::string& error, const std::vector<std::string>& names);

// Returns the same for an error that CLI11 found.
template <typename App, typename Error>
std::string usage_message(const App& app, const Error& error) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return usage_text(app.get_name(), error.what(), names);
}

}  // namespace goldcrest::converter
