// SPDX-License-Identifier: Apache-2.0
// Types, order and scores of entries when a list decides the ids.
#include "tokenizers/vocabulary.h"
#include <gtest/gtest.h>
#include <cfloat>
#include "spec/error.h"
#include "tokenizers/pack_tokenizer.h"

namespace goldcrest::converter { namespace {
TokenizerSpec model() {
  return {.kind = TokenizerKind::kUnigram,
      .vocab_size = 5,
      .pieces = {{"<unk>", 0, PieceType::kUnknown}, {"</s>", 0, PieceType::kControl}, {"a", -1}, {"b", -7}, {"c", -2}}};
}

TEST(CombineWithVocabulary, KeepsTheModelsTypesInTheVocabularysOrder) {
  const TokenizerSpec spec =
      combine_with_vocabulary(model(), {"vocab.json", {"</s>", "<unk>", "c", "zz", "", "a", "<pad>"}, 1, {0, 6}});
  const std::vector<Piece> expected = {{"</s>", 0, PieceType::kControl}, {"<unk>", 0, PieceType::kUnknown}, {"c", -2},
      {"zz", 0, PieceType::kSurface}, {"", 0, PieceType::kControl}, {"a", -1}, {"<pad>", 0, PieceType::kControl},
      {"b", -7}};
  EXPECT_EQ(spec.vocab_size, 7u);
  EXPECT_EQ(spec.unknown_id, 1u);
  EXPECT_FALSE(spec.language_codes);
  ASSERT_EQ(spec.pieces.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(spec.pieces[i].text, expected[i].text);
    EXPECT_EQ(spec.pieces[i].score, expected[i].score);
    EXPECT_EQ(spec.pieces[i].type, expected[i].type) << expected[i].text;
  }
}

TEST(CombineWithVocabulary, SeesLanguageCodes) {
  EXPECT_TRUE(combine_with_vocabulary(model(), {"v", {"<unk>", ">>fra<<"}, 0, {}}).language_codes);
  EXPECT_FALSE(combine_with_vocabulary(model(), {"v", {"<unk>", ">><<", ">>", "<<a>>"}, 0, {}}).language_codes);
}

// The lowest score counts even if its piece is not in the vocabulary, because SentencePiece segments with all pieces.
TEST(PackTokenizer, FindsTheBoundsOfTheScores) {
  const PackedTokenizer packed =
      pack_tokenizer(combine_with_vocabulary(model(), {"vocab.json", {"</s>", "<unk>", "zz"}, 1, {0}}));
  EXPECT_EQ(packed.unknown_score, -17.0f);
  EXPECT_EQ(packed.max_score, FLT_MIN);
  EXPECT_EQ(packed.vocab_size, 3u);
  EXPECT_EQ(packed.n_pieces, 6u);
  EXPECT_EQ(packed.max_piece_bytes, 2u);
  EXPECT_EQ(packed.score.size(), 6u);
}

TEST(PackTokenizer, RefusesASpecThatMakesNoSense) {
  TokenizerSpec spec = model();
  spec.unknown_id = 5;
  EXPECT_THROW(pack_tokenizer(spec), Error);
  spec = model();
  spec.vocab_size = 6;
  EXPECT_THROW(pack_tokenizer(spec), Error);
  EXPECT_THROW(pack_detokenizer(spec), Error);
  spec = model();
  spec.pieces.push_back({"a", 0});
  EXPECT_THROW(pack_tokenizer(spec), Error);
}

TEST(Vocabulary, RefusesListsThatMakeNoSense) {
  EXPECT_THROW(word_tokenizer({"words", {}, 0, {}}), Error);
  EXPECT_THROW(word_tokenizer({"words", {"a", "b"}, 2, {}}), Error);
  EXPECT_THROW(word_tokenizer({"words", {"a", "b"}, 0, {2}}), Error);
  EXPECT_THROW(word_tokenizer({"words", {"<unk>", "b", "b"}, 0, {}}), Error);
  EXPECT_THROW(character_tokenizer({"words", {"<unk>", std::string(5000, 'x')}, 0, {}}), Error);
  EXPECT_NO_THROW(word_tokenizer({"words", {"<unk>", "", "", "b"}, 0, {}}));
}
}}  // namespace goldcrest::converter
