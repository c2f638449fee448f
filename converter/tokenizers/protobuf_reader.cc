// SPDX-License-Identifier: Apache-2.0
// protobuf.dev/programming-guides/encoding: a field is a varint (number * 8 + wire type) and a value of that type.
#include "tokenizers/protobuf_reader.h"

#include <bit>

#include "spec/error.h"

namespace goldcrest::converter {

void ProtobufField::require(WireType expected, const std::string& where) const {
  if (type == expected) return;
  throw Error("{}: field {} has wire type {}, expected {}: this is not a SentencePiece model, or it is damaged", where,
              number, static_cast<int>(type), static_cast<int>(expected));
}

bool ProtobufField::as_bool(const std::string& where) const { return as_integer(where) != 0; }

uint64_t ProtobufField::as_integer(const std::string& where) const {
  require(WireType::kVarint, where);
  return integer;
}

float ProtobufField::as_float(const std::string& where) const {
  require(WireType::kFixed32, where);
  return std::bit_cast<float>(static_cast<uint32_t>(integer));
}

std::string_view ProtobufField::as_bytes(const std::string& where) const {
  require(WireType::kBytes, where);
  return bytes;
}

void ProtobufReader::require_bytes(uint64_t n) const {
  if (n <= rest_.size()) return;
  throw Error(
      "{}: a field needs {} bytes where {} are left: the file is truncated or no SentencePiece model; "
      "download it again",
      where_, n, rest_.size());
}

uint64_t ProtobufReader::read_little_endian(size_t n_bytes) {
  require_bytes(n_bytes);
  uint64_t value = 0;
  for (size_t i = 0; i < n_bytes; ++i) value |= uint64_t{static_cast<uint8_t>(rest_[i])} << (8 * i);
  rest_.remove_prefix(n_bytes);
  return value;
}

uint64_t ProtobufReader::read_varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint64_t byte = read_little_endian(1);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw Error("{}: a number has more than ten bytes: this is not a SentencePiece model, or it is damaged", where_);
}

bool ProtobufReader::next(ProtobufField* field) {
  if (rest_.empty()) return false;
  const uint64_t tag = read_varint();
  *field = {};
  field->type = static_cast<WireType>(tag & 7);
  field->number = static_cast<uint32_t>(tag >> 3);
  if (field->number == 0 || tag >> 32 != 0) {
    throw Error("{}: a field has the number {}: this is not a SentencePiece model, or it is damaged", where_, tag >> 3);
  }
  switch (field->type) {
    case WireType::kVarint:
      field->integer = read_varint();
      return true;
    case WireType::kFixed64:
      field->integer = read_little_endian(8);
      return true;
    case WireType::kFixed32:
      field->integer = read_little_endian(4);
      return true;
    case WireType::kBytes: {
      const uint64_t n = read_varint();
      require_bytes(n);
      field->bytes = rest_.substr(0, n);
      rest_.remove_prefix(n);
      return true;
    }
  }
  throw Error("{}: field {} has the unknown wire type {}: this is not a SentencePiece model, or it is damaged", where_,
              field->number, tag & 7);
}

}  // namespace goldcrest::converter
