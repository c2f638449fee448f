// SPDX-License-Identifier: Apache-2.0
#include "host/command_line.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <sstream>

#include "host/wording.h"

namespace goldcrest {
namespace {

CLI::Option& cli(void* option) { return *static_cast<CLI::Option*>(option); }

}  // namespace

Option* Option::required() {
  cli(option_).required();
  return this;
}
Option* Option::group(const std::string& name) {
  cli(option_).group(name);
  return this;
}
Option* Option::type_name(const std::string& name) {
  cli(option_).type_name(name);
  return this;
}
Option* Option::comma_list() {
  cli(option_).delimiter(',')->allow_extra_args(false);
  return this;
}
Option* Option::check_range(int least, int most) {
  cli(option_).check(CLI::Range(least, most));
  return this;
}
Option* Option::check_range(uint32_t least, uint32_t most) {
  cli(option_).check(CLI::Range(least, most));
  return this;
}
Option* Option::check_range(double least, double most) {
  cli(option_).check(CLI::Range(least, most));
  cli(option_).check([](const std::string& text) {  // CLI11 finds NaN in every range
    return std::isnan(std::strtod(text.c_str(), nullptr)) ? "Value " + text + " is not a number" : std::string();
  });
  return this;
}
Option* Option::check_positive() {
  cli(option_).check(CLI::PositiveNumber);
  return this;
}
Option* Option::check(std::function<std::string(const std::string&)> problem, const std::string& shown) {
  cli(option_).check(std::move(problem), shown);
  return this;
}
Option* Option::take_words(const std::vector<std::string>& words) {
  std::string shown;
  for (const std::string& word : words) shown += (shown.empty() ? "{" : ",") + word;
  return check([words](const std::string& word) { return choice_problem(word, words); }, shown + "}");
}
Option* Option::needs(Option* other) {
  cli(option_).needs(&cli(other->option_));
  return this;
}
Option* Option::excludes(Option* other) {
  cli(option_).excludes(&cli(other->option_));
  return this;
}
size_t Option::count() const { return cli(option_).count(); }
std::string Option::name() const { return cli(option_).get_name(); }

struct CommandLine::Parts {
  CLI::App app;
  std::deque<Option> options;
  std::string surplus;

  std::string usage(const std::string& error, bool is_surplus) const {
    if (is_surplus && !surplus.empty() && error.find(" -") == std::string::npos)
      return usage_text(app.get_name(), error + surplus, {});
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
    return usage_text(app.get_name(), error, names);
  }
};

CommandLine::CommandLine(const std::string& program, const std::string& description)
    : parts_(new Parts{CLI::App(description, program), {}, {}}) {
  parts_->app.failure_message([parts = parts_.get()](const CLI::App*, const CLI::Error& error) {
    return parts->usage(error.what(), dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr);
  });
}
CommandLine::~CommandLine() = default;

Option* CommandLine::own(void* option) {
  parts_->options.push_back(Option(option));
  return &parts_->options.back();
}

Option* CommandLine::add_option(const std::string& names, std::string& value, const std::string& help) {
  return own(parts_->app.add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::vector<std::string>& value, const std::string& help) {
  return own(parts_->app.add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, std::vector<uint32_t>& value, const std::string& help) {
  return own(parts_->app.add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, int32_t& value, const std::string& help) {
  return own(parts_->app.add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, uint32_t& value, const std::string& help) {
  return own(parts_->app.add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, uint64_t& value, const std::string& help) {
  return own(parts_->app.add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, float& value, const std::string& help) {
  return own(parts_->app.add_option(names, value, help));
}
Option* CommandLine::add_option(const std::string& names, double& value, const std::string& help) {
  return own(parts_->app.add_option(names, value, help));
}
Option* CommandLine::add_flag(const std::string& names, bool& value, const std::string& help) {
  return own(parts_->app.add_flag(names, value, help));
}
Option* CommandLine::add_flag(const std::string& names, std::function<void()> set, const std::string& help) {
  return own(parts_->app.add_flag_callback(names, std::move(set), help));
}
Option* CommandLine::add_text(const std::string& name, std::function<void(const std::string&)> set,
                              const std::string& help) {
  return own(parts_->app.add_option_function<std::string>(name, std::move(set), help));
}
Option* CommandLine::add_count(const std::string& name, std::function<void(uint32_t)> set, const std::string& help) {
  return own(parts_->app.add_option_function<uint32_t>(
      name, [set](const uint32_t& n) { set(n); }, help));
}
Option* CommandLine::add_number(const std::string& name, std::function<void(float)> set, const std::string& help) {
  return own(parts_->app.add_option_function<float>(
      name, [set](const float& x) { set(x); }, help));
}
Option* CommandLine::option(const std::string& name) { return own(parts_->app.get_option(name)); }

void CommandLine::version(const std::string& text) { parts_->app.set_version_flag("--version", text); }
void CommandLine::footer(const std::string& text) { parts_->app.footer(text); }
void CommandLine::explain_surplus(const std::string& text) { parts_->surplus = text; }

std::optional<CommandLine::Answer> CommandLine::parse(int argc, const char* const* argv) {
  try {
    parts_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream output, problem;
    const bool is_asked_for = parts_->app.exit(error, output, problem) == 0;
    return Answer{is_asked_for, output.str(), problem.str()};
  }
  return {};
}

CommandLine::Answer CommandLine::refuse(const std::string& problem) const {
  return {false, "", parts_->usage(problem, false)};
}

void answer_with(const std::string& text) { throw CLI::CallForVersion(text, 0); }

}  // namespace goldcrest
