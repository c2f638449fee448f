// SPDX-License-Identifier: Apache-2.0
// Text in pieces of any size, spaces, bytes and the contract of goldcrest_detokenize.
#include "text/detokenizer.h"
#include <gtest/gtest.h>
#include <random>
#include "tokenizers/sentencepiece_model.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test { namespace {
using converter::PieceType;
using converter::TokenizerKind;
using converter::TokenizerSpec;
using Ids = std::vector<int32_t>;

// 0 unknown, 1 control, 2.. as given.
TokenizerSpec spec_of(TokenizerKind kind, const std::vector<std::string>& texts) {
  TokenizerSpec spec = {.kind = kind, .pieces = {{"<unk>", 0, PieceType::kUnknown}, {"</s>", 0, PieceType::kControl}}};
  for (const std::string& text : texts)
    spec.pieces.push_back({text, 0, text.starts_with("<0x") ? PieceType::kByte : PieceType::kNormal});
  spec.vocab_size = static_cast<uint32_t>(spec.pieces.size());
  return spec;
}

const std::vector<std::string> kTexts = {
    "\u2581", "\u2581a", "b", "<0xE2>", "<0x96>", "<0x81>", "<0x41>", "<0xF0>", "<0xFF>"};

TEST(Detokenize, TurnsMarksIntoSpacesAndDropsTheFirst) {
  TokenizerSpec spec = spec_of(TokenizerKind::kUnigram, kTexts);
  EXPECT_EQ(TestTokenizer(spec).decode({3, 4, 3, 1}), "ab a");
  EXPECT_EQ(TestTokenizer(spec).decode({1, 2, 2, 3}), "a");  // at the start, control ids and lone marks give no text
  EXPECT_EQ(TestTokenizer(spec).decode({4, 2, 2, 3}), "b   a");
  EXPECT_EQ(TestTokenizer(spec).decode({3, 0, 4}), "a \u2047 b");
  spec.remove_extra_whitespace = false;
  EXPECT_EQ(TestTokenizer(spec).decode({2, 2, 3}), "  a");
  spec.add_dummy_prefix = false;
  EXPECT_EQ(TestTokenizer(spec).decode({2, 3}), "  a");
}

TEST(Detokenize, PutsBytesTogetherToCharacters) {
  const TestTokenizer tokenizer(spec_of(TokenizerKind::kUnigram, kTexts));
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(tokenizer.decode({5, 6, 7}), "\xE2\x96\x81");   // U+2581 stays
  EXPECT_EQ(tokenizer.decode({5, 6, 4}), bad + bad + "b");  // cut by another piece
  EXPECT_EQ(tokenizer.decode({5, 6}), bad + bad);           // cut by the end
  EXPECT_EQ(tokenizer.decode({9, 5, 6, 7, 8}), bad +
                                                   "\xE2\x96\x81"
                                                   "A");
  EXPECT_EQ(tokenizer.decode({6, 10, 5, 8, 5}), bad + bad + bad + "A" + bad);
  EXPECT_EQ(tokenizer.decode({5, 1, 6, 7}), bad + bad + bad);  // a control id ends the run
}

TEST(Detokenize, JoinsWordsWithSpacesAndCharactersWithout) {
  const TestTokenizer words(converter::word_tokenizer({"words", {"<unk>", "</s>", "the", "c\xE2\x96\x81t"}, 0, {1}}));
  EXPECT_EQ(words.decode({1, 2, 3, 1, 0, 2}), "the c\xE2\x96\x81t \u2047 the");
  const TestTokenizer characters(
      converter::character_tokenizer({"characters", {"<unk>", "</s>", "a", "\xC3\xA9"}, 0, {1}}));
  EXPECT_EQ(characters.decode({2, 3, 1, 0, 2}), "a\xC3\xA9\u2047a");
}

std::vector<Ids> id_sequences(const TestTokenizer& tokenizer, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<Ids> sequences;
  for (const std::string& line : hostile_lines())
    if (line.size() < 200) sequences.push_back(tokenizer.encode(line));
  for (int i = 0; i < 200; ++i) {
    Ids ids(generator() % 20);
    // Ids are mostly low, because the byte pieces are there.
    for (int32_t& id : ids) id = static_cast<int32_t>(generator() % (i % 2 == 0 ? 262 : 700));
    sequences.push_back(ids);
  }
  return sequences;
}

TEST(Detokenize, GivesTheSameTextAtEverySplit) {
  const TestTokenizer tokenizer(converter::read_sentencepiece_model(source_path("tests/data/bpe_bytes.model")));
  const DetokenizerView view = tokenizer.detokenizer_view();
  for (const Ids& ids : id_sequences(tokenizer, 4)) {
    const std::string expected = tokenizer.decode(ids);
    for (size_t cut = 0; cut <= ids.size(); ++cut) {
      goldcrest_text_state state = {};
      std::string text(expected.size() + 1, '\0');
      int64_t n = 0;
      const auto take = [&](const int32_t* tokens, size_t n_tokens) {
        const int64_t n_more =
            detokenize(view, &state, tokens, n_tokens, text.data() + n, text.size() - static_cast<size_t>(n));
        ASSERT_GE(n_more, 0);
        n += n_more;
      };
      if (cut > 0) take(ids.data(), cut);
      for (size_t i = cut; i < ids.size(); ++i) take(&ids[i], 1);
      take(nullptr, 0);
      ASSERT_EQ(text.substr(0, static_cast<size_t>(n)), expected);
    }
  }
}

TEST(Detokenize, WritesNothingWhenNotAllFits) {
  const TestTokenizer tokenizer(spec_of(TokenizerKind::kUnigram, kTexts));
  const DetokenizerView view = tokenizer.detokenizer_view();
  const Ids ids = {3, 5, 6, 7, 2, 4, 5};
  const std::string expected = "a\xE2\x96\x81 b";
  for (size_t capacity = 0; capacity <= expected.size(); ++capacity) {
    goldcrest_text_state state = {};
    std::string out(expected.size() + 8, '#');
    const int64_t n = detokenize(view, &state, ids.data(), ids.size(), out.data(), capacity);
    if (capacity < expected.size()) {
      EXPECT_EQ(n, GOLDCREST_ERROR_TRUNCATED);
      EXPECT_EQ(out, std::string(out.size(), '#'));
      EXPECT_EQ(state.started + state.n_pending, 0);
    } else {
      EXPECT_EQ(n, static_cast<int64_t>(expected.size()));
      EXPECT_EQ(out.substr(0, expected.size()), expected);
      EXPECT_EQ(out.substr(expected.size()), std::string(8, '#'));
      EXPECT_EQ(state.n_pending, 1);
    }
  }
}

TEST(Detokenize, RefusesIdsOutOfRange) {
  const TestTokenizer tokenizer(spec_of(TokenizerKind::kUnigram, kTexts));
  const DetokenizerView view = tokenizer.detokenizer_view();
  char out[16] = "unchanged";
  for (const int32_t bad : {-1, static_cast<int32_t>(view.n_pieces), INT32_MAX, INT32_MIN}) {
    const int32_t ids[] = {4, bad};
    goldcrest_text_state state = {};
    EXPECT_EQ(detokenize(view, &state, ids, 2, out, sizeof(out)), GOLDCREST_ERROR_TOKEN_RANGE);
    EXPECT_EQ(state.started, 0);
    EXPECT_STREQ(out, "unchanged");
  }
  goldcrest_text_state damaged = {0, 4, {0, 0, 0, 0}};
  EXPECT_EQ(detokenize(view, &damaged, nullptr, 0, out, sizeof(out)), GOLDCREST_ERROR_ARGUMENT);
}
}}  // namespace goldcrest::test
