// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate and --evaluate: target languages that a model does not know, a minimum that is lifted, and the
// byte order mark of a text file.
#include "programs/checkpoint_copy.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Languages = InFolder;
using TranslateInspect = InFolder;

const std::string kWarning = " is not an entry of the model's vocabulary; it is read as text";

// The French model with one language code.
CheckpointCopy& multilingual() {
  static CheckpointCopy* const copy = [] {
    auto* const made = new CheckpointCopy("enfr");
    add_french_code(*made);
    made->set("generation_config.json", "min_length", 12);
    return made;
  }();
  return *copy;
}

std::filesystem::path multilingual_model(const TemporaryFolder& folder) {
  const Outcome converted = with_status(0, convert(multilingual().path(), {"-o", folder / "model.gcst"}));
  return folder / "model.gcst";
}

TEST(LanguageCodes, OnesThatAreNoEntriesAreWarnedOf) {
  const TemporaryFolder folder;
  const std::filesystem::path model = multilingual_model(folder);
  const std::string input = ">>fr<< Stop!\nStop!\n>>xx<< Stop!\n>>a\x1b<<\n>> <\n";
  for (const Arguments& options : {Arguments{}, Arguments{"--batch", "3"}, Arguments{"--encode"}}) {
    const Outcome outcome = with_status(0, translate_with(model, options, input));
    EXPECT_EQ(lines_of(outcome.out).size(), 5u);
    EXPECT_EQ(outcome.err, "goldcrest-translate: line 3: warning: \">>xx<<\"" + kWarning +
                               "\ngoldcrest-translate: line 4: warning: \">>a\\x1b<<\"" + kWarning + "\n");
  }
  const Outcome encoded = translate_with(model, {"--encode"}, ">>fr<<Stop!\nStop!\n");
  EXPECT_EQ(lines_of(encoded.out)[0], "5990 " + lines_of(encoded.out)[1]);
  // A model without any code.
  EXPECT_EQ(translate("enfr", {}, "Stop!\n>>fr<< Stop!\n").err,
      "goldcrest-translate: line 2: warning: \">>fr<<\"" + kWarning + "\n");
}

TEST(LanguageCodes, TheLinesOfAnEvaluationAreLookedAtToo) {
  const TemporaryFolder folder;
  const std::filesystem::path lines =
      folder.write("lines.tsv", "Stop!\n>>fr<< Go.\n>>xx<< Stop!\n>>yy<< Stop!\n>>xx<< Go.\n");
  const Outcome outcome = with_status(0, convert(multilingual().path(), {"--evaluate", lines, "--max-source", "16"}));
  EXPECT_EQ(outcome.err, "goldcrest-convert: warning: " + lines.string() + ":3: \">>xx<<\"" + kWarning +
                             " (2 such lines)\ngoldcrest-convert: warning: " + lines.string() + ":4: \">>yy<<\"" +
                             kWarning + "\ngoldcrest-convert: 2 warnings\n");
}

TEST_F(Languages, ByNameAreReadAsByTheirCode) {
  const std::filesystem::path model = multilingual_model(folder);
  EXPECT_TRUE(has(run(inspect_program(), {model}).out, "\ntargets      1: fr\n"));
  const std::string by_code = translate_with(model, {"--encode"}, ">>fr<<Stop!\n").out;
  const Arguments names = {"--source-lang", "en", "--target-lang", "fr", "--encode"};
  const Outcome by_name = with_status(0, translate_with(model, names, "Stop!\n>>fr<<Stop!\n>>xx<<Stop!\n"));
  EXPECT_EQ(lines_of(by_name.out)[0] + "\n", by_code);
  EXPECT_EQ(lines_of(by_name.out)[1] + "\n", by_code);
  EXPECT_EQ(by_name.err, "goldcrest-translate: line 3: warning: \">>xx<<\"" + kWarning + "\n");
  EXPECT_EQ(
      translate_with(model, {"--target-lang", "fr"}, "Stop!\n").out, translate_with(model, {}, ">>fr<<Stop!\n").out);
}

TEST_F(Languages, OnesThatAModelHasNotAreRefused) {
  const std::filesystem::path several = multilingual_model(folder), one = converted_model("enfr");
  const auto refuse = [](const std::filesystem::path& model, const Arguments& options, const std::string& problem) {
    EXPECT_EQ(with_status(1, translate_with(model, options, "Stop!\n")).err,
        "goldcrest-translate: " + model.string() + ": " + problem + "\n");
  };
  refuse(several, {"--target-lang", "de"}, "--target-lang \"de\": the model's target language is \"fr\"");
  refuse(one, {"--target-lang", "d\x1b"}, "--target-lang \"d\\x1b\": the model's target language is \"fr\"");
  refuse(one, {"--source-lang", "fr"}, "--source-lang \"fr\": the model's source language is \"en\"");
  refuse(converted_model("g2p"), {"--target-lang", "fr"},
      "--target-lang \"fr\": the model's target language is \"ARPAbet\"");
  EXPECT_EQ(translate_with(one, {"--source-lang", "en", "--target-lang", "fr"}, "Stop!\n").out,
      translate_with(one, {}, "Stop!\n").out);
  refuse(several, {"--target-lang", "fr", "--ids"}, "--target-lang: with --ids, a source's own ids say its language");
}

TEST_F(Languages, AFileForOneTarget) {
  const std::filesystem::path file = folder / "fr.gcst";
  const std::filesystem::path lines = folder.write("lines.tsv", "Stop!\n>>fr<< Go.\n");
  const Outcome converted = with_status(
      0, convert(multilingual().path(),
             {"-o", file, "--source-lang", "en", "--target-lang", "fr", "--evaluate", lines, "--max-source", "16"}));
  EXPECT_EQ(converted.err, "goldcrest-convert: warning: " + lines.string() +
                               ":2: \">>fr<<\" is not asked for: --target-lang says \"fr\"; it is read as text\n"
                               "goldcrest-convert: 1 warning\n");
  const std::string about = run(inspect_program(), {file}).out;
  EXPECT_TRUE(has(about, "\nlanguages    en -> fr\n"));
  EXPECT_FALSE(has(about, "\ntargets "));
  EXPECT_EQ(translate_with(file, {"--encode"}, "Stop!\n").out,
      translate_with(multilingual_model(folder), {"--encode"}, ">>fr<<Stop!\n").out);
  EXPECT_EQ(translate_with(file, {"--target-lang", "fr"}, "Stop!\n").out, translate_with(file, {}, "Stop!\n").out);

  const auto refuse = [](const std::filesystem::path& path, const Arguments& options, const std::string& problem) {
    EXPECT_EQ(
        with_status(1, convert(path, options)).err, "goldcrest-convert: " + path.string() + ": " + problem + "\n");
  };
  for (const std::filesystem::path& checkpoint : {multilingual().path(), checkpoint_folder("enfr")})
    refuse(checkpoint, {"--target-lang", "de"}, "--target-lang \"de\": the model's target language is \"fr\"");
  refuse(checkpoint_folder("enfr"), {"--source-lang", "de"},
      "--source-lang \"de\": the model's source language is \"en\"");
  EXPECT_EQ(run(convert_program(), {file, "--target-lang", "fr"}).err,
      "goldcrest-convert: " + file.string() +
          ": --target-lang works on a checkpoint, not on a .gcst file; give the checkpoint\n");
}

TEST(MinimumLength, ZeroLiftsTheModels) {
  const TemporaryFolder folder;
  const std::filesystem::path model = multilingual_model(folder);
  const auto tokens = [&](const Arguments& options) {
    const std::string out = with_status(0, translate_with(model, concat({"--tokens"}, options), "Stop!\n")).out;
    return 1 + std::count(out.begin(), out.end(), ' ');
  };
  EXPECT_GE(tokens({}), 12);
  EXPECT_GE(tokens({"--min-target", "20"}), 20);
  EXPECT_LT(tokens({"--min-target", "0"}), 12);
}

TEST(ByteOrderMark, IsLeftOutAtAnInputsStart) {
  const std::string mark = "\xef\xbb\xbf";
  const auto encoded = [](const std::string& input) { return lines_of(translate("enfr", {"--encode"}, input).out); };
  const std::vector<std::string> plain = encoded("Stop!\nStop!\n"),
                                 marked = encoded(mark + "Stop!\n" + mark + "Stop!\n");
  EXPECT_EQ(marked[0], plain[0]);
  EXPECT_EQ(encoded(mark + "\n"), encoded("\n"));
  EXPECT_EQ(translate("enfr", {"--ids"}, mark + "541 147 0\n").err, "");
  const TemporaryFolder folder;
  const auto first = folder.write("1", mark + "Stop!"), second = folder.write("2", mark + "Stop!\n");
  EXPECT_EQ(lines_of(run(translate_program(), {converted_model("enfr"), "--encode", first, second}).out), plain);
}

// goldcrest-translate --token-scores, --alignments and --score: their output, and what they refuse.

using Lines = std::vector<std::string>;

const std::string kNames = "abaco\nwren\n\ngoldcrest\n";

std::string translated(const std::string& task, const Arguments& options, const std::string& input) {
  const Outcome outcome = with_status(0, translate(task, options, input));
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

Lines split(const std::string& text, char separator) {
  Lines parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

TEST_F(TranslateInspect, TokenScoresAddUpToTheScore) {
  for (const char* beam_size : {"1", "4"}) {
    const Lines lines = lines_of(translated(
        "g2p", {"--beam-size", beam_size, "--length-penalty", "0", "--scores", "--tokens", "--token-scores"}, kNames));
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[2], "") << "the blank line";
    for (const size_t line : {0u, 1u, 3u}) {
      const Lines fields = split(lines[line], '\t');
      ASSERT_EQ(fields.size(), 3u) << lines[line];
      const Lines ids = split(fields[1], ' '), scores = split(fields[2], ' ');
      ASSERT_EQ(ids.size(), scores.size()) << lines[line];
      double sum = 0;
      for (const std::string& score : scores) sum += std::stod(score);
      EXPECT_NEAR(sum, std::stod(fields[0]), 1e-5);
    }
  }
}

// The model scores its own result, and a worse one.
TEST_F(TranslateInspect, TargetsAreScored) {
  const std::string words = "abaco\nwren\n";
  const std::string targets = folder.write("targets", translated("g2p", {"--tokens"}, words));
  const Lines searched = lines_of(translated("g2p", {"--length-penalty", "0", "--scores", "--token-scores"}, words));
  for (const Arguments& options : {Arguments{}, Arguments{"--batch", "4"}, Arguments{"--beam-size", "4"}}) {
    const Lines scored = lines_of(translated("g2p", concat({"--score", targets, "--token-scores"}, options), words));
    ASSERT_EQ(scored.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const Lines fields = split(searched[i], '\t');
      EXPECT_EQ(scored[i], fields.at(0) + "\t" + fields.at(2));
    }
  }
  const std::string worse = folder.write("worse", "10 22 2\n");
  EXPECT_LT(std::stod(translated("g2p", {"--score", worse}, "abaco\n")), std::stod(split(searched[0], '\t')[0]));
  // As ids, this works with a model of any text.
  EXPECT_EQ(translated("g2p", {"--score", worse, "--ids"}, translated("g2p", {"--encode"}, "abaco\n")),
      translated("g2p", {"--score", worse}, "abaco\n"));
}

TEST_F(TranslateInspect, HardAlignmentsAreTheLargestOfTheSoftOnes) {
  const std::string sentence = "Where is the red station?\n";
  for (const Arguments& heads : {Arguments{}, Arguments{"--alignment-layer", "1"}, Arguments{"--alignment-head", "2"},
           Arguments{"--alignment-layer", "0", "--alignment-head", "3"}}) {
    const auto aligned = [&](const std::string& kind) {
      const Arguments options = {"--tokens", "--n-best", "2", "--alignments", kind};
      return lines_of(translated("enfr", concat(options, heads), sentence));
    };
    const Lines soft = aligned("soft"), hard = aligned("hard");
    ASSERT_EQ(soft.size(), 2u);
    ASSERT_EQ(hard.size(), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const Lines fields = split(soft[i], '\t');
      ASSERT_EQ(fields.size(), 4u) << soft[i];
      const Lines ids = split(fields[2], ' '), rows = split(fields[3], ' ');
      ASSERT_EQ(rows.size(), ids.size());
      std::string expected;
      for (size_t token = 0; token < rows.size(); ++token) {
        std::vector<double> weights;
        for (const std::string& weight : split(rows[token], ',')) weights.push_back(std::stod(weight));
        EXPECT_EQ(weights.size(), 7u) << "source ids, including the end";
        double sum = 0;
        for (const double weight : weights) sum += weight;
        EXPECT_NEAR(sum, 1, 1e-5);
        if (token > 0) expected += ' ';
        const auto largest = std::max_element(weights.begin(), weights.end()) - weights.begin();
        expected += std::to_string(largest) + "-" + std::to_string(token);
      }
      EXPECT_EQ(split(hard[i], '\t').at(3), expected);
    }
  }
  // English puts the adjective first, French the noun: "la gare rouge".
  EXPECT_EQ(translated("enfr", {"--alignments", "hard"}, sentence),
      "Où est la gare rouge ?\t0-0 0-1 1-2 2-3 4-4 3-5 5-6 5-7\n");
}

TEST_F(TranslateInspect, BatchesAndThreadsChangeNoByte) {
  std::string input;
  for (const GoldenLine& line : golden_lines("enfr")) {
    input += line.text + "\n";
    if (std::count(input.begin(), input.end(), '\n') == 20) break;
  }
  const Arguments looking = {"--alignments", "soft", "--token-scores", "--n-best", "2"};
  const std::string alone = translated("enfr", looking, input);
  for (const Arguments& way : {Arguments{"--batch", "7"}, Arguments{"--batch", "16", "--threads", "2"}}) {
    EXPECT_EQ(translated("enfr", concat(looking, way), input), alone);
  }
}

TEST_F(TranslateInspect, BadTargetsAreNamedAndTheRestGoesOn) {
  std::string too_many = "5";
  for (int i = 0; i < 64; ++i) too_many += " 5";
  const std::string targets = folder.write("targets", "10 2\n10 x\n73\n\n10 2\n" + too_many + "\n10 2\n");
  const std::string expected =
      "goldcrest-translate: line 2: " + targets + ": not a token id: x\n" + "goldcrest-translate: line 3: " + targets +
      ": id 73 is outside the vocabulary of 73\n" + "goldcrest-translate: line 4: " + targets + ": no ids\n" +
      "goldcrest-translate: line 6: " + targets + ": too long: 65 ids, where 64 are possible (--max-target)\n" +
      "goldcrest-translate: line 8: " + targets + ": no such line\n";
  for (const char* batch : {"1", "3"}) {
    const Outcome outcome = with_status(
        3, translate("g2p", {"--score", targets, "--batch", batch}, "wren\nwren\nwren\nwren\n\nwren\nwren\nwren\n"));
    EXPECT_EQ(outcome.err, expected);
    const Lines lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 8u);
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(lines[i].empty(), i != 0 && i != 6) << i;
    EXPECT_EQ(lines[0], lines[6]);
  }
  const Outcome more = with_status(1, translate("g2p", {"--score", targets}, "wren\n"));
  EXPECT_EQ(more.err, "goldcrest-translate: " + targets + ": more lines than the input has\n");
}

TEST_F(TranslateInspect, BadUsage) {
  const std::string targets = folder.write("targets", "5 2\n");
  const std::string model = converted_model("g2p");
  const auto message = [&](const Arguments& options) {
    const Outcome outcome = with_status(1, translate("g2p", options, "wren\n"));
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  EXPECT_EQ(message({"--alignments", "hard", "--alignment-layer", "2"}),
      "goldcrest-translate: " + model + ": --alignment-layer 2: the decoder's are 0 to 1\n");
  EXPECT_EQ(message({"--alignments", "hard", "--alignment-head", "4"}),
      "goldcrest-translate: " + model + ": --alignment-head 4: the decoder's are 0 to 3\n");
  EXPECT_EQ(message({"--score", folder / "none"}),
      "goldcrest-translate: " + (folder / "none").string() + ": cannot be read: No such file or directory\n");
  for (const char* other : {"--encode", "--decode", "--scores"})
    EXPECT_EQ(translate("g2p", {"--score", targets, other}, "").status, 2) << other;
  EXPECT_EQ(translate("g2p", {"--score", targets, "--n-best", "2"}, "").status, 2);
  EXPECT_EQ(translate("g2p", {"--alignments", "some"}, "").status, 2);
  EXPECT_EQ(translate("g2p", {"--alignment-layer", "-2"}, "").status, 2);
}
}}  // namespace goldcrest::test
