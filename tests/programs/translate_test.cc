// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate: one output line for each input line, whatever the line is, and every option.
#include <charconv>
#include "goldcrest/goldcrest.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
// Returns the output lines of a run without errors.
std::vector<std::string> translated_lines(const std::string& task, const Arguments& options, const std::string& input) {
  const Outcome outcome = with_status(0, translate(task, options, input));
  EXPECT_EQ(outcome.err, "");
  return lines_of(outcome.out);
}

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> result;
  size_t start = 0;
  for (size_t tab; (tab = line.find('\t', start)) != std::string::npos; start = tab + 1)
    result.push_back(line.substr(start, tab - start));
  result.push_back(line.substr(start));
  return result;
}

const std::string kWords = "abaco\nwren\ngoldcrest\nfinch\n";

TEST(Translate, ALineOutForEachLineIn) {
  const std::vector<std::string> lines = translated_lines("g2p", {}, kWords);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], "AH0 B AA1 K OW0");
  EXPECT_EQ(translated_lines("g2p", {}, ""), std::vector<std::string>());
  EXPECT_EQ(translated_lines("g2p", {}, kWords.substr(0, kWords.size() - 1)), lines) << "without a newline at the end";
}

TEST(Translate, EmptyLinesAndCarriageReturns) {
  const std::vector<std::string> plain = translated_lines("g2p", {}, kWords);
  std::string crlf = kWords;
  for (size_t at = 0; (at = crlf.find('\n', at)) != std::string::npos; at += 2) crlf.insert(at, 1, '\r');
  EXPECT_EQ(translated_lines("g2p", {}, crlf), plain);
  const std::vector<std::string> lines = translated_lines("g2p", {}, "abaco\n\n\r\nwren\n");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0], plain[0]);
  EXPECT_EQ(lines[1], lines[2]);
  EXPECT_EQ(lines[3], plain[1]);
}

TEST(Translate, EachAnswerComesBeforeTheNextQuestion) {
  const std::vector<std::string> expected = translated_lines("g2p", {}, kWords);
  Dialogue dialogue(translate_program(), {converted_model("g2p")});
  size_t i = 0;
  for (const std::string& word : lines_of(kWords)) {
    dialogue.write(word + "\n");
    EXPECT_EQ(dialogue.read_line(), expected[i++]);
  }
  EXPECT_EQ(dialogue.finish(), 0);
}

TEST(Translate, ABadLineIsNamedAndTheRestGoesOn) {
  const std::vector<std::string> good = translated_lines("g2p", {}, kWords);
  const std::string bad_bytes =
                        "caf\xff"
                        "e",
                    many_bytes(513, 'a'), many_tokens(64, 'b');
  const Outcome outcome = with_status(
      3, translate(
             "g2p", {}, "abaco\n" + bad_bytes + "\nwren\n" + many_bytes + "\ngoldcrest\n" + many_tokens + "\nfinch\n"));
  EXPECT_EQ(lines_of(outcome.out), (std::vector<std::string>{good[0], "", good[1], "", good[2], "", good[3]}));
  const std::vector<std::string> messages = lines_of(outcome.err);
  ASSERT_EQ(messages.size(), 3u) << outcome.err;
  EXPECT_EQ(messages[0], "goldcrest-translate: line 2: not UTF-8 at byte 4");
  EXPECT_TRUE(messages[1].starts_with("goldcrest-translate: line 4: ")) << messages[1];
  EXPECT_TRUE(has(messages[1], "bytes")) << messages[1];
  EXPECT_TRUE(messages[2].starts_with("goldcrest-translate: line 6: ")) << messages[2];
  EXPECT_TRUE(has(messages[2], "tokens")) << messages[2];
  // One token less fits, with the end token.
  EXPECT_EQ(translate("g2p", {}, std::string(63, 'b') + "\n").status, 0);
}

TEST(Translate, AnEndlessLineTakesBoundedMemory) {
  const Outcome outcome = with_status(3, translate("g2p", {}, "wren\n" + std::string(40 << 20, 'a') + "\nwren\n"));
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[2], lines[0]);
  EXPECT_EQ(outcome.err, "goldcrest-translate: line 2: too long: more than 16777216 bytes\n");
}

TEST(Translate, EveryKindOfInvalidUtf8IsRefusedAndEveryKindOfValidIsNot) {
  struct Case {
    std::string bytes;
    int at;  // position of the first byte that is not UTF-8, from 1; 0: none
  };
  const Case cases[] = {{"a\x80", 2}, {"\xc0\xaf", 1}, {"\xc1\xbf", 1}, {"\xe0\x9f\xbf", 1}, {"\xed\xa0\x80", 1},
      {"\xf0\x8f\xbf\xbf", 1}, {"\xf4\x90\x80\x80", 1}, {"\xf5\x80\x80\x80", 1}, {"ab\xe2\x82", 3}, {"ab\xc3", 3},
      {"\xf0\x9f\x98z", 1}, {"\xfe", 1}, {"\xc2\x80", 0}, {"\xdf\xbf", 0}, {"\xe0\xa0\x80", 0}, {"\xed\x9f\xbf", 0},
      {"\xee\x80\x80", 0}, {"\xef\xbf\xbf", 0}, {"\xf0\x90\x80\x80", 0}, {"\xf4\x8f\xbf\xbf", 0}};
  std::string input;
  for (const Case& c : cases) input += c.bytes + "\n";
  const Outcome outcome = with_status(3, translate("g2p", {"--encode"}, input));
  EXPECT_EQ(lines_of(outcome.out).size(), std::size(cases));
  std::string expected;
  for (size_t i = 0; i < std::size(cases); ++i) {
    if (cases[i].at != 0) {
      expected += "goldcrest-translate: line " + std::to_string(i + 1) + ": not UTF-8 at byte " +
                  std::to_string(cases[i].at) + "\n";
    }
  }
  EXPECT_EQ(outcome.err, expected);
}

TEST(Translate, LimitsOfTheCommandLine) {
  const Outcome source = translate("g2p", {"--max-source", "5"}, "wren\nfinch\n");  // 4 and 5 letters, and the end
  EXPECT_EQ(source.status, 3);
  EXPECT_TRUE(has(source.err, "line 2: ")) << source.err;
  const Outcome bytes = with_status(3, translate("g2p", {"--max-source-bytes", "4"}, "wren\nfinch\n"));
  EXPECT_TRUE(has(bytes.err, "line 2: ")) << bytes.err;
  EXPECT_EQ(translate("g2p", {"--max-target", "3", "--tokens"}, "abaco\n").out, "10 22 2\n");
  const std::vector<std::string> long_ids = translated_lines("g2p", {"--min-target", "20", "--tokens"}, "abaco\n");
  ASSERT_EQ(long_ids.size(), 1u);
  EXPECT_GE(std::count(long_ids[0].begin(), long_ids[0].end(), ' '), 19);
  const Outcome beyond = with_status(1, translate("g2p", {"--max-target", "65"}, "wren\n"));
  EXPECT_TRUE(has(beyond.err, "--max-target is 65; expected 1 to 64")) << beyond.err;
}

TEST(Translate, SaysWhichLinesALimitCut) {
  const std::string warning = "goldcrest-translate: warning: ";
  const auto said = [&](const std::string& task, const Arguments& options, const std::string& input) {
    const Outcome outcome = with_status(0, translate(task, options, input));
    EXPECT_EQ(lines_of(outcome.out).size(), lines_of(input).size());
    return outcome.err;
  };
  EXPECT_EQ(said("g2p", {"--max-target", "6"}, kWords),
      warning + "2 of 4 lines end too early: line 1 is the first, cut at 6 tokens; raise --max-target, up to 64\n");
  EXPECT_EQ(said("g2p", {"--max-target", "6", "--batch", "4", "--beam-size", "4"}, "wren\n\ngoldcrest\n"),
      warning + "1 of 3 lines end too early: line 3 is the first, cut at 6 tokens; raise --max-target, up to 64\n");
  EXPECT_EQ(said("enfr", {"--max-length-factor", "0.5"}, "Where is the station? Let's go home.\n"),
      warning +
          "1 of 1 lines end too early: line 1 is the first, cut at 4 tokens; raise --max-length-factor or "
          "--max-extra\n");
  EXPECT_EQ(said("g2p", {"--max-target", "11"}, kWords), "");
  EXPECT_EQ(said("g2p", {"--max-target", "6", "--no-force-end"}, "wren\n"), "");
  const std::string end = said("g2p", {"--max-target", "64", "--min-target", "64"}, "wren\n");
  EXPECT_TRUE(has(end, "line 1 is the first, cut at 64 tokens; the model writes no more, so give it less at once"))
      << end;
}

TEST(Translate, IdsGoInAndOut) {
  const std::string sentences = "Where is the station?\nI don't know what to do.\nShe bought a new car yesterday.\n";
  const std::vector<std::string> texts = translated_lines("enfr", {}, sentences);
  const std::vector<std::string> ids = translated_lines("enfr", {"--tokens"}, sentences);
  std::string input;
  for (const std::string& line : ids) {
    EXPECT_TRUE(line.ends_with(" 0")) << line;  // the end token
    input += line + "\n";
  }
  EXPECT_EQ(translated_lines("enfr", {"--decode"}, input), texts);
  EXPECT_EQ(translated_lines("enfr", {"--encode"}, "Stop!\n\n"), (std::vector<std::string>{"541 147 0", "0"}));
}

TEST(Translate, DecodeRefusesWhatIsNoId) {
  const Outcome outcome =
      with_status(3, translate("g2p", {"--decode"}, "10 22 2\n10 x\n-1\n10 73\n99999999999\n\n5 2\n"));
  EXPECT_EQ(lines_of(outcome.out), (std::vector<std::string>{"AH0 B", "", "", "", "", "", "AA1"}));
  const std::vector<std::string> messages = lines_of(outcome.err);
  ASSERT_EQ(messages.size(), 4u) << outcome.err;
  EXPECT_EQ(messages[0], "goldcrest-translate: line 2: not a token id: x");
  EXPECT_EQ(messages[1], "goldcrest-translate: line 3: not a token id: -1");
  EXPECT_TRUE(messages[2].starts_with("goldcrest-translate: line 4: ")) << messages[2];
  EXPECT_TRUE(messages[3].starts_with("goldcrest-translate: line 5: not a token id: ")) << messages[3];
}

TEST(Translate, BeamsScoresAndSeveralResults) {
  EXPECT_EQ(
      translated_lines("g2p", {"--beam-size", "4"}, kWords), translated_lines("g2p", {"--beam-size", "4"}, kWords));
  // The model's own beam size is 4; greedy search gives another first token here.
  EXPECT_EQ(translated_lines("enfr", {"--tokens"}, "Come on.\n"),
      translated_lines("enfr", {"--tokens", "--beam-size", "4"}, "Come on.\n"));
  EXPECT_NE(translated_lines("enfr", {"--tokens"}, "Come on.\n"),
      translated_lines("enfr", {"--tokens", "--beam-size", "1"}, "Come on.\n"));

  const std::vector<std::string> best = translated_lines("g2p", {"--beam-size", "4"}, kWords);
  const std::vector<std::string> all =
      translated_lines("g2p", {"--beam-size", "4", "--n-best", "3", "--scores"}, kWords);
  ASSERT_EQ(all.size(), 12u);
  double last_score = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::string> parts = fields(all[i]);
    ASSERT_EQ(parts.size(), 4u) << all[i];
    EXPECT_EQ(parts[0], std::to_string(i / 3 + 1));
    EXPECT_EQ(parts[1], std::to_string(i % 3 + 1));
    const double score = std::stod(parts[2]);
    EXPECT_LE(score, 0.0);
    if (i % 3 == 0) {
      EXPECT_EQ(parts[3], best[i / 3]);
    } else {
      EXPECT_LE(score, last_score);
    }
    last_score = score;
  }
  // Without --beam-size there are as many beams as results.
  EXPECT_EQ(translated_lines("g2p", {"--n-best", "3", "--scores"}, kWords),
      translated_lines("g2p", {"--beam-size", "3", "--n-best", "3", "--scores"}, kWords));
}

TEST(Translate, GreedyScoresAreLogProbabilities) {
  const std::vector<GoldenLine> golden = golden_lines("g2p");
  const std::vector<std::string> lines = translated_lines("g2p", {"--scores", "--tokens"}, golden[0].text + "\n");
  ASSERT_EQ(lines.size(), 1u);
  const std::vector<std::string> parts = fields(lines[0]);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1], ids_text(golden[0].greedy));
  // float32: -0.41168 for 5 tokens; int8 is close to it.
  EXPECT_NEAR(std::stod(parts[0]), -0.41168 / 5, 0.01);
}

TEST(Translate, LengthPenaltyChangesTheRanking) {
  const auto first_length = [&](const char* penalty) {
    const std::vector<std::string> lines = translated_lines(
        "enfr", {"--tokens", "--length-penalty", penalty}, "I have no idea what you are talking about.\n");
    return std::count(lines.at(0).begin(), lines.at(0).end(), ' ');
  };
  EXPECT_LE(first_length("-2"), first_length("4"));
  EXPECT_EQ(translate("enfr", {"--length-penalty", "17"}, "").status, 1);
  const std::vector<std::string> plain = translated_lines("g2p", {"--beam-size", "4", "--scores"}, "wren\n");
  const std::vector<std::string> penalized =
      translated_lines("g2p", {"--beam-size", "4", "--scores", "--word-penalty", "1"}, "wren\n");
  EXPECT_NEAR(std::stod(fields(penalized.at(0))[0]), std::stod(fields(plain.at(0))[0]) - 1, 0.5);
}

TEST(Translate, FilesOneAfterTheOther) {
  const TemporaryFolder folder;
  const std::string first = folder.write("first", "abaco\nwren"), second = folder.write("second", "goldcrest\nfinch\n");
  EXPECT_EQ(translated_lines("g2p", {first, second}, "not read\n"), translated_lines("g2p", {}, kWords));
  const Outcome missing = with_status(1, translate("g2p", {first, folder / "third"}, ""));
  EXPECT_TRUE(has(missing.err, "third: cannot be read")) << missing.err;
}

TEST(Translate, Statistics) {
  const Outcome outcome = with_status(3, translate("g2p", {"--stats"}, "abaco\n\xff\nwren\n"));
  // "abaco" is 6 source tokens, "wren" 5.
  EXPECT_TRUE(has(outcome.err, "\nlines 3 (1 failed), source tokens 11, target tokens ")) << outcome.err;
  const std::string size = std::to_string(std::filesystem::file_size(converted_model("g2p")));
  EXPECT_TRUE(has(outcome.err, "model " + size + " bytes, peak resident memory ")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, " target tokens/s\n"));
  EXPECT_TRUE(has(outcome.err, ", kernels "));
}

// The first column of the English validation lines.
std::string english_lines(size_t n) {
  std::string input;
  const std::vector<std::string> lines =
      lines_of(read_file(std::string(GOLDCREST_SOURCE_DIR) + "/tests/data/enfr/valid.tsv"));
  for (size_t i = 0; i < n; ++i) input += fields(lines.at(i))[0] + "\n";
  return input;
}

TEST(Translate, BatchesThreadsAndLowMemoryChangeNoByte) {
  const std::string input = english_lines(70);
  for (const Arguments& search :
      {Arguments{"--beam-size", "1"}, Arguments{"--beam-size", "4", "--n-best", "2", "--scores"}}) {
    const std::string alone = translate("enfr", search, input).out;
    EXPECT_EQ(lines_of(alone).size(), search.size() == 2 ? 70u : 140u);
    for (const Arguments& way : {Arguments{"--batch", "3"}, Arguments{"--batch", "32"}, Arguments{"--batch", "256"},
             Arguments{"--threads", "2"}, Arguments{"--threads", "3", "--batch", "8"},
             Arguments{"--threads", "0", "--batch", "16"}, Arguments{"--low-memory"}}) {
      const Outcome outcome = with_status(0, translate("enfr", concat(search, way), input));
      EXPECT_EQ(outcome.err, "");
      EXPECT_EQ(outcome.out, alone) << ::testing::PrintToString(way);
    }
  }
}

// A window is 16 batches. Lines are on both sides of its end, and bad ones anywhere in it.
TEST(Translate, BadLinesOfABatchKeepTheirPlaces) {
  std::string input;
  for (int i = 0; i < 50; ++i)
    input += i % 7 == 3 ? "\xff\n" : i % 11 == 5 ? std::string(513, 'a') + "\n" : std::string(1 + i % 13, 'b') + "\n";
  const Outcome alone = with_status(3, translate("g2p", {}, input));
  EXPECT_EQ(lines_of(alone.out).size(), 50u);
  for (const char* batch : {"2", "3", "50"}) {
    const Outcome outcome = with_status(3, translate("g2p", {"--batch", batch, "--threads", "2"}, input));
    EXPECT_EQ(outcome.out, alone.out) << "batch " << batch;
    EXPECT_EQ(outcome.err, alone.err);
  }
  EXPECT_EQ(translate("g2p", {"--batch", "4", "--encode"}, kWords).out, translate("g2p", {"--encode"}, kWords).out);
  EXPECT_EQ(translate("g2p", {"--batch", "4", "--decode"}, "10 22 2\n").out, "AH0 B\n");
}

TEST(Translate, BatchesAndThreadsOutOfRange) {
  EXPECT_EQ(translate("g2p", {"--batch", "0"}, "").status, 2);
  EXPECT_EQ(translate("g2p", {"--batch", "257"}, "").status, 2);
  EXPECT_EQ(translate("g2p", {"--threads", "65"}, "").status, 2);
  const Outcome outcome = translate("g2p", {"--threads", "3", "--batch", "5", "--stats"}, kWords);
  EXPECT_TRUE(has(outcome.err, ", threads 3, batch 5\n")) << outcome.err;
}

TEST(Translate, KernelsByName) {
  EXPECT_EQ(translated_lines("g2p", {"--kernels", "reference"}, kWords), translated_lines("g2p", {}, kWords));
  const Outcome outcome = with_status(1, translate("g2p", {"--kernels", "no_such_table"}, kWords));
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
}

TEST(Translate, AMissingModelAndBadUsage) {
  const Outcome missing = with_status(1, run(translate_program(), {"/no/such/model.gcst"}));
  EXPECT_EQ(missing.err, "goldcrest-translate: /no/such/model.gcst: No such file or directory\n");
  EXPECT_EQ(run(translate_program(), {}).status, 2);
  EXPECT_EQ(translate("g2p", {"--encode", "--decode"}, "").status, 2);
  EXPECT_EQ(translate("g2p", {"--n-best", "17"}, "").status, 2);
  EXPECT_EQ(translate("g2p", {"--beam-size", "-1"}, "").status, 2);
  EXPECT_EQ(translate("g2p", {"--beam-size", "2", "--n-best", "4"}, "").status, 1);
  EXPECT_EQ(run(translate_program(), {"--help"}).status, 0);
  EXPECT_EQ(run(translate_program(), {"--version"}).out, "goldcrest-translate " GOLDCREST_VERSION "\n");
}

TEST(Translate, ADamagedModelIsRefusedWithAReason) {
  const TemporaryFolder folder;
  const std::string good = read_file(converted_model("g2p"));
  Rng rng(51);
  for (int i = 0; i < 40; ++i) {
    std::string bytes = good;
    const size_t at = rng.below(static_cast<uint32_t>(bytes.size()));
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1 << rng.below(8)));
    const Outcome outcome = run(translate_program(), {folder.write("damaged.gcst", bytes)}, {.input = "wren\n"});
    EXPECT_EQ(outcome.status, 1) << "byte " << at;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "damaged.gcst: ")) << outcome.err;
    EXPECT_GT(outcome.err.size() - outcome.err.find("damaged.gcst: "), 30u) << "no reason: " << outcome.err;
  }
  for (const size_t size : {size_t{1}, size_t{63}, size_t{64}, good.size() / 2, good.size() - 1}) {
    const Outcome outcome =
        run(translate_program(), {folder.write("short.gcst", good.substr(0, size))}, {.input = "wren\n"});
    EXPECT_EQ(outcome.status, 1) << size << " bytes";
    EXPECT_TRUE(has(outcome.err, "short.gcst: ")) << outcome.err;
  }
}

TEST(Translate, WithoutAnOutputItFails) {
  for (const Output output : {Output::kFull, Output::kClosed}) {
    const Outcome outcome = with_status(1, translate("g2p", {}, kWords, output));
    EXPECT_TRUE(has(outcome.err, "standard output: write failed")) << outcome.err;
  }
}
}}  // namespace goldcrest::test
