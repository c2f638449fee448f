// SPDX-License-Identifier: Apache-2.0
// The searches that files of CTranslate2's and fairseq's models have without options, and the options that change them.
#include <gtest/gtest.h>

#include "convert/support/ctranslate2_folder.h"
#include "convert/support/toolkit_folder.h"
#include "programs/checkpoint_copy.h"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

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

Converted convert(const std::string& checkpoint, const std::string& file, Arguments options) {
  options.insert(options.begin(), {checkpoint, "-o", file});
  const Outcome outcome = run(convert_program(), options);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return {outcome, rules_of(file)};
}

void expect_line(const Outcome& outcome, const std::string& line) {
  EXPECT_NE(outcome.out.find("\n" + line + "\n"), std::string::npos) << outcome.out;
}

TEST(SearchDefaults, CTranslate2DirectoriesHaveItsThreeRules) {
  const CTranslate2Folder checkpoint;
  checkpoint.write();
  const std::string folder = checkpoint.folder.path(), file = checkpoint.file("model.gcst");
  const Converted usual = convert(folder, file, {});
  EXPECT_EQ(usual.rules, "rules        soft-max of what may be chosen, no forced end, early stopping");
  expect_line(usual.outcome,
              "rules    soft-max of what may be chosen, no forced end, early stopping (the engine needs "
              "GOLDCREST_RULES; a file without rules: --early-stopping false --no-renormalize --force-end)");
  EXPECT_EQ(usual.outcome.err.find("GOLDCREST_RULES"), std::string::npos);

  EXPECT_EQ(convert(folder, file, {"--force-end"}).rules,
            "rules        soft-max of what may be chosen, early stopping");
  EXPECT_EQ(convert(folder, file, {"--no-renormalize"}).rules, "rules        no forced end, early stopping");
  EXPECT_EQ(convert(folder, file, {"--early-stopping", "never"}).rules,
            "rules        soft-max of what may be chosen, no forced end, early stopping never");
  const Converted plain = convert(folder, file, kPlain);
  EXPECT_EQ(plain.rules, "");
  EXPECT_EQ(plain.outcome.out.find("GOLDCREST_RULES"), std::string::npos) << plain.outcome.out;
}

TEST(SearchDefaults, FairseqStopsWhenBeamsAreFull) {
  ToolkitFolder checkpoint({.is_fairseq = true});
  checkpoint.write();
  const std::string weights = checkpoint.weights(), file = checkpoint.folder / "model.gcst";
  const Converted usual = convert(weights, file, {});
  EXPECT_EQ(usual.rules, "rules        early stopping");
  expect_line(
      usual.outcome,
      "rules    early stopping (the engine needs GOLDCREST_RULES; a file without rules: --early-stopping false)");
  EXPECT_EQ(convert(weights, file, {"--early-stopping", "0"}).rules, "");
  EXPECT_EQ(convert(weights, file, kPlain).rules, "");
  EXPECT_EQ(convert(weights, file, {"--early-stopping", "1", "--renormalize"}).rules,
            "rules        soft-max of what may be chosen, early stopping");
}

TEST(SearchDefaults, AWarningTellsFirmwareHowToDoWithoutThem) {
  const CTranslate2Folder checkpoint;
  checkpoint.write();
  const std::string folder = checkpoint.folder.path(), file = checkpoint.file("model.gcst");
  const std::string warning =
      "goldcrest-convert: warning: the file has rules of the search, which firmware leaves out by default: build it "
      "with -D GOLDCREST_RULES=ON, or convert the checkpoint with --early-stopping false --no-renormalize "
      "--force-end\n";
  for (const Arguments& options : {Arguments{"--emit-c", checkpoint.file("c")}, Arguments{"--board", "all"}}) {
    EXPECT_NE(convert(folder, file, options).outcome.err.find(warning), std::string::npos) << options[0];
    Arguments plain = options;
    plain.insert(plain.end(), kPlain.begin(), kPlain.end());
    EXPECT_EQ(convert(folder, file, plain).outcome.err.find("GOLDCREST_RULES"), std::string::npos) << options[0];
    // The same of a model file.
    for (const Arguments& rules : {Arguments{}, kPlain}) {
      convert(folder, file, rules);
      Arguments of_file = options;
      of_file.insert(of_file.begin(), file);
      const Outcome outcome = run(convert_program(), of_file);
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_EQ(outcome.err.find(warning) != std::string::npos, rules.empty()) << outcome.err;
    }
  }
}

TEST(SearchDefaults, OptionsAreNamedOnlyWhereTheyRemoveAllRules) {
  const TemporaryFolder folder;
  const std::string file = folder / "model.gcst";
  const std::string warning =
      "goldcrest-convert: warning: the file has rules of the search, which firmware leaves out by default: build it "
      "with -D GOLDCREST_RULES=ON\n";
  for (const char* rules : {R"({"no_repeat_ngram": 2, "early_stopping": true})", R"({"token_biases": [["T", 0.5]]})"}) {
    const CheckpointCopy checkpoint("g2p");
    checkpoint.edit("config.json", [&](nlohmann::json& config) { config.update(nlohmann::json::parse(rules)); });
    const Outcome of_checkpoint = convert(checkpoint.path(), file, {"--board", "all"}).outcome;
    EXPECT_NE(of_checkpoint.err.find(warning), std::string::npos) << of_checkpoint.err;
    EXPECT_NE(of_checkpoint.out.find(" (the engine needs GOLDCREST_RULES)\n"), std::string::npos);
    const Outcome of_file = run(convert_program(), {file, "--board", "all"});
    EXPECT_NE(of_file.err.find(warning), std::string::npos) << of_file.err;
  }
}

TEST(SearchDefaults, BadChoicesAreBadUsage) {
  for (const char* word : {"2", "maybe", "likely"}) {
    const Outcome outcome = run(convert_program(), {checkpoint_folder("g2p"), "--early-stopping", word});
    EXPECT_EQ(outcome.status, 2) << word;
    EXPECT_NE(outcome.err.find("--early-stopping"), std::string::npos) << outcome.err;
  }
  for (const std::string rule : {"renormalize", "force-end"}) {
    const std::string yes = "--" + rule, no = "--no-" + rule;
    EXPECT_EQ(run(convert_program(), {checkpoint_folder("g2p"), yes, no}).status, 2) << rule;
    EXPECT_EQ(run(translate_program(), {converted_model("g2p"), yes, no}).status, 2) << rule;
  }
  const Outcome outcome = run(convert_program(), {converted_model("g2p"), "--no-renormalize"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("--no-renormalize works on a checkpoint, not on a .gcst file"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace goldcrest::test
