// SPDX-License-Identifier: Apache-2.0
// The options of goldcrest-convert.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "goldcrest/goldcrest.h"

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
  std::string cpu;        // empty: generic for a checkpoint, as it is for a model file
  std::string weights = "int8";
  std::string name, license, attribution, source_lang, target_lang;
  std::string report_path, self_test_path, check_path, evaluate_path, alternatives, metric;
  std::string keep_path, keep_text_path, make_shortlist_path;
  std::string emit_folder, section;
  std::string board;  // empty: none asked for
  double max_loss = kAnyLoss;
  goldcrest_limits limits = {};
  std::string budget_text;  // of parse_budget
  uint32_t evaluate_beam = 0, shortlist_always = 100, shortlist_best = 100;
  bool shape = false, ids = false, array = false, json = false, quiet = false, print_config = false;

  std::string checkpoint_only;  // the first given option that says nothing about a model file; empty: none was given
  std::string weights_only;     // the same of a shape
};

// Whether the vocabulary shall be a part of the checkpoint's.
inline bool trims(const Arguments& arguments) {
  return !arguments.keep_path.empty() || !arguments.keep_text_path.empty();
}

// Fills `arguments` from the command line. Returns the exit status where the program ends here: it has printed help,
// the version or a list, or has said what is wrong with the command line. Throws Error where standard output cannot be
// written.
std::optional<ExitStatus> parse_command_line(int argc, const char* const* argv, Arguments& arguments);

// Why these options do not fit a model file as INPUT, or --shape; "" when they do.
std::string unfit_for_model_file(const Arguments& arguments);
std::string unfit_for_shape(const Arguments& arguments);

}  // namespace goldcrest::converter
