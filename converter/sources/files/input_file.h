// SPDX-License-Identifier: Apache-2.0
// A file, or a zip's member in memory. It is read at given offsets, and every read is checked against its size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace goldcrest::converter {
class InputFile {
 public:
  // Throws Error if the file is missing, is not a regular file, or cannot be read.
  explicit InputFile(std::filesystem::path path);
  // Bytes in memory: the member `member` of the zip at `path`.
  InputFile(std::filesystem::path path, const std::string& member, std::string bytes);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::string& name() const {
    return name_;
  }                                        // for messages: the path, followed by the member's name if there is one
  uint64_t size() const { return size_; }  // bytes
  // Throws Error if [offset, offset + n) is not inside the file or the read fails.
  void read(uint64_t offset, uint64_t n, void* bytes) const;
  std::string text(uint64_t offset, uint64_t n) const;
 private:
  std::filesystem::path path_;
  std::string name_, bytes_;
  int descriptor_ = -1;  // -1: the bytes are in memory
  uint64_t size_ = 0;
};

// Throws Error with the remedy if the file is empty, a Git LFS pointer, or a web page saved in the file's place.
void refuse_stand_in(const InputFile& file);

// Returns the contents of a small file. Throws Error if it is larger than `most_bytes`, and as refuse_stand_in does.
std::string read_small_file(const std::filesystem::path& path, uint64_t most_bytes);
std::string read_small_file(const InputFile& file, uint64_t most_bytes);
}  // namespace goldcrest::converter
