// SPDX-License-Identifier: Apache-2.0
#include "host/command_line.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include "goldcrest/goldcrest.h"
#include "host/printable.h"

namespace goldcrest {
namespace {
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Answered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Names of these options in other programs, and names that they once had. The second text begins with ours.
constexpr const char* kOtherNames[][2] = {
    {"--beam", "--beam-size"},
    {"--num-beams", "--beam-size"},
    {"--nbest", "--n-best"},
    {"--num-hypotheses", "--n-best"},
    {"--num-return-sequences", "--n-best"},
    {"--out", "--output"},
    {"--output-dir", "--output"},
    {"--output-file", "--output"},
    {"--source-language", "--source-lang"},
    {"--src-lang", "--source-lang"},
    {"--target-language", "--target-lang"},
    {"--tgt-lang", "--target-lang"},
    {"--lang", "--language"},
    {"--batch-size", "--batch"},
    {"--max-batch-size", "--batch"},
    {"--num-threads", "--threads"},
    {"--intra-threads", "--threads"},
    {"--max-length", "--max-target"},
    {"--max-new-tokens", "--max-target"},
    {"--max-decoding-length", "--max-target"},
    {"--max-input-length", "--max-source"},
    {"--no-repeat-ngram-size", "--no-repeat-ngram"},
    {"--do-sample", "--sample"},
    {"--quantization", "--weights"},
    {"--dtype", "--weights"},
    {"--fine", "--accuracy near, or --matrices NAME=near"},
    {"--refine", "--accuracy exact, or --matrices NAME=exact"},
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Number> std::string number_text(Number number) {
  std::ostringstream stream;
  stream << number;
  return stream.str();
}

template <typename Number> std::string out_of_range(const std::string& word, Number least, Number most) {
  return "Value " + word + " not in range " + number_text(least) + " to " + number_text(most);
}

// A whole number of any type fits 64 bits and a sign.
template <typename Number> std::string read_whole(const std::string& word, Number least, Number most, Number* number) {
  const bool is_negative = !word.empty() && word[0] == '-';
  const std::string digits = word.substr(is_negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
    return in_quotes(word) + " is not a whole number";
  errno = 0;
  const uint64_t size = std::strtoull(digits.c_str(), nullptr, 10);
  const uint64_t room = is_negative ? uint64_t{0} - static_cast<uint64_t>(std::min<Number>(least, 0)) : uint64_t(most);
  *number = static_cast<Number>(is_negative ? uint64_t{0} - size : size);
  return errno != 0 || size > room || *number < least ? out_of_range(word, least, most) : "";
}

template <typename Number> std::string read_real(const std::string& word, Number least, Number most, Number* number) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  const bool is_bounded = least != std::numeric_limits<Number>::lowest() || most != std::numeric_limits<Number>::max();
  if (word.empty() || *end != '\0' || (std::isnan(value) && is_bounded))
    return "Value " + in_quotes(word) + " is not a number";
  *number = static_cast<Number>(value);
  return is_bounded && (*number < least || *number > most) ? out_of_range(word, least, most) : "";
}
}  // namespace

std::string read_number(const std::string& word, int32_t least, int32_t most, int32_t* number) {
  return read_whole(word, least, most, number);
}
std::string read_number(const std::string& word, uint32_t least, uint32_t most, uint32_t* number) {
  return read_whole(word, least, most, number);
}
std::string read_number(const std::string& word, uint64_t least, uint64_t most, uint64_t* number) {
  return read_whole(word, least, most, number);
}
std::string read_number(const std::string& word, float least, float most, float* number) {
  return read_real(word, least, most, number);
}
std::string read_number(const std::string& word, double least, double most, double* number) {
  return read_real(word, least, most, number);
}

Reader text(std::string& value, std::function<std::string(const std::string&)> problem) {
  return {[&value, problem](const std::string& word) {
    value = word;
    return problem ? problem(word) : "";
  }};
}

Reader choice(std::string& value, const std::vector<std::string>& words) {
  return {[&value, words](const std::string& word) {
            value = word;
            return choice_problem(word, words);
          },
      words};
}

Reader texts(std::vector<std::string>& values) {
  const auto read = [&values, is_first = true](const std::string& word) mutable {
    if (is_first) values.clear();
    is_first = false;
    values.push_back(word);
    return std::string();
  };
  return {read, {}, true};
}

Reader comma_list(std::vector<std::string>& values) {
  return comma_list(values, [](std::string& value) { return text(value); });
}

void answer_with(const std::string& text) { throw Answered(!text.empty() && text.back() == '\n' ? text : text + "\n"); }

Reader answer(std::function<std::string()> text) {
  return {[text](const std::string&) -> std::string { answer_with(text()); }};
}

CommandLine::CommandLine(Program program) : program_(std::move(program)) {
  std::vector<Option> options = program_.options;
  options.push_back({"Help"});
  options.push_back({"*-h --help", answer([this] { return help(false); }), "show the most used options and end"});
  options.push_back({"*--help-all", answer([this] { return help(true); }), "show all options and end"});
  const std::string version = std::string(program_.name) + " " GOLDCREST_VERSION;
  options.push_back({"*--version", answer([version] { return version; }), "print the version and end"});
  const std::vector<std::string> shells = {"bash", "zsh", "fish", "man"};
  options.push_back({"--completion SHELL",
      {[this, shells](const std::string& word) -> std::string {
         if (!has(shells, word)) return choice_problem(word, shells);
         answer_with(completion(word));
       },
          shells},
      "print what completes these options in a shell, or the manual page (man), and end"});
  std::string heading;  // its conditions
  for (const Option& option : options) {
    if (!option.value.read) heading = option.needs;
    const bool is_essential = option.names[0] == '*';
    const std::string names = option.names + (is_essential ? 1 : 0);
    Row row = {option, {}, "", heading + " " + option.needs, !option.value.read, names[0] != '-', is_essential};
    for (const std::string& word : words_of(names))
      if (word[0] == '-') row.names.push_back(word);
      else row.value = word;
    if (row.is_heading || row.is_place) row.names = {names}, row.value = "";
    rows_.push_back(row);
  }
}

CommandLine::Row* CommandLine::find(const std::string& name) {
  for (Row& row : rows_)
    if (!row.is_place && has(row.names, name)) return &row;
  return nullptr;
}

// Throws Refused for an option that there is not, with what was meant.
void CommandLine::refuse_word(const std::string& word) const {
  std::string name = word.substr(0, word.find('='));
  std::replace(name.begin(), name.end(), '_', '-');
  std::vector<std::string> names, near;
  for (const Row& row : rows_)
    if (!row.is_place) names.insert(names.end(), row.names.begin(), row.names.end());
  for (const auto& [other, ours] : kOtherNames) {
    if (!has(names, words_of(ours)[0])) continue;
    if (name == other) throw Refused(word + " is not an option here; give " + ours);
    near.push_back(other);
  }
  std::string meant = nearest(name, names);
  if (meant.empty()) meant = nearest(name, near);
  for (const auto& [other, ours] : kOtherNames)
    if (meant == other) meant = words_of(ours)[0];
  throw Refused("The following argument was not expected: " + word +
                (meant.empty() || name.size() < 3 ? "" : "; did you mean " + in_quotes(meant) + "?"));
}

// Gives each word to a row. Throws Refused.
std::vector<CommandLine::Word> CommandLine::split(int argc, const char* const* argv) {
  std::vector<Word> words;
  std::vector<Row*> places;
  for (Row& row : rows_)
    if (row.is_place && !row.is_heading) places.push_back(&row);
  size_t place = 0;
  bool may_be_option = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (may_be_option && word == "--") {
      may_be_option = false;
      continue;
    }
    if (!may_be_option || word.size() < 2 || word[0] != '-') {
      if (place == places.size()) {
        throw Refused("The following argument was not expected: " + word + " (usage: " + usage() +
                      (find("-o") ? "; -o FILE names the output)" : ")"));
      }
      words.push_back({places[place], word});
      if (!places[place]->option.value.repeats) ++place;
      continue;
    }
    const bool is_long = word[1] == '-';
    const size_t end = is_long ? std::min(word.find('='), word.size()) : 2;
    Row* const row = find(word.substr(0, end));
    if (row == nullptr || (row->value.empty() && end < word.size())) refuse_word(word);
    Word given = {row, end < word.size() ? word.substr(end + (is_long ? 1 : 0)) : ""};
    if (!row->value.empty() && end == word.size()) {
      if (i + 1 == argc || find(argv[i + 1]) != nullptr) throw Refused(row->name() + " needs a value: " + row->value);
      given.word = argv[++i];
    }
    words.push_back(given);
  }
  return words;
}

// Throws Refused if options need or exclude one another, or if a place is empty.
void CommandLine::check_together() const {
  for (const Row& row : rows_) {
    if (row.is_place && !row.is_heading && row.name()[0] != '[' && row.n_given == 0)
      throw Refused(row.name() + " is required");
    if (row.n_given == 0) continue;
    for (const std::string& other : words_of(row.needs))
      if (other[0] != '@' && !is_given(other)) throw Refused(row.name() + " requires " + other);
    for (const std::string& other : words_of(row.option.excludes))
      if (is_given(other)) throw Refused(row.name() + " excludes " + other);
  }
}

std::optional<CommandLine::Answer> CommandLine::parse(int argc, const char* const* argv) {
  try {
    const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
    const auto end = std::find(given.begin(), given.end(), "--");
    for (const char* name : {"--help-all", "--help", "-h"})
      if (std::find(given.begin(), end, name) != end) find(name)->option.value.read("");
    for (const Word& word : split(argc, argv)) {
      Row& row = *word.row;
      if (++row.n_given > 1 && !row.option.value.repeats && !row.value.empty())
        throw Refused(row.name() + " is given twice");
      const std::string problem = row.option.value.read(word.word);
      if (!problem.empty()) throw Refused(row.name() + ": " + problem);
    }
    check_together();
  } catch (const Refused& problem) {
    return refuse(problem.what());
  } catch (const Answered& text) {
    return Answer{true, text.what(), ""};
  }
  return {};
}

CommandLine::Answer CommandLine::refuse(const std::string& problem) const {
  const std::string name = program_.name;
  return {false, "", name + ": " + printable_lines(problem) + "\n" + name + " --help lists the options\n"};
}

bool CommandLine::is_given(const std::string& name) const {
  const auto is_it = [&](const Row& row) { return row.n_given > 0 && has(row.names, name); };
  return std::any_of(rows_.begin(), rows_.end(), is_it);
}

std::string CommandLine::first_given(const std::string& needs) const {
  for (const Row& row : rows_)
    if (row.n_given > 0 && has(words_of(row.needs), needs)) return row.name();
  return "";
}
}  // namespace goldcrest
