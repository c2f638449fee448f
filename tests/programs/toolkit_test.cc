// SPDX-License-Identifier: Apache-2.0
// The commands of OPENNMT_PY.md and FAIRSEQ.md, and texts through what they make.
#include <gtest/gtest.h>

#include "convert/toolkit_folder.h"
#include "programs/models.h"

namespace goldcrest::test {
namespace {

std::string page(const char* name) {
  return read_file(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "converter/dialects" / name);
}

TEST(Toolkit, ThePagesCommandsConvertThem) {
  const std::string path = convert_program().parent_path();
  for (const bool is_fairseq : {false, true}) {
    const ToolkitFolder checkpoint({.is_fairseq = is_fairseq});
    const char* const name = is_fairseq ? "checkpoint_best.pt" : "model_step_20000.pt";
    const std::string command = "goldcrest-convert " + std::string(name) + " -o model.gcst";
    EXPECT_NE(page(is_fairseq ? "FAIRSEQ.md" : "OPENNMT_PY.md").find("\n    " + command), std::string::npos);
    checkpoint.write();
    std::filesystem::rename(checkpoint.weights(), checkpoint.folder / name);
    const Outcome converted =
        run("/bin/sh", {"-c", "PATH=\"" + path + ":$PATH\" " + command}, {.folder = checkpoint.folder.path()});
    ASSERT_EQ(converted.status, 0) << converted.err;
    EXPECT_EQ(converted.err, "goldcrest-convert: warning: " + std::string(name) +
                                 ": no SentencePiece model lies beside it: a text is entries of " +
                                 (is_fairseq ? "dict.de.txt" : "its vocabulary") +
                                 " with spaces between them\ngoldcrest-convert: 1 warning\n");
    EXPECT_NE(converted.out.find(std::string(name) + (is_fairseq ? " (fairseq)" : " (opennmt_py)")), std::string::npos)
        << converted.out;

    // A text is its words' ids; fairseq's end follows them.
    const std::string file = checkpoint.folder / "model.gcst";
    const Outcome text = run(translate_program(), {file}, {.input = "a b nowhere\n"});
    const Outcome ids = run(translate_program(), {file, "--ids"}, {.input = is_fairseq ? "4 5 3 2\n" : "4 5 0\n"});
    ASSERT_EQ(text.status, 0) << text.err;
    std::string expected;
    const std::vector<std::string> words = {"x", "y", "z"};
    for (std::istringstream stream(ids.out); stream;) {
      int id = 0;
      if (stream >> id && id >= 4) expected += (expected.empty() ? "" : " ") + words[static_cast<size_t>(id) - 4];
    }
    EXPECT_FALSE(expected.empty()) << ids.out;
    EXPECT_EQ(text.out, expected + "\n") << ids.out;
  }
}

}  // namespace
}  // namespace goldcrest::test
