// SPDX-License-Identifier: Apache-2.0
// The members of a zip, as torch.save and NumPy write it. Whatever two readers could understand differently is refused.
// The format is APPNOTE.TXT 6.3, sections 4.3 to 4.5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include "sources/files/input_file.h"

namespace goldcrest::converter {
// Inflates deflated bytes (RFC 1951) with zlib. Returns the first n bytes of the contents; with `is_whole` the contents
// must have exactly n. Returns nothing if there are fewer or the bytes are damaged.
std::optional<std::string> inflate(std::string_view deflated, uint64_t n, bool is_whole);

struct ZipMember {
  std::string name;
  uint64_t offset = 0, size = 0;  // bytes in the file
  uint16_t method = 0;            // 0: stored, 8: deflated
  uint64_t plain_size = 0;        // bytes of its contents, as the directory says
  uint32_t crc32 = 0;             // 0: not recorded (torch.serialization.set_crc32_options(False))
};

// Returns zip's CRC-32 (polynomial 0xEDB88320, reflected) of `bytes`; `before` is the CRC-32 of what precedes them.
uint32_t zip_crc32(std::string_view bytes, uint32_t before = 0);

// Returns true if the file starts as a zip does.
bool looks_like_zip(const InputFile& file);

// Returns the members in the directory's order. Throws Error on encryption, several disks, local headers that differ
// from the directory, overlapping or duplicate members, and names that leave the archive.
std::vector<ZipMember> read_zip_directory(const InputFile& file);

// Throws Error if a member is compressed, because torch.save compresses none.
void refuse_compressed(const InputFile& file, const std::vector<ZipMember>& members);

// Returns the contents of a stored or deflated member, after a check against its CRC-32.
std::string read_member(const InputFile& file, const ZipMember& member);

// Checks a stored member, whose contents begin at member.offset, against its CRC-32. Reads one block at a time.
void check_stored(const InputFile& file, const ZipMember& member);

// Returns the first n bytes of the contents, or all if there are fewer. They are not checked.
std::string read_member_start(const InputFile& file, const ZipMember& member, uint64_t n);
}  // namespace goldcrest::converter
