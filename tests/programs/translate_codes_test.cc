// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate and --evaluate: target languages that a model does not know, a minimum that is lifted, and the
// byte order mark of a text file.
#include <gtest/gtest.h>

#include "programs/checkpoint_copy.h"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

const std::string kWarning = " is no entry of the model's vocabulary; it is read as text";

// The French model with one language code, >>fr<<, in the place of a rare piece.
CheckpointCopy& multilingual() {
  static CheckpointCopy* const copy = [] {
    auto* const made = new CheckpointCopy("enfr");
    made->edit("vocab.json", [](nlohmann::json& vocabulary) {
      for (const auto& [text, id] : vocabulary.items()) {
        if (id != 5990) continue;
        const std::string rare = text;
        vocabulary.erase(rare);
        vocabulary[">>fr<<"] = 5990;
        return;
      }
    });
    made->set("generation_config.json", "min_length", 12);
    return made;
  }();
  return *copy;
}

std::filesystem::path multilingual_model(const TemporaryFolder& folder) {
  const Outcome converted = run(convert_program(), {"-q", multilingual().path(), "-o", folder / "model.gcst"});
  EXPECT_EQ(converted.status, 0) << converted.err;
  return folder / "model.gcst";
}

TEST(LanguageCodes, OnesThatAreNoEntriesAreWarnedOf) {
  const TemporaryFolder folder;
  const std::filesystem::path model = multilingual_model(folder);
  const std::string input = ">>fr<< Stop!\nStop!\n>>xx<< Stop!\n>>a\x1b<<\n>> <\n";
  for (const Arguments& options : {Arguments{}, Arguments{"--batch", "3"}, Arguments{"--encode"}}) {
    Arguments all = {model};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run(translate_program(), all, {.input = input});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(lines_of(outcome.out).size(), 5u);
    EXPECT_EQ(outcome.err, "goldcrest-translate: line 3: warning: \">>xx<<\"" + kWarning +
                               "\ngoldcrest-translate: line 4: warning: \">>a\\x1b<<\"" + kWarning + "\n");
  }
  const Outcome encoded = run(translate_program(), {model, "--encode"}, {.input = ">>fr<<Stop!\nStop!\n"});
  EXPECT_EQ(lines_of(encoded.out)[0], "5990 " + lines_of(encoded.out)[1]);
  // A model without any code.
  EXPECT_EQ(run(translate_program(), {converted_model("enfr")}, {.input = "Stop!\n>>fr<< Stop!\n"}).err,
            "goldcrest-translate: line 2: warning: \">>fr<<\"" + kWarning + "\n");
}

TEST(LanguageCodes, TheLinesOfAnEvaluationAreLookedAtToo) {
  const TemporaryFolder folder;
  const std::filesystem::path lines =
      folder.write("lines.tsv", "Stop!\n>>fr<< Go.\n>>xx<< Stop!\n>>yy<< Stop!\n>>xx<< Go.\n");
  const Outcome outcome =
      run(convert_program(), {"-q", multilingual().path(), "--evaluate", lines, "--max-source", "16"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.err, "goldcrest-convert: warning: " + lines.string() + ":3: \">>xx<<\"" + kWarning +
                             " (so in 1 more lines)\ngoldcrest-convert: warning: " + lines.string() + ":4: \">>yy<<\"" +
                             kWarning + "\ngoldcrest-convert: 2 warnings\n");
}

TEST(MinimumLength, ZeroLiftsTheModels) {
  const TemporaryFolder folder;
  const std::filesystem::path model = multilingual_model(folder);
  const auto tokens = [&](const Arguments& options) {
    Arguments all = {model, "--tokens"};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run(translate_program(), all, {.input = "Stop!\n"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return 1 + std::count(outcome.out.begin(), outcome.out.end(), ' ');
  };
  EXPECT_GE(tokens({}), 12);
  EXPECT_GE(tokens({"--min-target", "20"}), 20);
  EXPECT_LT(tokens({"--min-target", "0"}), 12);
}

TEST(ByteOrderMark, IsLeftOutAtAnInputsStart) {
  const std::string mark = "\xef\xbb\xbf";
  const auto encoded = [](const std::string& input) {
    return lines_of(run(translate_program(), {converted_model("enfr"), "--encode"}, {.input = input}).out);
  };
  const std::vector<std::string> plain = encoded("Stop!\nStop!\n"),
                                 marked = encoded(mark + "Stop!\n" + mark + "Stop!\n");
  EXPECT_EQ(marked[0], plain[0]);
  EXPECT_EQ(encoded(mark + "\n"), encoded("\n"));
  EXPECT_EQ(run(translate_program(), {converted_model("enfr"), "--ids"}, {.input = mark + "541 147 0\n"}).err, "");
  const TemporaryFolder folder;
  const auto first = folder.write("1", mark + "Stop!"), second = folder.write("2", mark + "Stop!\n");
  EXPECT_EQ(lines_of(run(translate_program(), {converted_model("enfr"), "--encode", first, second}).out), plain);
}

}  // namespace
}  // namespace goldcrest::test
