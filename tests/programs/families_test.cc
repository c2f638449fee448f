// SPDX-License-Identifier: Apache-2.0
// Runs the commands of HUGGING_FACE.md on small checkpoints of the families, and the options that only these use.
#include "convert/support/sample_folder.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Languages = InFolder;

const std::filesystem::path& bart_relatives() {
  static const PackedFolders unpacked(recorded("families.json"));
  return unpacked.path();
}

const std::filesystem::path& t5_relatives() {
  static const PackedFolders unpacked(recorded("t5.json")["folders"]);
  return unpacked.path();
}

// The checkpoints that the page names, and the small ones that stand in for them.
std::map<std::string, std::filesystem::path> stand_ins() {
  const std::filesystem::path &bart = bart_relatives(), &t5 = t5_relatives();
  return {{"nllb-200-distilled-600M", bart / "nllb"}, {"m2m100_418M", bart / "m2m100"},
      {"mbart-large-50-many-to-many-mmt", bart / "mbart50"}, {"mbart-large-cc25", bart / "mbart"},
      {"bart-large-cnn", bart / "bart"}, {"pegasus-xsum", bart / "pegasus"},
      {"blenderbot-400M-distill", bart / "blenderbot"}, {"wmt19-en-de", bart / "fsmt"}, {"t5-small", t5 / "t5-0"},
      {"flan-t5-small", t5 / "flan-0"}, {"mt5-small", t5 / "mt5-0"}, {"umt5-small", t5 / "umt5-0"},
      {"byt5-small", t5 / "byt5-0"}, {"madlad400-3b-mt", t5 / "madlad-0"}};
}

std::string name_of_output(const std::string& command) {
  std::istringstream words(command);
  for (std::string word; words >> word;)
    if (word == "-o" && words >> word) return word;
  return "";
}

std::string convert_quietly(
    const std::filesystem::path& checkpoint, const TemporaryFolder& folder, const Arguments& options) {
  const std::string file = folder / "model.gcst";
  with_status(0, convert(checkpoint, concat({"-o", file}, options)));
  return file;
}

std::string encode(const std::string& file, const std::string& text) {
  return with_status(0, translate_with(file, {"--encode"}, text + "\n")).out;
}

TEST(HuggingFacePage, EachCommandMakesAFileThatTranslates) {
  const TemporaryFolder folder;
  const std::map<std::string, std::filesystem::path> checkpoints = stand_ins();
  for (const auto& [name, checkpoint] : checkpoints)
    std::filesystem::create_directory_symlink(checkpoint, folder.path() / name);
  const std::string path = convert_program().parent_path(), translate_path = translate_program().parent_path();
  std::map<std::string, int> named;
  int n_translated = 0;
  for (const std::string& command : commands_of("converter/dialects/HUGGING_FACE.md")) {
    const Outcome outcome = run("/bin/sh", {"-c", "PATH=\"" + path + ":" + translate_path + ":$PATH\" " + command},
        {.input = "We are not here.\n", .folder = folder.path()});
    ASSERT_EQ(outcome.status, 0) << command << "\n" << outcome.err;
    if (command.starts_with("goldcrest-translate ")) {
      EXPECT_FALSE(outcome.out.empty()) << command;
      ++n_translated;
      continue;
    }
    const std::string file = folder / name_of_output(command);
    const std::string inspected = run(inspect_program(), {file}).out;
    Arguments options = {"--ids"};  // a file with a table of targets needs one
    if (inspected.find("\ntargets ") != std::string::npos)
      options.insert(
          options.end(), {"--target-lang", command.find("mbart") != std::string::npos ? "de_DE" : "fra_Latn"});
    const Outcome found = translate_with(file, options, "5 7 2\n");
    EXPECT_EQ(found.status, 0) << command << "\n" << found.err;
    EXPECT_FALSE(found.out.empty()) << command;
    for (const auto& [name, checkpoint] : checkpoints)
      named[name] += command.find(" " + name + " ") != std::string::npos;
  }
  EXPECT_EQ(n_translated, 2);
  for (const auto& [name, n] : named) EXPECT_EQ(n, name.starts_with("nllb") ? 2 : 1) << name;
}

// A BART of misaki's, with words and the phonemes that transformers gives them (tests/peers/families.py --record).
TEST(Misaki, WordsHaveThePhonemesOfTransformers) {
  const TemporaryFolder folder;
  const std::filesystem::path checkpoint = bart_relatives() / "misaki";
  std::string words, phonemes;
  for (const std::string& line : lines_of(read_file(checkpoint / "words.tsv"))) {
    words += line.substr(0, line.find('\t')) + "\n";
    phonemes += line.substr(line.find('\t') + 1) + "\n";
  }
  EXPECT_EQ(std::ranges::count(words, '\n'), 200);
  const std::string file = convert_quietly(checkpoint, folder, {"--weights", "float32"});
  EXPECT_EQ(with_status(0, translate_with(file, {"--no-split"}, words)).out, phonemes);
}

TEST(Misaki, RefusesListsThatDoNotFitTheTables) {
  const FolderCopy copy(bart_relatives() / "misaki");
  for (const size_t n : {4, 63}) {
    copy.set("config.json", "phoneme_chars", std::string(n, 'a'));
    EXPECT_EQ(with_status(1, run(convert_program(), {"-q", copy.path()})).err,
        "goldcrest-convert: " + (copy.path() / "config.json").string() + ": setting \"phoneme_chars\" has " +
            std::to_string(n) +
            " characters, expected four special ones and others, at most 62, the rows of the tables\n");
  }
}

TEST_F(Languages, AnUnknownOrMissingNameIsAnsweredWithTheModelsNames) {
  const std::string file = convert_quietly(bart_relatives() / "nllb", folder, {});
  const auto message = [&](const Arguments& options) {
    return with_status(1, translate_with(file, options, "We\n")).err;
  };
  const std::string all = "\"deu_Latn\", \"eng_Latn\", \"fra_Latn\"", begin = "goldcrest-translate: " + file + ": ";
  EXPECT_EQ(message({}), begin + "--source-lang is missing: the model has several source languages: " + all + "\n");
  EXPECT_EQ(message({"--source-lang", "eng_Latn"}),
      begin + "--target-lang is missing: the model has several target languages: " + all + "\n");
  EXPECT_EQ(
      message({"--ids"}), begin + "--target-lang is missing: the model has several target languages: " + all + "\n");
  EXPECT_EQ(message({"--source-lang", "eng_Latm", "--target-lang", "fra_Latn"}),
      begin + "--source-lang \"eng_Latm\": the model's source languages are " + all + "; did you mean \"eng_Latn\"?\n");
  const Outcome inspected = run(inspect_program(), {file, "--self-test"});
  EXPECT_TRUE(has(inspected.out, "sources      3: deu_Latn eng_Latn fra_Latn\ntargets      3: deu_Latn"));
  EXPECT_TRUE(has(inspected.out, "self-test    passed"));
}

// A file of a pair gives the ids of the table's file with that pair; a file of two languages has only these.
TEST_F(Languages, FilesOfOnePairGiveTheTablesIds) {
  struct Case {
    const char *family, *source, *target;
  };
  for (const Case& c : {Case{"nllb", "eng_Latn", "deu_Latn"}, Case{"m2m100", "fr", "en"},
           Case{"mbart50", "en_XX", "fr_XX"}, Case{"mbart", "de_DE", "en_XX"}}) {
    const TemporaryFolder table, pair;
    const Arguments languages = {"--source-lang", c.source, "--target-lang", c.target};
    const std::string several = convert_quietly(bart_relatives() / c.family, table, {});
    const std::string one = convert_quietly(bart_relatives() / c.family, pair, languages);
    const std::string text = "We are not here.\nWhere is the station?\nx\n";
    for (const char* beam : {"1", "4"}) {
      const Arguments fixed = {"--tokens", "--scores", "--beam-size", beam};
      const Outcome expected = with_status(0, translate_with(one, fixed, text));
      EXPECT_EQ(translate_with(several, concat(fixed, languages), text).out, expected.out) << c.family;
      EXPECT_EQ(lines_of(expected.out).size(), 3u);
    }
  }
}

TEST_F(Languages, AnEvaluationNeedsAPair) {
  const std::string lines = folder.write("lines.tsv", "We are\tNous\n");
  EXPECT_TRUE(has(with_status(1, convert(bart_relatives() / "nllb", {"--evaluate", lines})).err,
      "--source-lang and --target-lang are missing: this model has several source languages"));
}

TEST(SourcePrefix, ItsIdsStandBeforeThoseOfEverySource) {
  const TemporaryFolder plain, prefixed;
  const std::filesystem::path checkpoint = t5_relatives() / "flan-0";
  const std::string without = convert_quietly(checkpoint, plain, {});
  const std::string with = convert_quietly(checkpoint, prefixed, {"--source-prefix", "We are"});
  std::string prefix = encode(without, "We are");
  ASSERT_TRUE(prefix.ends_with(" 1\n")) << prefix;  // the end token
  prefix.resize(prefix.size() - 2);
  ASSERT_FALSE(prefix.empty());
  for (const char* text : {"not here.", "We", "x"})
    EXPECT_EQ(encode(with, text), prefix + encode(without, text)) << text;
}

TEST(SourcePrefix, AFileWithoutATokenizerHasNone) {
  const Outcome outcome = with_status(1, convert(bart_relatives() / "bart", {"--source-prefix", "We are"}));
  EXPECT_TRUE(has(outcome.err, "has no tokenizer for the text of --source-prefix"));
}

TEST(MaxPositions, AreTheMostIdsOfASource) {
  const TemporaryFolder folder;
  const std::string file = convert_quietly(t5_relatives() / "t5-0", folder, {"--max-positions", "9"});
  const Outcome fits = with_status(0, translate_with(file, {"--ids"}, "5 5 5 5 5 5 5 5 1\n"));
  const Outcome longer = with_status(3, translate_with(file, {"--ids"}, "5 5 5 5 5 5 5 5 5 1\n"));
  EXPECT_TRUE(has(longer.err, "10"));
  EXPECT_TRUE(has(longer.err, "9"));
  const Outcome none = with_status(2, convert(t5_relatives() / "t5-0", {"--max-positions", "0"}));
  EXPECT_TRUE(has(none.err, "--max-positions"));
}

// Returns the number after the first line that begins with `name`.
double number_of_line(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text))
    if (line.starts_with(name + " ")) return std::stod(line.substr(name.size()));
  ADD_FAILURE() << "no line \"" << name << "\" in " << text;
  return 0;
}

// The bytes of known models, whose files were converted once, for 128 source and target tokens.
TEST(Shape, KnownModelsHaveTheSizesOfTheirFiles) {
  const auto m2m = [](int vocab_size) {
    return R"({"model_type": "m2m_100", "d_model": 1024, "encoder_layers": 12, "decoder_layers": 12, "max_length": 200,
      "encoder_attention_heads": 16, "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
      "activation_function": "relu", "decoder_start_token_id": 2, "eos_token_id": 2, "vocab_size": )" +
           std::to_string(vocab_size) + "}";
  };
  const std::string t5 = R"({"model_type": "t5", "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6,
      "num_heads": 8, "decoder_start_token_id": 0, "eos_token_id": 1, "vocab_size": 32128, "max_length": 200})";
  struct Known {
    const char* name;
    std::string config;
    double file_megabytes;
    std::map<const char*, double> arena_megabytes;  // by beams
  };
  const Known models[] = {{"NLLB-600M", m2m(256206), 625.7, {{"4", 16.9}}},
      {"M2M-418M", m2m(128112), 493.0, {{"4", 16.9}}},
      {"NLLB-600M cut to 32,000 rows", m2m(32000), 393.4, {{"1", 6.7}, {"4", 16.8}}},
      {"T5-small", t5, 62, {{"1", 1.7}}}};
  for (const Known& known : models) {
    const TemporaryFolder folder;
    const std::string config = folder.write("config.json", known.config);
    for (const auto& [beams, megabytes] : known.arena_megabytes) {
      const Outcome outcome = run(
          convert_program(), {"--shape", config, "--max-source", "128", "--max-target", "128", "--beam-size", beams});
      ASSERT_EQ(outcome.status, 0) << known.name << ": " << outcome.err;
      EXPECT_NEAR(number_of_line(outcome.out, "file") / 1e6, known.file_megabytes, known.file_megabytes / 100)
          << known.name;
      EXPECT_NEAR(number_of_line(outcome.out, "arena") / 1e6, megabytes, megabytes / 100) << known.name << beams;
    }
  }
}
}}  // namespace goldcrest::test
