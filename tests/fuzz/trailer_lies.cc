// SPDX-License-Identifier: Apache-2.0
#include "fuzz/trailer_lies.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/crc32c.h"
#include "fuzz/script.h"
#include "goldcrest/goldcrest.h"
#include "model_generated.h"
#include "support/guarded_buffer.h"

namespace goldcrest::test {
namespace {

constexpr size_t kTrailerBytes = 64;

// Offsets of FORMAT.md's table of the trailer.
constexpr size_t kVersionAt = 8, kMetadataBytesAt = 12, kTotalBytesAt = 16, kReservedAt = 28, kChecksumAt = 60;

template <typename Value>
void set(uint8_t* trailer, size_t at, Value value) {
  std::memcpy(trailer + at, &value, sizeof value);
  const uint32_t checksum = crc32c(0, trailer, kChecksumAt);
  std::memcpy(trailer + kChecksumAt, &checksum, sizeof checksum);
}

void expect_refused(const uint8_t* model, uint64_t bytes, int error) {
  goldcrest_info info;
  require(goldcrest_model_info(model, static_cast<size_t>(bytes), &info, nullptr) == error,
          "a wrong number in the trailer is refused");
}

// Changes one number of the good file's trailer.
template <typename Value>
void lie(std::span<const uint8_t> model, size_t at, Value value, int error) {
  GuardedBuffer<uint8_t> file(model.size());
  std::copy(model.begin(), model.end(), file.begin());
  set(file.get() + file.size() - kTrailerBytes, at, value);
  expect_refused(file.get(), file.size(), error);
}

// Leaves only the metadata, so that the first section begins after the file's end.
void cut_behind_metadata(std::span<const uint8_t> model, uint32_t metadata_bytes) {
  const size_t bytes = metadata_bytes + kTrailerBytes;
  GuardedBuffer<uint8_t> file(align_bytes(bytes));
  std::copy_n(model.begin(), metadata_bytes, file.begin());
  uint8_t* const trailer = file.get() + metadata_bytes;
  std::memcpy(trailer, model.data() + model.size() - kTrailerBytes, kTrailerBytes);
  set(trailer, kTotalBytesAt, uint64_t{bytes});
  expect_refused(file.get(), bytes, GOLDCREST_ERROR_MODEL_CORRUPT);
}

// A file of 2 GiB and more that consists of a trailer, with more metadata than a FlatBuffer may have.
void lengthen_metadata(const uint8_t* good_trailer) {
  constexpr uint64_t kMetadataBytes = FLATBUFFERS_MAX_BUFFER_SIZE, kBytes = kMetadataBytes + kTrailerBytes;
  if (kBytes > SIZE_MAX / 2) return;
  void* const file =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (file == MAP_FAILED) return;
  uint8_t* const trailer = static_cast<uint8_t*>(file) + kMetadataBytes;
  std::memcpy(trailer, good_trailer, kTrailerBytes);
  set(trailer, kMetadataBytesAt, static_cast<uint32_t>(kMetadataBytes));
  set(trailer, kTotalBytesAt, kBytes);
  expect_refused(static_cast<const uint8_t*>(file), kBytes, GOLDCREST_ERROR_MODEL_CORRUPT);
  ::munmap(file, kBytes);
}

}  // namespace

void lie_in_trailers(std::span<const uint8_t> model) {
  constexpr int kCorrupt = GOLDCREST_ERROR_MODEL_CORRUPT, kVersion = GOLDCREST_ERROR_MODEL_VERSION;
  const uint8_t* const trailer = model.data() + model.size() - kTrailerBytes;
  uint32_t metadata_bytes = 0;
  std::memcpy(&metadata_bytes, trailer + kMetadataBytesAt, sizeof metadata_bytes);
  lie(model, kVersionAt, uint32_t{0}, kVersion);
  lie(model, kVersionAt, uint32_t{GOLDCREST_FORMAT_VERSION + 1}, kVersion);
  lie(model, kTotalBytesAt, uint64_t{model.size() + 1}, kCorrupt);
  lie(model, kReservedAt, uint8_t{1}, kCorrupt);
  lie(model, kMetadataBytesAt, uint32_t{15}, kCorrupt);
  lie(model, kMetadataBytesAt, static_cast<uint32_t>(model.size() - kTrailerBytes + 1), kCorrupt);
  if (metadata_bytes % GOLDCREST_ALIGN != 0) cut_behind_metadata(model, metadata_bytes);
  lengthen_metadata(trailer);
}

}  // namespace goldcrest::test
