// SPDX-License-Identifier: Apache-2.0
// The blob: the size of the trie in bytes as a little-endian uint32, the trie's units, the strings.
#include "tokenizers/charsmap.h"
#include <iterator>
#include "base/bounds.h"
#include "spec/error.h"
#include "text/double_array.h"
#include "tokenizers/double_array_builder.h"

namespace goldcrest::converter {
namespace {
uint32_t little_endian_u32(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

// True if a string of the trie has more than kMaxRuleBytes, as in a trie with a cycle. Each depth takes one pass over
// the units. A node's unit holds its label; its index without the label is the place of its parent's children.
bool has_longer_rules(const std::vector<uint32_t>& trie) {
  std::vector<uint32_t> nodes(trie.empty() ? 0 : 1, 0);  // those of one depth
  for (uint32_t depth = 0; depth <= kMaxRuleBytes && !nodes.empty(); ++depth) {
    std::vector<bool> is_place(trie.size() + 256);
    for (const uint32_t node : nodes) {
      const uint32_t place = node ^ trie_offset(trie[node]);
      if (place < is_place.size()) is_place[place] = true;
    }
    nodes.clear();
    for (uint32_t i = 0; i < trie.size(); ++i) {
      const uint32_t label = trie[i] & kTrieLabelMask;
      if (label > 0 && label < 256 && is_place[i ^ label]) nodes.push_back(i);
    }
  }
  return !nodes.empty();
}

void check_rules(const Charsmap& map, const std::string& where) {
  const std::string rules = where + ": normalizer_spec.precompiled_charsmap: ";
  for (const uint32_t unit : map.trie) {
    if (unit >> 31 == 0) continue;
    const uint32_t begin = unit & 0x7FFFFFFF;
    if (begin >= map.text.size())
      throw Error("{}a rule's text is at byte {} of {}: the file is damaged", rules, begin, map.text.size());
    if (std::string_view(map.text).substr(begin, kMaxRuleBytes + 1).find('\0') == std::string_view::npos)
      throw Error("{}a rule's text has more than {} bytes", rules, kMaxRuleBytes);
  }
  if (has_longer_rules(map.trie))
    throw Error("{}a rule is for more than {} bytes of text, or for no end of them", rules, kMaxRuleBytes);
}

// UTF-8 of a code point below 0x10000.
std::string utf8_of(uint32_t code) {
  const auto last_bits = [code](uint32_t shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), last_bits(0)};
  return {static_cast<char>(0xE0 | code >> 12), last_bits(6), last_bits(0)};
}
}  // namespace

std::string white_space_charsmap() {
  std::vector<TrieEntry> entries;
  for (size_t i = 0; i < std::size(kWhiteSpace); i += 2)
    for (uint32_t code = kWhiteSpace[i]; code < kWhiteSpace[i + 1]; ++code) entries.push_back({utf8_of(code), 0});
  const std::vector<uint32_t> trie = build_double_array(std::move(entries));
  std::string blob;
  const auto append = [&blob](uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8) blob += static_cast<char>(value >> shift & 0xFF);
  };
  append(static_cast<uint32_t>(4 * trie.size()));
  for (const uint32_t unit : trie) append(unit);
  return blob + " " + '\0';
}

Charsmap split_charsmap(std::string_view blob, const std::string& where) {
  Charsmap map;
  if (blob.empty()) return map;
  const uint64_t trie_bytes = blob.size() < 4 ? 0 : little_endian_u32(blob);
  if (blob.size() <= 4 || trie_bytes % 4 != 0 || trie_bytes > blob.size() - 4) {
    throw Error("{}: normalizer_spec.precompiled_charsmap of {} bytes claims a trie of {} bytes: the file is damaged",
        where, blob.size(), trie_bytes);
  }
  for (uint64_t i = 4; i < 4 + trie_bytes; i += 4) map.trie.push_back(little_endian_u32(blob.substr(i)));
  map.text = blob.substr(4 + trie_bytes);
  if (map.text.empty() || map.text.back() != '\0')
    throw Error("{}: normalizer_spec.precompiled_charsmap: its last string has no end: the file is damaged", where);
  check_rules(map, where);
  return map;
}
}  // namespace goldcrest::converter
