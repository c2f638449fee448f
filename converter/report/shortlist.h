// SPDX-License-Identifier: Apache-2.0
// What a shortlist takes in the file, what it leaves of the user's lines, and how often that changes a result.
#pragma once

#include <cstdint>
#include <string>

#include "evaluate/evaluate.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

// One line with its end.
std::string describe_shortlist(const ModelSpec& spec);
Value shortlist_json(const ModelSpec& spec);

struct ShortlistEvaluation {
  double mean_candidates = 0;  // over the lines that were searched among candidates
  uint32_t most_candidates = 0;
  size_t whole_vocabulary = 0;  // lines with too many candidates
  // With the shortlist against without it.
  size_t lines = 0, identical = 0;
  double token_agreement = 1;
};

// `both`: the engine without the shortlist (in the place of float32) and with it (of int8).
ShortlistEvaluation evaluate_shortlist(const Evaluation& both, uint32_t target_vocab_size);
std::string to_text(const ShortlistEvaluation& evaluation);
Value to_json(const ShortlistEvaluation& evaluation);

}  // namespace goldcrest::converter
