// SPDX-License-Identifier: Apache-2.0
// The printed formula equals the plan for any limits, and the picture shows every buffer.
#include "report/memory_map.h"
#include "convert/support/arena_formula.h"
#include "convert/support/shipped_model.h"
#include "report/board.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
constexpr int kCombinations = 60;

// Limits that a model of `positions` source and target positions takes. Every kind of limit also gets its least value.
goldcrest_limits random_limits(test::Rng& rng, uint32_t positions) {
  const auto at_most = [&](uint32_t most) { return rng.below(5) == 0 ? 1 : rng.between(1, most); };
  goldcrest_limits limits = {.max_source_tokens = at_most(positions),
      .max_source_bytes = at_most(2000),
      .max_target_tokens = at_most(positions),
      .beam_size = at_most(16),
      .batch = at_most(9)};
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
  goldcrest_limits limits = {.max_source_bytes = 100};
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
  goldcrest_limits limits = {.max_prefix_tokens = 3, .max_sampled = 40};
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
  goldcrest_limits limits = {.max_source_tokens = 3,
      .max_source_bytes = 50,
      .max_target_tokens = 7,
      .beam_size = 2,
      .batch = 5,
      .encoder_rows = 11,
      .threads = 4};
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
  goldcrest_limits limits = {.beam_size = 17};
  test::expect_error(
      [&] { map_memory(image.span(), limits, "some/file"); }, {"some/file: ", "limits.beam_size: above 16"});
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
  EXPECT_EQ(n_lines,
      static_cast<size_t>(std::ranges::count_if(map.buffers, [](const goldcrest_buffer& b) { return b.bytes > 0; })));
  EXPECT_GT(n_lines, 20u);
}

// Linker scripts, and the models that fit their memories.

constexpr const char* kScript =
    "/* MEMORY { */ MEMORY {\n  FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 1M\n  RAM (rw) : ORIGIN = 0x20000000, "
    "LENGTH = 0x10000\n}\nREGION_ALIAS(\"CODE\", FLASH) REGION_ALIAS(\"MODEL\", FLASH)\nREGION_ALIAS(\"DATA\", RAM)\n"
    "REGION_ALIAS(\"STACK\", RAM)\nINCLUDE sections.ld\n";

TEST(LinkerScript, MemoriesAndAliases) {
  const LinkerScript script = parse_linker_script(kScript, "x.ld");
  ASSERT_EQ(script.regions.size(), 2u);
  EXPECT_EQ(script.region("MODEL", "x.ld").bytes, 1u << 20);
  EXPECT_EQ(script.region("DATA", "x.ld").bytes, 65536u);
  EXPECT_EQ(script.region("RAM", "x.ld").name, "RAM");
}

TEST(LinkerScript, WhatIsRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "x.ld: has no MEMORY; expected a linker script"},
      {"MEMORY", "x.ld: found '', expected '{'"},
      {"MEMORY {", "x.ld: MEMORY has no end"},
      {"MEMORY { A (rx", "x.ld: ends where ')' was expected"},
      {"MEMORY { A B }", "x.ld: found 'B' after A, expected ':'"},
      {"MEMORY { A : ORIGIN = 0, LENGTH = 4G }",
          "x.ld: LENGTH of A is '4G', expected a number of bytes, or one with K or M"},
      {"MEMORY { A : ORIGIN = 0, LENGTH = 99999999999999M }",
          "x.ld: LENGTH of A is '99999999999999M', expected a number of bytes, or one with K or M"},
      {"MEMORY { A : ORIGIN = 0, SIZE = 4 }", "x.ld: A has no LENGTH"},
      {"/* MEMORY", "x.ld: a comment has no end"},
      {"\"MEMORY", "x.ld: a text has no end"},
      {std::string(65537, ' '), "x.ld: is larger than 65536 bytes; no linker script"},
  };
  for (const auto& [text, message] : cases)
    test::expect_error([&, &script = text] { parse_linker_script(script, "x.ld"); }, {message}, message);
  test::expect_error(
      [] { parse_linker_script("MEMORY { A : ORIGIN = 0, LENGTH = 1K }", "x.ld").region("DATA", "x.ld"); },
      {"x.ld: has no memory DATA; expected REGION_ALIAS(\"DATA\", ...), as boards/README.md says"}, "");
}

// An arena of 100 bytes for each token and beam, and 1000 for each encoder row.
uint64_t arena(const goldcrest_limits& limits) {
  return uint64_t{100} * (limits.max_source_tokens + limits.max_target_tokens) * limits.beam_size +
         uint64_t{1000} * limits.encoder_rows;
}

BoardFit fit(uint64_t file_bytes, uint32_t tokens, uint32_t beams) {
  goldcrest_memory memory = {.limits = {.max_source_tokens = tokens,
                                 .max_target_tokens = tokens,
                                 .beam_size = beams,
                                 .batch = 1,
                                 .n_best = 1,
                                 .encoder_rows = 8}};
  memory.arena_bytes = arena(memory.limits);
  return fit_board({"mine", parse_linker_script(kScript, "x.ld")}, {file_bytes, memory, arena});
}

TEST(Board, FitsAndWhatWould) {
  EXPECT_EQ(to_text(fit(983040, 100, 1)),
      "board        mine: fits\n"
      "  FLASH         1048576 bytes: model 983040, code, stack and variables taken as 65536; 0 bytes free\n"
      "  RAM             65536 bytes: arena 28000, code, stack and variables taken as 20480; 17056 bytes free\n");
  EXPECT_EQ(fit(1000, 200, 1).limits_that_fit, "--encoder-rows 4");
  EXPECT_EQ(fit(1000, 200, 2).limits_that_fit, "--beam-size 1 --encoder-rows 1");
  EXPECT_EQ(fit(1000, 1000, 2).limits_that_fit, "--max-source 220 --max-target 220 --beam-size 1 --encoder-rows 1");
  EXPECT_EQ(to_text(fit(983041, 100, 1)),
      "board        mine: does not fit\n"
      "  FLASH         1048576 bytes: model 983041, code, stack and variables taken as 65536; 1 bytes too many\n"
      "  RAM             65536 bytes: arena 28000, code, stack and variables taken as 20480; 17056 bytes free\n"
      "  no limits make it fit\n");
}

TEST(Board, EveryBoardOfTheRepositoryIsKnown) {
  size_t scripts = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "boards"))
    scripts += std::filesystem::exists(entry.path() / "linker.ld") ? 1 : 0;
  const std::vector<Board> boards = find_boards("all");
  EXPECT_EQ(boards.size(), scripts);
  for (const Board& board : boards)
    for (const char* alias : {"CODE", "MODEL", "DATA", "STACK"}) EXPECT_GT(board.script.region(alias, "").bytes, 0u);
  EXPECT_EQ(find_boards("rpi-pico2")[0].script.region("DATA", "").bytes, 520u << 10);
  const test::TemporaryFolder folder;
  EXPECT_EQ(find_boards(folder.write("own.ld", kScript))[0].script.region("DATA", "").bytes, 65536u);
  test::expect_error([] { find_boards("pico"); },
      {"'pico' is not a board; expected mps2-an386, mps2-an500, mps2-an505, mps3-an547, nucleo-h743zi, riscv-virt, "
       "rpi-pico2, all, or the path of a linker script (.ld)"},
      "pico");
  test::expect_error(
      [] { find_boards("/none.ld"); }, {"/none.ld: cannot be read, or is empty; expected a linker script"}, "none");
}
}}  // namespace goldcrest::converter
