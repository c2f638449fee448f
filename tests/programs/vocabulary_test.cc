// SPDX-License-Identifier: Apache-2.0
// Trimmed vocabularies and made shortlists from end to end: translations of the files, the report, and what is refused.
#include <nlohmann/json.hpp>
#include "convert/support/arena_formula.h"
#include "programs/checkpoint_copy.h"
#include "support/marian_native.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using KeepVocabulary = InFolder;
using MakeShortlist = InFolder;
using Shortlist = InFolder;

// The report of a conversion that may warn.
nlohmann::json report_of(const std::filesystem::path& checkpoint, const Arguments& options) {
  return nlohmann::json::parse(with_status(0, convert(checkpoint, concat(options, {"--json"}))).out);
}

std::string translate(const std::filesystem::path& model, const std::string& lines) {
  return with_status(0, run(translate_program(), {model, "--beam-size", "1"}, {.input = lines})).out;
}

// The first different sources of the validation set, with or without their references.
std::string validation_lines(const std::string& task, size_t n, bool with_target) {
  std::string text, last;
  for (const std::string& line : lines_of(read_file(validation_file(task)))) {
    const std::string source = line.substr(0, line.find('\t'));
    if (source == last || n == 0) continue;
    text += (with_target ? line : source) + "\n";
    last = source;
    --n;
  }
  return text;
}

TEST_F(KeepVocabulary, OfATextTheModelTranslatesItAsBefore) {
  const std::string sources = validation_lines("enfr", 40, false), text = folder.write("text", sources);
  const std::string part = folder / "part.gcst";
  const nlohmann::json json = report_of(checkpoint_folder("enfr"),
      {"-o", part, "--keep-vocabulary-of", text, "--evaluate", text, "--evaluate-beam", "1"});
  const nlohmann::json& trimmed = json.at("trimmed_vocabulary");
  EXPECT_EQ(trimmed.at("shared"), true);
  EXPECT_EQ(trimmed.at("source_kept"), trimmed.at("target_kept"));
  EXPECT_EQ(trimmed.at("source_kept"), json.at("encoder").at("vocab_size"));
  EXPECT_LT(trimmed.at("source_kept"), 500);
  EXPECT_EQ(trimmed.at("agreement").at("lines"), 40);
  EXPECT_EQ(trimmed.at("agreement").at("identical"), 40);
  EXPECT_EQ(trimmed.at("agreement").at("chrf"), 100);
  const auto whole_bytes = std::filesystem::file_size(converted_model("enfr"));
  const auto part_bytes = std::filesystem::file_size(part);
  EXPECT_NEAR(trimmed.at("bytes_saved").get<double>(), static_cast<double>(whole_bytes - part_bytes), 2048);
  EXPECT_EQ(translate(part, sources), translate(converted_model("enfr"), sources));
  ASSERT_EQ(json.at("warnings").size(), 1u);
  EXPECT_TRUE(has(json.at("warnings").at(0), "single characters are not kept; texts lose them: "));
}

TEST_F(KeepVocabulary, OfParallelTextNeedsNoTranslations) {
  const std::string text = folder.write("text", validation_lines("enfr", 40, true));
  const Outcome outcome =
      with_status(0, run(convert_program(), {checkpoint_folder("enfr"), "--keep-vocabulary-of", text}));
  EXPECT_TRUE(has(outcome.out, "\nvocabulary   kept "));
  EXPECT_TRUE(has(outcome.out, " of 6000 entries: "));
}

TEST_F(KeepVocabulary, OfAListOfPieces) {
  // SentencePiece's .vocab files have a tab and a score after each piece.
  const std::string letters = folder.write("letters", "w\t-1\r\nr\ne\nn\n\nR\nEH1\nN\n");
  const nlohmann::json json =
      report_of(checkpoint_folder("g2p"), {"-o", folder / "part.gcst", "--keep-vocabulary", letters});
  const nlohmann::json& trimmed = json.at("trimmed_vocabulary");
  EXPECT_EQ(trimmed.at("shared"), false);
  EXPECT_EQ(trimmed.at("source_all"), 31);
  EXPECT_EQ(trimmed.at("source_kept"), 8) << "and four special entries";
  EXPECT_EQ(trimmed.at("target_kept"), 7);
  EXPECT_EQ(translate(folder / "part.gcst", "wren\n"), "R EH1 N\n");
  EXPECT_EQ(json.at("warnings"), nlohmann::json({"23 of the source's 27 single characters are not kept; texts lose "
                                                 "them: \"'\", \"a\", \"b\", \"c\", \"d\" and 18 more"}));
}

TEST_F(KeepVocabulary, LinesThatLoseCharactersAreCounted) {
  const std::string letters = folder.write("letters", "w\nr\ne\nn\nR\nEH1\nN\n");
  const std::string lines = folder.write("lines", "wren\nfinch\n");
  const Outcome outcome =
      with_status(0, convert(checkpoint_folder("g2p"), {"--keep-vocabulary", letters, "--evaluate", lines}));
  EXPECT_TRUE(has(outcome.err,
      "warning: " + lines + ": 4 tokens of its sources are unknown to the kept vocabulary, 0 to the whole one\n"));
  EXPECT_TRUE(has(outcome.out, "1 of 2 lines as with all entries (50.00 %), chrF "));
}

TEST_F(KeepVocabulary, WhatCannotBeKeptIsRefused) {
  const std::string g2p = checkpoint_folder("g2p");
  const std::string unknown = folder.write("unknown", "w\nzz\nEH1\n\xff\nEH9\n");
  const Outcome strange = with_status(1, convert(g2p, {"--keep-vocabulary", unknown}));
  EXPECT_EQ(strange.err, "goldcrest-convert: " + unknown +
                             ": 3 of 5 pieces are not entries of the model's vocabulary: \"zz\", \"\\xff\", \"EH9\"\n");
  std::string all;
  for (const char* key : {"source", "target"}) {
    const auto config = nlohmann::json::parse(read_file(checkpoint_folder("g2p") / "config.json"));
    for (const auto& piece : config.at(std::string(key) + "_vocabulary")) all += piece.get<std::string>() + "\n";
  }
  const std::string everything = folder.write("everything", all);
  EXPECT_EQ(with_status(1, convert(g2p, {"--keep-vocabulary", everything})).err,
      "goldcrest-convert: " + everything + ": keeps every entry of the vocabulary; convert without it\n");
}

TEST_F(MakeShortlist, TellsHowItDoesOnLinesThatItHasNotSeen) {
  const std::string text = folder.write("text", validation_lines("g2p", 200, false));
  const nlohmann::json made = report_of(
      checkpoint_folder("g2p"), {"--make-shortlist", text, "--shortlist-always", "10", "--shortlist-best", "5"})
                                  .at("made_shortlist");
  EXPECT_EQ(made.at("pairs"), 180);
  EXPECT_EQ(made.at("own_translations").at("lines"), 20);
  EXPECT_GT(made.at("own_translations").at("covered_ids"), 0.9);
  EXPECT_GE(made.at("mean_candidates"), 10);
  EXPECT_LE(made.at("most_candidates"), 73);
  EXPECT_FALSE(made.contains("given_targets"));
  EXPECT_LE(made.at("ids"), 10 + 5 * 31);
}

TEST_F(MakeShortlist, OfParallelTextMeasuresBoth) {
  const std::string text = folder.write("text", validation_lines("enfr", 100, true));
  const Outcome outcome = with_status(0, convert(checkpoint_folder("enfr"), {"--make-shortlist", text}));
  EXPECT_TRUE(has(outcome.out, "\nshortlist    made from "));
  EXPECT_TRUE(has(outcome.out, " of the ids of the model's own translations\n"));
  EXPECT_TRUE(has(outcome.out, " of the ids of the given targets\n"));
  EXPECT_TRUE(has(outcome.out, " of 10 lines whole ("));
}

TEST_F(MakeShortlist, LinesThatCannotBeTranslatedAreLeftOut) {
  std::string lines = validation_lines("g2p", 30, false) + std::string(100, 'x') + "\n";
  const std::string text = folder.write("text", lines);
  const Outcome outcome = with_status(0, convert(checkpoint_folder("g2p"), {"--make-shortlist", text}));
  EXPECT_TRUE(has(outcome.err, "warning: " + text + ": 1 of 31 sources cannot be translated; the first: "));
  std::string long_lines;
  for (char letter = 'a'; letter <= 'l'; ++letter) long_lines += std::string(100, letter) + "\n";
  const std::string too_long = folder.write("too_long", long_lines);
  const Outcome none = with_status(1, convert(checkpoint_folder("g2p"), {"--make-shortlist", too_long}));
  EXPECT_EQ(none.err, "goldcrest-convert: " + too_long + ": none of its lines could be translated\n");
}

TEST_F(MakeShortlist, ThereIsOneShortlist) {
  const Outcome both =
      with_status(2, convert(checkpoint_folder("g2p"), {"--make-shortlist", "text", "--shortlist", "lex.s2t"}));
  EXPECT_TRUE(
      has(both.err, "--shortlist excludes --make-shortlist") || has(both.err, "--make-shortlist excludes --shortlist"))
      << both.err;
}

TEST_F(MakeShortlist, IdsAreForModelsWithoutATokenizer) {
  const CheckpointCopy copy("g2p");
  std::string ids;
  for (int i = 0; i < 20; ++i) ids += std::to_string(4 + i) + " 5 2\t7 8 2\n";
  const std::string text = folder.write("text", ids);
  remove_tokenizer(copy);
  EXPECT_EQ(convert(copy.path(), {"--make-shortlist", text, "--ids"}).status, 0);
  const Outcome of_text = with_status(1, convert(copy.path(), {"--make-shortlist", text}));
  EXPECT_EQ(of_text.err, "goldcrest-convert: " + copy.path().string() +
                             ": has no tokenizer of both sides; with --ids, --make-shortlist reads token ids\n");
  const Outcome kept = with_status(1, convert(copy.path(), {"--keep-vocabulary", text}));
  EXPECT_EQ(kept.err, "goldcrest-convert: " + copy.path().string() +
                          ": has no tokenizer of both sides, so its entries have no texts to keep them by\n");
}

// Shortlists through the programs: found, named, turned off, reported, evaluated.

const NativeShape kShape = {40, 16, 32, 2, 1, 1, true};

// A model of 40 words. The list of each word, except the first two, contains one other word.
void write_model(const TemporaryFolder& folder) {
  std::string vocabulary = "</s>: 0\n<unk>: 1\n";
  for (int id = 2; id < 40; ++id) vocabulary += "word" + std::to_string(id) + ": " + std::to_string(id) + "\n";
  folder.write("vocab.yml", vocabulary);
  folder.write("decoder.yml", "models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\nbeam-size: 1\nnormalize: 1\n");
  folder.write("model.npz", npz_bytes(native_tensors(kShape, 1), native_settings(kShape)));
  BinaryLists lists{3, {0, 0, 0}, {}};
  for (uint32_t id = 2; id < 40; ++id) {
    lists.ids.push_back(41 - id);
    lists.offsets.push_back(lists.ids.size());
  }
  folder.write("lex.s2t.bin", lists.bytes());
}

constexpr const char* kLines = "word3 word7\nword9\n";

std::string translated(const std::filesystem::path& model, const Arguments& options) {
  return with_status(0, translate_with(model, concat({"--tokens", "--max-target", "20"}, options), kLines)).out;
}

TEST_F(Shortlist, IsUsedUnlessItIsTurnedOff) {
  write_model(folder);
  const auto file = folder / "listed.gcst", plain = folder / "plain.gcst";
  const Outcome converted = run(convert_program(), {"--verbose", folder.path(), "-o", file});
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_TRUE(has(converted.out,
      "shortlist 250 bytes: 3 ids of every sentence, 0.9 of a source id (mean), 0 n-grams (the engine needs "
      "GOLDCREST_SHORTLIST)\n"))
      << converted.out;
  EXPECT_TRUE(has(converted.out, ", K = 48 (the multiple of 16 above 41 candidates)")) << converted.out;
  ASSERT_EQ(convert(folder.path(), {"-o", plain, "--shortlist", "none"}).status, 0);

  const std::string listed = translated(file, {}), whole = translated(plain, {});
  EXPECT_NE(listed, whole);
  EXPECT_EQ(translated(file, {"--no-shortlist"}), whole);
  EXPECT_EQ(translated(file, {"--max-candidates", "1"}), whole);
  EXPECT_EQ(translated(file, {"--max-candidates", "5"}), listed);
  // The ids 0, 1, 2, and the list of 3 and 7, or of 9.
  const std::string allowed[] = {"38", "34", "32"};
  for (size_t at = 0; at < listed.size();) {
    const size_t end = listed.find_first_of(" \n", at);
    const std::string id = listed.substr(at, end - at);
    EXPECT_TRUE(id == "0" || id == "2" || std::find(allowed, allowed + 3, id) != allowed + 3) << id;
    at = end + 1;
  }

  const Outcome inspected = run(inspect_program(), {file, "--self-test"});
  EXPECT_EQ(inspected.status, 0) << inspected.out;
  EXPECT_TRUE(has(inspected.out,
      "shortlist    250 bytes: 3 ids of every sentence, 0.9 of a source id (mean), 0 n-grams\n"
      "             a source with more than 41 candidates is searched among all ids\n"))
      << inspected.out;
  EXPECT_FALSE(has(run(inspect_program(), {plain}).out, "shortlist"));
}

// Tests K in the printed formula.
TEST_F(Shortlist, TheArenasFormulaCountsCandidates) {
  write_model(folder);
  const auto file = folder / "listed.gcst";
  ASSERT_EQ(convert(folder.path(), {"-o", file}).status, 0);
  goldcrest_limits limits = {.max_source_tokens = 8,
      .max_source_bytes = 50,
      .max_target_tokens = 9,
      .beam_size = 3,
      .batch = 2,
      .encoder_rows = 4,
      .threads = 1};
  for (const uint32_t candidates : {1u, 16u, 17u, 41u}) {
    limits.max_candidates = candidates;
    const Outcome outcome = run(inspect_program(),
        {file, "--map", "--max-source", "8", "--max-source-bytes", "50", "--max-target", "9", "--beam-size", "3",
            "--batch", "2", "--encoder-rows", "4", "--max-candidates", std::to_string(candidates)});
    const std::string bytes = std::to_string(ArenaFormula(outcome.out).evaluate(limits));
    EXPECT_TRUE(has(outcome.out, "arena        " + bytes + " bytes for ")) << outcome.out;
  }
}

TEST_F(Shortlist, AnotherCanBeNamed) {
  write_model(folder);
  folder.write("vmap.txt", "\t</s> word2\nword3 word7\tword30 word31\nword9\tword32 nothing\n");
  const auto file = folder / "a.gcst";
  const Outcome converted = convert(folder.path(), {"-o", file, "--shortlist", folder / "vmap.txt", "--json"});
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(converted.err, "goldcrest-convert: warning: " + (folder / "vmap.txt").string() +
                               ": 0 of its lines and 1 of its candidates are not of this model's vocabularies\n"
                               "goldcrest-convert: 1 warning\n");
  EXPECT_TRUE(has(converted.out, "\"ngrams\": 1")) << converted.out;
  const std::string listed = translated(file, {});
  EXPECT_EQ(listed.find_first_not_of("0123456789 \n"), std::string::npos);
  EXPECT_NE(listed, translated(file, {"--no-shortlist"}));
}

TEST_F(Shortlist, IsEvaluated) {
  write_model(folder);
  folder.write("lines.tsv", kLines);
  const std::vector<std::string> arguments = {
      "-q", folder.path(), "--evaluate", folder / "lines.tsv", "--max-target", "20", "--max-candidates", "4"};
  const Outcome evaluated = run(convert_program(), arguments);
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  // The second line's candidates are the end, 1, 2 and 32.
  EXPECT_TRUE(has(evaluated.out,
      "shortlist: 4.0 candidates (mean), 4 (most), 1 lines with the whole vocabulary; against the whole vocabulary 1 "
      "lines identical (50.00 %), token agreement "))
      << evaluated.out;
}

TEST_F(Shortlist, Refusals) {
  write_model(folder);
  const std::string input = folder.path().string();
  const auto refuse = [](const std::vector<std::string>& arguments, int status, const std::string& message) {
    const Outcome outcome = run(convert_program(), arguments);
    EXPECT_EQ(outcome.status, status) << message;
    EXPECT_EQ(outcome.err, "goldcrest-convert: " + message + "\n");
  };
  refuse({"-q", input, "--max-candidates", "42"}, 1,
      input + ": --max-candidates is 42; expected 1 to 41, the target's vocabulary");
  refuse({"-q", input, "--max-candidates", "5", "--shortlist", "none"}, 1,
      input + ": --max-candidates is 5, but the model has neither a shortlist nor a lexicon; leave it out");
  folder.write("lex.txt", "a b\n");
  refuse({"-q", input, "--shortlist", folder / "lex.txt"}, 1,
      (folder / "lex.txt").string() + ":1: has 2 words, expected three: target, source, probability");
  const Outcome both =
      with_status(2, run(translate_program(), {"x.gcst", "--no-shortlist", "--max-candidates", "3"}, {.input = "\n"}));
  EXPECT_TRUE(has(both.err, "--max-candidates excludes --no-shortlist") ||
              has(both.err, "--no-shortlist excludes --max-candidates"))
      << both.err;
}
}}  // namespace goldcrest::test
