// SPDX-License-Identifier: Apache-2.0
// A model file that is mapped read-only: its weights are used in place, and several processes share one copy. If the
// file becomes shorter while it is mapped, reading a page beyond its new end kills the process with SIGBUS. No check at
// start-up can prevent that, so replace a model by renaming a new file over the old one, never by writing into it.
#pragma once

#include <cstddef>
#include <string>

class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Returns an empty string, or the reason of the failure.
  std::string open(const std::string& path);
  const void* bytes() const { return bytes_; }  // page-aligned, so also 64-byte aligned
  size_t size() const { return size_; }

  // Releases pages from the process's memory until they are read again. Usable as goldcrest_idle_weights; the context
  // is unused.
  static void release(void* context, const void* bytes, size_t n);

 private:
  void* bytes_ = nullptr;
  size_t size_ = 0;
};
