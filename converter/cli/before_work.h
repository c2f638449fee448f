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

struct NumberedLine {
  size_t number = 0;  // in its file, from 1
  std::string text;
};

// The user's own lines.
struct UserLines {
  std::vector<EvaluationLine> evaluation;  // empty: none asked for
  std::vector<NumberedLine> self_test;     // the first few that are not empty; empty: none asked for
};

// Throws UsageError, or Error naming the file or place.
UserLines check_before_work(const Arguments& arguments);

}  // namespace goldcrest::converter
