// SPDX-License-Identifier: Apache-2.0
#include "host/model_memory.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include "goldcrest/goldcrest.h"

MappedFile::~MappedFile() {
  if (bytes_ != nullptr) munmap(bytes_, size_);
}

// Releases the whole pages that begin within the bytes. If the rest of the last page is in use, an access maps it
// again.
void MappedFile::release(void*, const void* bytes, size_t n) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<uintptr_t>(bytes) + page - 1) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(bytes) + n;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::string MappedFile::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return path + ": " + std::strerror(errno);
  struct stat status = {};
  std::string problem;
  if (fstat(descriptor, &status) != 0) {
    problem = path + ": " + std::strerror(errno);
  } else if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    const char* kind = S_ISDIR(status.st_mode) ? "a folder" : S_ISREG(status.st_mode) ? "empty" : "a device or a pipe";
    problem = path + ": " + kind + ", not a file with content";
  } else {
    size_ = static_cast<size_t>(status.st_size);
    void* mapped = mmap(nullptr, size_, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped == MAP_FAILED) problem = path + ": " + std::strerror(errno);
    else bytes_ = mapped;
  }
  close(descriptor);
  return problem;
}

ArenaMemory allocate_arena(uint64_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  constexpr size_t kFewestHugePages = 4;  // a smaller arena's pages fit the CPU's tables
  if (bytes > SIZE_MAX - kHugePage) return nullptr;
  const auto n = static_cast<size_t>(bytes);
  if (n < kFewestHugePages * kHugePage) return ArenaMemory(std::aligned_alloc(GOLDCREST_ALIGN, n));
  ArenaMemory memory(std::aligned_alloc(kHugePage, (n + kHugePage - 1) / kHugePage * kHugePage));
#ifdef MADV_HUGEPAGE
  // Only whole huge pages, so that the process does not grow beyond `bytes`. A system may refuse.
  if (memory) madvise(memory.get(), n / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return memory;
}
