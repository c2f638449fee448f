// SPDX-License-Identifier: Apache-2.0
// Token ids, and a target language, in lines of text. Needs only the standard library, because the programs that run
// models use it too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest {

struct ParsedIds {
  std::vector<int32_t> ids;
  std::string_view bad;    // the first word that is not an id of the vocabulary; the ids end before it
  bool is_number = false;  // `bad` is a number, but too large
};

// Reads decimal ids below `vocab_size`, separated by white space.
ParsedIds read_id_list(std::string_view line, uint32_t vocab_size);

// Returns the warning of a source that does not end with `end`, as a model's sources do, or "" if it does.
std::string missing_end(const std::vector<int32_t>& source, const std::vector<int32_t>& end);

// Returns the >>xx<< at the start of a text for a multilingual model, or "".
std::string_view leading_language_code(std::string_view text);

}  // namespace goldcrest
