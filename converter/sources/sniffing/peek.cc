// SPDX-License-Identifier: Apache-2.0
// Bounded looks into an unknown file. Nothing throws, whatever the bytes are: what is missing is returned as empty.
#include "sources/sniffing/peek.h"
#include <algorithm>

namespace goldcrest::converter {
namespace {
constexpr uint64_t kIn64 = 0xFFFFFFFF;  // in a zip's field: the value is in the 64-bit record

struct Directory {
  uint64_t offset = 0, size = 0;
};

// Finds the list of a zip's members (APPNOTE.TXT 6.3, sections 4.3.14 to 4.3.16).
Directory find_directory(const Peek& file) {
  constexpr size_t kEndBytes = 22, kLocatorBytes = 20, kMaxComment = 65535;
  const uint64_t tail_bytes = std::min<uint64_t>(file.size(), kEndBytes + kLocatorBytes + kMaxComment);
  const std::string tail = file.text(file.size() - tail_bytes, tail_bytes);
  const size_t end = tail.rfind("PK\5\6");
  if (end == std::string::npos) return {};
  const Directory directory = {little_endian(tail, end + 16, 4), little_endian(tail, end + 12, 4)};
  if (end < kLocatorBytes || tail.compare(end - kLocatorBytes, 4, "PK\6\7") != 0) return directory;
  const std::string wide = file.text(little_endian(tail, end - kLocatorBytes + 8, 8), 56);
  return {little_endian(wide, 48, 8), little_endian(wide, 40, 8)};
}

// Reads the sizes and the offset that do not fit 32 bits, in this order.
void apply_zip64(std::string_view extra, uint64_t plain_bytes, PeekedMember& member) {
  for (uint64_t at = 0; at + 4 <= extra.size(); at += 4 + little_endian(extra, at + 2, 2)) {
    if (little_endian(extra, at, 2) != 1) continue;
    uint64_t value = at + 4 + (plain_bytes == kIn64 ? 8 : 0);
    if (member.size == kIn64) {
      member.size = little_endian(extra, value, 8);
      value += 8;
    }
    if (member.header == kIn64) member.header = little_endian(extra, value, 8);
    return;
  }
}

// Returns false at the end of the file, or if the integer does not end.
bool read_varint(std::string_view bytes, size_t& at, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// Returns the position after the text that begins with the quote json[at].
size_t after_text(std::string_view json, size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) at += json[at] == '\\';
  return std::min(at + 1, json.size());
}

size_t after_space(std::string_view json, size_t at) {
  return std::min(json.find_first_not_of(" \t\r\n", at), json.size());
}
}  // namespace

Peek::Peek(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  stream_.open(path, std::ios::binary | std::ios::ate);
  if (stream_) size_ = static_cast<uint64_t>(std::max<std::streamoff>(stream_.tellg(), 0));
}

std::string Peek::text(uint64_t offset, uint64_t n) const {
  if (offset >= size_) return {};
  std::string bytes(static_cast<size_t>(std::min({n, size_ - offset, kMaxPeekBytes})), '\0');
  stream_.clear();
  stream_.seekg(static_cast<std::streamoff>(offset));
  stream_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(stream_.gcount(), 0)));
  return bytes;
}

uint64_t little_endian(std::string_view bytes, uint64_t at, size_t n) {
  if (at > bytes.size() || n > bytes.size() - at) return 0;
  uint64_t value = 0;
  while (n-- > 0) value = value << 8 | static_cast<unsigned char>(bytes[static_cast<size_t>(at) + n]);
  return value;
}

std::vector<PeekedMember> peek_zip(const Peek& file) {
  constexpr size_t kFixedBytes = 46, kMaxMembers = 10'000;
  const Directory directory = find_directory(file);
  const std::string bytes = file.text(directory.offset, directory.size);
  std::vector<PeekedMember> members;
  for (size_t at = 0; at + kFixedBytes <= bytes.size() && members.size() < kMaxMembers;) {
    const std::string_view fixed = std::string_view(bytes).substr(at, kFixedBytes);
    if (!fixed.starts_with("PK\1\2")) break;
    const auto name = static_cast<size_t>(little_endian(fixed, 28, 2)),
               extra = static_cast<size_t>(little_endian(fixed, 30, 2)),
               comment = static_cast<size_t>(little_endian(fixed, 32, 2));
    at += kFixedBytes;
    if (name + extra > bytes.size() - at) break;
    PeekedMember member = {bytes.substr(at, name), little_endian(fixed, 10, 2) == 0, little_endian(fixed, 42, 4),
        little_endian(fixed, 20, 4)};
    apply_zip64(std::string_view(bytes).substr(at + name, extra), little_endian(fixed, 24, 4), member);
    members.push_back(std::move(member));
    at += name + extra + comment;
  }
  return members;
}

std::string peek_member(const Peek& file, const PeekedMember& member) {
  constexpr uint64_t kFixedBytes = 30;
  const std::string fixed = file.text(member.header, kFixedBytes);
  if (!member.is_stored || !fixed.starts_with("PK\3\4") || fixed.size() < kFixedBytes) return {};
  return file.text(
      member.header + kFixedBytes + little_endian(fixed, 26, 2) + little_endian(fixed, 28, 2), member.size);
}

std::vector<PeekedField> peek_fields(const Peek& file, uint64_t begin, uint64_t end) {
  constexpr size_t kMaxFields = 64;
  std::vector<PeekedField> fields;
  end = std::min(end, file.size());
  while (begin < end && fields.size() < kMaxFields) {
    const std::string head = file.text(begin, std::min<uint64_t>(end - begin, 20));
    size_t at = 0;
    uint64_t tag = 0;
    PeekedField field;
    if (!read_varint(head, at, tag)) break;
    field.number = tag >> 3;
    field.wire_type = tag & 7;
    uint64_t bytes = 0;
    if (field.wire_type == 0) {
      if (!read_varint(head, at, field.value)) break;
    } else if (field.wire_type == 2) {
      if (!read_varint(head, at, bytes)) break;
    } else if (field.wire_type == 1 || field.wire_type == 5) {
      bytes = field.wire_type == 1 ? 8 : 4;
    } else {
      break;
    }
    if (field.number == 0 || bytes > end - begin - at) break;
    field.begin = begin + at;
    field.end = field.begin + bytes;
    fields.push_back(field);
    begin = field.end;
  }
  return fields;
}

std::string json_text_of(std::string_view json, std::string_view key) {
  constexpr size_t kMaxText = 100;
  int depth = 0;
  for (size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c != '"') {
      depth += (c == '{' || c == '[') - (c == '}' || c == ']');
      ++at;
      continue;
    }
    const size_t begin = at + 1;
    at = after_text(json, at);
    const bool is_key = depth == 1 && json.substr(begin, at - begin - 1) == key;
    const size_t colon = after_space(json, at);
    if (!is_key || colon == json.size() || json[colon] != ':') continue;
    const size_t quote = after_space(json, colon + 1);
    if (quote == json.size() || json[quote] != '"') return {};
    const std::string_view text = json.substr(quote + 1, after_text(json, quote) - quote - 1);
    return std::string(text.substr(0, std::min(text.find('"'), kMaxText)));
  }
  return {};
}
}  // namespace goldcrest::converter
