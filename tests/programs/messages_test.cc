// SPDX-License-Identifier: Apache-2.0
// Text of untrusted files, and errors of the engine, as the programs print them.
#include "examples/support/messages.h"

#include <gtest/gtest.h>

#include "convert/support/shipped_model.h"
#include "converter/file/write.h"
#include "model_generated.h"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

TEST(Printable, InspectShowsAHostileFileHarmlessly) {
  const converter::Payload payload = converter::build_payload(shipped_model("g2p").spec, {});
  payload.metadata->provenance->name = "g2p\narena        0 bytes";
  payload.metadata->provenance->license = "\x1b]0;title\a";
  payload.metadata->provenance->attribution = "caf\xe9 \\ \u202e";
  payload.metadata->provenance->source_language = "\r\x1b[2K";
  const TemporaryFolder folder;
  const std::string path = folder / "hostile.gcst";
  converter::write_file(path, converter::assemble(payload, {}).span());
  const Outcome outcome = run(inspect_program(), {path});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const char* line : {"\nname         g2p\\x0aarena        0 bytes\n", "\nlicence      \\x1b]0;title\\x07\n",
                           "\nattribution  caf\\xe9 \\ \\xe2\\x80\\xae\n", "\nlanguages    \\x0d\\x1b[2K -> ARPAbet\n"})
    EXPECT_NE(outcome.out.find(line), std::string::npos) << line << "in" << outcome.out;
  for (const char c : outcome.out) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << static_cast<int>(c);
}

TEST(DescribeError, NamesStatusReasonAndIndex) {
  EXPECT_EQ(describe_error(GOLDCREST_ERROR_STATE, {"", -1}), "call does not fit the engine's state");
  EXPECT_EQ(describe_error(GOLDCREST_ERROR_STATE, {nullptr, -1}), "call does not fit the engine's state");
  EXPECT_EQ(describe_error(GOLDCREST_ERROR_TOKEN_RANGE, {"source: id outside the vocabulary", 0}),
            "token id out of range: source: id outside the vocabulary (0)");
  EXPECT_EQ(describe_error(GOLDCREST_ERROR_ARENA_TOO_SMALL, {"arena: smaller than goldcrest_plan_memory says", 43264}),
            "arena too small: arena: smaller than goldcrest_plan_memory says (43264 bytes)");
}

}  // namespace
}  // namespace goldcrest::test
