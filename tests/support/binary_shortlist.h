// SPDX-License-Identifier: Apache-2.0
// Writes a shortlist in the format of Marian's lex.*.bin.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace goldcrest::test {

struct BinaryLists {
  uint64_t first = 3;
  std::vector<uint64_t> offsets = {0, 2, 2, 5};
  std::vector<uint32_t> ids = {1, 7, 0, 4, 9};

  std::string bytes() const {
    std::string body;
    for (const uint64_t value : {first, uint64_t{50}, uint64_t{offsets.size()}, uint64_t{ids.size()}}) put(body, value);
    for (const uint64_t value : offsets) put(body, value);
    for (const uint32_t value : ids) put(body, value);
    uint64_t sum = 0;  // boost's hash_combine over whole words
    for (size_t at = 0; at + 8 <= body.size(); at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, body.data() + at, 8);
      sum ^= word + 0x9e3779b9 + (sum << 6) + (sum >> 2);
    }
    std::string head;
    put(head, uint64_t{0xF11A48D5013417F5});
    put(head, sum);
    return head + body;
  }

  template <typename Value>
  static void put(std::string& bytes, Value value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
};

}  // namespace goldcrest::test
