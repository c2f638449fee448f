// SPDX-License-Identifier: Apache-2.0
// Files whose stacks make choices that need a feature bit: gates, RMS norms, attention biases. Choices with and without
// the bit, wrong values, damage. Likewise files with a table of languages or a lexicon.
#include "base/bounds.h"
#include "base/build_options.h"
#include "hostile_file.h"
#include "model/model_view.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
constexpr const char* kFeatureBits = "metadata: feature bits";

constexpr Flips kFlips = {.seed = 6, .n = 1500, .anywhere = true};

TEST(Gates, TheFilesRun) {
  for (const FileImage* file : {&smallest_gated_file(), &smallest_gated_float32_file()}) {
    expect_runs(*file);
    EXPECT_NE(format::GetModel(file->bytes())->features() & kFeatureGated, 0u);
    const EncoderLayerView layer = view_encoder_layer(file->bytes(), 0);
    EXPECT_EQ(layer.feed_forward.in.n, 32u);
    EXPECT_EQ(layer.feed_forward.out.k, 16u);
  }
  EXPECT_EQ(format::GetModel(smallest_gated_file().bytes())->features(), kFeatureGated);
}

TEST(Gates, AreRefusedWithoutTheBitOrWithWrongShapes) {
  for (const FileImage* file : {&smallest_gated_file(), &smallest_gated_float32_file()}) {
    expect_refused(
        *file, {
                   {kFeatureBits, [](ModelT& m) { m.features &= ~kFeatureGated; }},
                   {kFeatureBits,
                       [](ModelT& m) {
                         m.features &= ~kFeatureGated;
                         m.encoder->gated = false;
                       }},
                   {"layers.feed_forward.in", [](ModelT& m) { m.encoder->gated = false; }},
                   {"layers.feed_forward.in", [](ModelT& m) { m.decoder->gated = false; }},
                   {"layers.feed_forward.in", [](ModelT& m) { m.encoder->layers[0]->feed_forward->in->n = 5; }},
                   {"layers.feed_forward.in", [](ModelT& m) { m.encoder->layers[0]->feed_forward->in->n = 10; }},
                   {"layers.feed_forward.in", [](ModelT& m) { m.encoder->layers[0]->feed_forward->in->n = 16; }},
                   {"layers.feed_forward.out", [](ModelT& m) { m.encoder->layers[0]->feed_forward->out->k = 10; }},
               });
  }
  expect_refused(smallest_file(),
      {{kFeatureBits, [](ModelT& m) { m.encoder->gated = true; }},
          {kFeatureBits, [](ModelT& m) { m.decoder->gated = true; }}, {"layers.feed_forward.in", [](ModelT& m) {
                                                                         m.features = kFeatureGated;
                                                                         m.decoder->gated = true;
                                                                       }}});
}

TEST(Gates, EveryTruncationAndEveryFlippedBitIsRefused) {
  expect_damage_refused(smallest_gated_file());
  expect_flips_refused_or_run(smallest_gated_file(), kFlips);
}

// A stack may leave its positions unused only with a feature that has another way to tell positions apart.
TEST(Positions, ThatAreUnusedAreRefusedWithoutAReason) {
  expect_refused(smallest_file(), {{kFeatureBits, [](ModelT& m) { m.encoder->positions_used = false; }},
                                      {kFeatureBits, [](ModelT& m) { m.decoder->positions_used = false; }}});
  // With positions, the table needs a row for each.
  expect_refused(smallest_biased_file(), {{"encoder.positions", [](ModelT& m) {
                                             m.encoder->positions_used = true;
                                             m.encoder->positions =
                                                 static_cast<uint32_t>((m.sections[2]->size + 63) / 64) - 1;
                                           }}});
}

TEST(Biases, TheFilesRun) {
  for (const FileImage* file : {&smallest_biased_file(), &smallest_biased_float32_file()}) {
    expect_runs(*file);
    const EncoderLayerView layer = view_encoder_layer(file->bytes(), 0);
    EXPECT_NE(layer.self_attention.bias.table, 0u);
    EXPECT_EQ(layer.self_attention.bias.before, 3u);
    EXPECT_EQ(layer.self_attention.bias.stride, 32u);
    const ModelView model = view_model(file->bytes());
    EXPECT_FALSE(model.encoder.centred || model.decoder.centred);
    EXPECT_FALSE(model.encoder.positions_used || model.decoder.positions_used);
  }
  EXPECT_EQ(format::GetModel(smallest_biased_file().bytes())->features(), kFeatureRmsNorm | kFeatureAttentionBias);
}

format::AttentionBiasT& bias_of_encoder(ModelT& m) { return *m.encoder->layers[0]->self_attention->bias; }
format::AttentionBiasT& bias_of_decoder(ModelT& m) { return *m.decoder->layers[0]->self_attention->bias; }
uint32_t end_of_positions(const ModelT& m) { return static_cast<uint32_t>((m.sections[2]->size + 63) / 64); }

TEST(Biases, AreRefusedWithoutTheBitOrWithWrongExtents) {
  constexpr const char* kBias = "self_attention.bias";
  for (const FileImage* file : {&smallest_biased_file(), &smallest_biased_float32_file()}) {
    expect_refused(*file, {
                              {kFeatureBits, [](ModelT& m) { m.features &= ~kFeatureRmsNorm; }},
                              {kFeatureBits,
                                  [](ModelT& m) {
                                    m.features &= ~kFeatureRmsNorm;
                                    m.encoder->centred = true;
                                  }},
                              {kFeatureBits, [](ModelT& m) { m.features &= ~kFeatureAttentionBias; }},
                              {kFeatureBits,
                                  [](ModelT& m) {
                                    m.features &= ~kFeatureAttentionBias;
                                    m.encoder->positions_used = m.decoder->positions_used = true;
                                    m.encoder->max_positions = m.decoder->max_positions = 1;
                                  }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).before = 2; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).after = 2; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).before = 1u << 20; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).after = UINT32_MAX; }},
                              {kBias, [](ModelT& m) { bias_of_decoder(m).before = 2; }},
                              {kBias, [](ModelT& m) { bias_of_decoder(m).after = 1; }},
                              {kBias, [](ModelT& m) { m.encoder->max_positions = 5; }},
                              {kBias, [](ModelT& m) { m.decoder->max_positions = 5; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).table = UINT32_MAX; }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).table = end_of_positions(m); }},
                              {kBias, [](ModelT& m) { bias_of_encoder(m).table = end_of_positions(m) - 1; }},
                          });
  }
}

// Changes one value of the encoder's biases: 7 distances, then zeros up to 32.
Verdict with_bias(uint32_t column, float value) {
  return try_file(remade_with_contents(smallest_biased_file(), [&](ModelT& m, Contents& contents) {
    std::memcpy(&contents[2][bias_of_encoder(m).table * size_t{64} + column * sizeof value], &value, sizeof value);
  }));
}

TEST(Biases, ValuesOutOfRangeAndPaddingThatIsNotZeroAreRefused) {
  for (const uint32_t column : {0u, 3u, 6u}) {
    EXPECT_EQ(with_bias(column, -65536.0f).status, GOLDCREST_OK);
    for (const float bad : {65537.0f, 0x1p-61f, std::numeric_limits<float>::infinity(), std::nanf("")})
      EXPECT_EQ(with_bias(column, bad).detail, "self_attention.bias") << bad;
  }
  for (const uint32_t column : {7u, 16u, 31u}) {
    EXPECT_EQ(with_bias(column, 1.0f).detail, "self_attention.bias") << column;
    EXPECT_EQ(with_bias(column, 0.0f).status, GOLDCREST_OK) << column;
  }
}

TEST(Biases, EveryTruncationAndEveryFlippedBitIsRefused) {
  expect_damage_refused(smallest_biased_file());
  expect_flips_refused_or_run(smallest_biased_file(), kFlips);
}

// Files with a table of languages.

TEST(HostileLanguages, TheFileRuns) {
  expect_runs(smallest_languages_file());
  const format::Model& model = *format::GetModel(smallest_languages_file().bytes());
  EXPECT_EQ(model.features(), kFeatureLanguages);
  EXPECT_EQ(model.self_test()->Get(0)->n_forced(), 1u);
  LanguagesView view;
  ASSERT_TRUE(view_languages(smallest_languages_file().bytes(), &view));
  EXPECT_EQ(view.of_sources().n, 3u);
  EXPECT_EQ(view.of_sources().ids[2], kNoId);
  EXPECT_EQ(view.of_targets().ids[0], kNoId);
  EXPECT_EQ(view.of_sources().by_default, 0u);
  EXPECT_EQ(view.of_targets().by_default, 2u);
  EXPECT_STREQ(view_language_code(smallest_languages_file().bytes(), 2), "c");
  EXPECT_FALSE(view_languages(smallest_file().bytes(), &view));
}

void without_forced(ModelT& m) {
  for (const auto& line : m.self_test) line->n_forced = 0;
}

TEST(HostileLanguages, NeedTheirFeature) {
  expect_refused(smallest_languages_file(),
      {{kFeatureBits, [](ModelT& m) { m.features = 0; }}, {kFeatureBits, [](ModelT& m) { m.languages.reset(); }},
          {kFeatureBits,
              [&](ModelT& m) {
                without_forced(m);
                m.features = 0;
              }},
          {"self_test.target", [](ModelT& m) { m.self_test[1]->n_forced = 2; }}});
  expect_refused(
      smallest_file(), {{kFeatureBits, [](ModelT& m) { m.features = kFeatureLanguages; }},
                           {kFeatureBits, [](ModelT& m) { m.languages = std::make_unique<format::LanguagesT>(); }},
                           {kFeatureBits, [](ModelT& m) { m.self_test[1]->n_forced = 1; }}});
}

// The source vocabulary has 6 ids, the target's 7.
TEST(HostileLanguages, HaveBounds) {
  const std::vector<Mutation> lies = {[](ModelT& m) { m.languages->source_place = 3; },
      [](ModelT& m) { m.languages->target_place = 2; }, [](ModelT& m) { m.languages->target_place = 5; },
      [](ModelT& m) { m.languages->source_place = 255; },
      [](ModelT& m) { m.languages->source_place = 0; },  // but it has ids
      [](ModelT& m) {
        m.languages->source_place = 0;
        m.languages->source.clear();  // but it has a default
      },
      [](ModelT& m) { m.languages->code.pop_back(); }, [](ModelT& m) { m.languages->code.clear(); },
      [](ModelT& m) { m.languages->source.pop_back(); }, [](ModelT& m) { m.languages->target.push_back(5); },
      [](ModelT& m) { m.languages->code[0] = ""; }, [](ModelT& m) { m.languages->code[0] = "b"; },
      [](ModelT& m) { m.languages->code[1] = "d"; }, [](ModelT& m) { m.languages->code[2] = std::string(33, 'c'); },
      [](ModelT& m) { m.languages->source[0] = 6; }, [](ModelT& m) { m.languages->target[1] = 7; },
      [](ModelT& m) { m.languages->default_source = -2; },
      [](ModelT& m) { m.languages->default_source = 2; },  // a target only
      [](ModelT& m) { m.languages->default_target = 0; }, [](ModelT& m) { m.languages->default_target = 3; },
      [](ModelT& m) { m.languages->default_target = INT32_MAX; }, [](ModelT& m) { m.generation->forced_first_id = -1; },
      [](ModelT& m) {
        m.languages->default_source = -1;
        m.languages->source.assign(3, UINT32_MAX);
      },
      [](ModelT& m) {
        m.languages->target_place = 1;  // then ids are of the source's vocabulary, and lines have no forced id
        m.languages->target[1] = 6;
        without_forced(m);
      }};
  for (size_t i = 0; i < lies.size(); ++i) {
    SCOPED_TRACE(i);
    expect_refused(smallest_languages_file(), {{"languages", lies[i]}});
  }
  const std::vector<Mutation> truths = {[](ModelT& m) { m.languages->default_source = -1; },
      [](ModelT& m) {
        m.languages->default_target = -1;
        m.generation->forced_first_id = 3;
      },
      [](ModelT& m) { m.languages->code[2] = std::string(32, 'c'); }, [](ModelT& m) { m.languages->code[2] = "\xff"; },
      [](ModelT& m) {
        m.languages->target_place = 1;
        without_forced(m);
      },
      [](ModelT& m) {
        m.languages->target_place = 4;
        m.generation->decoder_start_id = 4;
        without_forced(m);
      },
      [](ModelT& m) {
        m.languages->source_place = 0;
        m.languages->source.clear();
        m.languages->default_source = -1;
      }};
  for (size_t i = 0; i < truths.size(); ++i) {
    const Verdict verdict = try_file(remade(smallest_languages_file(), truths[i]));
    EXPECT_EQ(verdict.status, GOLDCREST_OK) << i << ": " << verdict.detail;
  }
}

TEST(HostileLanguages, EveryTruncationAndEveryFlippedBitIsRefused) { expect_damage_refused(smallest_languages_file()); }

TEST(HostileLanguages, WithRightChecksumsAFlippedBitIsRefusedOrRuns) {
  expect_flips_refused_or_run(smallest_languages_file(), kFlips);
}

// Files with a lexicon: two nodes, {1: node 1, 3: node 1} and {2: node 2, end}, then {end}.
const std::vector<uint32_t> kLexicon = {
    3, 0, 2, 4, 5, 1, 1, 3, 1, 2, 2, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};

void add_lexicon(ModelT& m, const std::vector<uint32_t>& lexicon, uint32_t max_candidates) {
  m.lexicon = lexicon;
  m.features |= kFeatureLexicon;
  m.limits->max_candidates = max_candidates;
}

Verdict with_lexicon(const std::vector<uint32_t>& lexicon, uint32_t features = kFeatureLexicon) {
  return try_file(remade(smallest_file(), [&](ModelT& m) {
    add_lexicon(m, lexicon, 4);
    m.features = features;
  }));
}

TEST(HostileLexicon, NeedsItsFeature) {
  EXPECT_EQ(with_lexicon(kLexicon).status, GOLDCREST_OK) << with_lexicon(kLexicon).detail;
  EXPECT_EQ(with_lexicon(kLexicon, 0).detail, kFeatureBits);
  EXPECT_EQ(with_lexicon({}).detail, kFeatureBits);
  EXPECT_EQ(with_lexicon({1}).detail, kFeatureBits);
  expect_refused(
      smallest_file(), {{kFeatureBits, [](ModelT& m) { m.limits->max_candidates = 4; }},
                           {"limits.max_candidates", [](ModelT& m) { add_lexicon(m, kLexicon, 8); }}});  // among 7 ids
}

// Each word of the list can be wrong: sizes, first edges, tokens that do not ascend or are no ids, children.
TEST(HostileLexicon, HasARuleForEachWord) {
  for (size_t i = 0; i < kLexicon.size(); ++i) {
    for (const uint32_t bad : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 1u << 27, UINT32_MAX - 1, UINT32_MAX}) {
      std::vector<uint32_t> lexicon = kLexicon;
      if (lexicon[i] == bad) continue;
      lexicon[i] = bad;
      const bool is_root_token = i == 5 && (bad == 0 || bad == 2), is_second = i == 7 && bad > 1 && bad < 7;
      const bool is_child = (i == 6 || i == 8) && bad == 2;
      const bool is_token_of_1 = i == 9 && bad < 7, is_behind_end = (i == 12 || i == 14) && bad == 0;
      const bool is_good = is_root_token || is_second || is_child || is_token_of_1 || is_behind_end;
      const Verdict verdict = with_lexicon(lexicon);
      EXPECT_EQ(verdict.status, is_good ? GOLDCREST_OK : GOLDCREST_ERROR_MODEL_CORRUPT) << i << " is " << bad;
    }
  }
  for (const size_t size : {2u, 3u, 14u}) {
    EXPECT_EQ(with_lexicon({kLexicon.begin(), kLexicon.begin() + static_cast<ptrdiff_t>(size)}).status,
        GOLDCREST_ERROR_MODEL_CORRUPT);
  }
}

TEST(HostileLexicon, WithRightChecksumsAFlippedBitIsRefusedOrRuns) {
  expect_flips_refused_or_run(remade(smallest_file(), [](ModelT& m) { add_lexicon(m, kLexicon, 4); }));
}
}}  // namespace goldcrest::test
