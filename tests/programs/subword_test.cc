// SPDX-License-Identifier: Apache-2.0
// From a checkpoint with codes of subword-nmt to ids and back, with the whole vocabulary and with a part of it: outputs
// and messages of the programs.
#include <gtest/gtest.h>

#include "convert/support/ctranslate2_folder.h"
#include "programs/models.h"

namespace goldcrest::test {
namespace {

struct SubwordFolder : CTranslate2Folder {
  SubwordFolder() {
    vocabulary = {"</s>", "<unk>", "a@@", "b@@", "ab@@", "a", "b", "ab", "bab", "c", ">>fr<<", "c@@"};
    folder.write("bpe.codes", "#version: 0.2\na b</w>\na b\nb ab</w>\n");
    write();
  }
  // Converts and returns the warnings.
  std::vector<std::string> convert(const Arguments& options) const {
    Arguments arguments = {"-q", "--json", folder.path(), "-o", file("model.gcst")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run(convert_program(), arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return nlohmann::json::parse(outcome.out).at("warnings");
  }
  std::string translate(const std::string& option, const std::string& lines) const {
    const Outcome outcome = run(translate_program(), {file("model.gcst"), option}, {.input = lines});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }
};

TEST(Subword, FromTextToIdsAndBack) {
  const SubwordFolder checkpoint;
  EXPECT_EQ(checkpoint.convert({}), std::vector<std::string>{});
  EXPECT_EQ(checkpoint.translate("--encode", ">>fr<< abab  bab ba\nacd\r\n"), "10 4 7 8 3 5 0\n2 11 1 0\n");
  EXPECT_EQ(checkpoint.translate("--decode", "4 7 8 3 5 0\n2 11 1 9 0\n2\n"), "abab bab ba\nac\u2047 c\na\n");
  const Outcome outcome = run(inspect_program(), {checkpoint.file("model.gcst"), "--self-test"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\ntext         tokenizer, detokenizer\n"
                             "             words between spaces, cut by subword-nmt's merges\n"),
            std::string::npos)
      << outcome.out;
}

TEST(Subword, APartOfTheVocabulary) {
  const SubwordFolder checkpoint;
  checkpoint.folder.write("kept", "a@@\nb@@\nb\nc\n");
  EXPECT_EQ(checkpoint.convert({"--keep-vocabulary", checkpoint.file("kept")}),
            std::vector<std::string>{"2 of the source's 6 single characters are not kept; texts lose them: \"a\", "
                                     "\"c@@\""});
  // </s>, <unk>, a@@, b@@, b, c, >>fr<<: the model splits ab and bab again.
  EXPECT_EQ(checkpoint.translate("--encode", ">>fr<< abab bab c\n"), "6 2 3 2 4 3 2 4 5 0\n");
  checkpoint.folder.write("text", "bab ca\tbab\n");
  EXPECT_EQ(checkpoint.convert({"--keep-vocabulary-of", checkpoint.file("text")}),
            std::vector<std::string>{"1 of the source's 6 single characters are not kept; texts lose them: \"c\""});
  EXPECT_EQ(checkpoint.translate("--encode", "bab ca ab\n"), "6 8 4 2 5 0\n");
}

}  // namespace
}  // namespace goldcrest::test
