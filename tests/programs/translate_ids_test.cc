// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate --ids: source ids in, target ids out, for models with and without a tokenizer.
#include <gtest/gtest.h>

#include "convert/support/shipped_model.h"
#include "converter/file/write.h"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

using Lines = std::vector<std::string>;

const std::string kWords = "abaco\nwren\n\ngoldcrest\nfinch\n";

Outcome translate(const std::string& model, Arguments options, const std::string& input) {
  options.insert(options.begin(), model);
  return run(translate_program(), options, {.input = input});
}

// The source ids of kWords. --encode gives the blank line its end id; here it is blank again.
std::string ids_of_words() {
  Lines lines = lines_of(translate(converted_model("g2p"), {"--encode"}, kWords).out);
  lines.at(2).clear();
  std::string ids;
  for (const std::string& line : lines) ids += line + "\n";
  return ids;
}

struct Text {
  bool in, out;
};

// The shipped model without one or both of its texts.
std::string without_text(const TemporaryFolder& folder, Text text) {
  converter::ModelSpec spec = shipped_model("g2p").spec;
  if (!text.in) spec.source_tokenizer.reset();
  if (!text.out) spec.target_tokenizer.reset();
  std::string path = folder / "ids.gcst";
  converter::write_file(path, converter::assemble(converter::build_payload(spec, {}), {}).span());
  return path;
}

TEST(TranslateIds, GiveTheIdsThatTheTextGives) {
  const TemporaryFolder folder;
  const std::string silent = without_text(folder, {false, false}), ids = ids_of_words();
  for (const Arguments& options :
       {Arguments{}, Arguments{"--beam", "4"}, Arguments{"--nbest", "3", "--scores"}, Arguments{"--batch", "3"},
        Arguments{"--batch", "2", "--beam", "2", "--threads", "2"}, Arguments{"--min-target", "12"}}) {
    Arguments text_options = options, id_options = options;
    text_options.push_back("--tokens");
    id_options.push_back("--ids");
    const Outcome text = translate(converted_model("g2p"), text_options, kWords);
    ASSERT_EQ(text.status, 0) << text.err;
    for (const std::string& model : {converted_model("g2p").string(), silent}) {
      const Outcome outcome = translate(model, id_options, ids);
      EXPECT_EQ(outcome.status, 0);
      EXPECT_EQ(outcome.err, "");
      EXPECT_EQ(outcome.out, text.out);
    }
  }
  const Outcome stats = translate(silent, {"--ids", "--stats"}, "  5\t2 \r\n\n");
  EXPECT_EQ(stats.status, 0);
  EXPECT_EQ(stats.err.find("lines 2 (0 failed), source tokens 2, "), 0u) << stats.err;
  EXPECT_EQ(stats.out, translate(silent, {"--ids"}, "5 2\n\n").out) << "any spaces";
}

// The model's sources end with id 2. Without it results are nonsense, so the first such line gives a warning.
TEST(TranslateIds, ASourceWithoutTheEndIdIsWarnedOfOnce) {
  const TemporaryFolder folder;
  const std::string silent = without_text(folder, {false, false});
  for (const std::string& model : {converted_model("g2p").string(), silent}) {
    const Outcome outcome = translate(model, {"--ids"}, "5 6 2\n\n5 6\n5 7\n2 5\n");
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.err,
              "goldcrest-translate: line 3: warning: the ids do not end with 2, the end of the model's sources; such a "
              "result is rarely right\n");
    EXPECT_EQ(lines_of(outcome.out).size(), 5u);
    EXPECT_EQ(translate(model, {"--ids"}, "5 6 2\n\n").err, "");
  }
  EXPECT_EQ(translate(converted_model("g2p"), {"--decode"}, "5 6\n").err, "");
}

TEST(TranslateIds, BadLinesAreNamedAndTheRestGoesOn) {
  std::string most = "2";
  for (int i = 1; i < 64; ++i) most.insert(0, "5 ");
  const std::string too_many = "5 " + most;
  const std::string nul(1, '\0');
  const std::string input = "5 2\n5 x\n5 -1\n5 31\n5 +2\n5,2\n99999999999\n5 2\x1b[31m\n5" + nul + "\n" + too_many +
                            "\n" + most + "\n5.0\n5 2\n";
  const std::string expected =
      "goldcrest-translate: line 2: not a token id: x\n"
      "goldcrest-translate: line 3: not a token id: -1\n"
      "goldcrest-translate: line 4: id 31 is outside the vocabulary of 31\n"
      "goldcrest-translate: line 5: not a token id: +2\n"
      "goldcrest-translate: line 6: not a token id: 5,2\n"
      "goldcrest-translate: line 7: not a token id: 99999999999\n"
      "goldcrest-translate: line 8: not a token id: 2\\x1b[31m\n"
      "goldcrest-translate: line 9: not a token id: 5\\x00\n"
      "goldcrest-translate: line 10: too long: 65 ids, where 64 are possible (--max-source)\n"
      "goldcrest-translate: line 12: not a token id: 5.0\n";
  for (const Arguments& options : {Arguments{"--ids"}, Arguments{"--ids", "--batch", "4"}}) {
    const Outcome outcome = translate(converted_model("g2p"), options, input);
    EXPECT_EQ(outcome.status, 3);
    EXPECT_EQ(outcome.err, expected);
    const Lines lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 13u);
    for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].empty(), i != 0 && i != 10 && i != 12) << i;
    EXPECT_EQ(lines[12], lines[0]);
  }
}

TEST(TranslateIds, AModelWithoutTextSaysWhatItNeeds) {
  const TemporaryFolder folder;
  const std::string silent = without_text(folder, {false, false});
  const std::string start = "goldcrest-translate: " + silent;
  const auto message = [&](const Arguments& options) {
    const Outcome outcome = translate(silent, options, "5 2\n");
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  const std::string no_tokenizer =
      start + ": the model has no tokenizer; with --ids it reads source ids and writes target ids\n";
  EXPECT_EQ(message({}), no_tokenizer);
  EXPECT_EQ(message({"--tokens"}), no_tokenizer);
  EXPECT_EQ(message({"--encode"}), start + ": the model has no tokenizer, which --encode needs\n");
  EXPECT_EQ(message({"--decode"}), start + ": the model has no detokenizer, which --decode needs\n");

  ASSERT_EQ(without_text(folder, {true, false}), silent);
  EXPECT_EQ(message({}), start + ": the model has no detokenizer; with --tokens it writes target ids\n");
  EXPECT_EQ(translate(silent, {"--tokens"}, "wren\n").out,
            translate(converted_model("g2p"), {"--tokens"}, "wren\n").out);

  ASSERT_EQ(without_text(folder, {false, true}), silent);
  EXPECT_EQ(message({}), no_tokenizer);
  EXPECT_EQ(translate(silent, {"--decode"}, "10 22 2\n").out, "AH0 B\n");
}

TEST(TranslateIds, BadUsage) {
  EXPECT_EQ(translate(converted_model("g2p"), {"--ids", "--encode"}, "").status, 2);
  EXPECT_EQ(translate(converted_model("g2p"), {"--ids", "--decode"}, "").status, 2);
  EXPECT_EQ(translate(converted_model("g2p"), {"--ids", "--tokens"}, "5 2\n").out,
            translate(converted_model("g2p"), {"--ids"}, "5 2\n").out);
}

}  // namespace
}  // namespace goldcrest::test
