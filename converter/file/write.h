// SPDX-License-Identifier: Apache-2.0
// The bytes of a .gcst file (FORMAT.md, "The whole file"), in memory and on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>
#include "base/align.h"
#include "file/build.h"

namespace goldcrest::converter {
// A greedy search that the file's reader must reproduce (FORMAT.md, "Self-test").
struct SelfTestLine {
  std::vector<uint32_t> source, target;
  uint64_t hash = 0;                  // hash over the logits
  bool shortlist = false;             // searched among the source's candidates
  std::vector<int16_t> samples = {};  // a clip, in place of `source`
  bool is_forced = false;             // the first id of `target` is a language that the line chooses
};

// A whole file in memory, aligned for the engine.
class FileImage {
 public:
  explicit FileImage(size_t bytes) {  // a multiple of 64
    units_.reserve(bytes / kAlignment + kRoom);
    units_.resize(bytes / kAlignment);
  }
  const uint8_t* bytes() const { return units_.empty() ? nullptr : units_.front().bytes; }
  uint8_t* bytes() { return units_.empty() ? nullptr : units_.front().bytes; }
  size_t size() const { return units_.size() * kAlignment; }
  std::span<const uint8_t> span() const { return {bytes(), size()}; }
  void grow(size_t bytes);  // to this many, a multiple of 64; the new bytes are zeros
 private:
  static constexpr size_t kRoom = 4096;  // units reserved for growth in place; unused ones cost no memory
  struct alignas(kAlignment) Unit {
    uint8_t bytes[kAlignment] = {};
  };
  std::vector<Unit> units_;
};

// Equal payloads and lines give equal bytes on any machine. Call it without lines first, let the engine run them on
// that image, then call it again with their results. `metadata_bytes`: at least this many bytes of metadata, filled
// with zeros.
FileImage assemble(const Payload& payload, std::span<const SelfTestLine> self_test, uint64_t metadata_bytes = 0);

// Makes the same bytes without lines. Frees the payload's sections one array at a time, so no array is in memory twice.
FileImage assemble_from(Payload& payload);

// Adds lines to an image without any. Its metadata must have room as metadata_bytes_of_any_weights computes it.
void add_self_test(std::span<const SelfTestLine> self_test, FileImage& image);

// Returns the bytes of metadata if each target is as long as the decoder's positions. With this room a file's size
// depends only on the model's shape, wherever its weights end a search.
uint64_t metadata_bytes_of_any_weights(const Payload& payload, std::span<const SelfTestLine> self_test);

// Writes `bytes` to `path` completely or not at all: on any failure an existing file stays as it was, and no other file
// is left. Also removes files that a killed writer left in the folder. A symbolic link is followed. Throws Error.
void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes);

// Throws Error if write_file would fail before its first byte: no such folder, no right to write there, a directory.
void check_can_write(const std::filesystem::path& path);

// Throws Error if the disk under `path` has less room than `bytes`.
void check_space(const std::filesystem::path& path, uint64_t bytes);
}  // namespace goldcrest::converter
