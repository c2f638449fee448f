// SPDX-License-Identifier: Apache-2.0
// Bad input of every kind gives one message with the file, what was found and what was expected; status 1; and no
// output file.
#include <gtest/gtest.h>
#include <unistd.h>

#include "programs/malformed_cases.h"

namespace goldcrest::test {
namespace {

class Malformed : public ::testing::TestWithParam<std::vector<MalformedCase> (*)()> {};

std::string with_folder(std::string text, const std::filesystem::path& folder) {
  const size_t at = text.find('@');
  return at == std::string::npos ? text : text.replace(at, 1, folder.string());
}

// Runs the converter and expects the message.
void expect_refusal(const std::string& name, const Arguments& arguments, const std::vector<std::string>& words) {
  const Outcome outcome = run(convert_program(), arguments);
  EXPECT_EQ(outcome.status, 1) << name << ": " << outcome.err;
  EXPECT_EQ(lines_of(outcome.err).size(), 1u) << name << ": " << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("goldcrest-convert: ")) << name << ": " << outcome.err;
  EXPECT_LT(outcome.err.size(), 2000u) << name;
  for (const std::string& word : words) {
    EXPECT_NE(outcome.err.find(word), std::string::npos) << name << ": " << outcome.err << "lacks " << word;
  }
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST_P(Malformed, IsRefusedAndLeavesNoFile) {
  for (const MalformedCase& c : GetParam()()) {
    const CheckpointCopy copy(c.task);
    c.breaks(copy);
    const TemporaryFolder folder;
    Arguments arguments = {"-q", copy.path(), "-o", folder / "model.gcst"};
    for (const std::string& option : c.options) arguments.push_back(with_folder(option, copy.path()));
    std::vector<std::string> words;
    for (const std::string& word : c.words) words.push_back(with_folder(word, copy.path()));
    expect_refusal(c.name, arguments, words);
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>()) << c.name;
    EXPECT_FALSE(std::filesystem::exists("owned")) << c.name;

    folder.write("model.gcst", "what was there before");
    expect_refusal(c.name, arguments, words);
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"model.gcst"}) << c.name;
    EXPECT_EQ(folder.read("model.gcst"), "what was there before") << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, Malformed,
                         ::testing::Values(malformed_weight_files, malformed_torch_files, malformed_tensors,
                                           malformed_configs, malformed_tokenizers, malformed_options));

TEST(MalformedPlaces, ACheckpointThatIsNone) {
  const TemporaryFolder folder;
  const std::filesystem::path output = folder / "model.gcst";
  expect_refusal("no such folder", {"-q", "/no/such/checkpoint", "-o", output}, {"/no/such/checkpoint: no such file"});
  expect_refusal("an empty folder", {"-q", folder.path(), "-o", output},
                 {(folder / "config.json").string() + ": is missing"});
  expect_refusal("a device", {"-q", "/dev/null", "-o", output}, {"/dev/config.json: is missing"});
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>());
}

TEST(MalformedPlaces, AnOutputThatCannotBeWritten) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder");
  folder.write("file", "kept");
  const std::filesystem::path checkpoint = checkpoint_folder("g2p");
  const auto refuse = [&](const std::filesystem::path& output, const std::string& words) {
    expect_refusal(output, {"-q", checkpoint, "-o", output}, {output.string() + ": ", words});
  };
  refuse(folder / "folder", "is a directory");
  refuse(folder / "nowhere/model.gcst", "opening the directory failed: No such file or directory");
  refuse(folder / "file/model.gcst", "opening the directory failed: Not a directory");
  refuse("/dev/null", "not a regular file");
  refuse("/proc/model.gcst", "creating a file in the directory failed");  // fails even for root
  std::filesystem::permissions(folder / "folder",
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  if (::geteuid() != 0) refuse(folder / "folder/model.gcst", "Permission denied");
  std::filesystem::permissions(folder / "folder", std::filesystem::perms::owner_all);
  EXPECT_EQ(names_in(folder / "folder"), std::vector<std::string>());
  EXPECT_EQ(names_in(folder.path()).size(), 2u);
  EXPECT_EQ(folder.read("file"), "kept");
}

}  // namespace
}  // namespace goldcrest::test
