// SPDX-License-Identifier: Apache-2.0
// Target languages by name: the list of languages, the ids that each puts before a text, and tries that contain
// circles. For tables of languages see language_table_test.cc.
#include "goldcrest/languages.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/engine_fixture.h"
#include "support/rng.h"
#include "support/tiny_model.h"
#include "text/double_array.h"
#include "text/languages.h"

namespace goldcrest::test {
namespace {

using converter::FileImage;
using converter::PieceType;

using Ids = std::vector<int32_t>;
using Languages = std::vector<std::pair<std::string, int32_t>>;

constexpr uint32_t kMaxSource = 6;
const std::string kLongest(kMaxLanguageBytes, 'q');

// A file whose ids from 2 on are the letters from 'a' on; codes replace some of them.
FileImage file_with(const std::vector<std::pair<uint32_t, std::string>>& codes) {
  converter::ModelSpec spec = test::tiny_spec(test::odd_tiny_options());
  test::add_tokenizers(converter::TokenizerKind::kUnigram, spec);
  for (const auto& [id, code] : codes) spec.source_tokenizer->pieces[id] = {">>" + code + "<<", 0, PieceType::kSurface};
  spec.source_tokenizer->language_codes = !codes.empty();
  spec.source_tokenizer->add_dummy_prefix = false;
  spec.source_language = "mul";
  spec.target_language = "xx";
  return test::tiny_file(spec);
}

FileImage file_of_several() {
  return file_with(
      {{5, "fra"}, {6, "zh_Hans"}, {7, "deu"}, {8, kLongest}, {9, kLongest + "q"}, {10, "fr"}, {11, "a<b"}});
}

EngineSetup text_setup() {
  EngineSetup setup;
  setup.limits.max_source_tokens = kMaxSource;
  setup.limits.max_source_bytes = 60;
  return setup;
}

Languages languages_of(const FileImage& file) {
  Languages found;
  const auto add = [](void* context, const char* code, size_t code_bytes, int32_t id) {
    static_cast<Languages*>(context)->emplace_back(std::string(code, code_bytes), id);
  };
  const int n = goldcrest_target_languages(file.bytes(), file.size(), add, &found, nullptr);
  EXPECT_EQ(n, static_cast<int>(found.size()));
  EXPECT_EQ(goldcrest_target_languages(file.bytes(), file.size(), nullptr, nullptr, nullptr), n);
  return found;
}

Ids ids_of(const TestEngine& engine, const std::string& text) {
  const int32_t* ids = nullptr;
  EXPECT_EQ(goldcrest_begin_text(engine.get(), text.data(), text.size()), 0) << engine.detail().message;
  const int n = goldcrest_get_source(engine.get(), 0, &ids);
  return n < 0 ? Ids() : Ids(ids, ids + n);
}

TEST(Languages, AreListedInTheOrderOfTheirCodes) {
  const Languages expected = {{"a<b", 11}, {"deu", 7}, {"fr", 10}, {"fra", 5}, {kLongest, 8}, {"zh_Hans", 6}};
  EXPECT_EQ(languages_of(file_of_several()), expected);
  EXPECT_EQ(languages_of(file_with({})), Languages());
  const FileImage file = file_of_several();
  goldcrest_detail detail = {"", -1};
  EXPECT_EQ(goldcrest_target_languages(file.bytes(), file.size() - 64, nullptr, nullptr, &detail),
            GOLDCREST_ERROR_MODEL_CORRUPT);
}

TEST(Languages, OneIsPutBeforeEachTextWithoutACode) {
  const FileImage file = file_of_several();
  TestEngine engine(file.span(), text_setup());
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{2, 3, 0}));
  for (const auto& [code, id] : languages_of(file)) {
    ASSERT_EQ(goldcrest_set_languages(engine.get(), nullptr, code.c_str()), GOLDCREST_OK) << code;
    EXPECT_EQ(ids_of(engine, "ab"), (Ids{id, 2, 3, 0}));
    EXPECT_EQ(ids_of(engine, ">>deu<<ab"), (Ids{7, 2, 3, 0})) << "a text's own code stays";
    EXPECT_EQ(ids_of(engine, ""), (Ids{id, 0}));
  }
  ASSERT_EQ(goldcrest_set_languages(engine.get(), "mul", "fra"), GOLDCREST_OK);
  EXPECT_EQ(ids_of(engine, "abab"), (Ids{5, 2, 3, 2, 3, 0}));
  EXPECT_EQ(goldcrest_begin_text(engine.get(), "ababa", 5), GOLDCREST_ERROR_TOO_LONG) << "it counts among the tokens";
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{5, 2, 3, 0})) << "for all later texts";
  ASSERT_EQ(goldcrest_add_text(engine.get(), "b", 1), GOLDCREST_ERROR_TOO_LONG);
  ASSERT_EQ(goldcrest_set_languages(engine.get(), nullptr, nullptr), GOLDCREST_OK);
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{2, 3, 0}));
  EXPECT_TRUE(engine.memory_intact());
}

TEST(Languages, OthersAreRefusedAndChangeNothing) {
  const FileImage file = file_of_several();
  TestEngine engine(file.span(), text_setup());
  ASSERT_EQ(goldcrest_set_languages(engine.get(), nullptr, "fra"), GOLDCREST_OK);
  for (const std::string& code : {std::string(), std::string("ita"), std::string(">>fra<<"), kLongest + "q",
                                  std::string("f"), std::string("a<<b"), std::string("xx")}) {
    EXPECT_EQ(goldcrest_set_languages(engine.get(), nullptr, code.c_str()), GOLDCREST_ERROR_ARGUMENT) << code;
    EXPECT_STREQ(engine.detail().message, "target language: the model has none of this name");
  }
  EXPECT_EQ(goldcrest_set_languages(engine.get(), "fra", "deu"), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(engine.detail().message, "source language: not the model's");
  EXPECT_EQ(goldcrest_set_languages(nullptr, nullptr, nullptr), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{5, 2, 3, 0}));
}

TEST(Languages, AModelOfOneTargetTakesItsName) {
  const FileImage file = file_with({});
  TestEngine engine(file.span(), text_setup());
  EXPECT_EQ(goldcrest_set_languages(engine.get(), "mul", "xx"), GOLDCREST_OK);
  EXPECT_EQ(ids_of(engine, "ab"), (Ids{2, 3, 0}));
  EXPECT_EQ(goldcrest_set_languages(engine.get(), nullptr, "fra"), GOLDCREST_ERROR_ARGUMENT);
}

int visit_units(const std::vector<uint32_t>& units) {
  TokenizerView view = {};
  view.language_codes = true;
  view.trie = units.data();
  view.trie_units = static_cast<uint32_t>(units.size());
  view.vocab_size = view.n_pieces = 1000;
  view.max_piece_bytes = 64;
  return visit_languages(
      view, [](void*, const char*, size_t, int32_t) {}, nullptr);
}

TEST(Languages, TriesThatAreNoTreesAreGivenUp) {
  // Byte b leads from every node to node 256 + b, so a walk over all ways would not end.
  std::vector<uint32_t> circles(512);
  for (uint32_t i = 0; i < circles.size(); ++i) circles[i] = (i ^ 256) << 10 | (i & 0xFF);
  EXPECT_EQ(visit_units(circles), GOLDCREST_ERROR_MODEL_CORRUPT);

  test::Rng rng(16);
  for (int round = 0; round < 400; ++round) {
    std::vector<uint32_t> units = circles;
    for (uint32_t& unit : units)
      if (rng.below(4) == 0) unit = rng.below(1 << 22) << 10 | rng.below(1 << 10);
    const int n = visit_units(units);
    EXPECT_TRUE(n >= 0 || n == GOLDCREST_ERROR_MODEL_CORRUPT) << n;
  }
}

// No writer of tries makes an edge of a zero byte, but a file may have such an edge.
TEST(Languages, ACodeWithAZeroByteIsNone) {
  for (const uint8_t byte : {uint8_t{0}, uint8_t{1}}) {
    const uint8_t entry[] = {'>', '>', byte, '<', '<'};
    std::vector<uint32_t> units(7);
    for (uint32_t node = 0; node < 5; ++node) {  // the child is the next node
      units[node] |= (node ^ entry[node] ^ (node + 1)) << 10;
      units[node + 1] = entry[node];
    }
    units[5] |= 1u << 8 | (5 ^ 6) << 10;
    units[6] = kTrieLeaf | 3;
    EXPECT_EQ(visit_units(units), byte);
  }
}

}  // namespace
}  // namespace goldcrest::test
