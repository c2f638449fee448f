// SPDX-License-Identifier: Apache-2.0
// The help, the manual page and the completions that a table of options makes.
#include <algorithm>
#include "goldcrest/goldcrest.h"
#include "host/command_line.h"

namespace goldcrest {
namespace {
using Row = CommandLine::Row;

constexpr size_t kColumns = 100, kHelpColumn = 28;

// Breaks a text into lines that begin in column `indent`; the first one continues a line of `used` columns. Lines of
// the text that begin with spaces stay as they are.
std::string wrap(const std::string& text, size_t indent, size_t used) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    if (text[at] == ' ') {
      result += text.substr(at, line_end - at);
      at = line_end;
    }
    while (at < line_end) {
      const size_t end = std::min(text.find(' ', at), line_end), n = end - at;
      if (used > indent && used + 1 + n > kColumns) {
        result += "\n";
        used = 0;
      }
      const size_t spaces = used < indent ? indent - used : used > indent ? 1 : 0;
      result += std::string(spaces, ' ') + text.substr(at, n);
      used += spaces + n;
      at = std::min(end + 1, line_end);
    }
    result += "\n";
    used = 0;
    at = line_end + 1;
  }
  return result;
}

std::string names_of(const Row& row) {
  return join_words(row.names, ", ") + (row.value.empty() ? "" : " " + row.value);
}

// Returns the first clause of a row's help, and its default.
std::string short_help_of(const Row& row) {
  const std::string& help = row.option.help;
  const size_t end = std::min({help.find("; "), help.find(". "), help.size()});
  const size_t bracket = help.back() == ']' ? help.rfind(" [") : help.size();
  return end >= bracket ? help : help.substr(0, end) + help.substr(bracket);
}

// Returns the help of a row, with what its words and its conditions are.
std::string help_of(const Row& row) {
  std::string text = row.option.help;
  if (!row.option.value.words.empty() && !row.value.empty())
    text += "; one of " + join_words(row.option.value.words, ", ");
  std::string needs;
  for (const char* at = row.option.needs; *at != '\0' && *at != '@'; ++at) needs += *at;
  return needs.empty() ? text : text + " (needs " + needs.substr(0, needs.find_last_not_of(' ') + 1) + ")";
}

bool is_option(const Row& row) { return !row.is_place && !row.is_heading; }
bool is_file(const Row& row) { return row.value == "FILE" || row.value == "DIR"; }

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The begin of a help text, for a list of options.
std::string brief(const std::string& help) {
  size_t end = help.size();
  for (const char* mark : {";", ":", ". ", " (", " ["}) end = std::min(end, help.find(mark));
  return help.substr(0, end);
}

std::string bash(const std::string& program, const std::vector<Row>& rows) {
  std::string all, without_words, cases;
  for (const Row& row : rows) {
    if (!is_option(row)) continue;
    for (const std::string& name : row.names) all += (all.empty() ? "" : " ") + name;
    if (row.value.empty() || is_file(row)) continue;
    const std::string names = join_words(row.names, "|"), words = join_words(row.option.value.words, " ");
    if (words.empty()) without_words += (without_words.empty() ? "" : "|") + names;
    else cases += "    " + names + ") COMPREPLY=($(compgen -W '" + words + "' -- \"$word\")); return ;;\n";
  }
  const std::string function = "_" + replace_all(program, "-", "_");
  return function + "() {\n  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n" +
         "  if [ \"$word\" = = ]; then word=; elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n" +
         "  COMPREPLY=()\n  case $before in\n" + cases + "    " + without_words +
         ") compopt +o default; return ;;\n  esac\n  case $word in\n    -*) COMPREPLY=($(compgen -W '" + all +
         "' -- \"$word\")) ;;\n  esac\n}\ncomplete -o default -F " + function + " " + program + "\n";
}

std::string zsh(const std::string& program, const std::vector<Row>& rows) {
  std::string text = "#compdef " + program + "\n_arguments -S";
  const auto escaped = [](std::string help) {
    for (const char* letter : {"\\", "[", "]", ":"}) help = replace_all(help, letter, std::string("\\") + letter);
    return help;
  };
  for (const Row& row : rows) {
    if (row.is_heading) continue;
    if (row.is_place) {
      const bool repeats = row.option.value.repeats;
      text += " \\\n  " + quoted_for_shell((repeats ? "*:" : ":") + escaped(brief(row.option.help)) + ":_files");
      continue;
    }
    for (const std::string& name : row.names) {
      const std::string words = join_words(row.option.value.words, " ");
      const std::string action = is_file(row) ? "_files" : words.empty() ? " " : "(" + words + ")";
      const bool is_long = name[1] == '-';
      text += " \\\n  " + quoted_for_shell(name +
                                           (row.value.empty() ? ""
                                               : is_long      ? "="
                                                              : "+") +
                                           "[" + escaped(brief(row.option.help)) + "]" +
                                           (row.value.empty() ? "" : ":" + escaped(row.value) + ":" + action));
    }
  }
  return text + "\n";
}

std::string fish(const std::string& program, const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    if (!is_option(row)) continue;
    text += "complete -c " + program;
    for (const std::string& name : row.names)
      text += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!row.value.empty()) text += is_file(row) ? " -r -F" : " -x";
    const std::string words = join_words(row.option.value.words, " ");
    if (!words.empty() && !row.value.empty()) text += " -a " + quoted_for_shell(words);
    text += " -d " + quoted_for_shell(brief(row.option.help)) + "\n";
  }
  return text;
}

// Escapes a text for a manual page. Lines that begin with spaces stay as they are.
std::string roff(const std::string& text) {
  std::string page;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = replace_all(replace_all(text.substr(at, end - at), "\\", "\\e"), "-", "\\-");
    const bool is_command = !line.empty() && (line[0] == '.' || line[0] == '\'');
    if (is_command) line = "\\&" + line;
    page += line[0] == ' ' ? ".nf\n" + line + "\n.fi\n" : (at == 0 ? "" : ".PP\n") + line + "\n";
    at = end + 1;
  }
  return page;
}

std::string man(const Program& program, const std::string& usage, const std::vector<Row>& rows) {
  const std::string first = brief(program.about);
  std::string page = ".TH " + std::string(program.name) + " 1 \"\" \"goldcrest " GOLDCREST_VERSION "\"\n.SH NAME\n" +
                     program.name + " \\- " + roff(first.substr(0, first.find_last_not_of(".") + 1)) +
                     ".SH SYNOPSIS\n" + roff(usage) + ".SH DESCRIPTION\n" + roff(program.about) + ".SH OPTIONS\n";
  for (const Row& row : rows)
    if (row.is_heading) page += ".SS " + roff(row.name());
    else page += ".TP\n.B " + roff(names_of(row)) + roff(help_of(row));
  if (*program.notes != 0) page += ".SH NOTES\n" + roff(program.notes);
  return page + ".SH EXIT STATUS\n" + roff(program.statuses) + ".SH EXAMPLES\n" + roff(program.examples);
}
}  // namespace

std::string CommandLine::usage() const {
  std::string text = program_.name;
  for (const Row& row : rows_)
    if (row.is_place && !row.is_heading) text += " " + row.name();
  return text + " [options]";
}

std::string CommandLine::help(bool all) const {
  std::string text = wrap(program_.about, 0, 0) + "usage: " + usage() + "\n", heading;
  size_t n_hidden = 0;
  for (const Row& row : rows_) {
    if (row.is_heading) {
      heading = "\n" + wrap(row.name() + ":", 0, 0);
    } else if (!all && !row.is_essential) {
      ++n_hidden;
    } else {
      const std::string names = "  " + names_of(row);
      text += heading + names +
              wrap(all ? help_of(row) : short_help_of(row), kHelpColumn,
                  names.size() + (names.size() < kHelpColumn ? 0 : kColumns));
      heading.clear();
    }
  }
  if (all && *program_.notes != 0) text += "\n" + wrap(program_.notes, 0, 0);
  text +=
      std::string("\nExamples:\n") + program_.examples + wrap(std::string("Exit status: ") + program_.statuses, 0, 0);
  if (n_hidden > 0) text += "--help-all shows " + std::to_string(n_hidden) + " more options.\n";
  return text;
}

std::string CommandLine::completion(const std::string& shell) const {
  if (shell == "man") return man(program_, usage(), rows_);
  return shell == "bash"  ? bash(program_.name, rows_)
         : shell == "zsh" ? zsh(program_.name, rows_)
                          : fish(program_.name, rows_);
}
}  // namespace goldcrest
