// SPDX-License-Identifier: Apache-2.0
// goldcrest_model_info returns what was written into the file.
#include "goldcrest/goldcrest.h"
#include "hostile_file.h"
#include "model/validate.h"
#include "support/guarded_buffer.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
FileImage described_file() {
  ModelSpec spec = tiny_spec(deep_tiny_options());
  add_tokenizers(converter::TokenizerKind::kBpe, spec);
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
  goldcrest_limits limits = {.max_source_tokens = 33, .beam_size = 7, .batch = 4, .n_best = 3, .encoder_rows = 12};
  return tiny_file(spec, Layout::kN4K16, limits);
}

TEST(ModelInfo, SaysWhatTheFileHolds) {
  const FileImage file = described_file();
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
  ModelSpec spec = tiny_spec({});
  converter::RulesSpec& rules = spec.generation.rules;
  rules.renormalize = true;
  rules.force_end = false;
  rules.early_stopping = GOLDCREST_STOP_NEVER;
  rules.length_penalty_kind = GOLDCREST_LENGTH_WU;
  rules.no_repeat_ngram = 3;
  rules.max_extra_tokens = 50;
  rules.repetition_penalty = 1.25f;
  rules.max_length_factor = 2.5f;
  const FileImage file = tiny_file(spec);
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
  const ModelSpec spec = tiny_spec(odd_tiny_options());
  goldcrest_info a, b, c;
  const auto info_of = [](const FileImage& file, goldcrest_info* info) {
    ASSERT_EQ(goldcrest_model_info(file.bytes(), file.size(), info, nullptr), GOLDCREST_OK);
  };
  info_of(tiny_file(spec, Layout::kN16K4), &a);
  info_of(tiny_file(spec, Layout::kN4K16), &b);
  TinyOptions other = odd_tiny_options();
  other.seed += 1;
  info_of(tiny_file(tiny_spec(other)), &c);
  EXPECT_EQ(a.weights_hash, b.weights_hash);
  EXPECT_NE(a.weights_hash, c.weights_hash);
}

// The engine's table of features equals the schema's.
TEST(Features, AreThoseOfTheSchema) {
  uint32_t bits = 0, known = 0;
#define GOLDCREST_OPTION(...)
#define GOLDCREST_FEATURE(name, bit, ...)                                          \
  EXPECT_STREQ(format::EnumNameFeature(static_cast<format::Feature>(bit)), #name); \
  bits |= bit;
#include "base/features-inl.h"
#undef GOLDCREST_OPTION
#undef GOLDCREST_FEATURE
  for (const format::Feature feature : format::EnumValuesFeature()) known |= static_cast<uint32_t>(feature);
  EXPECT_EQ(bits, known);
}

// Compares the structure check with FlatBuffers' own verifier with the generated functions, on damaged metadata.

bool generated_check(const uint8_t* metadata, size_t n) {
  flatbuffers::Verifier verifier(metadata, n, 8, 8192);
  return verifier.VerifyBuffer<format::Model>(nullptr);
}

// Expects only scalars, strings, tables, and vectors of these.
void expect_known(const flatbuffers::TypeTable& type) {
  ASSERT_EQ(type.st, flatbuffers::ST_TABLE);
  for (size_t i = 0; i < type.num_elems; ++i) {
    const flatbuffers::TypeCode code = type.type_codes[i];
    EXPECT_NE(code.base_type, flatbuffers::ET_UTYPE) << i;
    if (code.base_type == flatbuffers::ET_SEQUENCE) expect_known(*type.type_refs[code.sequence_ref]());
  }
}

TEST(Structure, TheSchemaHasNothingThatTheCheckDoesNotKnow) { expect_known(*format::ModelTypeTable()); }

TEST(Structure, EveryTruncationIsJudgedAsByTheGeneratedCheck) {
  for (const FileImage* file : {&smallest_file(), &smallest_languages_file()}) {
    const size_t metadata_bytes = format::GetModel(file->bytes())->sections()->Get(0)->offset() * 64;
    for (size_t n = 16; n <= metadata_bytes; ++n) {
      GuardedBuffer<uint8_t> cut((n + 63) / 64 * 64);
      std::memcpy(cut.get(), file->bytes(), n);
      ASSERT_EQ(metadata_is_sound(cut.get(), n), generated_check(cut.get(), n)) << "the first " << n << " bytes";
    }
  }
}

TEST(Structure, EveryFlippedBitIsJudgedAsByTheGeneratedCheck) {
  const FileImage& file = smallest_file();
  const size_t n = format::GetModel(file.bytes())->sections()->Get(0)->offset() * 64;
  GuardedBuffer<uint8_t> metadata(n);
  std::memcpy(metadata.get(), file.bytes(), n);
  ASSERT_TRUE(metadata_is_sound(metadata.get(), n));
  ASSERT_TRUE(generated_check(metadata.get(), n));
  int refused = 0, accepted = 0;
  for (size_t bit = 0; bit < 8 * n; ++bit) {
    metadata[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    bool expected = generated_check(metadata.get(), n);
    // The generated check accepts a table of a vector at the place of its own offset, which is then zero.
    uint32_t word;
    std::memcpy(&word, metadata.get() + bit / 32 * 4, sizeof word);
    if (expected && word == 0 && !metadata_is_sound(metadata.get(), n)) expected = false;
    ASSERT_EQ(metadata_is_sound(metadata.get(), n), expected) << "byte " << bit / 8 << ", bit " << bit % 8;
    (expected ? accepted : refused) += 1;
    metadata[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(accepted, 1000);
}

// As many tables as the check allows, and one more.
TEST(Structure, TheNumberOfTablesIsJudgedAsByTheGeneratedCheck) {
  const auto judged = [](size_t n_lines) {
    const FileImage file = remade(smallest_file(), [&](ModelT& model) {
      model.self_test.clear();
      for (size_t i = 0; i < n_lines; ++i) model.self_test.push_back(std::make_unique<format::SelfTestLineT>());
    });
    uint32_t n = 0;
    std::memcpy(&n, file.bytes() + file.size() - 64 + 12, sizeof n);
    const bool expected = generated_check(file.bytes(), n);
    EXPECT_EQ(metadata_is_sound(file.bytes(), n), expected) << n_lines << " lines";
    return expected;
  };
  size_t fewest = 1, most = 8192;  // allowed; not allowed
  while (most - fewest > 1) {
    const size_t middle = (fewest + most) / 2;
    (judged(middle) ? fewest : most) = middle;
  }
  EXPECT_GT(fewest, 8000u);
}
}}  // namespace goldcrest::test
