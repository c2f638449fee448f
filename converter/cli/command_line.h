// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-convert.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "dialects/dialect.h"
#include "goldcrest/goldcrest.h"
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

constexpr double kAnyLoss = std::numeric_limits<double>::infinity();

struct Arguments {
  std::string input, output, config;
  std::string shortlist;  // a file, "none", or empty: the checkpoint's own
  std::string cpu;        // empty: generic for a checkpoint, unchanged for a model file
  std::string weights = "int8";
  std::string name, license, attribution, source_lang, target_lang;
  std::string source_prefix;  // a text before every source
  std::string report_path, self_test_path, self_test_audio_path, check_path, evaluate_path, alternatives, metric;
  std::string keep_path, keep_text_path, make_shortlist_path, lexicon_path;
  std::vector<std::string> keep_languages;
  std::vector<std::string> fine;    // empty: the checkpoint's dialect decides
  std::vector<std::string> refine;  // empty: none
  std::string emit_folder, section;
  std::string board;                            // empty: none asked for
  std::optional<EarlyStopping> early_stopping;  // empty, as the two below: the checkpoint's own
  std::optional<bool> renormalize, force_end;
  double max_loss = kAnyLoss;
  goldcrest_limits limits = {};
  OpenChoices choices = {};
  std::string budget_text;  // see parse_budget
  uint32_t evaluate_beam = 0, shortlist_always = 100, shortlist_best = 100;
  bool shape = false, ids = false, array = false, json = false, quiet = false, print_config = false;
  bool lexicon_words = false;  // texts are entries of the lexicon one after another

  std::string command;          // as it was given, for the report's page
  std::string checkpoint_only;  // the first given option that does not apply to a model file; empty: none
  std::string weights_only;     // the first given option that does not apply to a shape; empty: none
};

// True if the options remove entries of the checkpoint's vocabulary.
inline bool trims(const Arguments& arguments) {
  return !arguments.keep_path.empty() || !arguments.keep_text_path.empty() || !arguments.keep_languages.empty();
}

// Fills `arguments` from the command line. Returns an exit status if the program ends here: it has printed help, the
// version or a list, or an error in the command line. Throws Error if standard output cannot be written.
std::optional<ExitStatus> parse_command_line(int argc, const char* const* argv, Arguments& arguments);

// Returns why these options do not fit a model file as INPUT, or --shape; "" if they do.
std::string unfit_for_model_file(const Arguments& arguments);
std::string unfit_for_shape(const Arguments& arguments);

}  // namespace goldcrest::converter
