// SPDX-License-Identifier: Apache-2.0
// The engine takes the writer's files: full verification, the same bits in every layout, and both stages of the
// self-test.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "file/write.h"
#include "goldcrest/goldcrest.h"
#include "model_generated.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

// An engine with memory of its own over `image`, which must outlive it.
class TestEngine {
 public:
  explicit TestEngine(const FileImage& image) {
    const int64_t bytes = goldcrest_arena_bytes(image.bytes(), image.size(), nullptr);
    EXPECT_GT(bytes, 0);
    if (bytes <= 0) return;
    arena_ = FileImage(static_cast<size_t>(bytes));
    goldcrest_config config = {};
    config.model = image.bytes();
    config.model_bytes = image.size();
    config.arena = arena_.bytes();
    config.arena_bytes = arena_.size();
    config.detail = &detail_;
    EXPECT_EQ(goldcrest_init(&engine_, &config), GOLDCREST_OK) << detail_.message << " " << detail_.index;
  }

  goldcrest_engine* get() { return engine_; }
  bool ready() const { return engine_ != nullptr; }

  // Returns the greedy search of a source as a line of a self-test.
  SelfTestLine translate(const std::vector<uint32_t>& source) {
    goldcrest_search search = {};
    search.beam_size = 1;
    search.length_penalty = 1;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
    const std::vector<int32_t> ids(source.begin(), source.end());
    goldcrest_result result = {};
    EXPECT_EQ(goldcrest_set_search(engine_, &search), GOLDCREST_OK) << detail_.message;
    EXPECT_EQ(goldcrest_begin(engine_, ids.data(), ids.size()), 0) << detail_.message;
    EXPECT_EQ(goldcrest_run(engine_), GOLDCREST_DONE) << detail_.message;
    EXPECT_EQ(goldcrest_get_result(engine_, 0, 0, &result), GOLDCREST_OK) << detail_.message;
    return {source, {result.tokens, result.tokens + result.n_tokens}, result.logits_hash};
  }

 private:
  FileImage arena_{0};
  goldcrest_detail detail_ = {"", -1};
  goldcrest_engine* engine_ = nullptr;
};

FileImage image_of(const ModelSpec& spec, Layout layout, std::span<const SelfTestLine> lines = {}) {
  BuildOptions options;
  options.layout = layout;
  return assemble(build_payload(spec, options), lines);
}

// Includes models with one table for decoder and projection; the embedding then has the projection's layout.
std::vector<ModelSpec> specs() {
  std::vector<ModelSpec> specs = {test::random_spec(11), test::random_spec(12)};
  specs[1].projection.weight = specs[1].decoder.embedding;
  return specs;
}

TEST(WriteEngine, EveryLayoutGivesTheSameBits) {
  for (const ModelSpec& spec : specs()) {
    const FileImage first = image_of(spec, Layout::kN16K4), second = image_of(spec, Layout::kN4K16);
    TestEngine a(first), b(second);
    ASSERT_TRUE(a.ready() && b.ready());
    for (const std::vector<uint32_t>& source : {std::vector<uint32_t>{5, 3, 0}, {18, 1, 2, 9, 9, 4, 0}, {0}}) {
      const SelfTestLine x = a.translate(source), y = b.translate(source);
      EXPECT_FALSE(x.target.empty());
      EXPECT_NE(x.hash, 0u);
      EXPECT_EQ(x.target, y.target);
      EXPECT_EQ(x.hash, y.hash);
    }
  }
}

TEST(WriteEngine, InformationIsWhatWasWritten) {
  const Payload payload = build_payload(test::random_spec(11), {});
  const FileImage image = assemble(payload, {});
  goldcrest_info info = {};
  goldcrest_detail detail = {"", -1};
  ASSERT_EQ(goldcrest_model_info(image.bytes(), image.size(), &info, &detail), GOLDCREST_OK) << detail.message;
  EXPECT_EQ(info.weights_hash,
            (uint64_t{payload.metadata->weights_hash_high} << 32) | payload.metadata->weights_hash_low);
  EXPECT_EQ(info.file_bytes, image.size());
  EXPECT_EQ(info.source_vocab_size, 19u);
  EXPECT_EQ(info.target_vocab_size, 37u);
  EXPECT_EQ(info.decoder_start_id, 36);
  EXPECT_EQ(info.limits.max_target_tokens, 7u);
  EXPECT_STREQ(info.license, "CC0-1.0");
  EXPECT_STREQ(info.attribution, "");
}

TEST(WriteEngine, SelfTestLinesComeFromTheFirstStage) {
  const ModelSpec spec = test::random_spec(11);
  const FileImage first = image_of(spec, Layout::kN16K4);
  TestEngine engine(first);
  ASSERT_TRUE(engine.ready());
  std::vector<SelfTestLine> lines = {engine.translate({5, 3, 0}), engine.translate({7, 0})};

  const FileImage with = image_of(spec, Layout::kN4K16, lines);
  TestEngine tested(with);
  ASSERT_TRUE(tested.ready());
  goldcrest_detail detail = {"", -1};
  EXPECT_EQ(goldcrest_self_test(tested.get(), &detail), GOLDCREST_OK) << detail.message << " " << detail.index;

  lines[1].hash ^= 1;
  const FileImage wrong = image_of(spec, Layout::kN16K4, lines);
  TestEngine failing(wrong);
  ASSERT_TRUE(failing.ready());
  EXPECT_EQ(goldcrest_self_test(failing.get(), &detail), GOLDCREST_ERROR_SELF_TEST);
  EXPECT_EQ(detail.index, 1);
}

// A checksum or a check for zero covers every bit of a file. Flips each bit of every 211th byte and of the trailer.
TEST(WriteEngine, AFlippedBitIsRefused) {
  FileImage image = image_of(test::random_spec(11), Layout::kN16K4);
  goldcrest_config config = {};
  config.model = image.bytes();
  config.model_bytes = image.size();
  FileImage arena(static_cast<size_t>(goldcrest_arena_bytes(image.bytes(), image.size(), nullptr)));
  config.arena = arena.bytes();
  config.arena_bytes = arena.size();
  goldcrest_engine* engine = nullptr;
  ASSERT_EQ(goldcrest_init(&engine, &config), GOLDCREST_OK);
  for (size_t byte = 0; byte<image.size(); byte += byte + 192> image.size() ? 1 : 211) {
    for (int bit = 0; bit < 8; ++bit) {
      const auto mask = static_cast<uint8_t>(1 << bit);
      image.bytes()[byte] ^= mask;
      ASSERT_LT(goldcrest_init(&engine, &config), 0) << "byte " << byte << ", bit " << bit;
      image.bytes()[byte] ^= mask;
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
