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

// White space of Unicode: the first code point of a run and the one after its last, by turns.
constexpr uint32_t kWhiteSpace[] = {0x09, 0x0E, 0x20, 0x21, 0x85, 0x86, 0xA0, 0xA1, 0x1680, 0x1681, 0x2000, 0x200B,
    0x2028, 0x202A, 0x202F, 0x2030, 0x205F, 0x2060, 0x3000, 0x3001};

// Returns the blob of a map that writes a space for each white space.
std::string white_space_charsmap();

// An empty blob gives an empty map. Throws Error if sizes or offsets do not fit, or if a rule has more than
// kMaxRuleBytes on either side; `where` names the file.
Charsmap split_charsmap(std::string_view blob, const std::string& where);
}  // namespace goldcrest::converter
