// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli), the checksum of a model file's parts.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace goldcrest {
// Continues the checksum `crc` (0 to start) with n more bytes.
uint32_t crc32c(uint32_t crc, const void* bytes, size_t n);
}  // namespace goldcrest
