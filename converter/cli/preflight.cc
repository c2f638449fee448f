// SPDX-License-Identifier: Apache-2.0
#include "cli/preflight.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include "base/bounds.h"
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

void check_options(const Options& options) {
  const UserLines& lines = options.lines;
  const std::string& output = options.write.output;
  if (output == "-") throw UsageError("-o -: a model goes to a file, not to standard output; give its name");
  if (options.quantize.weights == "float32" && !options.quantize.cpu.empty()) {
    throw UsageError(
        "--cpu {} orders int8 weights, but float32 weights have a fixed order; leave out --cpu or --weights",
        options.quantize.cpu);
  }
  check_accuracy(options);
  if (lines.ids && lines.evaluation.path.empty() && lines.self_test.path.empty() && lines.shortlist_text.path.empty() &&
      lines.lexicon.path.empty() && lines.calibration.path.empty()) {
    throw UsageError(
        "--ids applies to the lines of --evaluate, --self-test, --make-shortlist, --lexicon or --calibrate; give one "
        "of them");
  }
  const bool trims = !lines.kept_pieces.path.empty() || !lines.kept_text.path.empty();
  if (lines.ids && (trims || !options.read.keep_languages.empty()))
    throw UsageError("--ids: a trimmed vocabulary has new ids; leave out --ids or --keep-vocabulary");
  if (!output.empty() && fs::path(output) == fs::path(options.report.page_path))
    throw UsageError("{}: is named by -o and by --report; give one of them another name", output);
}

// Refuses outputs that would overwrite an input.
void refuse_input_as_output(const fs::path& output, const char* option, const Options& options) {
  const UserLines& lines = options.lines;
  for (const std::string& input :
      {options.input, options.read.config, lines.evaluation.path, lines.self_test.path, lines.kept_pieces.path,
          lines.kept_text.path, lines.shortlist_text.path, lines.lexicon.path, lines.calibration.path})
    if (is_same_file(output, input))
      throw UsageError("{}: is an input, and {} would overwrite it; give another name", output.string(), option);
  std::error_code not_there;
  const fs::path input = options.input, folder = fs::is_directory(input, not_there) ? input : input.parent_path();
  const bool is_in_checkpoint = !is_model_file(input) && fs::exists(output, not_there) &&
                                is_same_file(fs::absolute(output).parent_path(), folder.empty() ? "." : folder);
  const std::string extension = output.extension().string();
  if (is_in_checkpoint && extension != ".gcst" && extension != ".html") {
    throw UsageError(
        "{}: belongs to the checkpoint, and {} would overwrite it; give another name", output.string(), option);
  }
}

// Checks that the folder exists or can be made.
void check_folder(const fs::path& folder) {
  fs::path there = fs::absolute(folder).lexically_normal();
  std::error_code error;
  while (!fs::exists(there, error) && there.has_relative_path()) there = there.parent_path();
  if (!fs::is_directory(there, error))
    throw Error("{}: {} is not a directory; give another name", folder.string(), there.string());
  check_can_write(there / "model");
}

// Reads the lines that are not empty. cuts: at a tab, too; else lines of white space are empty.
std::vector<NumberedLine> read_lines(const std::string& path, bool cuts, const char* unreadable, const char* none) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("{}: cannot be {}", path, unreadable);
  std::vector<NumberedLine> lines;
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (cuts) line.resize(std::min(line.size(), line.find('\t')));
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(cuts ? "" : " \t\r") != std::string::npos) lines.push_back({number, line});
  }
  if (file.bad()) throw Error("{}: cannot be read to its end; expected a file of lines", path);
  if (lines.empty()) throw Error("{}: no {}", path, none);
  return lines;
}

void read_lines(UserLines& lines) {
  constexpr size_t kSelfTestLines = 4;
  const auto read = [](LinesOf<NumberedLine>& of, bool cuts, const char* unreadable, const char* none) {
    if (!of.path.empty()) of.lines = read_lines(of.path, cuts, unreadable, none);
  };
  read(lines.self_test, true, "read", "line for the self-test");
  lines.self_test.lines.resize(std::min(lines.self_test.lines.size(), kSelfTestLines));
  read(lines.calibration, true, "read", "line for --calibrate");
  read(lines.lexicon, false, "opened for reading; expected one text a line", "entries; expected one text a line");
  read(lines.kept_pieces, true, "opened for reading; expected one piece a line", "pieces; expected one per line");
  for (auto* of : {&lines.kept_text, &lines.shortlist_text})
    if (!of->path.empty()) of->lines = read_evaluation_lines(of->path, "");
  const LinesOf<EvaluationLine>& text = lines.shortlist_text;
  if (!text.path.empty() && text.lines.size() < kHeldOut) {
    throw Error("{}: {} different sources; --make-shortlist needs {}, since every tenth is held out", text.path,
        text.lines.size(), kHeldOut);
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

void check_ids(const LinesOf<EvaluationLine>& of) {
  for (const EvaluationLine& line : of.lines) {
    check_ids(of.path, line.number, line.source);
    for (const std::string& reference : line.references) check_ids(of.path, line.number, reference);
  }
}

void check_ids(const LinesOf<NumberedLine>& of) {
  for (const NumberedLine& line : of.lines) check_ids(of.path, line.number, line.text);
}

// Throws Error if the metric needs references that no line has.
void check_metric(const std::string& metric, const LinesOf<EvaluationLine>& of) {
  const bool needs_references = !metric.empty() && metric != "tokens" && metric != "lines" && metric != "kl";
  const bool has_references =
      std::ranges::any_of(of.lines, [](const EvaluationLine& l) { return !l.references.empty(); });
  if (needs_references && !has_references)
    throw Error("--metric {}: the lines of {} have no references", metric, of.path);
}

void check_samples(const std::string& folder) {
  const fs::path results = fs::path(folder) / "results.jsonl";
  std::error_code error;
  if (fs::exists(results, error)) return;
  throw Error(
      "{}: is missing; --check takes the folder that examples/export_nn_transformer.py writes", results.string());
}
}  // namespace

void check_accuracy(const Options& options) {
  const QuantizeOptions& quantize = options.quantize;
  if (quantize.weights == "float32" && quantize.chooses_accuracy())
    throw UsageError("--accuracy is for int8 weights; leave out --accuracy or --weights float32");
  if (quantize.weights == "float32" && quantize.packs())
    throw UsageError("--pack is for integer weights; leave out --pack or --weights float32");
  if (quantize.packs() && is_model_file(options.input))
    throw UsageError("--pack: the weights of a .gcst file have lost too much; give the checkpoint, or --pack none");
  if (quantize.weights == "float32" && quantize.attention == AttentionWeights::kInteger)
    throw UsageError("--attention integer is for int8 weights; leave out --attention or --weights float32");
  if (quantize.auto_cost && !quantize.matrices.empty())
    throw UsageError("--accuracy auto chooses the matrices itself; leave out --matrices");
  if (quantize.auto_cost && options.shape)
    throw UsageError("--accuracy auto needs weights, and --shape has none; name the matrices");
  if (quantize.pack_loss && (options.shape || quantize.pack.size() > 1))
    throw UsageError("--pack auto stands by itself and needs weights, which --shape has not; name the matrices");
}

void preflight(Options& options) {
  check_options(options);
  std::error_code error;
  if (!fs::exists(options.input, error)) return;  // opening it reports the error
  UserLines& lines = options.lines;
  try {
    check_bounds(options.limits);
  } catch (const Error& bounds) {
    throw Error("{}: {}", options.input, bounds.what());
  }
  if (!lines.samples.empty()) check_samples(lines.samples);
  if (!lines.evaluation.path.empty()) {
    lines.evaluation.lines = read_evaluation_lines(lines.evaluation.path, lines.alternatives);
    check_metric(options.measure.metric, lines.evaluation);
  }
  read_lines(lines);
  if (lines.ids) {
    check_ids(lines.self_test);
    check_ids(lines.evaluation);
    check_ids(lines.shortlist_text);
    check_ids(lines.lexicon);
    check_ids(lines.calibration);
  }
  const std::pair<const char*, std::string> outputs[] = {
      {"-o", options.write.output}, {"--report", options.report.page_path}};
  for (const auto& [option, path] : outputs) {
    if (path.empty()) continue;
    refuse_input_as_output(path, option, options);
    check_can_write(path);
  }
  if (!options.write.emit_folder.empty()) check_folder(options.write.emit_folder);
}
}  // namespace goldcrest::converter
