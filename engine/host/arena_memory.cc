// SPDX-License-Identifier: Apache-2.0
#include "host/arena_memory.h"

#include <sys/mman.h>

#include <cstddef>

#include "goldcrest/goldcrest.h"

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
