// SPDX-License-Identifier: Apache-2.0
// A model file mapped read-only: its weights are used where they lie, and several processes share one copy. A file that
// becomes shorter while it is mapped ends the process with SIGBUS when a page beyond its new end is read, and no check
// at start-up can help: replace a model by renaming a new file over the old one, never by writing into it.
#pragma once

#include <cstddef>
#include <string>

class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Returns an empty string, or why it failed.
  std::string open(const std::string& path);
  const void* bytes() const { return bytes_; }  // page-aligned, so also 64-byte aligned
  size_t size() const { return size_; }

  // Takes pages out of the process's memory until they are read again; a goldcrest_idle_weights, the context unused.
  static void release(void* context, const void* bytes, size_t n);

 private:
  void* bytes_ = nullptr;
  size_t size_ = 0;
};
