// SPDX-License-Identifier: Apache-2.0
// goldcrest_model_info returns what was written into the file.
#include <gtest/gtest.h>

#include <cmath>

#include "goldcrest/goldcrest.h"
#include "model_generated.h"
#include "support/tiny_model.h"

namespace goldcrest {
namespace {

TEST(ModelInfo, SaysWhatTheFileHolds) {
  converter::ModelSpec spec = test::tiny_spec(test::deep_tiny_options());
  test::add_tokenizers(converter::TokenizerKind::kBpe, spec);
  spec.name = "a name";
  spec.source_language = "en";
  spec.target_language = "fr";
  spec.attribution = "someone";
  spec.checkpoint_sha256 = "0123";
  spec.generation.length_penalty = 0.7f;
  spec.generation.word_penalty = 0.25f;
  spec.generation.beam_size = 5;
  spec.generation.min_target_tokens = 2;
  spec.generation.max_target_tokens = 22;
  goldcrest_limits limits = {};
  limits.max_source_tokens = 33;
  limits.beam_size = 7;
  limits.n_best = 3;
  limits.batch = 4;
  limits.encoder_rows = 12;
  const converter::FileImage file = test::tiny_file(spec, Layout::kN4K16, limits);
  goldcrest_info info;
  ASSERT_EQ(goldcrest_model_info(file.bytes(), file.size(), &info, nullptr), GOLDCREST_OK);
  EXPECT_EQ(info.format_version, 1u);
  EXPECT_EQ(info.file_bytes, file.size());
  EXPECT_EQ(info.source_vocab_size, 50u);
  EXPECT_EQ(info.target_vocab_size, 300u);
  EXPECT_EQ(info.encoder_layers, 3u);
  EXPECT_EQ(info.decoder_layers, 2u);
  EXPECT_EQ(info.encoder_d_model, 48u);
  EXPECT_EQ(info.decoder_d_model, 32u);
  EXPECT_EQ(info.encoder_d_ff, 64u);
  EXPECT_EQ(info.decoder_d_ff, 96u);
  EXPECT_EQ(info.encoder_heads, 4u);
  EXPECT_EQ(info.decoder_heads, 2u);
  EXPECT_EQ(info.max_source_positions, 40u);
  EXPECT_EQ(info.max_target_positions, 30u);
  EXPECT_TRUE(info.has_tokenizer && info.has_detokenizer);
  EXPECT_EQ(info.decoder_start_id, 299);
  EXPECT_EQ(info.end_id, 0);
  EXPECT_EQ(info.pad_id, -1);
  EXPECT_EQ(info.unknown_id, 1);
  EXPECT_EQ(info.limits.max_source_tokens, 33u);
  EXPECT_EQ(info.limits.max_target_tokens, 22u);
  EXPECT_EQ(info.limits.beam_size, 7u);
  EXPECT_EQ(info.limits.n_best, 3u);
  EXPECT_EQ(info.limits.batch, 4u);
  EXPECT_EQ(info.limits.encoder_rows, 12u);
  EXPECT_EQ(info.search.beam_size, 5u);
  EXPECT_EQ(info.search.min_target_tokens, 2u);
  EXPECT_EQ(info.search.max_target_tokens, 22u);
  EXPECT_EQ(info.search.length_penalty, 0.7f);
  EXPECT_EQ(info.search.word_penalty, 0.25f);
  EXPECT_EQ(info.search.renormalize, GOLDCREST_NO);
  EXPECT_EQ(info.search.force_end, GOLDCREST_YES);
  EXPECT_EQ(info.search.early_stopping, GOLDCREST_STOP_LIKELY);
  EXPECT_EQ(info.search.length_penalty_kind, GOLDCREST_LENGTH_POWER);
  EXPECT_EQ(info.search.no_repeat_ngram, UINT32_MAX);
  EXPECT_EQ(info.search.max_extra_tokens, UINT32_MAX);
  EXPECT_EQ(info.search.repetition_penalty, 1.0f);
  EXPECT_EQ(info.search.max_length_factor, HUGE_VALF);
  EXPECT_STREQ(info.name, "a name");
  EXPECT_STREQ(info.source_language, "en");
  EXPECT_STREQ(info.target_language, "fr");
  EXPECT_STREQ(info.license, "CC0-1.0");
  EXPECT_STREQ(info.attribution, "someone");
  EXPECT_STREQ(info.checkpoint_sha256, "0123");
  EXPECT_STREQ(info.dialect, "test");
  EXPECT_STREQ(info.converter_version, GOLDCREST_VERSION);
}

TEST(ModelInfo, SaysWhichRulesTheFileHas) {
  converter::ModelSpec spec = test::tiny_spec({});
  converter::RulesSpec& rules = spec.generation.rules;
  rules.renormalize = true;
  rules.force_end = false;
  rules.early_stopping = converter::EarlyStopping::kNever;
  rules.length_penalty_kind = converter::LengthPenalty::kWu;
  rules.no_repeat_ngram = 3;
  rules.max_extra_tokens = 50;
  rules.repetition_penalty = 1.25f;
  rules.max_length_factor = 2.5f;
  const converter::FileImage file = test::tiny_file(spec);
  goldcrest_info info;
  ASSERT_EQ(goldcrest_model_info(file.bytes(), file.size(), &info, nullptr), GOLDCREST_OK);
  EXPECT_EQ(info.search.renormalize, GOLDCREST_YES);
  EXPECT_EQ(info.search.force_end, GOLDCREST_NO);
  EXPECT_EQ(info.search.early_stopping, GOLDCREST_STOP_NEVER);
  EXPECT_EQ(info.search.length_penalty_kind, GOLDCREST_LENGTH_WU);
  EXPECT_EQ(info.search.no_repeat_ngram, 3u);
  EXPECT_EQ(info.search.max_extra_tokens, 50u);
  EXPECT_EQ(info.search.repetition_penalty, 1.25f);
  EXPECT_EQ(info.search.max_length_factor, 2.5f);
}

TEST(ModelInfo, TheWeightsHashIgnoresTheLayout) {
  const converter::ModelSpec spec = test::tiny_spec(test::odd_tiny_options());
  goldcrest_info a, b, c;
  const auto info_of = [](const converter::FileImage& file, goldcrest_info* info) {
    ASSERT_EQ(goldcrest_model_info(file.bytes(), file.size(), info, nullptr), GOLDCREST_OK);
  };
  info_of(test::tiny_file(spec, Layout::kN16K4), &a);
  info_of(test::tiny_file(spec, Layout::kN4K16), &b);
  test::TinyOptions other = test::odd_tiny_options();
  other.seed += 1;
  info_of(test::tiny_file(test::tiny_spec(other)), &c);
  EXPECT_EQ(a.weights_hash, b.weights_hash);
  EXPECT_NE(a.weights_hash, c.weights_hash);
}

// The engine's table of features equals the schema's.
TEST(Features, AreThoseOfTheSchema) {
  uint32_t bits = 0, known = 0;
#define GOLDCREST_FEATURE(name, bit, ...)                                            \
  if (bit != 0) {                                                                    \
    EXPECT_STREQ(format::EnumNameFeature(static_cast<format::Feature>(bit)), #name); \
  }                                                                                  \
  bits |= bit;
#include "base/features-inl.h"
#undef GOLDCREST_FEATURE
  for (const format::Feature feature : format::EnumValuesFeature()) known |= static_cast<uint32_t>(feature);
  EXPECT_EQ(bits, known);
}

}  // namespace
}  // namespace goldcrest
