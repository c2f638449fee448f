// SPDX-License-Identifier: Apache-2.0
// The report's parts on a trimmed vocabulary, on shortlists and on a lexicon.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include "evaluate/deviation.h"
#include "evaluate/evaluate.h"
#include "evaluate/make_shortlist.h"
#include "sources/values/value.h"

namespace goldcrest::converter {
// part / whole; 1 if the whole is 0.
inline double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

struct TrimmedVocabulary {
  uint32_t source_kept = 0, source_all = 0, target_kept = 0, target_all = 0;
  bool is_shared = false;              // both sides have the same entries
  uint64_t bytes_saved = 0;            // in the file's sections
  std::optional<Agreement> agreement;  // with the untrimmed file, if lines were evaluated
};

struct ShortlistFromText {
  size_t pairs = 0;         // pairs that the shortlist was made from
  uint64_t listed_ids = 0;  // listed ids of every sentence plus those of all source ids
  ShortlistCoverage own;    // on held-out lines, with the model's own translations
  ShortlistCoverage given;  // on held-out lines, with the targets of the text; may have no lines
};

std::string to_text(const TrimmedVocabulary& trimmed);
std::string to_text(const ShortlistFromText& made);
Value to_json(const TrimmedVocabulary& trimmed);
Value to_json(const ShortlistFromText& made);

// A lexicon's size. A shortlist's size in the file, its candidates for the user's lines, and how often it changes a
// result.

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
