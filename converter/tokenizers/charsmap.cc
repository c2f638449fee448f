// SPDX-License-Identifier: Apache-2.0
// The blob: bytes of the trie as a little-endian uint32, the trie's units, the strings.
#include "tokenizers/charsmap.h"

#include "spec/error.h"

namespace goldcrest::converter {
namespace {

uint32_t little_endian_u32(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  return value;
}

}  // namespace

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
  if (map.text.empty() || map.text.back() != '\0') {
    throw Error("{}: normalizer_spec.precompiled_charsmap: its last string has no end: the file is damaged", where);
  }
  for (const uint32_t unit : map.trie) {
    const uint32_t offset = unit & 0x7FFFFFFF;
    if (unit >> 31 != 0 && offset >= map.text.size()) {
      throw Error("{}: normalizer_spec.precompiled_charsmap: a rule's text lies at byte {} of {}: the file is damaged",
                  where, offset, map.text.size());
    }
  }
  return map;
}

}  // namespace goldcrest::converter
