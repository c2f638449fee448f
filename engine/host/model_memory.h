// SPDX-License-Identifier: Apache-2.0
// The memory of a program that runs a model: its file, and what an engine or a backend works in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

// A model file that is mapped read-only: its weights are used in place, and several processes share one copy. If the
// file becomes shorter while it is mapped, reading a page beyond its new end kills the process with SIGBUS. No check at
// start-up can prevent that, so replace a model by renaming a new file over the old one, never by writing into it.
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

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using ArenaMemory = std::unique_ptr<void, FreeMemory>;

// Returns `bytes` bytes at GOLDCREST_ALIGN; null: there are none. Where Linux has huge pages, large memory is made of
// them: the caches of many hypotheses have more small pages than a CPU has addresses at hand. All of a huge page is
// resident after its first use.
ArenaMemory allocate_arena(uint64_t bytes);
