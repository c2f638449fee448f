// SPDX-License-Identifier: Apache-2.0
// The memory of an engine or a backend, for programs on an operating system.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};
using ArenaMemory = std::unique_ptr<void, FreeMemory>;

// Returns `bytes` bytes at GOLDCREST_ALIGN; null: there are none. Where Linux has huge pages, large memory is made of
// them: the caches of many hypotheses have more small pages than a CPU has addresses at hand. All of a huge page is
// resident after its first use.
ArenaMemory allocate_arena(uint64_t bytes);
