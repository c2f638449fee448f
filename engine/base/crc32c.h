// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), the checksum of a model file's parts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace goldcrest {

// The checksum of n bytes that follow bytes whose checksum is `crc`; 0 to start.
uint32_t crc32c(uint32_t crc, const void* bytes, size_t n);

}  // namespace goldcrest
