// SPDX-License-Identifier: Apache-2.0
// Finds errors before any work: contradicting options, missing files, places that cannot be written.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "evaluate/evaluate.h"
#include "spec/error.h"

namespace goldcrest::converter {

// An error in the command line itself.
class UsageError : public Error {
 public:
  using Error::Error;
};

// --make-shortlist holds out the last of every 10 lines of its text.
constexpr size_t kHeldOut = 10;

struct NumberedLine {
  size_t number = 0;  // in its file, from 1
  std::string text;
};

// The user's own lines; empty if none were given.
struct UserLines {
  std::vector<EvaluationLine> evaluation;
  std::vector<NumberedLine> self_test;                    // the first few that are not empty
  std::vector<std::string> kept_pieces;                   // for --keep-vocabulary
  std::vector<EvaluationLine> kept_text, shortlist_text;  // for --keep-vocabulary-of and --make-shortlist
  std::vector<NumberedLine> lexicon;                      // entries
};

// Reads the user's lines. Throws UsageError, or Error naming the file or place.
UserLines preflight(const Arguments& arguments);

}  // namespace goldcrest::converter
