// SPDX-License-Identifier: Apache-2.0
// The answers of every program to a command line that it does not take. The templates are for CLI11's types, whose
// header only the file with a program's options includes (tests/link/heavy_headers_test.cc).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// "a, b or c".
std::string list_choices(const std::vector<std::string>& words);

// Why `word` is none of `words`, with all of them and the nearest one; "" where it is one of them.
std::string choice_problem(std::string_view word, const std::vector<std::string>& words);

// Makes an option of CLI11 take these words only; the help shows them.
template <typename Option>
Option* take_words(Option* option, const std::vector<std::string>& words) {
  std::string shown;
  for (const std::string& word : words) shown += (shown.empty() ? "{" : ",") + word;
  return option->check([words](const std::string& word) { return choice_problem(word, words); }, shown + "}");
}

// The answer to an error in a command line. It guesses which of `names` an unknown option was meant to be.
std::string usage_text(const std::string& program, const std::string& error, const std::vector<std::string>& names);

// The same of the error that CLI11 found.
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
