// SPDX-License-Identifier: Apache-2.0
// Linker scripts, and the models that fit their memories.
#include "report/board.h"

#include <gtest/gtest.h>

#include "spec/error.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

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
  for (const auto& [text, message] : cases) {
    test::expect_error([&, &script = text] { parse_linker_script(script, "x.ld"); }, {message}, message);
  }
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
  goldcrest_memory memory = {};
  memory.limits.max_source_tokens = memory.limits.max_target_tokens = tokens;
  memory.limits.beam_size = beams;
  memory.limits.batch = memory.limits.n_best = 1;
  memory.limits.encoder_rows = 8;
  memory.arena_bytes = arena(memory.limits);
  return fit_board({"mine", parse_linker_script(kScript, "x.ld")}, {file_bytes, memory, arena});
}

TEST(Board, FitsAndWhatWould) {
  EXPECT_EQ(to_text(fit(983040, 100, 1)),
            "board        mine: fits\n"
            "  FLASH         1048576 bytes: model 983040, code, stack and variables taken as 65536; 0 bytes free\n"
            "  RAM             65536 bytes: arena 28000, code, stack and variables taken as 20480; 17056 bytes free\n");
  EXPECT_EQ(fit(1000, 200, 1).limits_that_fit, "--encoder-rows 4");
  EXPECT_EQ(fit(1000, 200, 2).limits_that_fit, "--beam 1 --encoder-rows 1");
  EXPECT_EQ(fit(1000, 1000, 2).limits_that_fit, "--max-source 220 --max-target 220 --beam 1 --encoder-rows 1");
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
  for (const Board& board : boards) {
    for (const char* alias : {"CODE", "MODEL", "DATA", "STACK"}) EXPECT_GT(board.script.region(alias, "").bytes, 0u);
  }
  EXPECT_EQ(find_boards("rpi-pico2")[0].script.region("DATA", "").bytes, 520u << 10);
  const test::TemporaryFolder folder;
  EXPECT_EQ(find_boards(folder.write("own.ld", kScript))[0].script.region("DATA", "").bytes, 65536u);
  test::expect_error([] { find_boards("pico"); },
                     {"'pico' is not a board; expected mps2-an386, mps2-an500, mps2-an505, mps3-an547, nucleo-h743zi, "
                      "rpi-pico2, all, or the path of a linker script (.ld)"},
                     "pico");
  test::expect_error([] { find_boards("/none.ld"); }, {"/none.ld: cannot be read; expected a linker script"}, "none");
}

}  // namespace
}  // namespace goldcrest::converter
