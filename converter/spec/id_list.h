// SPDX-License-Identifier: Apache-2.0
// Token ids, and a target language, as lines of text have them. The programs that run models use it too: the standard
// library is all that it needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

struct IdList {
  std::vector<int32_t> ids;
  std::string_view bad;    // the first word that is no id of the vocabulary; the ids end before it
  bool is_number = false;  // of `bad`: it is one, but too large
};

// Decimal ids below `vocab_size` with white space between.
IdList read_id_list(std::string_view line, uint32_t vocab_size);

// The warning of a source that does not end with `end`, as a model's sources do; "" where it does.
std::string missing_end(const std::vector<int32_t>& source, const std::vector<int32_t>& end);

// The >>xx<< that a text for a multilingual model begins with; empty where it begins otherwise.
std::string_view leading_language_code(std::string_view text);

}  // namespace goldcrest::converter
