// SPDX-License-Identifier: Apache-2.0
// Bounded looks into an unknown file. Nothing throws, whatever the bytes are: what is missing is returned as empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {
constexpr uint64_t kMaxPeekBytes = uint64_t{4} << 20;

class Peek {
 public:
  // A path that is not a regular file, or cannot be read, counts as an empty file.
  explicit Peek(const std::filesystem::path& path);

  uint64_t size() const { return size_; }  // bytes
  // Returns at most kMaxPeekBytes, fewer if the file ends before.
  std::string text(uint64_t offset, uint64_t n) const;
 private:
  mutable std::ifstream stream_;
  uint64_t size_ = 0;
};

// Returns the little-endian integer in bytes[at, at + n), or 0 if the range is not inside.
uint64_t little_endian(std::string_view bytes, uint64_t at, size_t n);

struct PeekedMember {
  std::string name;
  bool is_stored = false;  // not compressed
  uint64_t header = 0;     // offset of the local header
  uint64_t size = 0;       // bytes in the file
};
// Returns the members of a zip, at most 10,000; none if it has no directory.
std::vector<PeekedMember> peek_zip(const Peek& file);
// Returns the first bytes of an uncompressed member.
std::string peek_member(const Peek& file, const PeekedMember& member);

// A field of a protobuf message.
struct PeekedField {
  uint64_t number = 0;
  unsigned wire_type = 0;  // 0 varint, 1 eight bytes, 2 text or message, 5 four bytes
  uint64_t value = 0;      // a varint's
  uint64_t begin = 0, end = 0;
};
// Returns the first fields of the message in bytes [begin, end) of the file: at most 64, up to the first that makes no
// sense.
std::vector<PeekedField> peek_fields(const Peek& file, uint64_t begin, uint64_t end);

// Returns the text of a key of the outermost object; "" if the key is missing or its value is not a text. Reads no
// further than needed.
std::string json_text_of(std::string_view json, std::string_view key);
}  // namespace goldcrest::converter
