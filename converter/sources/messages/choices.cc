// SPDX-License-Identifier: Apache-2.0
#include "sources/messages/choices.h"

#include <algorithm>

#include "sources/messages/messages.h"
#include "sources/messages/nearest.h"
#include "spec/printable.h"

namespace goldcrest::converter {

std::string list_choices(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

std::string choice_problem(std::string_view word, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return "";
  return in_quotes(word) + " is not one of its words: " + list_choices(words) + guess(word, words);
}

namespace {

// Guesses the option that the error's first unknown option was meant to be. Returns "" if none is similar.
std::string option_guess(std::string_view error, const std::vector<std::string>& names) {
  const std::string_view of_unknown = "not expected";
  if (error.find(of_unknown) == std::string_view::npos) return "";
  for (size_t at = error.find(" -"); at != std::string_view::npos; at = error.find(" -", at + 1)) {
    const std::string_view word = error.substr(at + 1, error.find_first_of(" =", at + 1) - at - 1);
    const bool is_option = std::find(names.begin(), names.end(), word) != names.end();
    if (!is_option && word.size() > 2) return guess(word, names);
  }
  return "";
}

}  // namespace

std::string usage_text(const std::string& program, const std::string& error, const std::vector<std::string>& names) {
  return program + ": " + printable_lines(error) + option_guess(error, names) + "\n" + program +
         " --help lists the options\n";
}

}  // namespace goldcrest::converter
