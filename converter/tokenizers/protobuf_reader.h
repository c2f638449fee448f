// SPDX-License-Identifier: Apache-2.0
// Reads the fields of one Protocol Buffers message in order. Knows only the wire format, and checks every length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace goldcrest::converter {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct ProtobufField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t integer = 0;    // kVarint, kFixed64, kFixed32
  std::string_view bytes;  // kBytes; points into the message

  // Each throws Error if the field has an unsuitable wire type. `where` names the file.
  bool as_bool(const std::string& where) const;
  uint64_t as_integer(const std::string& where) const;
  float as_float(const std::string& where) const;
  std::string_view as_bytes(const std::string& where) const;

 private:
  void require(WireType expected, const std::string& where) const;
};

class ProtobufReader {
 public:
  // `where` names the file in messages; `message` must outlive the reader.
  ProtobufReader(std::string_view message, std::string where) : rest_(message), where_(std::move(where)) {}

  // Reads the next field; returns false at the end. Throws Error if the message ends inside a field or has an unknown
  // wire type.
  bool next(ProtobufField* field);

 private:
  uint64_t read_varint();
  uint64_t read_little_endian(size_t n_bytes);
  void require_bytes(uint64_t n) const;

  std::string_view rest_;
  std::string where_;
};

}  // namespace goldcrest::converter
