// SPDX-License-Identifier: Apache-2.0
// Bounded looks into an unknown file. Whatever the bytes are, nothing throws: what is not there is empty.
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
  // A path that is no regular file, or cannot be read, is an empty file.
  explicit Peek(const std::filesystem::path& path);

  uint64_t size() const { return size_; }  // bytes
  // At most kMaxPeekBytes, fewer where the file ends.
  std::string text(uint64_t offset, uint64_t n) const;

 private:
  mutable std::ifstream stream_;
  uint64_t size_ = 0;
};

// The little-endian integer in bytes[at, at + n), 0 when it is not inside.
uint64_t little_endian(std::string_view bytes, uint64_t at, size_t n);

struct PeekedMember {
  std::string name;
  bool is_stored = false;  // not compressed
  uint64_t header = 0;     // offset of the local header
  uint64_t size = 0;       // bytes in the file
};
// The members of a zip, at most 10,000; none when it has no directory.
std::vector<PeekedMember> peek_zip(const Peek& file);
// The first bytes of a member that is not compressed.
std::string peek_member(const Peek& file, const PeekedMember& member);

// A field of a protobuf message.
struct PeekedField {
  uint64_t number = 0;
  unsigned wire_type = 0;  // 0 varint, 1 eight bytes, 2 text or message, 5 four bytes
  uint64_t value = 0;      // of a varint
  uint64_t begin = 0, end = 0;
};
// The first fields of the message in bytes [begin, end) of the file, at most 64, until one makes no sense.
std::vector<PeekedField> peek_fields(const Peek& file, uint64_t begin, uint64_t end);

// The text of a key of the outermost object, "" when it has none or is no text. Reads no further than it must.
std::string json_text_of(std::string_view json, std::string_view key);

}  // namespace goldcrest::converter
