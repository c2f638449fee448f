// SPDX-License-Identifier: Apache-2.0
// The options of a program. This is the door to CLI11, whose header takes the compiler seconds: only options.cc names
// it. CLI11's own pages describe what the functions of the same names do.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace goldcrest {

// An option of a command line, which owns it. Every function that sets something returns the option itself.
class Option {
 public:
  Option* required();
  Option* group(const std::string& name);      // the help's heading
  Option* type_name(const std::string& name);  // the value's name in the help
  Option* comma_list();                        // takes one text, with commas between its values
  Option* check_range(int least, int most);
  Option* check_range(uint32_t least, uint32_t most);
  Option* check_range(double least, double most);
  Option* check_positive();
  // `problem` returns an error, or "". The help shows `shown` with the option.
  Option* check(std::function<std::string(const std::string& value)> problem, const std::string& shown = "");
  Option* take_words(
      const std::vector<std::string>& words);  // takes only these; an error guesses the one that was meant
  Option* needs(Option* other);
  Option* excludes(Option* other);

  size_t count() const;      // after parsing: how often the option was given
  std::string name() const;  // "--name"

 private:
  friend class CommandLine;
  explicit Option(void* option) : option_(option) {}
  void* option_;  // CLI11's
};

class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Options write to `value`, which must live until the end of parse(). A name without - is a place: "MODEL".
  Option* add_option(const std::string& names, std::string& value, const std::string& help);
  Option* add_option(const std::string& names, std::vector<std::string>& value, const std::string& help);
  Option* add_option(const std::string& names, std::vector<uint32_t>& value, const std::string& help);
  Option* add_option(const std::string& names, int32_t& value, const std::string& help);
  Option* add_option(const std::string& names, uint32_t& value, const std::string& help);
  Option* add_option(const std::string& names, uint64_t& value, const std::string& help);
  Option* add_option(const std::string& names, float& value, const std::string& help);
  Option* add_option(const std::string& names, double& value, const std::string& help);
  Option* add_flag(const std::string& names, bool& value, const std::string& help);
  Option* add_flag(const std::string& names, std::function<void()> set, const std::string& help);
  Option* add_text(const std::string& name, std::function<void(const std::string&)> set, const std::string& help);
  Option* add_count(const std::string& name, std::function<void(uint32_t)> set, const std::string& help);
  Option* add_number(const std::string& name, std::function<void(float)> set, const std::string& help);
  Option* option(const std::string& name);  // throws std::exception if there is none of this name

  void version(const std::string& text);  // what --version prints
  void footer(const std::string& text);   // the end of --help
  // Ends an error about a surplus word without - with this text.
  void explain_surplus(const std::string& text);

  struct Answer {
    bool is_asked_for;          // help or a version; else an error
    std::string output, error;  // for the two streams
  };
  // Returns what to print instead of going on, or nothing.
  std::optional<Answer> parse(int argc, const char* const* argv);
  // Returns the answer to arguments that parse() accepts and the program does not.
  Answer refuse(const std::string& problem) const;

 private:
  struct Parts;
  Option* own(void* option);
  std::unique_ptr<Parts> parts_;
};

// Ends parsing from within check() or a function of an option: `text` is the answer, as that of --version is.
[[noreturn]] void answer_with(const std::string& text);

}  // namespace goldcrest
