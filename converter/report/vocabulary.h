// SPDX-License-Identifier: Apache-2.0
// The report's part on a trimmed vocabulary and on a shortlist from --make-shortlist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "evaluate/deviation.h"
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

}  // namespace goldcrest::converter
