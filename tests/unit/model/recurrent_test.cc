// SPDX-License-Identifier: Apache-2.0
// Files with recurrent layers: blocks with and without the feature bit, wrong values, damage.
#include "base/build_options.h"
#include "hostile_file.h"
#include "model/model_view.h"
#include "model/validate.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
std::unique_ptr<format::RecurrentT> recurrent_block() {
  ModelT metadata;
  format::GetModel(smallest_recurrent_file().bytes())->UnPackTo(&metadata);
  return std::move(metadata.decoder->layers[0]->recurrent);
}

std::unique_ptr<format::SelfAttentionT> self_attention() {
  ModelT metadata;
  format::GetModel(smallest_file().bytes())->UnPackTo(&metadata);
  return std::move(metadata.decoder->layers[0]->self_attention);
}

// Flips each bit of the metadata. metadata_is_sound must judge as FlatBuffers' generated check does.
void expect_judged_as_by_the_generated_check(FileImage file) {
  const size_t n = format::GetModel(file.bytes())->sections()->Get(0)->offset() * 64;
  for (size_t bit = 0; bit < 8 * n; ++bit) {
    file.bytes()[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    flatbuffers::Verifier verifier(file.bytes(), n, 8, 8192);
    bool expected = verifier.VerifyBuffer<format::Model>(nullptr);
    const bool found = metadata_is_sound(file.bytes(), n);
    // The generated check accepts a table of a vector at the place of its own offset, which is then zero.
    uint32_t word;
    std::memcpy(&word, file.bytes() + bit / 32 * 4, sizeof word);
    if (expected && word == 0 && !found) expected = false;
    ASSERT_EQ(found, expected) << "byte " << bit / 8 << ", bit " << bit % 8;
    file.bytes()[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
  }
}

using Integers = std::vector<uint32_t*>;

// Sets each of the integers to each of the values. More than 80 files are refused, and more than `least_accepted` run.
void expect_extremes_refused_or_run(
    const FileImage& whole, Integers (*integers_of)(ModelT&), const std::vector<uint32_t>& values, int least_accepted) {
  int refused = 0, accepted = 0;
  ModelT any;
  format::GetModel(whole.bytes())->UnPackTo(&any);
  for (size_t field = 0; field < integers_of(any).size(); ++field) {
    for (const uint32_t value : values) {
      SCOPED_TRACE(testing::Message() << "integer " << field << " is " << value);
      const FileImage file = remade(whole, [&](ModelT& m) { *integers_of(m)[field] = value; });
      (try_file(file).status < 0 ? refused : accepted) += 1;
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(refused, 80);
  EXPECT_GT(accepted, least_accepted);
}

TEST(Recurrent, TheFileRuns) {
  expect_runs(smallest_recurrent_file());
  EXPECT_EQ(format::GetModel(smallest_recurrent_file().bytes())->features(), kFeatureRecurrent);
}

// Older engines refuse the bit. An engine that knows it refuses files with a block but no bit, and layers with both
// kinds of blocks.
TEST(Recurrent, BlocksThatAreNotAnnouncedOrMisplaced) {
  expect_refused(smallest_recurrent_file(),
      {
          {"metadata: feature bits", [](ModelT& m) { m.features = 0; }},
          {"layers.self_attention: missing", [](ModelT& m) { m.decoder->layers[0]->recurrent.reset(); }},
          {"layers.recurrent: not expected",
              [](ModelT& m) { m.decoder->layers[0]->self_attention = self_attention(); }},
          {"layers.recurrent: not expected", [](ModelT& m) { m.encoder->layers[0]->recurrent = recurrent_block(); }},
          {"layers.self_attention: missing",
              [](ModelT& m) {
                m.encoder->layers[0]->recurrent = recurrent_block();
                m.encoder->layers[0]->self_attention.reset();
              }},
      });
  const Mutation unannounced = [](ModelT& m) { m.decoder->layers[0]->recurrent = recurrent_block(); };
  expect_refused(smallest_file(), {{"metadata: feature bits", unannounced}});
}

TEST(Recurrent, MissingAndWrongParts) {
  expect_refused(smallest_recurrent_file(),
      {
          {"layers.recurrent.input_forget", [](ModelT& m) { m.decoder->layers[0]->recurrent->input_forget.reset(); }},
          {"layers.recurrent.input_forget", [](ModelT& m) { m.decoder->layers[0]->recurrent->input_forget->n = 6; }},
          {"layers.recurrent.input_forget", [](ModelT& m) { m.decoder->layers[0]->recurrent->input_forget->n = 48; }},
          {"layers.recurrent.input_forget", [](ModelT& m) { m.decoder->layers[0]->recurrent->input_forget->k = 16; }},
          {"layers.recurrent.norm", [](ModelT& m) { m.decoder->layers[0]->recurrent->norm.reset(); }},
          {"layers.recurrent.norm", [](ModelT& m) { m.decoder->layers[0]->recurrent->norm->epsilon = 0; }},
      });
}

// All integers of a recurrent block.
Integers block_integers(ModelT& m) {
  format::RecurrentT& block = *m.decoder->layers[0]->recurrent;
  format::LinearT& linear = *block.input_forget;
  return {&linear.n, &linear.k, &linear.weights, &linear.scale, &linear.bias, &linear.weight_sum, &block.norm->gamma,
      &block.norm->beta, &m.features};
}

TEST(Recurrent, EveryIntegerTakesEveryExtreme) {
  expect_extremes_refused_or_run(smallest_recurrent_file(), block_integers,
      {0u, 1u, 2u, 15u, 16u, 31u, 32u, 33u, 64u, 65536u, 0x7fffffffu, 0x80000000u, 0xfffffff0u, UINT32_MAX}, 5);
}

TEST(Recurrent, EveryTruncationAndEveryFlippedBitIsRefused) { expect_damage_refused(smallest_recurrent_file()); }

TEST(Recurrent, WithRightChecksumsAFlippedBitIsRefusedOrRuns) {
  expect_flips_refused_or_run(smallest_recurrent_file(), {.seed = 6, .n = 2000, .anywhere = true});
}

TEST(Recurrent, EveryFlippedBitOfTheStructureIsJudgedAsByTheGeneratedCheck) {
  expect_judged_as_by_the_generated_check(smallest_recurrent_file());
}

// The recurrent layers, and the number of layers of the same kind before each.
TEST(Recurrent, ViewsOfMixedLayers) {
  TinyOptions options = mixed_tiny_options();
  options.decoder.n_layers = 4;
  const FileImage file = tiny_file(tiny_spec(options));
  EXPECT_EQ(view_model(file.bytes()).n_recurrent, 2u);
  const std::pair<bool, uint32_t> expected[] = {{false, 0}, {false, 1}, {true, 0}, {true, 1}};
  for (uint32_t i = 0; i < 4; ++i) {
    const DecoderLayerView layer = view_decoder_layer(file.bytes(), i);
    EXPECT_EQ(std::pair(layer.kind.is_recurrent(), layer.index_among_kind), expected[i]) << i;
    if (!layer.kind.is_recurrent()) continue;
    EXPECT_EQ(layer.recurrent.input_forget.n, 96u);
    EXPECT_EQ(layer.recurrent.input_forget.k, 48u);
    EXPECT_TRUE(layer.recurrent.norm.present());
  }
}

// Files with a shortlist: parts with and without the feature bit, wrong values, damage.

// Changes one number of the file's shortlist. `units` is the place of the array in its section.
template <typename T> FileImage with_number(uint32_t format::ShortlistT::*units, size_t at, T value) {
  FileImage file = smallest_listed_file();
  ModelT metadata;
  format::GetModel(file.bytes())->UnPackTo(&metadata);
  const size_t section = size_t{metadata.sections[3]->offset} * 64;
  std::memcpy(
      file.bytes() + section + size_t{(*metadata.shortlist).*units} * 64 + at * sizeof value, &value, sizeof value);
  repair_checksums(file);
  return file;
}

template <typename T>
void expect_bad_number(uint32_t format::ShortlistT::*units, size_t at, T value, const char* detail) {
  const Verdict verdict = try_file(with_number(units, at, value));
  EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT) << detail << ", " << at << " is " << value;
  EXPECT_EQ(verdict.detail, detail);
}

using S = format::ShortlistT;

TEST(Shortlist, TheFileRuns) {
  expect_runs(smallest_listed_file());
  EXPECT_EQ(format::GetModel(smallest_listed_file().bytes())->features(), kFeatureShortlist);
}

TEST(Shortlist, TheView) {
  ShortlistView view;
  ASSERT_TRUE(view_shortlist(smallest_listed_file().bytes(), &view));
  EXPECT_EQ(view.n_always, 1u);
  EXPECT_EQ(view.n_source_ids, 6u);
  EXPECT_EQ(view.n_ngrams, 3u);
  EXPECT_EQ(view.max_ngram, 3u);
  EXPECT_FALSE(view.wide_ids);
  const std::vector<uint32_t> keys(view.ngram_keys, view.ngram_keys + 9);
  EXPECT_EQ(keys, (std::vector<uint32_t>{0, 0, 1, 0, 0, kNoId, 1, 2, kNoId})) << "the longer one comes first";
  const std::vector<uint32_t> offset(view.offset, view.offset + 10);
  EXPECT_EQ(offset, (std::vector<uint32_t>{0, 2, 2, 3, 3, 3, 3, 4, 6, 6}));
  const auto* ids = static_cast<const uint16_t*>(view.ids);
  EXPECT_EQ((std::vector<uint16_t>(ids, ids + 6)), (std::vector<uint16_t>{1, 4, 5, 6, 3, 5}));
  EXPECT_FALSE(view_shortlist(smallest_file().bytes(), &view));
}

// Older engines refuse the bit. An engine that knows it refuses files with a part of a shortlist but no bit.
TEST(Shortlist, WhatIsNotAnnounced) {
  expect_refused(smallest_listed_file(), {
                                             {"metadata: feature bits", [](ModelT& m) { m.features = 0; }},
                                             {"limits.max_candidates", [](ModelT& m) { m.shortlist.reset(); }},
                                             {"self_test.shortlist",
                                                 [](ModelT& m) {
                                                   m.shortlist.reset();
                                                   m.limits->max_candidates = 0;
                                                 }},
                                             {"limits.max_candidates", [](ModelT& m) { m.limits->max_candidates = 0; }},
                                             {"limits.max_candidates", [](ModelT& m) { m.limits->max_candidates = 8; }},
                                         });
  expect_refused(
      smallest_file(), {
                           {"metadata: feature bits", [](ModelT& m) { m.limits->max_candidates = 3; }},
                           {"metadata: feature bits", [](ModelT& m) { m.shortlist = std::make_unique<S>(); }},
                           {"metadata: feature bits", [](ModelT& m) { m.self_test[1]->shortlist = true; }},
                       });
}

TEST(Shortlist, NumbersThatAreNoList) {
  const char *always = "shortlist.always", *offset = "shortlist.offset", *ids = "shortlist.ids",
             *keys = "shortlist.ngram_keys";
  expect_bad_number<uint16_t>(&S::always, 0, 7, always);
  expect_bad_number<uint32_t>(&S::offset, 0, 1, offset);
  expect_bad_number<uint32_t>(&S::offset, 1, 3, offset);
  expect_bad_number<uint32_t>(&S::offset, 1, 7, offset);
  expect_bad_number<uint32_t>(&S::offset, 9, 5, offset);
  expect_bad_number<uint32_t>(&S::offset, 9, UINT32_MAX, offset);
  expect_bad_number<uint16_t>(&S::ids, 0, 4, ids);
  expect_bad_number<uint16_t>(&S::ids, 1, 1, ids);
  expect_bad_number<uint16_t>(&S::ids, 2, 7, ids);
  expect_bad_number<uint16_t>(&S::ids, 5, UINT16_MAX, ids);
  expect_bad_number<uint32_t>(&S::ngram_keys, 0, 1, keys);      // greater than the next key
  expect_bad_number<uint32_t>(&S::ngram_keys, 2, kNoId, keys);  // equal to the next key
  expect_bad_number<uint32_t>(&S::ngram_keys, 3, 6, keys);
  expect_bad_number<uint32_t>(&S::ngram_keys, 4, kNoId, keys);  // only one id
  expect_bad_number<uint32_t>(&S::ngram_keys, 5, 6, keys);      // neither an id nor kNoId
  expect_bad_number<uint32_t>(&S::ngram_keys, 7, kNoId, keys);
}

TEST(Shortlist, ExtentsThatAreNotThere) {
  expect_refused(
      smallest_listed_file(), {
                                  {"shortlist.always", [](ModelT& m) { m.shortlist->n_always = 8; }},
                                  {"shortlist.always", [](ModelT& m) { m.shortlist->always = 1u << 20; }},
                                  {"shortlist.offset", [](ModelT& m) { m.shortlist->offset = 1u << 20; }},
                                  {"shortlist.ids", [](ModelT& m) { m.shortlist->ids = UINT32_MAX; }},
                                  {"shortlist.ids", [](ModelT& m) { m.shortlist->n_ids = UINT32_MAX; }},
                                  {"shortlist.offset", [](ModelT& m) { m.shortlist->n_ids = 5; }},
                                  {"shortlist.ngram_keys", [](ModelT& m) { m.shortlist->n_ngrams = 1u << 25; }},
                                  {"shortlist.max_ngram", [](ModelT& m) { m.shortlist->n_ngrams = 0; }},
                                  {"shortlist.max_ngram", [](ModelT& m) { m.shortlist->max_ngram = 1; }},
                                  {"shortlist.max_ngram", [](ModelT& m) { m.shortlist->max_ngram = 17; }},
                                  {"shortlist.ngram_keys", [](ModelT& m) { m.shortlist->max_ngram = 2; }},
                                  {"shortlist.ngram_keys", [](ModelT& m) { m.shortlist->ngram_keys = 1u << 20; }},
                              });
}

Integers table_integers(ModelT& m) {
  S& table = *m.shortlist;
  return {&table.always, &table.n_always, &table.offset, &table.ids, &table.n_ids, &table.ngram_keys, &table.n_ngrams,
      &table.max_ngram, &m.features, &m.limits->max_candidates};
}

TEST(Shortlist, EveryIntegerTakesEveryExtreme) {
  expect_extremes_refused_or_run(smallest_listed_file(), table_integers,
      {0u, 1u, 2u, 3u, 5u, 6u, 7u, 8u, 15u, 16u, 17u, 64u, 65536u, 0x7fffffffu, 0x80000000u, UINT32_MAX}, 8);
}

TEST(Shortlist, EveryTruncationAndEveryFlippedBitIsRefused) { expect_damage_refused(smallest_listed_file()); }

TEST(Shortlist, WithRightChecksumsAFlippedBitIsRefusedOrRuns) { expect_flips_refused_or_run(smallest_listed_file()); }

TEST(Shortlist, EveryFlippedBitOfTheStructureIsJudgedAsByTheGeneratedCheck) {
  expect_judged_as_by_the_generated_check(smallest_listed_file());
}
}}  // namespace goldcrest::test
