// SPDX-License-Identifier: Apache-2.0
// The memory of the pronunciation model for a word of 24 letters and 32 phonemes, with one end token each.
#include <gtest/gtest.h>

#include "examples/support/mapped_file.h"
#include "goldcrest/goldcrest.h"

namespace {

int64_t arena_bytes(uint32_t beam_size) {
  MappedFile model;
  EXPECT_EQ(model.open(GOLDCREST_G2P_FILE), "");
  goldcrest_limits limits = {};
  limits.max_source_tokens = 24 + 1;
  limits.max_source_bytes = 24;
  limits.max_target_tokens = 32 + 1;
  limits.beam_size = beam_size;
  limits.encoder_rows = 2;
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

}  // namespace
