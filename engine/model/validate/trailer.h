// SPDX-License-Identifier: Apache-2.0
// The last 64 bytes of a file (FORMAT.md, "Trailer"): what is known of it before anything else is read.
#pragma once

#include <cstdint>

#include "model/validate.h"

namespace goldcrest {

struct Trailer {
  char magic[8];
  uint32_t format_version;
  uint32_t metadata_bytes;
  uint64_t total_bytes;
  uint32_t metadata_crc32c;
  uint8_t reserved[32];
  uint32_t trailer_crc32c;
};
static_assert(sizeof(Trailer) == 64, "the trailer is 64 bytes");

// Reads and checks the trailer. file: [file_bytes].
[[gnu::cold]] int read_trailer(const uint8_t* file, uint64_t file_bytes, const VerifyFunctions& functions,
                               Trailer* trailer, goldcrest_detail* detail);

}  // namespace goldcrest
