// SPDX-License-Identifier: Apache-2.0
#include "cli/preflight.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/bounds.h"
#include "cli/changes.h"
#include "evaluate/line_encoder.h"
#include "file/metadata.h"
#include "file/relayout.h"
#include "file/write.h"

namespace goldcrest::converter {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code not_there;
  return !a.empty() && !b.empty() && fs::equivalent(a, b, not_there);
}

void check_options(const Arguments& arguments) {
  if (arguments.output == "-") throw UsageError("-o -: a model goes to a file, not to standard output; give its name");
  if (arguments.weights == "float32" && !arguments.cpu.empty()) {
    throw UsageError(
        "--cpu {} orders int8 weights, but float32 weights have a fixed order; leave out --cpu or --weights",
        arguments.cpu);
  }
  check_fine(arguments);
  if (arguments.ids && arguments.evaluate_path.empty() && arguments.self_test_path.empty() &&
      arguments.make_shortlist_path.empty() && arguments.lexicon_path.empty()) {
    throw UsageError(
        "--ids applies to the lines of --evaluate, --self-test, --make-shortlist or --lexicon; give one of them");
  }
  if (arguments.ids && trims(arguments)) {
    throw UsageError("--ids: a trimmed vocabulary has new ids; leave out --ids or --keep-vocabulary");
  }
  if (!arguments.output.empty() && fs::path(arguments.output) == fs::path(arguments.report_path)) {
    throw UsageError("{}: is named by -o and by --report; give one of them another name", arguments.output);
  }
}

// Refuses outputs that would overwrite an input.
void refuse_input_as_output(const fs::path& output, const char* option, const Arguments& arguments) {
  const std::string* const inputs[] = {
      &arguments.input,     &arguments.config,         &arguments.evaluate_path,       &arguments.self_test_path,
      &arguments.keep_path, &arguments.keep_text_path, &arguments.make_shortlist_path, &arguments.lexicon_path};
  for (const std::string* input : inputs) {
    if (is_same_file(output, *input)) {
      throw UsageError("{}: is an input, and {} would overwrite it; give another name", output.string(), option);
    }
  }
  std::error_code not_there;
  const fs::path folder = fs::is_directory(arguments.input, not_there) ? fs::path(arguments.input)
                                                                       : fs::path(arguments.input).parent_path();
  const bool is_in_checkpoint = !is_model_file(arguments.input) && fs::exists(output, not_there) &&
                                is_same_file(fs::absolute(output).parent_path(), folder.empty() ? "." : folder);
  const std::string extension = output.extension().string();
  if (is_in_checkpoint && extension != ".gcst" && extension != ".html") {
    throw UsageError("{}: belongs to the checkpoint, and {} would overwrite it; give another name", output.string(),
                     option);
  }
}

// Checks that the folder exists or can be made.
void check_folder(const fs::path& folder) {
  fs::path there = fs::absolute(folder).lexically_normal();
  std::error_code error;
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, error)) {
    throw Error("{}: {} is not a directory; give another name", folder.string(), there.string());
  }
  check_can_write(there / "model");
}

std::vector<NumberedLine> read_first_lines(const std::string& path, size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be read", path);
  std::vector<NumberedLine> lines;
  std::string line;
  for (size_t number = 1; lines.size() < most && std::getline(file, line); ++number) {
    line.resize(std::min(line.size(), line.find('\t')));
    if (!line.empty()) lines.push_back({number, line});
  }
  if (lines.empty()) throw Error("{}: no line for the self-test", path);
  return lines;
}

// Reads one piece per line, up to a tab.
std::vector<std::string> read_pieces(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be opened for reading; expected one piece a line", path);
  std::vector<std::string> pieces;
  for (std::string line; std::getline(file, line);) {
    line.resize(std::min(line.size(), line.find('\t')));
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) pieces.push_back(line);
  }
  if (file.bad()) throw Error("{}: reading failed", path);
  if (pieces.empty()) throw Error("{}: no pieces; expected one per line", path);
  return pieces;
}

// Reads the entries of a lexicon; lines of white space are none.
std::vector<NumberedLine> read_entries(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be opened for reading; expected one text a line", path);
  std::vector<NumberedLine> entries;
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (line.ends_with('\r')) line.pop_back();
    entries.push_back({number, line});
  }
  if (file.bad()) throw Error("{}: reading failed", path);
  if (entries.empty()) throw Error("{}: no entries; expected one text a line", path);
  return entries;
}

void read_vocabulary_lines(const Arguments& arguments, UserLines& lines) {
  if (!arguments.lexicon_path.empty()) lines.lexicon = read_entries(arguments.lexicon_path);
  if (!arguments.keep_path.empty()) lines.kept_pieces = read_pieces(arguments.keep_path);
  if (!arguments.keep_text_path.empty()) lines.kept_text = read_evaluation_lines(arguments.keep_text_path, "");
  if (arguments.make_shortlist_path.empty()) return;
  lines.shortlist_text = read_evaluation_lines(arguments.make_shortlist_path, "");
  if (lines.shortlist_text.size() < kHeldOut) {
    throw Error("{}: {} different sources; --make-shortlist needs {}, since every tenth is held out",
                arguments.make_shortlist_path, lines.shortlist_text.size(), kHeldOut);
  }
}

// Throws Error naming the line if `text` is not a list of ids of any model.
void check_ids(const std::string& path, size_t number, const std::string& text) {
  try {
    parse_ids(text, kMaxVocabulary);
  } catch (const Error& error) {
    throw Error("{}:{}: {}", path, number, error.what());
  }
}

void check_ids(const std::string& path, const std::vector<EvaluationLine>& lines) {
  for (const EvaluationLine& line : lines) {
    check_ids(path, line.number, line.source);
    for (const std::string& reference : line.references) check_ids(path, line.number, reference);
  }
}

void check_all_ids(const UserLines& lines, const Arguments& arguments) {
  for (const NumberedLine& line : lines.self_test) check_ids(arguments.self_test_path, line.number, line.text);
  check_ids(arguments.evaluate_path, lines.evaluation);
  check_ids(arguments.make_shortlist_path, lines.shortlist_text);
  for (const NumberedLine& line : lines.lexicon) check_ids(arguments.lexicon_path, line.number, line.text);
}

// Throws Error if the metric needs references that no line has.
void check_metric(const Arguments& arguments, const std::vector<EvaluationLine>& lines) {
  const bool needs_references =
      std::ranges::count(std::initializer_list<std::string>{"bleu", "chrf", "wer", "exact"}, arguments.metric) != 0;
  const bool has_references = std::ranges::any_of(lines, [](const EvaluationLine& l) { return !l.references.empty(); });
  if (needs_references && !has_references) {
    throw Error("--metric {}: the lines of {} have no references", arguments.metric, arguments.evaluate_path);
  }
}

void check_samples(const std::string& folder) {
  const fs::path results = fs::path(folder) / "results.jsonl";
  std::error_code error;
  if (fs::exists(results, error)) return;
  throw Error("{}: is missing; --check takes the folder that examples/export_nn_transformer.py writes",
              results.string());
}

}  // namespace

UserLines preflight(const Arguments& arguments) {
  check_options(arguments);
  std::error_code error;
  if (!fs::exists(arguments.input, error)) return {};  // opening it reports the error
  UserLines lines;
  try {
    check_bounds(arguments.limits);
  } catch (const Error& bounds) {
    throw Error("{}: {}", arguments.input, bounds.what());
  }
  if (!arguments.check_path.empty()) check_samples(arguments.check_path);
  if (!arguments.self_test_path.empty()) {
    constexpr size_t kMostLines = 4;
    lines.self_test = read_first_lines(arguments.self_test_path, kMostLines);
  }
  if (!arguments.evaluate_path.empty()) {
    lines.evaluation = read_evaluation_lines(arguments.evaluate_path, arguments.alternatives);
    check_metric(arguments, lines.evaluation);
  }
  read_vocabulary_lines(arguments, lines);
  if (arguments.ids) check_all_ids(lines, arguments);
  const std::pair<const char*, const std::string*> outputs[] = {{"-o", &arguments.output},
                                                                {"--report", &arguments.report_path}};
  for (const auto& [option, path] : outputs) {
    if (path->empty()) continue;
    refuse_input_as_output(*path, option, arguments);
    check_can_write(*path);
  }
  if (!arguments.emit_folder.empty()) check_folder(arguments.emit_folder);
  return lines;
}

}  // namespace goldcrest::converter
