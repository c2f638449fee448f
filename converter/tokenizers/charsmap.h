// SPDX-License-Identifier: Apache-2.0
// Splits SentencePiece's compiled normalizer map (normalizer.cc at v0.1.97, DecodePrecompiledCharsMap) into its two
// parts.
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

// An empty blob gives an empty map. Throws Error if sizes or offsets do not fit, or if a rule has more than
// kMaxRuleBytes on either side; `where` names the file.
Charsmap split_charsmap(std::string_view blob, const std::string& where);

}  // namespace goldcrest::converter
