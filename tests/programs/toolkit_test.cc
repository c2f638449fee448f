// SPDX-License-Identifier: Apache-2.0
// Runs the commands of OPENNMT_PY.md and FAIRSEQ.md, and translates texts with their models.
#include <gtest/gtest.h>

#include "convert/support/toolkit_folder.h"
#include "programs/models.h"

namespace goldcrest::test {
namespace {

std::string page(const char* name) {
  return read_file(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "converter/dialects" / name);
}

TEST(Toolkit, ThePagesCommandsConvertThem) {
  const std::string path = convert_program().parent_path();
  for (const bool is_fairseq : {false, true}) {
    ToolkitFolder checkpoint({.is_fairseq = is_fairseq});
    if (!is_fairseq)
      for (size_t id = 0; id < 4; ++id) checkpoint.tensors["generator.bias"].values[id] = -9;  // makes words likelier
    const char* const name = is_fairseq ? "checkpoint_best.pt" : "model_step_20000.pt";
    const std::string command = "goldcrest-convert " + std::string(name) + " -o model.gcst";
    EXPECT_NE(page(is_fairseq ? "FAIRSEQ.md" : "OPENNMT_PY.md").find("\n    " + command), std::string::npos);
    checkpoint.write();
    std::filesystem::rename(checkpoint.weights(), checkpoint.folder / name);
    const Outcome converted =
        run("/bin/sh", {"-c", "PATH=\"" + path + ":$PATH\" " + command}, {.folder = checkpoint.folder.path()});
    ASSERT_EQ(converted.status, 0) << converted.err;
    const std::string warning = "\ngoldcrest-convert: warning: " + std::string(name) +
                                ": there is no SentencePiece model next to it: a text is a list of entries of " +
                                (is_fairseq ? "dict.de.txt" : "its vocabulary") +
                                ", separated by spaces\ngoldcrest-convert: 1 warning\n";
    EXPECT_TRUE(converted.err.ends_with(warning)) << converted.err;
    EXPECT_NE(converted.out.find(std::string(name) + (is_fairseq ? " (fairseq)" : " (opennmt_py)")), std::string::npos)
        << converted.out;

    // A text becomes its words' ids; fairseq appends its end.
    const std::string file = checkpoint.folder / "model.gcst";
    const Outcome text = run(translate_program(), {file, "--max-target", "6"}, {.input = "a b nowhere\n"});
    const Outcome ids =
        run(translate_program(), {file, "--max-target", "6", "--ids"}, {.input = is_fairseq ? "4 5 3 2\n" : "4 5 0\n"});
    ASSERT_EQ(text.status, 0) << text.err;
    const std::vector<std::string> words = {"x", "y", "z"};
    std::string expected;
    std::istringstream stream(ids.out);
    for (size_t id; stream >> id;) {
      if (id < 4 && id != (is_fairseq ? 3 : 0)) continue;
      expected += (expected.empty() ? "" : " ") + (id < 4 ? "\u2047" : words.at(id - 4));
    }
    EXPECT_FALSE(expected.empty()) << ids.out;
    EXPECT_EQ(text.out, expected + "\n") << ids.out;
  }
}

}  // namespace
}  // namespace goldcrest::test
