// SPDX-License-Identifier: Apache-2.0
// A section with the bytes that the file will have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/align.h"
#include "file/section_writer.h"

namespace goldcrest::test {

inline std::vector<uint8_t> section_bytes(const converter::SectionBytes& section) {
  std::vector<uint8_t> bytes(section.size());
  uint64_t at = 0;
  for (const std::vector<uint8_t>& array : section.arrays) {
    std::copy(array.begin(), array.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    at += align_bytes(array.size());
  }
  return bytes;
}

}  // namespace goldcrest::test
