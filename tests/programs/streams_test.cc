// SPDX-License-Identifier: Apache-2.0
// Standard streams that are closed or full: the programs that run models end with their exit status and never abort.
#include <gtest/gtest.h>

#include "programs/models.h"

namespace goldcrest::test {
namespace {

constexpr int kFailed = 1, kBadUsage = 2, kLinesFailed = 3;

// Runs the program in a shell that redirects its streams, such as "2>&-".
Outcome run_with(const std::string& streams, const std::filesystem::path& program, Arguments arguments,
                 const std::string& input = "") {
  arguments.insert(arguments.begin(), {"-c", "exec \"$0\" \"$@\" " + streams, program.string()});
  return run("/bin/sh", arguments, {.input = input});
}

struct Program {
  std::filesystem::path path;
  Arguments options;  // after the model
  std::string name() const { return path.filename(); }
};

std::vector<Program> programs() {
  return {{translate_program(), {"--stats"}},
          {inspect_program(), {"--map"}},
          {GOLDCREST_BENCH_PROGRAM,
           {"--measure", "speed", "--beam", "1", "--batch", "1", "--seconds", "0", "--repetitions", "1"}}};
}

Arguments with_model(const Program& program, const std::string& model) {
  Arguments arguments = program.options;
  arguments.insert(arguments.begin(), model);
  return arguments;
}

TEST(Streams, AnErrorStreamThatFailsChangesNothing) {
  for (const Program& program : programs()) {
    const Arguments good = with_model(program, converted_model("g2p")), missing = with_model(program, "/no/such/model");
    for (const char* streams : {"2>&-", "2>/dev/full"}) {
      const Outcome outcome = run_with(streams, program.path, good, "wren\n");
      EXPECT_EQ(outcome.status, 0) << program.path << streams;
      EXPECT_NE(outcome.out, "");
      EXPECT_EQ(run_with(streams, program.path, missing).status, kFailed) << program.path << streams;
      EXPECT_EQ(run_with(streams, program.path, {"--no-such-option"}).status, kBadUsage) << program.path << streams;
    }
  }
  const Outcome lines = run_with("2>&-", translate_program(), {converted_model("g2p")}, "wren\n\xff\nwren\n");
  EXPECT_EQ(lines.status, kLinesFailed);
  EXPECT_EQ(lines_of(lines.out).size(), 3u);
}

TEST(Streams, AnOutputThatFailsIsNamed) {
  for (const Program& program : programs()) {
    const std::string message = program.name() + ": standard output: write failed\n";
    for (const char* streams : {">&-", ">/dev/full"}) {
      for (const Arguments& arguments : {with_model(program, converted_model("g2p")), Arguments{"--help"}}) {
        Outcome outcome = run_with(streams, program.path, arguments, "wren\n");
        EXPECT_EQ(outcome.status, kFailed) << program.path << streams;
        // The statistics may precede the message.
        EXPECT_TRUE(outcome.err.ends_with(message)) << outcome.err;
      }
    }
    EXPECT_EQ(run_with(">&- 2>&-", program.path, with_model(program, converted_model("g2p")), "wren\n").status,
              kFailed);
  }
}

TEST(Streams, AnInputThatCannotBeReadIsNamed) {
  const Outcome closed = run_with("<&-", translate_program(), {converted_model("g2p")});
  EXPECT_EQ(closed.status, kFailed);
  EXPECT_EQ(closed.err, "goldcrest-translate: standard input: Bad file descriptor\n");
  const Outcome folder = run_with("</", translate_program(), {converted_model("g2p")});
  EXPECT_EQ(folder.status, kFailed);
  EXPECT_EQ(folder.err, "goldcrest-translate: standard input: Is a directory\n");
}

}  // namespace
}  // namespace goldcrest::test
