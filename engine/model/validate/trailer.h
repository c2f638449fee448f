// SPDX-License-Identifier: Apache-2.0
// The last 64 bytes of a file (FORMAT.md, "Trailer"), which are read before everything else, and the extent of a
// section.
#pragma once

#include <stdint.h>
#include <string.h>
#include "base/align.h"
#include "base/status.h"
#include "model/validate.h"
#include "schema/reader.h"

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

struct SectionView {
  const uint8_t* start;
  uint64_t size;
  [[gnu::noinline]] bool holds(uint32_t units, uint64_t bytes) const {
    return units * kAlignment <= size && bytes <= size - units * kAlignment;
  }
  template <typename T> const T* at(uint32_t units) const {
    return reinterpret_cast<const T*>(start + units * kAlignment);
  }
};

// Reads and checks the trailer. file: [file_bytes]. Inline, so that check_frame contains it.
inline int read_trailer(const uint8_t* file, uint64_t file_bytes, const VerifyFunctions& functions, Trailer* trailer,
    goldcrest_detail& detail) {
  GOLDCREST_REQUIRE(file != nullptr && is_aligned(file), GOLDCREST_ERROR_ARGUMENT,
      "model: the pointer must be aligned to 64 bytes", -1);
  GOLDCREST_REQUIRE_INTACT(file_bytes >= 2 * sizeof(Trailer), "file: too short to be a model", -1);
  memcpy(trailer, file + file_bytes - sizeof(Trailer), sizeof(Trailer));
  GOLDCREST_REQUIRE_INTACT(
      memcmp(trailer->magic, "GCSTEND\n", 8) == 0, "trailer: not found at the end of the file", -1);
  GOLDCREST_REQUIRE_INTACT(
      functions.crc32c(0, trailer, sizeof(Trailer) - 4) == trailer->trailer_crc32c, "trailer: checksum", -1);
  GOLDCREST_REQUIRE(trailer->format_version >= 1 && trailer->format_version <= GOLDCREST_FORMAT_VERSION,
      GOLDCREST_ERROR_MODEL_VERSION, "trailer: format version unknown to this engine",
      static_cast<int32_t>(trailer->format_version));
  GOLDCREST_REQUIRE_INTACT(trailer->total_bytes == file_bytes, "trailer: file size", -1);
  for (uint8_t byte : trailer->reserved) GOLDCREST_REQUIRE_INTACT(byte == 0, "trailer: reserved bytes", -1);
  GOLDCREST_REQUIRE_INTACT(trailer->metadata_bytes >= 16 && trailer->metadata_bytes <= file_bytes - sizeof(Trailer) &&
                               trailer->metadata_bytes < format::kMaxBufferBytes,
      "trailer: metadata size", -1);
  return GOLDCREST_OK;
}
}  // namespace goldcrest
