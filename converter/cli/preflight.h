// SPDX-License-Identifier: Apache-2.0
// What can be found wrong before the work: options that contradict, files that are not there, places that cannot be
// written.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line.h"
#include "evaluate/evaluate.h"
#include "spec/error.h"

namespace goldcrest::converter {

// The command line itself makes no sense.
class UsageError : public Error {
 public:
  using Error::Error;
};

// Of the text of --make-shortlist, the last of every so many lines is held out.
constexpr size_t kHeldOut = 10;

struct NumberedLine {
  size_t number = 0;  // in its file, from 1
  std::string text;
};

// The user's own lines; empty: none were given.
struct UserLines {
  std::vector<EvaluationLine> evaluation;
  std::vector<NumberedLine> self_test;                    // the first few that are not empty
  std::vector<std::string> kept_pieces;                   // of --keep-vocabulary
  std::vector<EvaluationLine> kept_text, shortlist_text;  // of --keep-vocabulary-of and --make-shortlist
};

// Throws UsageError, or Error naming the file or place.
UserLines preflight(const Arguments& arguments);

}  // namespace goldcrest::converter
