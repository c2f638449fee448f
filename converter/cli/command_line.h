// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-convert: those of each stage of a conversion, and what the stages hand on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>
#include "cli/progress.h"
#include "dialects/dialect.h"
#include "evaluate/evaluate.h"
#include "file/build.h"
#include "goldcrest/goldcrest.h"
#include "report/work.h"
#include "spec/error.h"
#include "spec/spec.h"

namespace goldcrest::converter {
enum ExitStatus {
  kSuccess = 0,
  kBadInput = 1,
  kBadUsage = 2,
  kCheckFailed = 3,
  kTooMuchLost = 4,
  kOverBudget = 5,
  kReportLost = 6
};

// An error in the command line itself.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct NumberedLine {
  size_t number = 0;  // in its file, from 1
  std::string text;
};

// A file that an option names, and its lines; both are empty without the option.
template <typename Line> struct LinesOf {
  std::string path;
  std::vector<Line> lines;
  bool empty() const { return lines.empty(); }
};

// The user's own lines. The command line sets the paths, preflight() reads the lines.
struct UserLines {
  LinesOf<EvaluationLine> evaluation, kept_text, shortlist_text;
  LinesOf<NumberedLine> self_test;    // the first few that are not empty
  LinesOf<NumberedLine> lexicon;      // entries
  LinesOf<NumberedLine> calibration;  // sources
  LinesOf<NumberedLine> kept_pieces;  // pieces of the vocabulary that stay
  std::string clip, samples;          // paths: the self-test's clip, the folder of --check
  std::string alternatives;           // separates several references in one field
  bool ids = false;                   // lines are token ids instead of text
};

struct ReadOptions {
  std::string config, name;
  std::string shortlist;  // a file, "none", or empty: the checkpoint's own
  std::string source_lang, target_lang;
  std::string source_prefix;  // a text before every source
  std::string voice;          // a detector for speech
  std::vector<std::string> keep_languages;
  OpenChoices choices = {};
  goldcrest_search rules = {};  // early_stopping, renormalize and force_end; 0: the checkpoint's own
};

struct ChangeOptions {
  uint32_t shortlist_always = 100, shortlist_best = 100;
  bool lexicon_words = false;  // texts are entries of the lexicon one after another
};

struct QuantizeOptions {
  std::string cpu;  // empty: generic for a checkpoint, unchanged for a model file
  std::string weights = "int8", license, attribution;
  std::optional<AttentionWeights> attention;  // empty: integers for speech
  std::optional<uint32_t> level;              // --accuracy, for all matrices that are not named
  std::optional<double> auto_cost;            // the share of more work for which --accuracy auto chooses matrices
  std::vector<MatrixLevel> matrices;          // --matrices
  std::vector<MatrixLevel> pack;              // --pack, of kPackedWeights; "none" is "all" without it
  std::optional<double> pack_loss;            // --pack auto: the rise of the divergence for which matrices get 4 bits
  // Returns the level of each name; the last one that fits counts. Empty: the checkpoint's dialect decides.
  std::vector<MatrixLevel> levels() const {
    std::vector<MatrixLevel> levels = matrices;
    if (level) levels.insert(levels.begin(), {"all", *level});
    return levels;
  }
  // Returns whether weights of 4 bits are asked for.
  bool packs() const {
    return std::ranges::any_of(pack, [](const MatrixLevel& named) { return named.terms != 0; });
  }
  bool chooses_accuracy() const { return level || auto_cost || !matrices.empty(); }
};

constexpr double kAnyLoss = std::numeric_limits<double>::infinity();

struct MeasureOptions {
  uint32_t beam_size = 0;  // 0: that of the limits
  double max_loss = kAnyLoss;
  std::string metric;
};

struct WriteOptions {
  std::string output, emit_folder, section;
  bool array = false;
  std::string board;        // empty: none asked for
  std::string budget_text;  // see parse_budget
  bool is_for_firmware() const { return !emit_folder.empty() || !board.empty(); }
};

struct ReportOptions {
  std::string page_path;
  bool json = false, quiet = false, verbose = false;
  std::string command;  // as it was given, for the page
};

struct Options {
  std::string input;
  goldcrest_limits limits = {};
  UserLines lines;
  ReadOptions read;
  ChangeOptions change;
  QuantizeOptions quantize;
  MeasureOptions measure;
  WriteOptions write;
  ReportOptions report;
  bool shape = false, print_config = false;
  std::string checkpoint_only;  // the first given option that does not apply to a model file; empty: none
  std::string weights_only;     // the first given option that does not apply to a shape; empty: none
};

// The stages of a conversion hand this on.
struct Job {
  explicit Job(const Options& options)  // options must outlive the job
      : input(options.input),
        limits(options.limits),
        lines(options.lines),
        pack(options.quantize.pack),
        progress(standard_error_screen(options.report.quiet)) {}
  // True if the options remove entries of the checkpoint's vocabulary.
  bool trims() const { return !lines.kept_pieces.empty() || !lines.kept_text.empty() || keeps_languages; }

  const std::string& input;
  const goldcrest_limits& limits;
  const UserLines& lines;
  std::vector<MatrixLevel> pack;  // as the option, or as auto chose
  Progress progress;
  ModelSpec spec = {};
  bool keeps_languages = false;
  ProductsOf products = {};  // for --pack
  KeptMatrices kept = {};
  std::optional<PackedChoice> packed_choice = {};
  std::function<Payload(const ModelSpec& spec)> quantize = {};
};

// Fills `options` from the command line. Returns an exit status if the program ends here: it has printed help, the
// version or a list, or an error in the command line. Throws Error if standard output cannot be written.
std::optional<ExitStatus> parse_command_line(int argc, const char* const* argv, Options& options);
}  // namespace goldcrest::converter
