// SPDX-License-Identifier: Apache-2.0
// A lexicon's size. A shortlist's size in the file, its candidates for the user's lines, and how often it changes a
// result.
#pragma once

#include <cstdint>
#include <string>

#include "evaluate/evaluate.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

// Returns one line, with its line end.
std::string describe_shortlist(const ModelSpec& spec);
Value shortlist_json(const ModelSpec& spec);
// The same for its lexicon.
std::string describe_lexicon(const ModelSpec& spec);
Value lexicon_json(const ModelSpec& spec);

struct ShortlistEvaluation {
  double mean_candidates = 0;  // over the lines that were searched among candidates
  uint32_t most_candidates = 0;
  size_t whole_vocabulary = 0;  // lines with too many candidates
  // Compares results with and without the shortlist.
  size_t lines = 0, identical = 0;
  double token_agreement = 1;
};

// `both` holds the engine without the shortlist (in place of float32) and with it (in place of int8).
ShortlistEvaluation evaluate_shortlist(const Evaluation& both, uint32_t target_vocab_size);
std::string to_text(const ShortlistEvaluation& evaluation);
Value to_json(const ShortlistEvaluation& evaluation);

}  // namespace goldcrest::converter
