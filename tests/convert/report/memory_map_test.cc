// SPDX-License-Identifier: Apache-2.0
// The printed formula equals the plan for any limits, and the picture shows every buffer.
#include "report/memory_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "convert/support/arena_formula.h"
#include "convert/support/shipped_model.h"
#include "support/expect_error.h"
#include "support/rng.h"

namespace goldcrest::converter {
namespace {

constexpr int kCombinations = 60;

// Limits that a model of `positions` source and target positions takes. Every kind of limit also gets its least value.
goldcrest_limits random_limits(test::Rng& rng, uint32_t positions) {
  const auto at_most = [&](uint32_t most) { return rng.below(5) == 0 ? 1 : rng.between(1, most); };
  goldcrest_limits limits = {};
  limits.max_source_tokens = at_most(positions);
  limits.max_source_bytes = at_most(2000);
  limits.max_target_tokens = at_most(positions);
  limits.beam_size = at_most(16);
  limits.batch = at_most(9);
  limits.n_best = at_most(limits.beam_size);
  limits.encoder_rows = at_most(200);
  limits.threads = at_most(64);
  return limits;
}

uint32_t positions_of(const std::string& task) { return test::shipped_model(task).spec.encoder.positions.rows; }

class PrintedFormula : public ::testing::TestWithParam<const char*> {};

TEST_P(PrintedFormula, GivesTheArenaOfItsLimits) {
  const FileImage& image = test::shipped_model(GetParam()).image;
  test::Rng rng(31);
  for (int i = 0; i < kCombinations; ++i) {
    const goldcrest_limits limits = random_limits(rng, positions_of(GetParam()));
    const MemoryMap map = map_memory(image.span(), limits, "model");
    const int64_t bytes = goldcrest_arena_bytes(image.bytes(), image.size(), &limits);
    ASSERT_GT(bytes, 0);
    EXPECT_EQ(test::ArenaFormula(arena_formula(map)).evaluate(map.memory.limits), static_cast<uint64_t>(bytes))
        << formula_legend(map.memory.limits);
  }
}

// The formula of one conversion holds for all other limits, so a reader need not convert again.
TEST_P(PrintedFormula, OfOneConversionHoldsForAllLimits) {
  const FileImage& image = test::shipped_model(GetParam()).image;
  goldcrest_limits limits = {};
  limits.max_source_bytes = 100;
  const test::ArenaFormula formula(arena_formula(map_memory(image.span(), limits, "model")));
  test::Rng rng(32);
  for (int i = 0; i < kCombinations; ++i) {
    limits = random_limits(rng, positions_of(GetParam()));
    const goldcrest_memory memory = map_memory(image.span(), limits, "model").memory;
    EXPECT_EQ(formula.evaluate(memory.limits), memory.arena_bytes) << formula_legend(memory.limits);
  }
}

TEST_P(PrintedFormula, HoldsForDefaultsAndForIdsOnly) {
  const FileImage& image = test::shipped_model(GetParam()).image;
  const MemoryMap map = map_memory(image.span(), {}, "model");
  EXPECT_EQ(map.memory.limits.max_source_bytes, 0u);
  EXPECT_EQ(test::ArenaFormula(arena_formula(map)).evaluate(map.memory.limits), map.memory.arena_bytes);
}

// The formula has the buffers of prefixes and of sampling if the limits ask for them.
TEST_P(PrintedFormula, HasPrefixesAndSampling) {
  const FileImage& image = test::shipped_model(GetParam()).image;
  goldcrest_limits limits = {};
  limits.max_prefix_tokens = 3;
  limits.max_sampled = 40;
  const test::ArenaFormula formula(arena_formula(map_memory(image.span(), limits, "model")));
  for (const uint32_t batch : {1u, 7u}) {
    for (const uint32_t prefix : {1u, 9u, 24u}) {
      limits.batch = batch;
      limits.max_prefix_tokens = prefix;
      limits.max_sampled = 10 * prefix;
      limits.threads = batch;
      const goldcrest_memory memory = map_memory(image.span(), limits, "model").memory;
      EXPECT_EQ(formula.evaluate(memory.limits), memory.arena_bytes) << formula_legend(memory.limits);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PrintedFormula, ::testing::Values("g2p", "enfr"));

TEST(ArenaFormulaText, IsEvaluatedAsWritten) {
  goldcrest_limits limits = {};
  limits.max_source_tokens = 3;
  limits.max_source_bytes = 50;
  limits.max_target_tokens = 7;
  limits.beam_size = 2;
  limits.batch = 5;
  limits.encoder_rows = 11;
  limits.threads = 4;
  const auto value = [&](const std::string& text) {
    return test::ArenaFormula("arena = " + text + "\n").evaluate(limits);
  };
  EXPECT_EQ(value("2 + 3*S"), 11u);
  EXPECT_EQ(value("up64(1) + up64(64) + up64(65) + up64(0)"), 64u + 64 + 128);
  EXPECT_EQ(value("max(C, 10*T, B*N)"), 70u);
  EXPECT_EQ(value("up64(30 + 2*R)"), 64u);
  EXPECT_EQ(value("P*up64(30 + 2*R)"), 256u);
  EXPECT_EQ(value("8*L*(B>1) + (B>2)"), 56u);
  EXPECT_EQ(value("fixed + 1\nfixed = 2*S\nignored"), 7u);
  EXPECT_THROW(value("3*Q"), std::runtime_error);
  EXPECT_THROW(value("3 - 1"), std::runtime_error);
  EXPECT_THROW(value("min(1, 2)"), std::runtime_error);
}

TEST(MemoryMapTest, RefusedLimitsNameTheFileAndTheLimit) {
  const FileImage& image = test::shipped_model("g2p").image;
  goldcrest_limits limits = {};
  limits.beam_size = 17;
  test::expect_error([&] { map_memory(image.span(), limits, "some/file"); },
                     {"some/file: ", "limits.beam_size: above 16"});
  test::expect_error([&] { map_memory(image.span().first(64), {}, "some/file"); }, {"some/file: "});
}

TEST(MemoryMapTest, ThePictureShowsEveryBufferInItsPlace) {
  const MemoryMap map = map_memory(test::shipped_model("enfr").image.span(), {}, "model");
  std::istringstream text(picture(map));
  std::string line;
  std::getline(text, line);  // skips the header
  size_t n_lines = 0;
  while (std::getline(text, line)) {
    ++n_lines;
    std::istringstream words(line);
    uint64_t offset = 0, bytes = 0;
    std::string bar, phase, name;
    words >> offset >> bytes >> bar >> phase >> name;
    EXPECT_EQ(bar.size(), 40u) << line;
    EXPECT_NE(bar.find('#'), std::string::npos) << line;
    EXPECT_TRUE(std::ranges::any_of(map.buffers, [&](const goldcrest_buffer& buffer) {
      return buffer.name == name && buffer.bytes == bytes && buffer.offset_bytes == offset;
    })) << line;
    EXPECT_LE(offset + bytes, map.memory.arena_bytes);
  }
  EXPECT_EQ(n_lines, static_cast<size_t>(
                         std::ranges::count_if(map.buffers, [](const goldcrest_buffer& b) { return b.bytes > 0; })));
  EXPECT_GT(n_lines, 20u);
}

}  // namespace
}  // namespace goldcrest::converter
