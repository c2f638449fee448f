// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate --ids: source ids in, target ids out, for models with and without a tokenizer.
#include <nlohmann/json.hpp>
#include "convert/support/shipped_model.h"
#include "converter/file/write.h"
#include "programs/checkpoint_copy.h"
#include "spec/format_text.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Lines = std::vector<std::string>;
using ConvertIds = InFolder;
using TranslateIds = InFolder;

const std::string kBirds = "abaco\nwren\n\ngoldcrest\nfinch\n";

// The source ids of kBirds. --encode gives the blank line its end id; here it is blank again.
std::string ids_of_words() {
  Lines lines = lines_of(translate("g2p", {"--encode"}, kBirds).out);
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

TEST_F(TranslateIds, GiveTheIdsThatTheTextGives) {
  const std::string silent = without_text(folder, {false, false}), ids = ids_of_words();
  for (const Arguments& options :
      {Arguments{}, Arguments{"--beam-size", "4"}, Arguments{"--n-best", "3", "--scores"}, Arguments{"--batch", "3"},
          Arguments{"--batch", "2", "--beam-size", "2", "--threads", "2"}, Arguments{"--min-target", "12"}}) {
    const Outcome text = with_status(0, translate("g2p", concat(options, {"--tokens"}), kBirds));
    for (const std::string& model : {converted_model("g2p").string(), silent}) {
      const Outcome outcome = with_status(0, translate_with(model, concat(options, {"--ids"}), ids));
      EXPECT_EQ(outcome.err, "");
      EXPECT_EQ(outcome.out, text.out);
    }
  }
  const Outcome stats = with_status(0, translate_with(silent, {"--ids", "--stats"}, "  5\t2 \r\n\n"));
  EXPECT_EQ(stats.err.find("lines 2 (0 failed), source tokens 2, "), 0u) << stats.err;
  EXPECT_EQ(stats.out, translate_with(silent, {"--ids"}, "5 2\n\n").out) << "any spaces";
}

// The model's sources end with id 2. Without it results are nonsense, so the first such line gives a warning.
TEST_F(TranslateIds, ASourceWithoutTheEndIdIsWarnedOfOnce) {
  const std::string silent = without_text(folder, {false, false});
  for (const std::string& model : {converted_model("g2p").string(), silent}) {
    const Outcome outcome = with_status(0, translate_with(model, {"--ids"}, "5 6 2\n\n5 6\n5 7\n2 5\n"));
    EXPECT_EQ(outcome.err,
        "goldcrest-translate: line 3: warning: the ids do not end with 2, the end of the model's sources; such a "
        "result is rarely right\n"
        "goldcrest-translate: warning: 2 of 5 lines end too early: line 3 is the first, cut at 64 tokens; the model "
        "writes no more, so give it less at once\n");
    EXPECT_EQ(lines_of(outcome.out).size(), 5u);
    EXPECT_EQ(translate_with(model, {"--ids"}, "5 6 2\n\n").err, "");
  }
  EXPECT_EQ(translate("g2p", {"--decode"}, "5 6\n").err, "");
}

TEST_F(TranslateIds, BadLinesAreNamedAndTheRestGoesOn) {
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
      "goldcrest-translate: line 12: not a token id: 5.0\n"
      "goldcrest-translate: warning: 1 of 13 lines end too early: line 11 is the first, cut at 64 tokens; the model "
      "writes no more, so give it less at once\n";
  for (const Arguments& options : {Arguments{"--ids"}, Arguments{"--ids", "--batch", "4"}}) {
    const Outcome outcome = with_status(3, translate("g2p", options, input));
    EXPECT_EQ(outcome.err, expected);
    const Lines lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 13u);
    for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].empty(), i != 0 && i != 10 && i != 12) << i;
    EXPECT_EQ(lines[12], lines[0]);
  }
}

TEST_F(TranslateIds, AModelWithoutTextSaysWhatItNeeds) {
  const std::string silent = without_text(folder, {false, false});
  const std::string start = "goldcrest-translate: " + silent;
  const auto message = [&](const Arguments& options) {
    const Outcome outcome = with_status(1, translate_with(silent, options, "5 2\n"));
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
  EXPECT_EQ(translate_with(silent, {"--tokens"}, "wren\n").out, translate("g2p", {"--tokens"}, "wren\n").out);

  ASSERT_EQ(without_text(folder, {false, true}), silent);
  EXPECT_EQ(message({}), no_tokenizer);
  EXPECT_EQ(translate_with(silent, {"--decode"}, "10 22 2\n").out, "AH0 B\n");
}

TEST_F(TranslateIds, BadUsage) {
  EXPECT_EQ(translate("g2p", {"--ids", "--encode"}, "").status, 2);
  EXPECT_EQ(translate("g2p", {"--ids", "--decode"}, "").status, 2);
  EXPECT_EQ(translate("g2p", {"--ids", "--tokens"}, "5 2\n").out, translate("g2p", {"--ids"}, "5 2\n").out);
}

// goldcrest-convert --ids and --board: token ids instead of text, and boards that a model fits or does not fit.

using Json = nlohmann::json;

TEST_F(ConvertIds, LinesOfIdsGiveWhatTheirTextsGive) {
  const CheckpointCopy copy("g2p");
  remove_tokenizer(copy);
  std::string texts, ids, sources;
  const std::vector<GoldenLine> golden = golden_lines("g2p");
  for (size_t i = 0; i < 12; ++i) {
    texts += golden[i].text + "\n";
    ids += ids_text(golden[i].source_ids) + "\t" + ids_text(golden[i].greedy) + "\n";
  }
  const std::string text_lines = folder.write("texts", texts), id_lines = folder.write("ids", ids);
  const auto report = [&](const std::filesystem::path& checkpoint, const std::string& lines, const Arguments& more) {
    const Arguments options = {"--json", "--evaluate", lines, "--self-test", lines, "-o", lines + ".gcst"};
    return Json::parse(with_status(0, convert(checkpoint, concat(options, more))).out);
  };
  const Json found = report(copy.path(), id_lines, {"--ids"}),
             expected = report(checkpoint_folder("g2p"), text_lines, {});
  EXPECT_EQ(found.at("self_test_lines"), expected.at("self_test_lines"));
  for (const char* key : {"lines", "failed", "identical_lines", "token_agreement"})
    EXPECT_EQ(found.at("evaluation").at(key), expected.at("evaluation").at(key)) << key;
  EXPECT_EQ(found.at("evaluation").at("float32").at("exact_match"), 100.0);  // the golden ids are float32's
}

TEST_F(ConvertIds, ASourceWithoutTheEndIdIsWarnedOfOnce) {
  const CheckpointCopy copy("g2p");
  remove_tokenizer(copy);
  const std::string good = folder.write("good", "5 6 2\n7 2\t9 2\n"), bad = folder.write("bad", "5 6 2\n7\n8\n");
  const auto warnings = [&](const std::string& self_test, const std::string& evaluated) {
    std::vector<std::string> found;
    const Arguments arguments = {"-q", copy.path(), "--ids", "--self-test", self_test, "--evaluate", evaluated};
    for (const std::string& line : lines_of(run(convert_program(), arguments).err))
      if (has(line, "the ids do not end with")) found.push_back(line);
    return found;
  };
  EXPECT_EQ(warnings(good, good), std::vector<std::string>());
  const std::string warning =
      "goldcrest-convert: warning: " + bad +
      ":2: the ids do not end with 2, the end of the model's sources; such a result is rarely right";
  EXPECT_EQ(warnings(good, bad), std::vector{warning});
  EXPECT_EQ(warnings(bad, bad), std::vector{warning});
}

TEST_F(ConvertIds, WhatIsRefused) {
  const CheckpointCopy copy("g2p");
  remove_tokenizer(copy);
  const std::string path = copy.path(), lines = folder.write("lines", "5 6 2\n");
  const auto refuse = [&](const Arguments& options, int status, const std::string& message) {
    EXPECT_EQ(with_status(status, convert(path, options)).err, "goldcrest-convert: " + message + "\n");
  };
  refuse({"--ids"}, 2,
      "--ids applies to the lines of --evaluate, --self-test, --make-shortlist, --lexicon or --calibrate; give one of "
      "them");
  refuse({"--evaluate", lines}, 1, path + ": has no tokenizer; with --ids, --evaluate and --self-test read token ids");
  const std::pair<const char*, const char*> bad[] = {
      {"5 x\x1b", "'x\\x1b' is not a token id; expected numbers below 16777216, separated by spaces"},
      {"5 -1", "'-1' is not a token id; expected numbers below 16777216, separated by spaces"},
      {"99999999999999999999999",
          "'99999999999999999999' is not a token id; expected numbers below 16777216, separated by spaces"},
      {"5 6\t7 y", "'y' is not a token id; expected numbers below 16777216, separated by spaces"},
      {"  ", "no token id; expected numbers below 16777216, separated by spaces"}};
  for (const auto& [line, message] : bad) {
    const std::string file = folder.write("bad", std::string("5 6 2\n") + line + "\n");
    refuse({"--ids", "--evaluate", file}, 1, file + ":2: " + message);
  }
  const std::string large = folder.write("large", "5 31 2\n");
  refuse({"--ids", "--self-test", large}, 1,
      large + ":1: '31' is not a token id; expected numbers below 31, separated by spaces");
}

TEST(ConvertBoard, ExitStatusAndWhatWouldFit) {
  const TemporaryFolder folder;
  const std::string own = folder.write("own.ld",
      "MEMORY { F (rx) : ORIGIN = 0, LENGTH = 2M R (rw) : ORIGIN = 0x20000000, LENGTH = 64K }\n"
      "REGION_ALIAS(\"CODE\", F) REGION_ALIAS(\"MODEL\", F) REGION_ALIAS(\"DATA\", R) REGION_ALIAS(\"STACK\", R)\n");
  const std::string g2p = checkpoint_folder("g2p");
  for (const Arguments& input : {Arguments{g2p}, Arguments{converted_model("g2p")}}) {
    Arguments arguments = {"-q", input[0], "--board", own, "-o", folder / "model.gcst"};
    const Outcome outcome = with_status(5, run(convert_program(), arguments));
    EXPECT_EQ(
        outcome.err, "goldcrest-convert: " + input[0] + " does not fit --board " + own + ": nothing was written\n");
    EXPECT_FALSE(std::filesystem::exists(folder / "model.gcst"));
    // The options that the message proposes do fit.
    const size_t at = outcome.out.find("  fits with ");
    ASSERT_NE(at, std::string::npos) << outcome.out;
    const std::string options = lines_of(outcome.out.substr(at + std::string("  fits with ").size()))[0];
    const std::string command =
        converter::format_text("'{}' -q '{}' --board '{}' {}", convert_program().string(), input[0], own, options);
    const Outcome fits = run("/bin/sh", {"-c", command});
    EXPECT_EQ(fits.status, 0) << options << fits.out;
    EXPECT_TRUE(has(fits.out, "board        " + own + ": fits\n")) << fits.out;
  }
  EXPECT_EQ(run(convert_program(), {"-q", "--shape", g2p, "--board", own}).status, 5);
  EXPECT_EQ(run(convert_program(), {"-q", "--shape", g2p, "--board", "rpi-pico2"}).status, 0);
  const Outcome all = with_status(0, run(convert_program(), {"-q", "--shape", g2p, "--board", "all", "--json"}));
  EXPECT_EQ(Json::parse(all.out).at("boards").size(), 7u);
  const Outcome list = with_status(0, run(convert_program(), {"--board", "list"}));
  EXPECT_EQ(list.out, "mps2-an386\nmps2-an500\nmps2-an505\nmps3-an547\nnucleo-h743zi\nriscv-virt\nrpi-pico2\n");
  const Outcome unknown = with_status(2, run(convert_program(), {"--shape", g2p, "--board", "pico"}));
  EXPECT_TRUE(has(unknown.err,
      "--board: 'pico' is not a board; expected mps2-an386, mps2-an500, mps2-an505, mps3-an547, nucleo-h743zi, "
      "riscv-virt, rpi-pico2, all, or the path of a linker script (.ld)"))
      << unknown.err;
}
}}  // namespace goldcrest::test
