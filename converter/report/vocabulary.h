// SPDX-License-Identifier: Apache-2.0
// What the report says of a trimmed vocabulary and of a shortlist that was made.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "evaluate/agreement.h"
#include "evaluate/make_shortlist.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

struct TrimmedVocabulary {
  uint32_t source_kept = 0, source_all = 0, target_kept = 0, target_all = 0;
  bool is_shared = false;              // the same entries on both sides
  uint64_t bytes_saved = 0;            // of the file's sections
  std::optional<Agreement> agreement;  // with the whole vocabulary's file, where lines were evaluated
};

struct ShortlistFromText {
  size_t pairs = 0;         // that it was made from
  uint64_t listed_ids = 0;  // those of every sentence, and all source ids' lists together
  ShortlistCoverage own;    // of the lines that were held out, with the model's own translations
  ShortlistCoverage given;  // and with the targets that the text gives; may have no lines
};

std::string to_text(const TrimmedVocabulary& trimmed);
std::string to_text(const ShortlistFromText& made);
Value to_json(const TrimmedVocabulary& trimmed);
Value to_json(const ShortlistFromText& made);

}  // namespace goldcrest::converter
