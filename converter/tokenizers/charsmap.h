// SPDX-License-Identifier: Apache-2.0
// SentencePiece's compiled normalizer map (normalizer.cc at v0.1.97, DecodePrecompiledCharsMap) in its two parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

struct Charsmap {
  std::vector<uint32_t> trie;  // a double array: string -> offset into text
  std::string text;            // NUL-terminated strings, the last one too
};

// An empty blob gives an empty map. Throws Error when sizes or offsets do not fit each other, and for a rule with more
// than kMaxRuleBytes on either side; `where` names the file.
Charsmap split_charsmap(std::string_view blob, const std::string& where);

}  // namespace goldcrest::converter
