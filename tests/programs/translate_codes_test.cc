// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate and --evaluate: target languages that a model does not know, a minimum that is lifted, and the
// byte order mark of a text file.
#include <gtest/gtest.h>

#include "programs/checkpoint_copy.h"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

const std::string kWarning = " is not an entry of the model's vocabulary; it is read as text";

// The French model with one language code, >>fr<<, which replaces a rare piece.
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
                             " (2 such lines)\ngoldcrest-convert: warning: " + lines.string() + ":4: \">>yy<<\"" +
                             kWarning + "\ngoldcrest-convert: 2 warnings\n");
}

TEST(Languages, ByNameAreReadAsByTheirCode) {
  const TemporaryFolder folder;
  const std::filesystem::path model = multilingual_model(folder);
  EXPECT_NE(run(inspect_program(), {model}).out.find("\ntargets      1: fr\n"), std::string::npos);
  const auto encoded = [&](const std::string& input) {
    Outcome outcome =
        run(translate_program(), {model, "--source-lang", "en", "--target-lang", "fr", "--encode"}, {.input = input});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome;
  };
  const std::string by_code = run(translate_program(), {model, "--encode"}, {.input = ">>fr<<Stop!\n"}).out;
  const Outcome by_name = encoded("Stop!\n>>fr<<Stop!\n>>xx<<Stop!\n");
  EXPECT_EQ(lines_of(by_name.out)[0] + "\n", by_code);
  EXPECT_EQ(lines_of(by_name.out)[1] + "\n", by_code);
  EXPECT_EQ(by_name.err, "goldcrest-translate: line 3: warning: \">>xx<<\"" + kWarning + "\n");
  EXPECT_EQ(run(translate_program(), {model, "--target-lang", "fr"}, {.input = "Stop!\n"}).out,
            run(translate_program(), {model}, {.input = ">>fr<<Stop!\n"}).out);
}

TEST(Languages, OnesThatAModelHasNotAreRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path several = multilingual_model(folder), one = converted_model("enfr");
  const auto refusal = [](const std::filesystem::path& model, const Arguments& options) {
    Arguments all = {model};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run(translate_program(), all, {.input = "Stop!\n"});
    EXPECT_EQ(outcome.status, 1);
    return outcome.err;
  };
  const auto begin = [](const std::filesystem::path& model) { return "goldcrest-translate: " + model.string() + ": "; };
  EXPECT_EQ(refusal(several, {"--target-lang", "de"}),
            begin(several) + "--target-lang \"de\": the model's target language is \"fr\"\n");
  EXPECT_EQ(refusal(one, {"--target-lang", "d\x1b"}),
            begin(one) + "--target-lang \"d\\x1b\": the model's target language is \"fr\"\n");
  EXPECT_EQ(refusal(one, {"--source-lang", "fr"}),
            begin(one) + "--source-lang \"fr\": the model's source language is \"en\"\n");
  EXPECT_EQ(refusal(converted_model("g2p"), {"--target-lang", "fr"}),
            begin(converted_model("g2p")) + "--target-lang \"fr\": the model's target language is \"ARPAbet\"\n");
  EXPECT_EQ(run(translate_program(), {one, "--source-lang", "en", "--target-lang", "fr"}, {.input = "Stop!\n"}).out,
            run(translate_program(), {one}, {.input = "Stop!\n"}).out);
  EXPECT_EQ(run(translate_program(), {several, "--target-lang", "fr", "--ids"}).status, 2);
}

TEST(Languages, AFileForOneTarget) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "fr.gcst";
  const std::filesystem::path lines = folder.write("lines.tsv", "Stop!\n>>fr<< Go.\n");
  const Outcome converted = run(convert_program(), {"-q", multilingual().path(), "-o", file, "--source-lang", "en",
                                                    "--target-lang", "fr", "--evaluate", lines, "--max-source", "16"});
  EXPECT_EQ(converted.status, 0);
  EXPECT_EQ(converted.err, "goldcrest-convert: warning: " + lines.string() +
                               ":2: \">>fr<<\" is not asked for: --target-lang says \"fr\"; it is read as text\n"
                               "goldcrest-convert: 1 warning\n");
  const std::string about = run(inspect_program(), {file}).out;
  EXPECT_NE(about.find("\nlanguages    en -> fr\n"), std::string::npos);
  EXPECT_EQ(about.find("\ntargets "), std::string::npos);
  EXPECT_EQ(run(translate_program(), {file, "--encode"}, {.input = "Stop!\n"}).out,
            run(translate_program(), {multilingual_model(folder), "--encode"}, {.input = ">>fr<<Stop!\n"}).out);
  EXPECT_EQ(run(translate_program(), {file, "--target-lang", "fr"}, {.input = "Stop!\n"}).out,
            run(translate_program(), {file}, {.input = "Stop!\n"}).out);

  const auto refusal = [](const std::filesystem::path& checkpoint, const Arguments& options) {
    Arguments all = {"-q", checkpoint};
    all.insert(all.end(), options.begin(), options.end());
    const Outcome outcome = run(convert_program(), all);
    EXPECT_EQ(outcome.status, 1);
    return outcome.err;
  };
  const auto begin = [](const std::filesystem::path& path) { return "goldcrest-convert: " + path.string() + ": "; };
  EXPECT_EQ(refusal(multilingual().path(), {"--target-lang", "de"}),
            begin(multilingual().path()) + "--target-lang \"de\": the model's target language is \"fr\"\n");
  EXPECT_EQ(refusal(checkpoint_folder("enfr"), {"--target-lang", "de"}),
            begin(checkpoint_folder("enfr")) + "--target-lang \"de\": the model's target language is \"fr\"\n");
  EXPECT_EQ(refusal(checkpoint_folder("enfr"), {"--source-lang", "de"}),
            begin(checkpoint_folder("enfr")) + "--source-lang \"de\": the model's source language is \"en\"\n");
  EXPECT_EQ(run(convert_program(), {file, "--target-lang", "fr"}).err,
            "goldcrest-convert: " + file.string() +
                ": --target-lang works on a checkpoint, not on a .gcst file; give the checkpoint\n");
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
