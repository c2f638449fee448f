// SPDX-License-Identifier: Apache-2.0
// The memory of the pronunciation model for a word of 24 letters and 32 phonemes, with one end token each; how programs
// get such memory.
#include <gtest/gtest.h>
#include <cstring>
#include "goldcrest/goldcrest.h"
#include "host/model_memory.h"

namespace {
int64_t arena_bytes(uint32_t beam_size) {
  MappedFile model;
  EXPECT_EQ(model.open(GOLDCREST_G2P_FILE), "");
  goldcrest_limits limits = {.max_source_tokens = 24 + 1,
      .max_source_bytes = 24,
      .max_target_tokens = 32 + 1,
      .beam_size = beam_size,
      .encoder_rows = 2};
  return goldcrest_arena_bytes(model.bytes(), model.size(), &limits);
}

TEST(Arena, GreedySearchFits48KiB) {
  EXPECT_GT(arena_bytes(1), 0);
  EXPECT_LE(arena_bytes(1), 48 * 1024);
}

TEST(Arena, FourBeamsFit128KiB) {
  EXPECT_GT(arena_bytes(4), arena_bytes(1));
  EXPECT_LE(arena_bytes(4), 128 * 1024);
}

TEST(Arena, ProgramsGetAlignedMemoryOfAnySize) {
  for (const uint64_t bytes : {64, 8 << 20, (11 << 20) + 64}) {
    const ArenaMemory memory = allocate_arena(bytes);
    ASSERT_NE(memory, nullptr) << bytes;
    const uintptr_t align = bytes < 8 << 20 ? GOLDCREST_ALIGN : 2 << 20;  // a huge page's
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % align, 0u) << bytes;
    std::memset(memory.get(), 1, bytes);  // AddressSanitizer finds less
  }
  EXPECT_EQ(allocate_arena(UINT64_MAX), nullptr);
}
}  // namespace
