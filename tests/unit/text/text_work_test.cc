// SPDX-License-Identifier: Apache-2.0
// Tokenizing text stays within a stated number of steps, for any tables of a file. The tests use tables that once took
// seconds, and random ones with every step through a trie counted.
#include <gtest/gtest.h>
#include <ctime>
#include "base/bounds.h"
#include "unit/text/counted.h"
#include "unit/text/damaged_tables.h"

namespace goldcrest::test { namespace {
using converter::PackedTokenizer;
using converter::PieceType;

// Far more than any of these needs now, even with sanitizers, and less than they once took.
constexpr double kMostCpuSeconds = 3;

// Tokenizes a text of at most max_source_bytes and checks both bounds. Returns the result of tokenize.
int run_within_bounds(const PackedTokenizer& packed, const std::string& text, uint32_t max_source_bytes) {
  const TokenizerView view = view_of(packed);
  const ScratchSize size = tokenizer_scratch(view);
  const size_t scratch_bytes = size.constant + size_t{size.per_byte} * max_source_bytes;
  std::vector<uint32_t> scratch(scratch_bytes / 4 + 1);
  std::vector<int32_t> ids(3 * text.size() + 8);
  trie_steps = 0;
  const std::clock_t begin = std::clock();
  const int n = tokenize({&view, text.data(), text.size(), scratch.data(), scratch_bytes, ids.data(), ids.size()});
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, kMostCpuSeconds);
  EXPECT_LE(trie_steps, tokenizer_steps(view, max_source_bytes));
  return n;
}

// "a", "aa", "aaa", ...: a longer one has a better score; all but the first are unused.
TEST(TextWork, OfAChainOfUnusedPiecesIsBounded) {
  converter::TokenizerSpec spec = {.kind = converter::TokenizerKind::kBpe,
      .pieces = {{"<unk>", 0, PieceType::kUnknown}, {"a", 0, PieceType::kNormal}}};
  for (uint32_t n = 2; n <= 1500; ++n)
    spec.pieces.push_back({std::string(n, 'a'), static_cast<float>(n), PieceType::kUnused});
  spec.vocab_size = static_cast<uint32_t>(spec.pieces.size());
  spec.add_dummy_prefix = false;
  EXPECT_EQ(run_within_bounds(converter::pack_tokenizer(spec), std::string(8000, 'a'), 8000), 8000);
}

PackedTokenizer with_rules(std::vector<uint32_t> trie, std::string text) {
  converter::TokenizerSpec spec = {.kind = converter::TokenizerKind::kUnigram,
      .vocab_size = 2,
      .pieces = {{"<unk>", 0, PieceType::kUnknown}, {"a", 0, PieceType::kNormal}}};
  PackedTokenizer packed = converter::pack_tokenizer(spec);
  packed.normalizer_trie = std::move(trie);
  packed.normalizer_text = std::move(text);
  return packed;
}

// The root's child for 'a' is its own child for 'a'.
TEST(TextWork, OfANormalizerWithACycleIsBounded) {
  std::vector<uint32_t> trie(512);
  trie[0] = 256u << 10;
  trie[256 ^ 'a'] = 'a' | uint32_t{'a'} << 10;
  EXPECT_EQ(run_within_bounds(with_rules(trie, ""), std::string(50000, 'a'), 50000), 50001);
}

TEST(TextWork, OfARuleOfSpacesIsBounded) {
  std::vector<uint32_t> trie(512);
  trie[0] = 256u << 10;
  trie[256 ^ 'a'] = 'a' | 1u << 8 | 1u << 10;
  trie[256 ^ 'a' ^ 1] = 1u << 31;
  const PackedTokenizer packed = with_rules(trie, std::string(4 << 20, ' ') + '\0');
  EXPECT_GE(run_within_bounds(packed, std::string(4096, 'a'), 4096), 0);
  EXPECT_GE(run_within_bounds(packed, "b" + std::string(4096, 'a'), 4097), 0);
}

TEST(TextWork, OfDamagedTablesIsBounded) {
  const std::vector<std::string> lines = random_lines(3, 100);
  for (const PackedTokenizer& good : good_tables()) {
    for (uint32_t seed = 0; seed < 200; ++seed) {
      Damage by(seed);
      PackedTokenizer packed = good;
      if (seed > 0) damage(&by, &packed);
      const std::string& text = lines[by.below(lines.size())];
      run_within_bounds(packed, text, static_cast<uint32_t>(text.size()));
    }
  }
}

// Computes the printed bound by hand: 100 bytes are 308 normalized ones.
TEST(TextWork, IsAFormulaOfTheTables) {
  TokenizerView view = {.kind = goldcrest::TokenizerKind::kUnigram, .max_piece_bytes = 20};
  EXPECT_EQ(tokenizer_steps(view, 100), 308u * (20 + 3));
  view.normalizer_trie_units = 1;
  EXPECT_EQ(tokenizer_steps(view, 100), 308u * (20 + 3) + 101 * 3 * kMaxRuleBytes);
  view.has_user_defined = true;
  EXPECT_EQ(tokenizer_steps(view, 100), 308u * (20 + 3) + 101 * (3 * kMaxRuleBytes + 20));
  view.kind = goldcrest::TokenizerKind::kBpe;
  EXPECT_EQ(tokenizer_steps(view, 100), 308u * (7 * 20 + 53) + 101 * (3 * kMaxRuleBytes + 20));
  view.kind = goldcrest::TokenizerKind::kSubword;
  const uint64_t without = 308u * (7 * 20 + 53 + 34) + 101 * (3 * kMaxRuleBytes + 20);
  EXPECT_EQ(tokenizer_steps(view, 100), without);
  const uint32_t added = 9;
  view.added = &added;
  EXPECT_EQ(tokenizer_steps(view, 100), without + 2 * 408 * (1 + 9) + 408 * (3 * kMaxRuleBytes + 20));
}
}}  // namespace goldcrest::test
