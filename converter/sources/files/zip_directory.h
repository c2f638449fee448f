// SPDX-License-Identifier: Apache-2.0
// The members of a zip, as torch.save and NumPy write it. Anything that two readers could understand in two ways is
// refused (APPNOTE.TXT 6.3, sections 4.3 to 4.5, is the format).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/files/input_file.h"

namespace goldcrest::converter {

struct ZipMember {
  std::string name;
  uint64_t offset = 0, size = 0;  // of its bytes in the file
  uint16_t method = 0;            // 0: stored, 8: deflated
  uint64_t plain_size = 0;        // of its contents, as the directory says
  uint32_t crc32 = 0;             // 0: not recorded (torch.serialization.set_crc32_options(False))
};

// CRC-32 as zip has it (polynomial 0xEDB88320, reflected) of bytes that follow those of `before`.
uint32_t zip_crc32(std::string_view bytes, uint32_t before = 0);

// True when the file starts as a zip does.
bool looks_like_zip(const InputFile& file);

// In the directory's order. Throws Error on encryption, several disks, local headers that differ from the
// directory, overlapping or duplicate members, and names that leave the archive.
std::vector<ZipMember> read_zip_directory(const InputFile& file);

// Throws Error when any of the members is compressed: torch.save compresses none.
void refuse_compressed(const InputFile& file, const std::vector<ZipMember>& members);

// The contents of a member, checked against its CRC-32. A stored or a deflated one.
std::string read_member(const InputFile& file, const ZipMember& member);

// Checks a stored member, whose contents lie in the file at member.offset, against its CRC-32: a block at a time.
void check_stored(const InputFile& file, const ZipMember& member);

// The first n bytes of the contents, fewer where they end; unchecked.
std::string read_member_start(const InputFile& file, const ZipMember& member, uint64_t n);

}  // namespace goldcrest::converter
