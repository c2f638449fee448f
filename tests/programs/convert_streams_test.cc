// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert with standard streams that are full, closed or a pipe that nobody reads.
#include <gtest/gtest.h>

#include "programs/models.h"
#include "spec/format_text.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

size_t files_in(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator entries(folder.path());
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

TEST(ConvertStreams, ProgressGoesToStandardErrorInPlainLines) {
  const std::filesystem::path checkpoint = checkpoint_folder("g2p");
  const Outcome outcome = run(convert_program(), {checkpoint});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "loading " + checkpoint.string() + "\nquantizing\nrunning the self-test\n");
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  const Outcome quiet = run(convert_program(), {"--quiet", checkpoint});
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, outcome.out);
}

TEST(ConvertStreams, AStandardErrorThatCannotBeWrittenLosesNoConversion) {
  for (const Output error : {Output::kFull, Output::kClosed}) {
    const TemporaryFolder folder;
    const std::filesystem::path model = folder / "model.gcst";
    const Outcome outcome = run(convert_program(), {checkpoint_folder("g2p"), "-o", model}, {.error = error});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.out.find("written      " + model.string() + "\n"), std::string::npos);
    EXPECT_TRUE(read_file(model) == read_file(converted_model("g2p")));
    EXPECT_EQ(files_in(folder), 1u);
    EXPECT_EQ(run(convert_program(), {folder / "none"}, {.error = error}).status, 1);
    EXPECT_EQ(run(convert_program(), {"--none"}, {.error = error}).status, 2);
  }
}

TEST(ConvertStreams, WithoutAPlaceForTheReportNothingIsWritten) {
  for (const Output output : {Output::kFull, Output::kClosed}) {
    const TemporaryFolder folder;
    for (const std::filesystem::path& input : {checkpoint_folder("g2p"), converted_model("g2p")}) {
      const Outcome outcome = run(convert_program(), {"-q", input, "-o", folder / "model.gcst"}, {.output = output});
      EXPECT_EQ(outcome.status, 1);
      EXPECT_EQ(outcome.err, "goldcrest-convert: standard output: write failed; no file was written\n");
      EXPECT_EQ(files_in(folder), 0u);
    }
    const Outcome help = run(convert_program(), {"--help"}, {.output = output});
    EXPECT_EQ(help.status, 1);
    EXPECT_EQ(help.err, "goldcrest-convert: standard output: write failed; nothing was done\n");
  }
}

TEST(ConvertStreams, AReaderThatLeavesIsAFailedWrite) {
  const TemporaryFolder folder;
  const std::string command = converter::format_text("'{}' -q '{}' -o model.gcst 2>err | true",
                                                     convert_program().string(), checkpoint_folder("g2p").string());
  run("/bin/sh", {"-c", command}, {.folder = folder.path()});
  EXPECT_EQ(read_file(folder / "err"), "goldcrest-convert: standard output: write failed; no file was written\n");
  EXPECT_EQ(files_in(folder), 1u);
}

}  // namespace
}  // namespace goldcrest::test
