// SPDX-License-Identifier: Apache-2.0
// Shortlists through the programs: found, named, turned off, reported, evaluated.
#include <gtest/gtest.h>

#include "convert/support/arena_formula.h"
#include "programs/models.h"
#include "programs/process.h"
#include "support/binary_shortlist.h"
#include "support/marian_native.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

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

std::string translated(const std::filesystem::path& model, std::vector<std::string> options) {
  std::vector<std::string> arguments = {model, "--tokens", "--max-target", "20"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Outcome outcome = run(translate_program(), arguments, {.input = kLines});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return outcome.out;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Shortlist, IsUsedUnlessItIsTurnedOff) {
  const TemporaryFolder folder;
  write_model(folder);
  const auto file = folder / "listed.gcst", plain = folder / "plain.gcst";
  const Outcome converted = run(convert_program(), {folder.path(), "-o", file});
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_TRUE(contains(converted.out,
                       "shortlist 250 bytes: 3 ids of every sentence, 0.9 of a source id (mean), 0 n-grams (the engine "
                       "needs GOLDCREST_SHORTLIST)\n"))
      << converted.out;
  EXPECT_TRUE(contains(converted.out, ", K = 48 (the multiple of 16 above 41 candidates)")) << converted.out;
  ASSERT_EQ(run(convert_program(), {"-q", folder.path(), "-o", plain, "--shortlist", "none"}).status, 0);

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
  EXPECT_TRUE(contains(inspected.out,
                       "shortlist    250 bytes: 3 ids of every sentence, 0.9 of a source id (mean), 0 n-grams\n"
                       "             a source with more than 41 candidates is searched among all ids\n"))
      << inspected.out;
  EXPECT_FALSE(contains(run(inspect_program(), {plain}).out, "shortlist"));
}

// Tests K in the printed formula.
TEST(Shortlist, TheArenasFormulaCountsCandidates) {
  const TemporaryFolder folder;
  write_model(folder);
  const auto file = folder / "listed.gcst";
  ASSERT_EQ(run(convert_program(), {"-q", folder.path(), "-o", file}).status, 0);
  goldcrest_limits limits = {};
  limits.max_source_tokens = 8;
  limits.max_source_bytes = 50;
  limits.max_target_tokens = 9;
  limits.beam_size = 3;
  limits.batch = 2;
  limits.encoder_rows = 4;
  limits.threads = 1;
  for (const uint32_t candidates : {1u, 16u, 17u, 41u}) {
    limits.max_candidates = candidates;
    const Outcome outcome =
        run(inspect_program(),
            {file, "--map", "--max-source", "8", "--max-source-bytes", "50", "--max-target", "9", "--beam-size", "3",
             "--batch", "2", "--encoder-rows", "4", "--max-candidates", std::to_string(candidates)});
    const std::string bytes = std::to_string(ArenaFormula(outcome.out).evaluate(limits));
    EXPECT_TRUE(contains(outcome.out, "arena        " + bytes + " bytes for ")) << outcome.out;
  }
}

TEST(Shortlist, AnotherCanBeNamed) {
  const TemporaryFolder folder;
  write_model(folder);
  folder.write("vmap.txt", "\t</s> word2\nword3 word7\tword30 word31\nword9\tword32 nothing\n");
  const auto file = folder / "a.gcst";
  const Outcome converted =
      run(convert_program(), {"-q", folder.path(), "-o", file, "--shortlist", folder / "vmap.txt", "--json"});
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(converted.err, "goldcrest-convert: warning: " + (folder / "vmap.txt").string() +
                               ": 0 of its lines and 1 of its candidates are not of this model's vocabularies\n"
                               "goldcrest-convert: 1 warning\n");
  EXPECT_TRUE(contains(converted.out, "\"ngrams\": 1")) << converted.out;
  const std::string listed = translated(file, {});
  EXPECT_EQ(listed.find_first_not_of("0123456789 \n"), std::string::npos);
  EXPECT_NE(listed, translated(file, {"--no-shortlist"}));
}

TEST(Shortlist, IsEvaluated) {
  const TemporaryFolder folder;
  write_model(folder);
  folder.write("lines.tsv", kLines);
  const std::vector<std::string> arguments = {"-q",           folder.path(), "--evaluate",       folder / "lines.tsv",
                                              "--max-target", "20",          "--max-candidates", "4"};
  const Outcome evaluated = run(convert_program(), arguments);
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  // The second line's candidates are the end, 1, 2 and 32.
  EXPECT_TRUE(contains(evaluated.out,
                       "shortlist: 4.0 candidates (mean), 4 (most), 1 lines with the whole vocabulary; "
                       "against the whole vocabulary 1 lines identical (50.00 %), token agreement "))
      << evaluated.out;
}

TEST(Shortlist, Refusals) {
  const TemporaryFolder folder;
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
         input + ": --max-candidates is 5, but the model has no shortlist; leave it out");
  folder.write("lex.txt", "a b\n");
  refuse({"-q", input, "--shortlist", folder / "lex.txt"}, 1,
         (folder / "lex.txt").string() + ":1: has 2 words, expected three: target, source, probability");
  const Outcome both = run(translate_program(), {"x.gcst", "--no-shortlist", "--max-candidates", "3"}, {.input = "\n"});
  EXPECT_EQ(both.status, 2);
  EXPECT_TRUE(contains(both.err, "--max-candidates excludes --no-shortlist") ||
              contains(both.err, "--no-shortlist excludes --max-candidates"))
      << both.err;
}

}  // namespace
}  // namespace goldcrest::test
