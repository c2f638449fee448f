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
  uint64_t hash = 0;       // of the logits
  bool shortlist = false;  // among the source's candidates
};

// A whole file in memory, aligned as the engine needs it.
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
  void grow(size_t bytes);  // to so many, a multiple of 64: zeros behind those that it has

 private:
  static constexpr size_t kRoom = 4096;  // units to grow by in the same memory; without use they cost none
  struct alignas(kAlignment) Unit {
    uint8_t bytes[kAlignment] = {};
  };
  std::vector<Unit> units_;
};

// The same payload and lines give the same bytes, on any machine. Call it without lines first, let the engine run them
// on that image, and call it again with them. `metadata_bytes`: the least that the metadata takes, filled with zeros.
FileImage assemble(const Payload& payload, std::span<const SelfTestLine> self_test, uint64_t metadata_bytes = 0);

// The same bytes without lines. The payload's sections are gone, one array at a time, so that none is there twice.
FileImage assemble_from(Payload& payload);

// Puts lines into an image that has none, with room in the metadata as metadata_bytes_of_any_weights has it.
void add_self_test(std::span<const SelfTestLine> self_test, FileImage& image);

// What the metadata takes where each target is as long as the decoder's positions: with this room a file's size follows
// from the model's shape, wherever its weights end a search.
uint64_t metadata_bytes_of_any_weights(const Payload& payload, std::span<const SelfTestLine> self_test);

// Puts `bytes` at `path` as a whole or not at all: whatever goes wrong, a file that was there stays as it was, and
// nothing else is left. What a writer that was killed left in the folder goes too. A symbolic link is followed. Throws
// Error.
void write_file(const std::filesystem::path& path, std::span<const uint8_t> bytes);

// Throws Error where write_file would before its first byte: no such folder, no right to write there, a directory.
void check_can_write(const std::filesystem::path& path);

// Throws Error where the disk under `path` has less room than `bytes`.
void check_space(const std::filesystem::path& path, uint64_t bytes);

}  // namespace goldcrest::converter
