// SPDX-License-Identifier: Apache-2.0
// A program's table of options. It is the only place where they are written: parsing, --help, --help-all, the manual
// page and the completions of three shells (--completion) come from it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "host/wording.h"

namespace goldcrest {
// Reads the word of an option and stores its value.
struct Reader {
  std::function<std::string(const std::string& word)> read;  // stores the value; returns why it cannot, or ""
  std::vector<std::string> words = {};                       // the option takes only these; empty: any
  bool repeats = false;                                      // several words may be given
};

// One row of the table. A row without a value is a heading of the help.
struct Option {
  // All names, then what the help calls the value: "-o --output FILE". Without the latter it is a flag. A row without a
  // name that begins with - is a place: "MODEL", "[INPUT...]" (any number). --help shows the rows that begin with "*",
  // --help-all shows all. A value FILE or DIR is completed with the names of files.
  const char* names;
  Reader value = {};
  std::string help = {};  // begins with a verb
  // The other options that it needs, and those that it excludes, with spaces between them. A word that begins with @ is
  // the program's own condition: see first_given(). A heading's conditions are those of its options, too.
  const char *needs = "", *excludes = "";
};

struct Program {
  const char* name;
  std::string about;  // its first sentence stands in the manual's list of programs
  std::vector<Option> options;
  const char* examples;    // commands, each on a line that begins with two spaces
  const char* statuses;    // what the exit statuses mean
  const char* notes = "";  // paragraphs for --help-all; a line that begins with spaces stays as it is
};

// Ways to read a value. All write to a variable that must live until the end of parse().

// Returns why a word is no number from `least` to `most`, or stores it.
std::string read_number(const std::string& word, int32_t least, int32_t most, int32_t* number);
std::string read_number(const std::string& word, uint32_t least, uint32_t most, uint32_t* number);
std::string read_number(const std::string& word, uint64_t least, uint64_t most, uint64_t* number);
std::string read_number(const std::string& word, float least, float most, float* number);
std::string read_number(const std::string& word, double least, double most, double* number);

template <typename Number, typename Function> Reader number_to(Number least, Number most, Function store) {
  return {[=](const std::string& word) {
    Number number = {};
    const std::string problem = read_number(word, least, most, &number);
    if (problem.empty()) store(number);
    return problem;
  }};
}
template <typename Number>
Reader number(Number& value, std::common_type_t<Number> least = std::numeric_limits<Number>::lowest(),
    std::common_type_t<Number> most = std::numeric_limits<Number>::max()) {
  return number_to<Number>(least, most, [&value](Number number) { value = number; });
}
template <typename Number> Reader number(std::optional<Number>& value) {
  return number_to<Number>(std::numeric_limits<Number>::lowest(), std::numeric_limits<Number>::max(),
      [&value](Number number) { value = number; });
}

// `problem` returns why the text is refused, or "".
Reader text(std::string& value, std::function<std::string(const std::string& text)> problem = {});

// For a flag: sets the variable to `to`.
template <typename Variable, typename To> Reader set(Variable& value, To to) {
  return {[&value, to](const std::string&) {
    value = to;
    return std::string();
  }};
}
inline Reader flag(bool& value) { return set(value, true); }

// Takes one of some words, each of which means a value.
template <typename Variable, typename To>
Reader choice(Variable& value, const std::vector<std::pair<std::string, To>>& meanings) {
  std::vector<std::string> words;
  for (const auto& meaning : meanings) words.push_back(meaning.first);
  const auto read = [&value, meanings, words](const std::string& word) {
    for (const auto& meaning : meanings)
      if (meaning.first == word) value = meaning.second;
    return choice_problem(word, words);
  };
  return {read, words};
}
Reader choice(std::string& value, const std::vector<std::string>& words);

// Replaces a list by the words that are given.
Reader texts(std::vector<std::string>& values);
// The same, but each word has commas between its values. `of_one` returns the Reader that reads one of them.
template <typename Element, typename Function> Reader comma_list(std::vector<Element>& values, Function of_one) {
  Element any = {};
  const auto read = [&values, of_one, is_first = true](const std::string& word) mutable {
    if (is_first) values.clear();
    is_first = false;
    for (size_t at = 0; at <= word.size();) {
      const size_t end = std::min(word.find(',', at), word.size());
      Element value = {};
      const std::string problem = of_one(value).read(word.substr(at, end - at));
      if (!problem.empty()) return problem;
      values.push_back(value);
      at = end + 1;
    }
    return std::string();
  };
  return {read, of_one(any).words, true};
}
Reader comma_list(std::vector<std::string>& values);

// Ends parsing from within a value's `read`: `text` is what the program prints, as for --version.
[[noreturn]] void answer_with(const std::string& text);
// A flag that does.
Reader answer(std::function<std::string()> text);

// A word of goldcrest/search_rules.h.
struct RuleWord {
  const char* word;
  uint8_t value;
  const char* text;
};

// Returns the options for the rules in goldcrest/search_rules.h, which set them in `rules`. `names`: only of these
// options, with spaces between them; "": of all.
std::vector<Option> rule_options(goldcrest_search& rules, const std::string& names);

class CommandLine {
 public:
  explicit CommandLine(Program program);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  struct Answer {
    bool is_asked_for;          // help or a version; else an error
    std::string output, error;  // for the two streams
  };
  // Returns what to print instead of going on, or nothing.
  std::optional<Answer> parse(int argc, const char* const* argv);
  // Returns the answer to arguments that parse() accepts and the program does not.
  Answer refuse(const std::string& problem) const;
  // After parse(): whether the option was given.
  bool is_given(const std::string& name) const;
  // After parse(): the first given option whose `needs` has this word, or "".
  std::string first_given(const std::string& needs) const;

  // A row with its names apart.
  struct Row {
    Option option;
    std::vector<std::string> names;  // "-o", "--output", or a place's only name
    std::string value;               // "FILE"; empty for a flag
    std::string needs;               // its own and its heading's
    bool is_heading, is_place, is_essential;
    size_t n_given = 0;
    const std::string& name() const { return names.back(); }
  };
  std::string help(bool all) const;
  // Returns what --completion prints for a shell, or for "man".
  std::string completion(const std::string& shell) const;
 private:
  struct Word {
    Row* row;
    std::string word;
  };
  Row* find(const std::string& name);
  std::vector<Word> split(int argc, const char* const* argv);
  [[noreturn]] void refuse_word(const std::string& word) const;
  void check_together() const;
  std::string usage() const;

  Program program_;
  std::vector<Row> rows_;
};
}  // namespace goldcrest
