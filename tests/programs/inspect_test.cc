// SPDX-License-Identifier: Apache-2.0
// goldcrest-inspect: its output, the memory map, and a self-test that notices another model's numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include "convert/support/arena_formula.h"
#include "convert/support/shipped_model.h"
#include "examples/support/mapped_file.h"
#include "model_generated.h"
#include "programs/models.h"
#include "report/memory_map.h"
#include "support/rng.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

Outcome inspect(const std::filesystem::path& model, Arguments options = {}) {
  options.insert(options.begin(), model);
  return run(inspect_program(), options);
}

class Model {
 public:
  explicit Model(const std::filesystem::path& path) {
    if (!file_.open(path).empty()) throw std::runtime_error("cannot map " + path.string());
  }
  std::span<const uint8_t> span() const { return {static_cast<const uint8_t*>(file_.bytes()), file_.size()}; }

 private:
  MappedFile file_;
};

TEST(Inspect, TellsWhatTheFileHoldsAndWhereItCameFrom) {
  const Outcome g2p = inspect(converted_model("g2p"));
  EXPECT_EQ(g2p.status, 0);
  EXPECT_EQ(g2p.err, "");
  const std::string size = std::to_string(std::filesystem::file_size(converted_model("g2p")));
  for (const std::string& words :
       {"file         " + size + " bytes, format version 1, weights hash ", std::string("name         g2p\n"),
        std::string("languages    en -> ARPAbet\n"), std::string("licence      BSD-2-Clause\n"),
        std::string("attribution  Trained on CMUdict"), std::string("made from    nn_transformer checkpoint, sha256 "),
        std::string("made by      0.1.0\n"),
        std::string("encoder      3 layers, d_model 128, d_ff 512, 4 heads, vocabulary 31, 64 positions\n"),
        std::string("decoder      2 layers, d_model 128, d_ff 512, 4 heads, vocabulary 73, 64 positions\n"),
        std::string("text         tokenizer, detokenizer\n"),
        std::string("ids          start 1, end 2, padding 0, unknown 3\n"), std::string("arena        ")}) {
    EXPECT_TRUE(has(g2p.out, words)) << words << "\nin\n" << g2p.out;
  }
  EXPECT_FALSE(has(g2p.out, "self-test"));
  EXPECT_FALSE(has(g2p.out, "fixed = "));
  const Outcome enfr = inspect(converted_model("enfr"));
  EXPECT_TRUE(has(enfr.out, "search       beam size 4, at most 127 tokens, length penalty 1, word penalty 0\n"))
      << enfr.out;
  EXPECT_TRUE(has(enfr.out, "languages    en -> fr\n")) << enfr.out;
  // 3080 normalized bytes with pieces of at most 18, and 1025 places with rules
  EXPECT_TRUE(has(enfr.out, "tokenizing   at most 458280 steps\n")) << enfr.out;
}

TEST(Inspect, PrintsThePlanOfTheLimitsGiven) {
  for (const char* task : {"g2p", "enfr"}) {
    const Model model(converted_model(task));
    Rng rng(41);
    for (int i = 0; i < 12; ++i) {
      goldcrest_limits limits = {};
      limits.max_source_tokens = rng.between(1, 64);
      limits.max_source_bytes = rng.between(1, 1000);
      limits.max_target_tokens = rng.between(1, 64);
      limits.beam_size = rng.between(1, 16);
      limits.batch = rng.between(1, 8);
      limits.encoder_rows = rng.between(1, 64);
      const Outcome outcome =
          inspect(converted_model(task),
                  {"--map", "--max-source", std::to_string(limits.max_source_tokens), "--max-source-bytes",
                   std::to_string(limits.max_source_bytes), "--max-target", std::to_string(limits.max_target_tokens),
                   "--beam-size", std::to_string(limits.beam_size), "--batch", std::to_string(limits.batch),
                   "--encoder-rows", std::to_string(limits.encoder_rows)});
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      const converter::MemoryMap map = converter::map_memory(model.span(), limits, task);
      const std::string bytes = std::to_string(map.memory.arena_bytes);
      EXPECT_TRUE(has(outcome.out, "arena        " + bytes + " bytes for ")) << outcome.out;
      EXPECT_EQ(ArenaFormula(outcome.out).evaluate(map.memory.limits), map.memory.arena_bytes);
      EXPECT_TRUE(has(outcome.out, converter::picture(map)));
    }
  }
}

TEST(Inspect, TheSelfTestPasses) {
  for (const char* task : {"g2p", "enfr"}) {
    const Outcome outcome = inspect(converted_model(task), {"--self-test"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.out, "self-test    passed with kernels ")) << outcome.out;
  }
}

std::vector<converter::SelfTestLine> self_test_of(const Model& file) {
  std::vector<converter::SelfTestLine> lines;
  const format::Model* model = format::GetModel(file.span().data());
  for (const format::SelfTestLine* line : *model->self_test()) {
    lines.push_back({{line->source()->begin(), line->source()->end()},
                     {line->target()->begin(), line->target()->end()},
                     (uint64_t{line->hash_high()} << 32) | line->hash_low()});
  }
  return lines;
}

// Changes element [0, 0] of the output projection; sums and checksums are right.
converter::FileImage with_another_weight(const ShippedModel& model, std::span<const converter::SelfTestLine> lines) {
  converter::Payload payload = converter::build_payload(model.spec, {});
  const format::LinearT& projection = *payload.metadata->projection;
  using Kind = format::SectionKind;
  uint8_t& weight = payload.sections[static_cast<size_t>(Kind::Weights)].at(uint64_t{projection.weights} * 64);
  uint8_t* sum_bytes =
      &payload.sections[static_cast<size_t>(Kind::Parameters)].at(uint64_t{projection.weight_sum} * 64);
  const int change = static_cast<int8_t>(weight) > 0 ? -64 : 64;
  weight = static_cast<uint8_t>(weight + change);
  int32_t sum = 0;
  std::memcpy(&sum, sum_bytes, sizeof sum);
  sum += change;
  std::memcpy(sum_bytes, &sum, sizeof sum);
  return converter::assemble(payload, lines);
}

TEST(Inspect, TheSelfTestFindsAnotherWeight) {
  const TemporaryFolder folder;
  const Model good(converted_model("g2p"));
  const std::vector<converter::SelfTestLine> lines = self_test_of(good);
  ASSERT_EQ(lines.size(), 3u);
  const ShippedModel& model = shipped_model("g2p");

  // Without the change, the same assembly gives the converter's own file.
  const converter::FileImage again =
      converter::assemble(model.payload, lines, converter::metadata_bytes_of_any_weights(model.payload, lines));
  EXPECT_TRUE(std::ranges::equal(again.span(), good.span()));

  converter::write_file(folder / "changed.gcst", with_another_weight(model, lines).span());
  EXPECT_EQ(inspect(folder / "changed.gcst").status, 0);
  const Outcome first = inspect(folder / "changed.gcst", {"--self-test"});
  EXPECT_EQ(first.status, 1);
  EXPECT_TRUE(has(first.out, "self-test    FAILED: ")) << first.out;
  EXPECT_TRUE(has(first.out, "self_test: another result than the converter's (0)")) << first.out;

  // Only the last line is wrong, and the message names it.
  std::vector<converter::SelfTestLine> last_is_wrong = lines;
  last_is_wrong[2].hash ^= 1;
  converter::write_file(folder / "last.gcst", converter::assemble(model.payload, last_is_wrong).span());
  const Outcome last = inspect(folder / "last.gcst", {"--self-test"});
  EXPECT_EQ(last.status, 1);
  EXPECT_TRUE(has(last.out, "another result than the converter's (2)")) << last.out;
}

TEST(Inspect, RefusesWhatIsNoModel) {
  const TemporaryFolder folder;
  const std::string good = read_file(converted_model("g2p"));
  struct Case {
    const char* name;
    std::string bytes, words;
  };
  std::string damaged = good;
  damaged[good.size() / 2] = static_cast<char>(damaged[good.size() / 2] ^ 1);
  const Case cases[] = {{"empty.gcst", "", "not a file with content"},
                        {"text.gcst", std::string(4096, 'a'), "corrupt"},
                        {"short.gcst", good.substr(0, good.size() - 64), "corrupt"}};
  for (const Case& c : cases) {
    const Outcome outcome = inspect(folder.write(c.name, c.bytes));
    EXPECT_EQ(outcome.status, 1) << c.name;
    EXPECT_EQ(outcome.out, "") << c.name;
    EXPECT_TRUE(has(outcome.err, c.name) && has(outcome.err, c.words)) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome.err;
  }
  // Reading only the metadata need not find a damaged weight; the self-test does.
  const Outcome outcome = inspect(folder.write("damaged.gcst", damaged), {"--self-test"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(has(outcome.out, "checksum")) << outcome.out << outcome.err;
}

TEST(Inspect, BadUsage) {
  EXPECT_EQ(inspect(converted_model("g2p"), {"--no-such-option"}).status, 2);
  EXPECT_EQ(run(inspect_program(), {}).status, 2);
  EXPECT_EQ(inspect("/no/such/file.gcst").status, 1);
  EXPECT_EQ(inspect(std::filesystem::temp_directory_path()).status, 1);
  const Outcome beams = inspect(converted_model("g2p"), {"--beam-size", "17"});
  EXPECT_EQ(beams.status, 2);
  EXPECT_TRUE(has(beams.err, "--beam-size: Value 17 not in range 0 to 16")) << beams.err;
  const Outcome help = run(inspect_program(), {"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_TRUE(has(help.out, "Exit status: "));
  EXPECT_EQ(run(inspect_program(), {"--version"}).out, "goldcrest-inspect " GOLDCREST_VERSION "\n");
}

TEST(Inspect, AFullDeviceIsAnError) {
  const Outcome outcome = run(inspect_program(), {converted_model("g2p")}, {.output = Output::kFull});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(has(outcome.err, "standard output")) << outcome.err;
}

}  // namespace
}  // namespace goldcrest::test
