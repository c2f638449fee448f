// SPDX-License-Identifier: Apache-2.0
// Files whose texts subword-nmt's merges cut: tokenizers with and without the feature bit, wrong values, damage.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "base/build_options.h"
#include "hostile_file.h"
#include "model/model_view.h"

namespace goldcrest {
namespace {

using converter::FileImage;
using format::ModelT;
using format::TokenizerKind;
using test::expect_refused;
using test::remade;
using test::smallest_file;
using test::smallest_subword_file;
using test::try_file;
using test::Verdict;

TEST(Subword, TheFileRuns) {
  const Verdict verdict = try_file(smallest_subword_file());
  EXPECT_EQ(verdict.status, GOLDCREST_OK) << verdict.detail;
  EXPECT_EQ(format::GetModel(smallest_subword_file().bytes())->features(), kFeatureSubword);
}

TEST(Subword, TheView) {
  TokenizerView view;
  ASSERT_TRUE(view_tokenizer(smallest_subword_file().bytes(), &view));
  EXPECT_EQ(view.kind, goldcrest::TokenizerKind::kSubword);
  EXPECT_EQ(view.vocab_size, 6u);
  EXPECT_EQ(view.n_pieces, 6u + 3 + 1);
  EXPECT_EQ(view.score[7], -1.0f);
  EXPECT_EQ(view.max_piece_bytes, 4u);
  DetokenizerView text;
  ASSERT_TRUE(view_detokenizer(smallest_subword_file().bytes(), &text));
  EXPECT_EQ(text.kind, goldcrest::TokenizerKind::kSubword);
  EXPECT_EQ(std::string(text.text, text.text_bytes), "\u2047 ababa ab ");
}

// Older engines refuse the bit. An engine that knows it refuses files with such a tokenizer but no bit.
TEST(Subword, WhatIsNotAnnounced) {
  expect_refused(smallest_subword_file(), {
                                              {"tokenizer.kind", [](ModelT& m) { m.features = 0; }},
                                              {"detokenizer: vocabulary",
                                               [](ModelT& m) {
                                                 m.features = 0;
                                                 m.tokenizer->kind = TokenizerKind::Bpe;
                                               }},
                                          });
  expect_refused(smallest_file(),
                 {
                     {"tokenizer.kind", [](ModelT& m) { m.tokenizer->kind = TokenizerKind::Subword; }},
                     {"detokenizer: vocabulary", [](ModelT& m) { m.detokenizer->kind = TokenizerKind::Subword; }},
                 });
}

TEST(Subword, TheBitAloneChangesNothing) {
  const Verdict verdict = try_file(remade(smallest_file(), [](ModelT& m) { m.features = kFeatureSubword; }));
  EXPECT_EQ(verdict.status, GOLDCREST_OK) << verdict.detail;
}

TEST(Subword, Lies) {
  expect_refused(smallest_subword_file(),
                 {
                     {"tokenizer.kind", [](ModelT& m) { m.tokenizer->kind = static_cast<TokenizerKind>(5); }},
                     {"tokenizer.score", [](ModelT& m) { m.tokenizer->score = 1u << 20; }},
                     {"tokenizer: pieces", [](ModelT& m) { m.tokenizer->n_pieces = 1u << 24; }},
                     {"tokenizer: vocabulary", [](ModelT& m) { m.tokenizer->n_pieces = 5; }},
                     {"tokenizer.max_piece_bytes", [](ModelT& m) { m.tokenizer->max_piece_bytes = 4097; }},
                     {"tokenizer.unknown_score", [](ModelT& m) { m.tokenizer->unknown_score = NAN; }},
                 });
}

TEST(Subword, ScoresThatAreNone) {
  for (const float bad : {NAN, INFINITY, -INFINITY, 2e9f}) {
    FileImage file = smallest_subword_file();
    const format::Model& model = *format::GetModel(file.bytes());
    const size_t section = size_t{model.sections()->Get(3)->offset()} * 64;
    std::memcpy(file.bytes() + section + size_t{model.tokenizer()->score()} * 64 + 4 * 8, &bad, sizeof bad);
    test::repair_checksums(file);
    EXPECT_EQ(try_file(file).detail, "tokenizer.score") << bad;
  }
}

TEST(Subword, EveryTruncationAndEveryFlippedBitIsRefused) { test::expect_damage_refused(smallest_subword_file()); }

TEST(Subword, WithRightChecksumsAFlippedBitIsRefusedOrRuns) {
  test::expect_flips_refused_or_run(smallest_subword_file());
}

}  // namespace
}  // namespace goldcrest
