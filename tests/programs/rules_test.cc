// SPDX-License-Identifier: Apache-2.0
// Rules of the search through the programs: a file with rules, and goldcrest-translate's options for a file without.
// Lexicons: of a file, and of goldcrest-translate.
#include "convert/support/ctranslate2_folder.h"
#include "convert/support/shipped_model.h"
#include "convert/support/toolkit_folder.h"
#include "converter/file/write.h"
#include "programs/checkpoint_copy.h"

namespace goldcrest::test { namespace {
using ProgramLexicons = InFolder;
using Rules = InFolder;

const std::string kLetters = "mississippi\nbarbarossa\nwren\nx\n";

Outcome translate(const std::string& model, const Arguments& options) {
  return translate_with(model, options, kLetters);
}

std::string model_with(const TemporaryFolder& folder, const converter::RulesSpec& rules) {
  converter::ModelSpec spec = shipped_model("g2p").spec;
  spec.generation.rules = rules;
  std::string path = folder / "rules.gcst";
  converter::write_file(path, converter::assemble(converter::build_payload(spec, {}), {}).span());
  return path;
}

TEST_F(Rules, OptionsAreTheFilesRules) {
  const std::string plain = converted_model("g2p").string();
  // Masks of early ends and of the last position have something to do.
  const Arguments beams = {"--beam-size", "4", "--n-best", "4", "--scores", "--min-target", "4", "--max-target", "6"};
  const std::string before = translate(plain, beams).out;
  const std::tuple<Arguments, Arguments, converter::RulesSpec> cases[] = {
      {{"--length-penalty-kind", "wu"}, {"--length-penalty-kind", "power"},
          {.length_penalty_kind = GOLDCREST_LENGTH_WU}},
      {{"--early-stopping", "true"}, {"--early-stopping", "false"}, {.early_stopping = GOLDCREST_STOP_FULL}},
      {{"--renormalize"}, {"--no-renormalize"}, {.renormalize = true}},
      {{"--no-force-end"}, {"--force-end"}, {.force_end = false}},
      {{"--no-repeat-ngram", "1"}, {"--no-repeat-ngram", "0"}, {.no_repeat_ngram = 1}},
      {{"--max-extra", "1"}, {"--max-extra", "0"}, {.max_extra_tokens = 1}},
      {{"--max-length-factor", "0.5"}, {"--max-length-factor", "0"}, {.max_length_factor = 0.5f}},
      {{"--repetition-penalty", "3"}, {"--repetition-penalty", "1"}, {.repetition_penalty = 3}}};
  for (const auto& [set, unset, rules] : cases) {
    SCOPED_TRACE(set[0]);
    const std::string file = model_with(folder, rules);
    const Outcome of_file = with_status(0, translate(file, beams));
    EXPECT_EQ(of_file.out, with_status(0, translate(plain, concat(beams, set))).out);
    if (rules.early_stopping == GOLDCREST_STOP_LIKELY) {
      EXPECT_NE(of_file.out, before) << "the rule changes something";
    }
    EXPECT_EQ(translate(file, concat(beams, unset)).out, before);
  }
}

// --evaluate searches a float32 file with the engine, and the checkpoint with the reference.
TEST_F(Rules, ReferenceAndEngineAgree) {
  const std::filesystem::path words = folder.write("words", kLetters);
  for (const char* rules : {R"({"repetition_penalty": 1.3, "no_repeat_ngram": 2, "renormalize": true})",
           R"({"early_stopping": "never", "force_end": false, "max_extra_tokens": 1})",
           R"({"length_penalty_kind": "wu", "more_end_tokens": ["Z"], "token_biases": [["T", 0.5]]})"}) {
    for (const uint32_t beam_size : {1u, 4u}) {
      const CheckpointCopy checkpoint("g2p");
      checkpoint.edit("config.json", [&](nlohmann::json& config) {
        config.update(nlohmann::json::parse(rules));
        config["beam_size"] = beam_size;
      });
      const Outcome outcome = run(convert_program(), {checkpoint.path(), "-q", "--json", "--weights", "float32",
                                                         "--evaluate", words, "-o", folder / "model.gcst"});
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      const nlohmann::json report = nlohmann::json::parse(outcome.out);
      EXPECT_EQ(report.at("evaluation").at("lines"), 4);
      EXPECT_EQ(report.at("evaluation").at("identical_lines"), 4) << rules;
    }
  }
}

TEST_F(Rules, BadOptionsAreBadUsage) {
  const std::string model = converted_model("g2p").string();
  for (const Arguments& options : {Arguments{"--early-stopping", "maybe"}, Arguments{"--length-penalty-kind", "gnmt"},
           Arguments{"--repetition-penalty", "0"}, Arguments{"--max-length-factor", "-1"},
           Arguments{"--no-repeat-ngram", "-1"}}) {
    const Outcome outcome = translate(model, options);
    EXPECT_EQ(outcome.status, 2) << options[0];
    EXPECT_TRUE(has(outcome.err, options[0]));
  }
}

TEST_F(Rules, InspectNamesThem) {
  const converter::RulesSpec rules = {.renormalize = true,
      .force_end = false,
      .early_stopping = GOLDCREST_STOP_NEVER,
      .length_penalty_kind = GOLDCREST_LENGTH_WU,
      .no_repeat_ngram = 3,
      .max_extra_tokens = 50,
      .max_length_factor = 2.5f,
      .repetition_penalty = 1.5f,
      .more_end_ids = {7, 9},
      .biases = {{4, -1.0f}}};
  const Outcome outcome = with_status(0, run(inspect_program(), {model_with(folder, rules)}));
  EXPECT_TRUE(has(outcome.out,
      "rules        soft-max of what may be chosen, no forced end, early stopping never, length "
      "penalty of ((5 + n) / 6), no 3-gram twice, at most 50 tokens more than the source, at most 2.5 "
      "times the source's tokens, repetition penalty 1.5, 2 more end ids, 1 biased ids\n"));
  EXPECT_FALSE(has(run(inspect_program(), {converted_model("g2p").string()}).out, "rules"));
}

// The searches that files of CTranslate2's and fairseq's models have without options, and the options that change them.

const Arguments kPlain = {"--early-stopping", "false", "--no-renormalize", "--force-end"};

struct Converted {
  Outcome outcome;
  std::string rules;  // the line of goldcrest-inspect, or ""
};

std::string rules_of(const std::string& file) {
  const std::string out = run(inspect_program(), {file}).out;
  const size_t begin = out.find("\nrules ");
  return begin == std::string::npos ? "" : out.substr(begin + 1, out.find('\n', begin + 1) - begin - 1);
}

Converted convert_to(const std::string& checkpoint, const std::string& file, const Arguments& options) {
  const Arguments common = {checkpoint, "--verbose", "-o", file};
  const Outcome outcome = with_status(0, run(convert_program(), concat(common, options)));
  return {outcome, rules_of(file)};
}

TEST(SearchDefaults, CTranslate2DirectoriesHaveItsThreeRules) {
  const CTranslate2Folder checkpoint;
  checkpoint.write();
  const std::string folder = checkpoint.folder.path(), file = checkpoint.file("model.gcst");
  const Converted usual = convert_to(folder, file, {});
  EXPECT_EQ(usual.rules, "rules        soft-max of what may be chosen, no forced end, early stopping");
  EXPECT_TRUE(has(usual.outcome.out,
      "\nrules    soft-max of what may be chosen, no forced end, early stopping (the engine needs GOLDCREST_SEARCH; a "
      "file without rules: --early-stopping false --no-renormalize --force-end)\n"));
  EXPECT_FALSE(has(usual.outcome.err, "GOLDCREST_SEARCH"));

  EXPECT_EQ(
      convert_to(folder, file, {"--force-end"}).rules, "rules        soft-max of what may be chosen, early stopping");
  EXPECT_EQ(convert_to(folder, file, {"--no-renormalize"}).rules, "rules        no forced end, early stopping");
  EXPECT_EQ(convert_to(folder, file, {"--early-stopping", "never"}).rules,
      "rules        soft-max of what may be chosen, no forced end, early stopping never");
  const Converted plain = convert_to(folder, file, kPlain);
  EXPECT_EQ(plain.rules, "");
  EXPECT_FALSE(has(plain.outcome.out, "GOLDCREST_SEARCH"));
}

TEST(SearchDefaults, FairseqStopsWhenBeamsAreFull) {
  ToolkitFolder checkpoint({.is_fairseq = true});
  checkpoint.write();
  const std::string weights = checkpoint.weights(), file = checkpoint.folder / "model.gcst";
  const Converted usual = convert_to(weights, file, {});
  EXPECT_EQ(usual.rules, "rules        early stopping");
  EXPECT_TRUE(has(usual.outcome.out,
      "\nrules    early stopping (the engine needs GOLDCREST_SEARCH; a file without rules: --early-stopping "
      "false)\n"));
  EXPECT_EQ(convert_to(weights, file, {"--early-stopping", "0"}).rules, "");
  EXPECT_EQ(convert_to(weights, file, kPlain).rules, "");
  EXPECT_EQ(convert_to(weights, file, {"--early-stopping", "1", "--renormalize"}).rules,
      "rules        soft-max of what may be chosen, early stopping");
}

TEST(SearchDefaults, AWarningTellsFirmwareHowToDoWithoutThem) {
  const CTranslate2Folder checkpoint;
  checkpoint.write();
  const std::string folder = checkpoint.folder.path(), file = checkpoint.file("model.gcst");
  const std::string warning =
      "goldcrest-convert: warning: the file needs what firmware leaves out by default: build it with -D "
      "GOLDCREST_SEARCH=ON; a file without rules of the search: --early-stopping false --no-renormalize --force-end\n";
  for (const Arguments& options : {Arguments{"--emit-c", checkpoint.file("c")}, Arguments{"--board", "all"}}) {
    EXPECT_TRUE(has(convert_to(folder, file, options).outcome.err, warning)) << options[0];
    EXPECT_FALSE(has(convert_to(folder, file, concat(options, kPlain)).outcome.err, "GOLDCREST_SEARCH")) << options[0];
    // The same of a model file.
    for (const Arguments& rules : {Arguments{}, kPlain}) {
      convert_to(folder, file, rules);
      const Outcome outcome = with_status(0, run(convert_program(), concat({file}, options)));
      EXPECT_EQ(outcome.err.find(warning) != std::string::npos, rules.empty()) << outcome.err;
    }
  }
}

TEST(SearchDefaults, OptionsAreNamedOnlyWhereTheyRemoveAllRules) {
  const TemporaryFolder folder;
  const std::string file = folder / "model.gcst";
  const std::string warning =
      "goldcrest-convert: warning: the file needs what firmware leaves out by default: build it with -D "
      "GOLDCREST_SEARCH=ON\n";
  for (const char* rules : {R"({"no_repeat_ngram": 2, "early_stopping": true})", R"({"token_biases": [["T", 0.5]]})"}) {
    const CheckpointCopy checkpoint("g2p");
    checkpoint.edit("config.json", [&](nlohmann::json& config) { config.update(nlohmann::json::parse(rules)); });
    const Outcome of_checkpoint = convert_to(checkpoint.path(), file, {"--board", "all"}).outcome;
    EXPECT_TRUE(has(of_checkpoint.err, warning));
    EXPECT_TRUE(has(of_checkpoint.out, " (the engine needs GOLDCREST_SEARCH)\n"));
    const Outcome of_file = run(convert_program(), {file, "--board", "all"});
    EXPECT_TRUE(has(of_file.err, warning));
  }
}

// T5's sentinels are added tokens; one that takes white space needs the engine's second option.
TEST(Board, AllOptionsThatAFileNeedsAreNamed) {
  for (const bool strips : {false, true}) {
    const CheckpointCopy checkpoint("g2p-bytes");
    const nlohmann::json token = {{"content", "<extra_id_41>"}, {"lstrip", strips}, {"normalized", false}};
    std::ofstream(checkpoint.path() / "tokenizer_config.json")
        << nlohmann::json{{"tokenizer_class", "ByT5Tokenizer"}, {"added_tokens_decoder", {{"300", token}}}};
    const Outcome outcome = with_status(0, run(convert_program(), {checkpoint.path(), "-q", "--board", "mps3-an547"}));
    EXPECT_TRUE(has(outcome.err, std::string("build it with -D GOLDCREST_LAYERS=ON -D GOLDCREST_TEXT=ON") +
                                     (strips ? " -D GOLDCREST_ADDED_WORDS=ON\n" : "\n")));
  }
}

TEST(SearchDefaults, BadChoicesAreBadUsage) {
  for (const char* word : {"2", "maybe", "likely"}) {
    const Outcome outcome = run(convert_program(), {checkpoint_folder("g2p"), "--early-stopping", word});
    EXPECT_EQ(outcome.status, 2) << word;
    EXPECT_TRUE(has(outcome.err, "--early-stopping"));
  }
  for (const std::string rule : {"renormalize", "force-end"}) {
    const std::string yes = "--" + rule, no = "--no-" + rule;
    EXPECT_EQ(run(convert_program(), {checkpoint_folder("g2p"), yes, no}).status, 2) << rule;
    EXPECT_EQ(run(translate_program(), {converted_model("g2p"), yes, no}).status, 2) << rule;
  }
  const Outcome outcome = with_status(2, run(convert_program(), {converted_model("g2p"), "--no-renormalize"}));
  EXPECT_TRUE(has(outcome.err, "--no-renormalize works on a checkpoint, not on a .gcst file"));
}

// Writes the model of g2p with a lexicon to model.gcst. Returns what the converter says on stderr.
std::string convert_lexicon(const TemporaryFolder& folder, const std::string& lines, const Arguments& more) {
  const Arguments common = {"-o", folder / "model.gcst", "--lexicon", folder.write("lines", lines)};
  return with_status(0, convert(checkpoint_folder("g2p"), concat(common, more))).err;
}

// Expects that a program translates words to these texts.
void expect_texts(const Arguments& arguments, const std::string& words, const std::string& texts) {
  EXPECT_EQ(with_status(0, run(translate_program(), arguments, {.input = words})).out, texts) << arguments.back();
}

const std::string kColours = "R EH1 D\r\n\nB L UW1\n \t\nG R IY1 N\nB L AE1 K";  // ends of lines of both kinds

TEST_F(ProgramLexicons, GiveTheirTextsOnly) {
  const std::string model = folder / "model.gcst", lines = folder / "lines";
  EXPECT_EQ(convert_lexicon(folder, kColours, {}), "");
  const std::string words = "read\nbluish\ngreens\n", texts = "R EH1 D\nB L UW1\nG R IY1 N\n";
  expect_texts({model}, words, texts);
  expect_texts({converted_model("g2p"), "--lexicon", lines}, words, texts);
  expect_texts({converted_model("g2p"), "--lexicon", lines, "--max-candidates", "1"}, words, texts);
  const std::string ids = folder.write("ids", "5 6\n7\n");
  const Arguments arguments = {converted_model("g2p"), "--ids", "--lexicon", ids};
  const std::vector<std::string> found = lines_of(run(translate_program(), arguments, {.input = "5 6 7 2\n9 2\n"}).out);
  ASSERT_EQ(found.size(), 2u);
  for (const std::string& line : found) EXPECT_TRUE(line == "5 6 2" || line == "7 2") << line;
}

TEST_F(ProgramLexicons, OfWordsGiveThemOneAfterAnother) {
  const std::string model = folder / "model.gcst", lines = folder / "lines";
  EXPECT_EQ(convert_lexicon(folder, kColours, {"--lexicon-words", "--max-candidates", "2"}),
      "goldcrest-convert: warning: " + lines +
          ": its entries begin with 3 different ids, more than the 2 of --max-candidates: all outputs are computed at "
          "the first position\ngoldcrest-convert: 1 warning\n");
  EXPECT_EQ(convert_lexicon(folder, kColours, {"--lexicon-words", "--max-candidates", "3"}), "");
  const std::string words = "red\nredblackgreen\n", texts = "R EH1 D\nR EH1 D B L AE1 K G R IY1 N\n";
  expect_texts({model}, words, texts);
  expect_texts({converted_model("g2p"), "--lexicon", lines, "--lexicon-words"}, words, texts);
  // The caller's lexicon replaces the file's.
  expect_texts({model, "--lexicon", lines}, "greens\n", "G R IY1 N\n");
}

TEST_F(ProgramLexicons, LinesThatCannotBeTakenAreNamed) {
  const std::string model = folder.write("model.gcst", "an earlier file"), lines = folder / "lines";
  const auto refuse = [&](const std::string& text, const Arguments& more, const std::string& convert,
                          const std::string& translate) {
    folder.write("lines", text);
    const Arguments options = concat({"--lexicon", lines}, more);
    const Outcome converted = with_status(1, test::convert(checkpoint_folder("g2p"), concat(options, {"-o", model})));
    EXPECT_EQ(converted.err, "goldcrest-convert: " + lines + convert + "\n");
    const Outcome of_translate = with_status(1, test::translate("g2p", options, "red\n"));
    EXPECT_EQ(of_translate.err, "goldcrest-translate: " + lines + translate + "\n");
    EXPECT_EQ(of_translate.out, "");
    EXPECT_EQ(read_file(model), "an earlier file");
    EXPECT_EQ(files_in(folder.path()), 2u);
  };
  refuse("R EH1 D\n\nR EH1 XX\n", {},
      ":3: the target vocabulary has no pieces for \"R EH1 XX\"; each entry must be cut without unknown ids",
      ": line 3: the model's vocabulary has no pieces for \"R EH1 XX\"");
  refuse("R\nEH1\xff\n", {},
      ":2: the target vocabulary has no pieces for \"EH1\\xff\"; each entry must be cut without unknown ids",
      ": line 2: not UTF-8 at byte 4");
  refuse("5 6\n5 73\n", {"--ids"}, ":2: '73' is not a token id; expected numbers below 73, separated by spaces",
      ": line 2: id 73 is outside the vocabulary of 73");
  refuse("5 x\n", {"--ids"}, ":1: 'x' is not a token id; expected numbers below 16777216, separated by spaces",
      ": line 1: not a token id: x");
  refuse("\n \n", {}, ": no entries; expected one text a line", ": no entries; expected one text a line");
}

TEST_F(ProgramLexicons, BadUsage) {
  const std::string lines = folder.write("lines", kColours), none = folder / "none", g2p = checkpoint_folder("g2p");
  const auto refuse = [](const std::filesystem::path& program, const Arguments& arguments, int status,
                          const std::string& message) {
    const Outcome outcome = run(program, arguments);
    EXPECT_EQ(outcome.status, status) << message;
    EXPECT_EQ(outcome.err.substr(0, outcome.err.find('\n')), program.filename().string() + ": " + message);
  };
  refuse(convert_program(), {g2p, "--lexicon", lines, "-o", lines}, 2,
      lines + ": is an input, and -o would overwrite it; give another name");
  refuse(convert_program(), {g2p, "--lexicon-words"}, 2, "--lexicon-words requires --lexicon");
  refuse(convert_program(), {converted_model("g2p"), "--lexicon", lines}, 2,
      converted_model("g2p").string() + ": --lexicon works on a checkpoint, not on a .gcst file; give the checkpoint");
  refuse(convert_program(), {g2p, "-q", "--lexicon", none}, 1,
      none + ": cannot be opened for reading; expected one text a line");
  refuse(translate_program(), {converted_model("g2p"), "--lexicon-words"}, 2, "--lexicon-words requires --lexicon");
  refuse(translate_program(), {converted_model("g2p"), "--lexicon", lines, "--score", lines}, 2,
      "--score excludes --lexicon");
  refuse(translate_program(), {converted_model("g2p"), "--lexicon", none}, 1,
      none + ": cannot be read: No such file or directory");
  EXPECT_EQ(read_file(lines), kColours);
  EXPECT_EQ(files_in(folder.path()), 1u);
}
}}  // namespace goldcrest::test
