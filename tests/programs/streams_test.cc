// SPDX-License-Identifier: Apache-2.0
// Standard streams that are closed or full: the programs that run models end with their exit status and never abort.
#include <gtest/gtest.h>

#include "programs/models.h"
#include "spec/format_text.h"
#include "support/temporary_folder.h"

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

// goldcrest-convert with standard streams that are full, closed or a pipe that nobody reads.

TEST(ConvertStreams, ProgressGoesToStandardErrorInPlainLines) {
  const std::filesystem::path checkpoint = checkpoint_folder("g2p");
  const Outcome outcome = run(convert_program(), {checkpoint});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "loading " + checkpoint.string() + "\nquantizing\nrunning the self-test\n");
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
}

// A quiet conversion prints its sizes, and nothing else that was not asked for.
TEST(ConvertStreams, AQuietReportIsShort) {
  const TemporaryFolder folder;
  const std::string model = folder / "model.gcst";
  const Outcome quiet = run(convert_program(), {"--quiet", checkpoint_folder("g2p"), "-o", model});
  EXPECT_EQ(quiet.err, "");
  const std::vector<std::string> lines = lines_of(quiet.out);
  ASSERT_EQ(lines.size(), 3u) << quiet.out;
  EXPECT_TRUE(lines[0].starts_with("file ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("arena ")) << lines[1];
  EXPECT_EQ(lines[2], "written      " + model);
  const Outcome again = run(convert_program(), {"-q", model});
  EXPECT_EQ(lines_of(again.out).size(), 2u) << again.out;
  const Outcome asked = run(convert_program(), {"-q", model, "--board", "rpi-pico2"});
  EXPECT_NE(asked.out.find("\nboard        rpi-pico2: fits\n"), std::string::npos) << asked.out;
}

TEST(ConvertStreams, AStandardErrorThatCannotBeWrittenLosesNoConversion) {
  for (const Output error : {Output::kFull, Output::kClosed}) {
    const TemporaryFolder folder;
    const std::filesystem::path model = folder / "model.gcst";
    const Outcome outcome = run(convert_program(), {checkpoint_folder("g2p"), "-o", model}, {.error = error});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.out.find("written      " + model.string() + "\n"), std::string::npos);
    EXPECT_TRUE(read_file(model) == read_file(converted_model("g2p")));
    EXPECT_EQ(files_in(folder.path()), 1u);
    EXPECT_EQ(run(convert_program(), {folder / "none"}, {.error = error}).status, 1);
    EXPECT_EQ(run(convert_program(), {"--none"}, {.error = error}).status, 2);
  }
}

// The files are complete before the report is printed, and the status says that they exist.
TEST(ConvertStreams, AReportThatCannotBePrintedLosesNoFile) {
  for (const Output output : {Output::kFull, Output::kClosed}) {
    const TemporaryFolder folder;
    const std::string model = folder / "model.gcst";
    for (const std::filesystem::path& input : {checkpoint_folder("g2p"), converted_model("g2p")}) {
      const Outcome outcome = run(convert_program(), {"-q", input, "-o", model}, {.output = output});
      EXPECT_EQ(outcome.status, 6);
      EXPECT_EQ(outcome.err,
                "goldcrest-convert: standard output: write failed; the report is not whole; written: " + model + "\n");
      EXPECT_TRUE(read_file(model) == read_file(converted_model("g2p")));
      EXPECT_EQ(files_in(folder.path()), 1u);
      std::filesystem::remove(model);

      const Outcome only_report = run(convert_program(), {"-q", input}, {.output = output});
      EXPECT_EQ(only_report.status, 1);
      EXPECT_EQ(only_report.err, "goldcrest-convert: standard output: write failed; the report is not whole\n");
      const Outcome too_large =
          run(convert_program(), {"-q", input, "-o", model, "--budget", "file=1K"}, {.output = output});
      EXPECT_EQ(too_large.status, 5);
      EXPECT_EQ(files_in(folder.path()), 0u);
    }
    const Outcome help = run(convert_program(), {"--help"}, {.output = output});
    EXPECT_EQ(help.status, 1);
    EXPECT_EQ(help.err, "goldcrest-convert: standard output: write failed; nothing was done\n");
  }
}

// head leaves after its first line, true before any. Both are tried with a whole report and with a short one.
TEST(ConvertStreams, AReaderThatLeavesChangesNothing) {
  for (const char* reader : {"true", "head -1"}) {
    for (const std::filesystem::path& input : {checkpoint_folder("enfr"), converted_model("enfr")}) {
      const TemporaryFolder folder;
      const std::string command =
          converter::format_text("{{ '{}' '{}' --emit-c c -o model.gcst 2>err; echo $? >status; }} | {} >seen",
                                 convert_program().string(), input.string(), reader);
      run("/bin/sh", {"-c", command}, {.folder = folder.path()});
      EXPECT_EQ(read_file(folder / "status"), "0\n") << command;
      EXPECT_EQ(read_file(folder / "err").find("standard output"), std::string::npos);
      EXPECT_TRUE(read_file(folder / "model.gcst") == read_file(converted_model("enfr"))) << command;
      EXPECT_TRUE(std::filesystem::exists(folder / "c/model_model.h") ||
                  std::filesystem::exists(folder / "c/model_enfr.h"))
          << command;
    }
  }
}

}  // namespace
}  // namespace goldcrest::test
