// SPDX-License-Identifier: Apache-2.0
// Merge order and ties on models that are small enough to follow by hand, and the longest text.
#include "text/bpe.h"

#include <gtest/gtest.h>

#include <chrono>

#include "goldcrest/goldcrest.h"
#include "tokenizers/sentencepiece_model.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test {
namespace {

using converter::Piece;
using converter::PieceType;
using Ids = std::vector<int32_t>;

// Pieces get the ids 1, 2, ...; 0 is unknown.
TestTokenizer bpe_of(std::vector<Piece> pieces) {
  converter::TokenizerSpec spec;
  spec.kind = converter::TokenizerKind::kBpe;
  spec.pieces = {{"<unk>", 0, PieceType::kUnknown}};
  spec.pieces.insert(spec.pieces.end(), pieces.begin(), pieces.end());
  spec.vocab_size = static_cast<uint32_t>(spec.pieces.size());
  spec.add_dummy_prefix = spec.remove_extra_whitespace = spec.escape_whitespace = false;
  return TestTokenizer(spec);
}

TEST(Bpe, MergesTheBestPairFirstAndOfEqualOnesTheLeft) {
  const TestTokenizer better_right = bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -2}, {"bc", -1}});
  EXPECT_EQ(better_right.encode("abc"), (Ids{1, 5}));
  const TestTokenizer equal = bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -1}, {"bc", -1}});
  EXPECT_EQ(equal.encode("abc"), (Ids{4, 3}));
  const TestTokenizer zeros = bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -0.0f}, {"bc", 0.0f}});
  EXPECT_EQ(zeros.encode("abc"), (Ids{4, 3}));
  const TestTokenizer overlapping = bpe_of({{"a", -9}, {"aa", -1}, {"aaa", -2}});
  EXPECT_EQ(overlapping.encode("aaaaa"), (Ids{2, 3}));
}

TEST(Bpe, MergesCharactersThatAreNoPieces) {
  const TestTokenizer tokenizer = bpe_of({{"xy", -1}});
  EXPECT_EQ(tokenizer.encode("xyx"), (Ids{1, 0}));
  EXPECT_EQ(tokenizer.encode("zxyzz"), (Ids{0, 1, 0}));  // a run of unknowns is one id
}

TEST(Bpe, NeverMergesUserDefinedPieces) {
  const TestTokenizer tokenizer = bpe_of({{"a", -9}, {"b", 0, PieceType::kUserDefined}, {"ab", -1}, {"ba", -1}});
  EXPECT_EQ(tokenizer.encode("aba"), (Ids{1, 2, 1}));
}

TEST(Bpe, SplitsUnusedPiecesWhereTheyWerePutTogether) {
  const TestTokenizer tokenizer =
      bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -1}, {"abc", -2, PieceType::kUnused}, {"bc", -3}});
  EXPECT_EQ(tokenizer.encode("abc"), (Ids{4, 3}));
  const TestTokenizer twice =
      bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -1, PieceType::kUnused}, {"abc", -2, PieceType::kUnused}});
  EXPECT_EQ(twice.encode("abcabc"), (Ids{1, 2, 3, 1, 2, 3}));
}

TEST(Bpe, TakesTextsUpToItsLimitInAboutLinearTime) {
  const TestTokenizer tokenizer(converter::read_sentencepiece_model(source_path("tests/data/bpe_bytes.model")));
  const TokenizerView view = tokenizer.view();
  std::vector<uint32_t> scratch(kBpeScratchPerByte * 70000 / 4);
  std::vector<int32_t> ids(70000);
  const auto run = [&](const std::string& text) {
    return tokenize({&view, text.data(), text.size(), scratch.data(), scratch.size() * 4, ids.data(), ids.size()});
  };
  // The dummy prefix takes 3 bytes.
  const std::string longest(kBpeMaxNormalizedBytes - 3, 'e');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_GT(run(longest), 1000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));  // O(n^2) would take minutes
  EXPECT_EQ(run(longest + "e"), GOLDCREST_ERROR_TOO_LONG);
}

}  // namespace
}  // namespace goldcrest::test
