// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate: a line of several sentences is translated sentence by sentence, and so is one that is too long.
#include <gtest/gtest.h>

#include "programs/checkpoint_copy.h"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

using Lines = std::vector<std::string>;

const Lines kSix = {"Where is the station?", "I don't know what to do.", "She bought a new car yesterday.",
                    "I saw Mr. Jackson.",    "Can you help me, please?", "Stop!"};
const Lines kSpaces = {" ", "  ", " ", "\t", "\xC2\xA0 ", " ", "  "};  // before each sentence, and at the end

// The sentences with the white space around them.
std::string paragraph(const Lines& sentences) {
  std::string text;
  for (size_t i = 0; i < sentences.size(); ++i) text += kSpaces[i] + sentences[i];
  return text + kSpaces.back();
}

Outcome translate(const std::filesystem::path& model, Arguments options, const std::string& input) {
  options.insert(options.begin(), model);
  return run(translate_program(), options, {.input = input});
}

// The lines of a run without errors.
Lines translated(const std::string& task, const Arguments& options, const std::string& input) {
  const Outcome outcome = translate(converted_model(task), options, input);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return lines_of(outcome.out);
}

TEST(TranslateSentences, SixOfALineAllComeOutWithTheirSpace) {
  std::string each;
  for (const std::string& sentence : kSix) each += sentence + '\n';
  const Lines alone = translated("enfr", {"--no-split"}, each);
  ASSERT_EQ(alone.size(), 6u);
  const std::string input = "Stop!\n\n" + paragraph(kSix) + "\nStop! Stop!\n";
  for (const Arguments& options : {Arguments{}, Arguments{"--batch", "4"}, Arguments{"--batch", "7", "--threads", "2"},
                                   Arguments{"--nbest", "1"}}) {
    EXPECT_EQ(translated("enfr", options, input), (Lines{alone[5], "", paragraph(alone), alone[5] + ' ' + alone[5]}));
  }
  EXPECT_EQ(translated("enfr", {"--beam", "2"}, input).size(), 4u);
  // As one source the line loses sentences.
  const std::string whole = translated("enfr", {"--no-split"}, paragraph(kSix))[0];
  EXPECT_LT(whole.size(), paragraph(alone).size() / 2) << whole;
}

TEST(TranslateSentences, AreInTheHelp) {
  const std::string help = run(translate_program(), {"--help"}).out;
  for (const char* words : {"--no-split", "--abbreviations", "A line is cut into sentences", "A sentence ends at"})
    EXPECT_NE(help.find(words), std::string::npos) << words;
}

TEST(TranslateSentences, OfALineAreAnsweredBeforeTheNextLine) {
  Dialogue dialogue(translate_program(), {converted_model("enfr")});
  const std::string answer = translated("enfr", {}, "Stop! Go on.\n")[0];
  for (int i = 0; i < 2; ++i) {
    dialogue.write("Stop! Go on.\n");
    EXPECT_EQ(dialogue.read_line(), answer);
  }
  EXPECT_EQ(dialogue.finish(), 0);
}

TEST(TranslateSentences, ALineIsOneSourceForOptionsThatSayMoreOfIt) {
  const std::string input = "Stop! I'm hungry.\n";
  for (const Arguments& options :
       {Arguments{"--tokens"}, Arguments{"--encode"}, Arguments{"--nbest", "2"}, Arguments{"--scores"},
        Arguments{"--token-scores"}, Arguments{"--alignments", "hard"}}) {
    Arguments by_line = options;
    by_line.emplace_back("--no-split");
    EXPECT_EQ(translated("enfr", options, input), translated("enfr", by_line, input)) << options[0];
  }
  const std::string ids = translated("enfr", {"--encode"}, input)[0];
  const std::string target = translated("enfr", {"--ids"}, ids + "\n")[0];
  EXPECT_EQ(target, translated("enfr", {"--tokens"}, input)[0]);
  const TemporaryFolder folder;
  EXPECT_EQ(translated("enfr", {"--score", folder.write("targets", target + "\n").string()}, input).size(), 1u);
}

TEST(TranslateSentences, AModelOfCharactersTakesLines) {
  const std::string input = "ab. cd! ef\n";
  EXPECT_EQ(translated("g2p", {}, input), translated("g2p", {"--no-split"}, input));
}

TEST(TranslateSentences, OnesThatAreTooLongAreCutFurther) {
  const std::string input = "I know what you want, but I can't help you; we have to go home now.\n";
  EXPECT_EQ(translate(converted_model("enfr"), {"--max-source", "12", "--no-split"}, input).status, 3);
  const Lines pieces =
      translated("enfr", {}, "I know what you want,\nbut I can't help you;\nwe have to go home now.\n");
  EXPECT_EQ(translated("enfr", {"--max-source", "12"}, input)[0], pieces[0] + ' ' + pieces[1] + ' ' + pieces[2]);
  EXPECT_EQ(translated("enfr", {"--max-source-bytes", "24"}, input)[0], pieces[0] + ' ' + pieces[1] + ' ' + pieces[2]);
  // Nothing is refused, whatever it is, and every piece gives something.
  const Lines lines =
      translated("enfr", {"--batch", "8"}, std::string(3000, 'x') + "\n" + std::string(2000, ' ') + "\nStop!\n");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_FALSE(lines[0].empty());
  EXPECT_EQ(lines[1], "");
  // A limit that no character fits is an error of the line.
  EXPECT_EQ(translate(converted_model("enfr"), {"--max-source", "1"}, "Stop!\n").status, 3);
}

TEST(TranslateSentences, OfALineAllBeginWithItsLanguageCode) {
  CheckpointCopy copy("enfr");
  copy.edit("vocab.json", [](nlohmann::json& vocabulary) {
    for (const auto& [text, id] : vocabulary.items()) {
      if (id != 5990) continue;
      const std::string rare = text;
      vocabulary.erase(rare);
      vocabulary[">>fr<<"] = 5990;
      return;
    }
  });
  const TemporaryFolder folder;
  const std::filesystem::path model = folder / "model.gcst";
  ASSERT_EQ(run(convert_program(), {"-q", copy.path(), "-o", model}).status, 0);
  const auto outcome = [&](const std::string& input) {
    Outcome run = translate(model, {"--stats"}, input);
    EXPECT_EQ(run.status, 0);
    const std::string name = "source tokens ";
    run.err = run.err.substr(run.err.find(name) + name.size());
    run.err = run.err.substr(0, run.err.find(','));
    return run;
  };
  const Outcome two_lines = outcome(">>fr<< I'm hungry.\n>>fr<< Where is it?\n");
  const Outcome one_line = outcome(">>fr<< I'm hungry.  Where is it?\n");
  const Lines lines = lines_of(two_lines.out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(one_line.out, lines[0] + "  " + lines[1] + '\n');
  EXPECT_EQ(one_line.err, two_lines.err) << "each sentence has a token for the code";
  EXPECT_NE(one_line.err, outcome(">>fr<< I'm hungry.\nWhere is it?\n").err);
}

TEST(TranslateSentences, OfAbbreviationsInAFile) {
  const TemporaryFolder folder;
  const std::string input = "I like the station. Stop!\n";
  const std::string file = folder.write("abbreviations", "sation.\nstation.\n").string();
  EXPECT_EQ(translated("enfr", {"--abbreviations", file}, input), translated("enfr", {"--no-split"}, input));
  EXPECT_NE(translated("enfr", {}, input), translated("enfr", {"--no-split"}, input));
  const Outcome missing = translate(converted_model("enfr"), {"--abbreviations", "/no/such"}, input);
  EXPECT_EQ(missing.status, 1);
  EXPECT_EQ(missing.err, "goldcrest-translate: /no/such: cannot be read: No such file or directory\n");
  EXPECT_EQ(translate(converted_model("enfr"), {"--abbreviations", file, "--no-split"}, input).status, 2);
}

}  // namespace
}  // namespace goldcrest::test
