// SPDX-License-Identifier: Apache-2.0
// A trimmed vocabulary: all ids are new, and the engine gives the same bits for every entry that stays.
#include "spec/trim_vocabulary.h"
#include <bit>
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using converter::KeptIds;
using converter::Piece;
using converter::PieceType;
using converter::TokenizerKind;
using converter::Weights;
using Ids = std::vector<uint32_t>;

// Each position's logits and chosen token.
struct Run {
  std::vector<std::vector<float>> logits;
  std::vector<int32_t> tokens;
};

Run translate(const ModelSpec& spec, Weights weights, const std::vector<int32_t>& source) {
  const FileImage file = tiny_file(spec, Layout::kN16K4, {}, weights);
  Run run;
  EngineSetup setup = {.limits = {.beam_size = 1}, .trace_context = &run.logits};
  setup.trace = [](void* context, const char* name, int32_t, uint32_t row, const float* values, uint32_t count) {
    if (std::string_view(name) != "logits") return;
    auto& rows = *static_cast<std::vector<std::vector<float>>*>(context);
    if (rows.size() <= row) rows.resize(row + 1);
    rows[row].insert(rows[row].end(), values, values + count);
  };
  TestEngine engine(file.span(), setup);
  run.tokens = engine.run(source).tokens;
  return run;
}

std::vector<int32_t> new_ids(const Ids& kept, const std::vector<int32_t>& ids) {
  std::vector<int32_t> result;
  for (const int32_t id : ids) {
    const auto place = std::lower_bound(kept.begin(), kept.end(), static_cast<uint32_t>(id));
    EXPECT_EQ(*place, static_cast<uint32_t>(id));
    result.push_back(static_cast<int32_t>(place - kept.begin()));
  }
  return result;
}

// Keeps every third entry and those that the translation needs.
void expect_the_same_logits(const ModelSpec& spec, Weights weights) {
  const std::vector<int32_t> source = {3, 18, 9, 9, 4, 7, 0};
  const Run whole = translate(spec, weights, source);
  KeptIds wanted;
  wanted.source.assign(source.begin(), source.end());
  wanted.target.assign(whole.tokens.begin(), whole.tokens.end());
  for (uint32_t id = 0; id < spec.decoder.embedding->rows; id += 3) wanted.target.push_back(id);
  const KeptIds kept = converter::with_needed_ids(spec, wanted);
  ASSERT_LT(kept.target.size(), spec.decoder.embedding->rows / 2);
  const Run part = translate(converter::trim_vocabulary(spec, kept), weights, new_ids(kept.source, source));
  EXPECT_EQ(part.tokens, new_ids(kept.target, whole.tokens));
  ASSERT_EQ(part.logits.size(), whole.logits.size());
  for (size_t position = 0; position < part.logits.size(); ++position) {
    const bool is_forced = position == 0 && spec.generation.forced_first_id;  // then nothing is computed
    ASSERT_EQ(part.logits[position].size(), is_forced ? 0 : kept.target.size());
    if (is_forced) continue;
    for (size_t i = 0; i < kept.target.size(); ++i) {
      const float found = part.logits[position][i], expected = whole.logits[position][kept.target[i]];
      EXPECT_EQ(std::bit_cast<uint32_t>(found), std::bit_cast<uint32_t>(expected)) << position << " " << kept.target[i];
    }
  }
}

// Models of 300 entries, with one table for all, for decoder and projection, or for none of them.
std::vector<ModelSpec> specs() {
  TinyOptions options = student_tiny_options();
  std::vector<ModelSpec> specs = {tiny_spec(deep_tiny_options()), tiny_spec(options)};
  options.tied = false;
  specs.push_back(tiny_spec(options));
  options.tied = true;
  options.source_vocab_size = options.target_vocab_size;
  specs.push_back(tiny_spec(options));
  specs.back().encoder.embedding = specs.back().decoder.embedding;
  return specs;
}

TEST(TrimVocabulary, KeptLogitsAreTheSameBits) {
  for (const ModelSpec& spec : specs())
    for (const Weights weights : {Weights::kInt8, Weights::kFloat32}) expect_the_same_logits(spec, weights);
}

// --keep-languages: all entries but those of two languages stay.
TEST(TrimVocabulary, LogitsWithoutSomeLanguagesAreTheSameBits) {
  for (ModelSpec spec : specs()) {
    const bool is_shared = converter::shares_vocabulary(spec);
    spec.languages = {{{"a", 20, 20}, {"b", 21, is_shared ? 21u : 36u}}, converter::LanguagePlace::kBeforeText,
        converter::LanguagePlace::kForcedFirst, {}, {6, 12}};
    spec.target_language = "b";
    spec.generation.forced_first_id = *spec.languages.entries[1].target;
    for (const Weights weights : {Weights::kInt8, Weights::kFloat32}) expect_the_same_logits(spec, weights);
    KeptIds all;
    for (uint32_t id = 0; id < spec.encoder.embedding->rows; ++id) all.source.push_back(id);
    for (uint32_t id = 0; id < spec.decoder.embedding->rows; ++id) all.target.push_back(id);
    const ModelSpec trimmed = converter::trim_vocabulary(spec, converter::with_needed_ids(spec, all));
    EXPECT_EQ(trimmed.encoder.embedding->rows, spec.encoder.embedding->rows - 2);
    EXPECT_EQ(trimmed.decoder.embedding->rows, spec.decoder.embedding->rows - 2);
    EXPECT_EQ(trimmed.languages.entries[0].source, 18u);
    EXPECT_EQ(trimmed.languages.entries[1].target, is_shared ? 19u : 34u);
    EXPECT_EQ(trimmed.generation.forced_first_id, trimmed.languages.entries[1].target);
    EXPECT_TRUE(trimmed.languages.removed.empty());
  }
}

TEST(TrimVocabulary, StoredScalesStayWithTheirRows) {
  ModelSpec spec = specs()[0];
  converter::Matrix table = *spec.decoder.embedding;
  for (uint32_t row = 0; row < table.rows; ++row) {
    table.stored_scale.push_back(static_cast<float>(row + 1) * 0x1p-10f);
    for (uint32_t column = 0; column < table.columns; ++column) {
      table.values.edit()[size_t{row} * table.columns + column] =
          static_cast<float>(static_cast<int>((row + column) % 255) - 127) * table.stored_scale[row];
    }
  }
  spec.decoder.embedding = spec.projection.weight = std::make_shared<converter::Matrix>(table);
  expect_the_same_logits(spec, Weights::kInt8);
}

TEST(TrimVocabulary, TablesThatAreSharedStayShared) {
  for (const ModelSpec& spec : specs()) {
    const KeptIds kept = converter::with_needed_ids(spec, {{5}, {7}});
    const ModelSpec trimmed = converter::trim_vocabulary(spec, kept);
    EXPECT_EQ(trimmed.encoder.embedding == trimmed.decoder.embedding, spec.encoder.embedding == spec.decoder.embedding);
    EXPECT_EQ(trimmed.projection.weight == trimmed.decoder.embedding, spec.projection.weight == spec.decoder.embedding);
    const bool shared = spec.encoder.embedding == spec.decoder.embedding;
    EXPECT_EQ(converter::shares_vocabulary(spec), shared);
    EXPECT_EQ(kept.source, shared ? (Ids{0, 5, 7, 299}) : (Ids{5}));
    EXPECT_EQ(kept.target, shared ? (Ids{0, 5, 7, 299}) : (Ids{0, 7, 299}));
  }
}

TEST(TrimVocabulary, EveryIdIsNew) {
  ModelSpec spec = tiny_spec(deep_tiny_options());
  add_tokenizers(TokenizerKind::kCharacter, spec);
  spec.added_target_ids = 2;
  converter::GenerationSpec& generation = spec.generation;
  generation.decoder_start_id = 299;
  generation.end_id = 20;
  generation.pad_id = 30;
  generation.unknown_id = 40;
  generation.forced_first_id = 50;
  generation.suppressed_ids = {60, 299};
  generation.source_prefix = {7};
  generation.source_suffix = {9};
  generation.rules.more_end_ids = {70};
  generation.rules.biases = {{80, 1.5f}, {90, -2.0f}};
  generation.prompt = {{91, 94}, {92}, {93}};
  const KeptIds kept = converter::with_needed_ids(spec, {{12}, {100, 20}});
  EXPECT_EQ(kept.source, (Ids{0, 1, 7, 9, 12, 49}));
  EXPECT_EQ(kept.target, (Ids{0, 1, 20, 30, 40, 50, 60, 70, 80, 90, 91, 92, 93, 94, 100, 298, 299}));
  const ModelSpec trimmed = converter::trim_vocabulary(spec, kept);
  const converter::GenerationSpec& found = trimmed.generation;
  EXPECT_EQ(found.decoder_start_id, 16u);
  EXPECT_EQ(found.end_id, 2u);
  EXPECT_EQ(found.pad_id, 3u);
  EXPECT_EQ(found.unknown_id, 4u);
  EXPECT_EQ(found.forced_first_id, 5u);
  EXPECT_EQ(found.suppressed_ids, (Ids{6, 16}));
  EXPECT_EQ(found.source_prefix, (Ids{2}));
  EXPECT_EQ(found.source_suffix, (Ids{3}));
  EXPECT_EQ(found.rules.more_end_ids, (Ids{7}));
  EXPECT_EQ(found.rules.biases, (std::map<uint32_t, float>{{8, 1.5f}, {9, -2.0f}}));
  EXPECT_EQ(found.prompt, (converter::PromptSpec{{10, 13}, {11}, {12}}));
  EXPECT_EQ(trimmed.added_target_ids, 2u);
  EXPECT_EQ(trimmed.source_tokenizer->vocab_size, 6u);
  EXPECT_EQ(trimmed.source_tokenizer->unknown_id, 1u);
  EXPECT_EQ(trimmed.source_tokenizer->pieces[4].text, spec.source_tokenizer->pieces[12].text);
  EXPECT_EQ(trimmed.target_tokenizer->vocab_size, 17u);
  EXPECT_EQ(trimmed.target_tokenizer->pieces[14].text, spec.target_tokenizer->pieces[100].text);
  EXPECT_EQ(trimmed.projection.bias.size(), 17u);
  EXPECT_EQ(trimmed.projection.bias[14], spec.projection.bias[100]);
}

TEST(TrimVocabulary, TheShortlistHasTheNewIds) {
  ModelSpec spec = tiny_spec(odd_tiny_options());
  converter::ShortlistSpec& shortlist = spec.shortlist.emplace();
  shortlist.always = {2, 10, 20};
  for (uint64_t id = 0; id <= 19; ++id) shortlist.offset.push_back(id * 2);
  for (uint32_t id = 0; id < 19; ++id) shortlist.ids.insert(shortlist.ids.end(), {id, id + 10});
  shortlist.ngrams = {{{3, 4}, {5, 10, 15}}, {{3, 8}, {10}}};
  const ModelSpec trimmed = converter::trim_vocabulary(spec, {{0, 3, 8}, {0, 3, 10, 13, 15, 18, 36}});
  EXPECT_EQ(trimmed.shortlist->always, (Ids{2}));
  EXPECT_EQ(trimmed.shortlist->offset, (std::vector<uint64_t>{0, 2, 4, 5}));
  EXPECT_EQ(trimmed.shortlist->ids, (Ids{0, 2, 1, 3, 5}));
  ASSERT_EQ(trimmed.shortlist->ngrams.size(), 1u);
  EXPECT_EQ(trimmed.shortlist->ngrams[0].ngram, (Ids{1, 2}));
  EXPECT_EQ(trimmed.shortlist->ngrams[0].ids, (Ids{2}));
}

// A unigram tokenizer with an entry of every type.
ModelSpec spec_of_pieces(TokenizerKind kind, const std::vector<Piece>& pieces) {
  TinyOptions options = odd_tiny_options();
  options.source_vocab_size = static_cast<uint32_t>(pieces.size());
  ModelSpec spec = tiny_spec(options);
  spec.source_tokenizer.emplace();
  spec.source_tokenizer->kind = kind;
  spec.source_tokenizer->pieces = pieces;
  spec.source_tokenizer->vocab_size = options.source_vocab_size;
  return spec;
}

TEST(TrimVocabulary, WhatNoTextCanDoWithoutStays) {
  const ModelSpec spec = spec_of_pieces(TokenizerKind::kUnigram,
      {{"<unk>", 0, PieceType::kUnknown}, {"</s>", 0, PieceType::kControl}, {"", 0, PieceType::kControl}, {"a", -3},
          {"b", -9}, {"c", -9}, {"d", -1}, {"\u2581", -4}, {">>fr<<", -5, PieceType::kSurface},
          {"ab", -6, PieceType::kSurface}, {"<sep>", 0, PieceType::kUserDefined}, {"<0x41>", 0, PieceType::kByte},
          {"ba", 0, PieceType::kUnused}});
  EXPECT_EQ(converter::with_needed_ids(spec, {}).source, (Ids{0, 1, 4, 6, 7, 8, 10, 11}));
  ModelSpec bpe = spec;
  bpe.source_tokenizer->kind = TokenizerKind::kBpe;
  EXPECT_EQ(converter::with_needed_ids(bpe, {}).source, (Ids{0, 1, 7, 8, 10, 11})) << "scores are ranks";
}

TEST(TrimVocabulary, MergesOnTheWayToKeptPiecesStayBehindTheVocabulary) {
  const ModelSpec spec = spec_of_pieces(TokenizerKind::kBpe,
      {{"<unk>", 0, PieceType::kUnknown}, {"ab", -1}, {"cd", -2}, {"abc", -3}, {"bc", -4}, {"xy", -5}});
  const ModelSpec trimmed = converter::trim_vocabulary(spec, {{0, 3}, {0, 36}});
  const converter::TokenizerSpec& tokenizer = *trimmed.source_tokenizer;
  EXPECT_EQ(tokenizer.vocab_size, 2u);
  ASSERT_EQ(tokenizer.pieces.size(), 4u);
  EXPECT_EQ(tokenizer.pieces[1].text, "abc");
  EXPECT_EQ(tokenizer.pieces[2].text, "ab");
  EXPECT_EQ(tokenizer.pieces[2].score, -1);
  EXPECT_EQ(tokenizer.pieces[2].type, PieceType::kUnused);
  EXPECT_EQ(tokenizer.pieces[3].text, "bc");
}
}}  // namespace goldcrest::test
