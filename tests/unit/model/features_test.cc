// SPDX-License-Identifier: Apache-2.0
// Files with rules of the search, sequences, subwords or prompts: none without the feature bit, none beyond its bounds.
#include "base/bounds.h"
#include "base/build_options.h"
#include "hostile_file.h"
#include "model/model_view.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
// The smallest file with a change and these feature bits.
FileImage with_features(uint32_t features, const Mutation& change) {
  return remade(smallest_file(), [&](ModelT& m) {
    change(m);
    m.features |= features;
  });
}

// Without its feature, each change makes the file corrupt. With it, and with any of `more` bits, the file runs.
void expect_needed(uint32_t feature, const std::vector<uint32_t>& more, const std::vector<Mutation>& changes) {
  for (const Mutation& change : changes) {
    expect_corrupt(remade(smallest_file(), change), "metadata: feature bits");
    for (const uint32_t bits : more) expect_runs(with_features(feature | bits, change));
  }
}

TEST(FeatureBits, AloneChangeNothing) {
  for (const uint32_t bits : {uint32_t{kFeatureRecurrent}, uint32_t{kFeatureShortlist}, uint32_t{kFeatureSubword},
           uint32_t{kFeatureGated}, kFeatureRmsNorm | kFeatureAttentionBias}) {
    SCOPED_TRACE(bits);
    expect_runs(remade(smallest_file(), [&](ModelT& m) { m.features = bits; }));
  }
}

TEST(HostileRules, NeedTheirFeature) {
  expect_needed(kFeatureRules, {0},
      {[](ModelT& m) { m.generation->renormalize = true; }, [](ModelT& m) { m.generation->early_stopping = 2; },
          [](ModelT& m) { m.generation->more_end_ids = {3}; }, [](ModelT& m) { m.generation->no_repeat_ngram = 3; },
          [](ModelT& m) { m.generation->repetition_penalty = 1.5f; },
          [](ModelT& m) { m.generation->force_end = false; }, [](ModelT& m) { m.generation->length_penalty_kind = 1; },
          [](ModelT& m) { m.generation->max_extra_tokens = 50; },
          [](ModelT& m) { m.generation->max_length_factor = 2.5f; },
          [](ModelT& m) {
            m.generation->biased_ids = {1, 4};
            m.generation->biases = {-2, 3};
          }});
}

TEST(HostileRules, HaveBounds) {
  const auto refused = [](const std::string& message, const Mutation& mutate) {
    expect_corrupt(with_features(kFeatureRules, mutate), message);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  refused("generation.early_stopping", [](ModelT& m) { m.generation->early_stopping = 3; });
  refused("generation.length_penalty_kind", [](ModelT& m) { m.generation->length_penalty_kind = 2; });
  for (const float bad : {0.0f, -1.0f, 1025.0f, nan})
    refused("generation.repetition_penalty", [&](ModelT& m) { m.generation->repetition_penalty = bad; });
  for (const float bad : {-1.0f, 0.0001f, 1025.0f, nan})
    refused("generation.max_length_factor", [&](ModelT& m) { m.generation->max_length_factor = bad; });
  refused("generation.more_end_ids", [](ModelT& m) { m.generation->more_end_ids = {7}; });
  refused("generation.more_end_ids", [](ModelT& m) { m.generation->more_end_ids.assign(16, 1); });
  refused("generation.biased_ids", [](ModelT& m) { m.generation->biased_ids = {7}; });
  refused("generation.biases", [](ModelT& m) { m.generation->biased_ids = {6}; });
  refused("generation.biases", [](ModelT& m) { m.generation->biases = {1}; });
  for (const std::vector<uint32_t>& bad : {std::vector<uint32_t>{4, 1}, {4, 4}, {1, 4, 2}}) {
    refused("generation.biased_ids: ascending", [&](ModelT& m) {
      m.generation->biased_ids = bad;
      m.generation->biases.assign(bad.size(), 1);
    });
  }
  for (const float bad : {-65537.0f, 65537.0f, nan}) {
    refused("generation.biases", [&](ModelT& m) {
      m.generation->biased_ids = {6};
      m.generation->biases = {bad};
    });
  }
}

TEST(HostileSequences, NeedTheirFeature) {
  const float never = -std::numeric_limits<float>::infinity();
  expect_needed(kFeatureSequences, {0u, kFeatureRules, kFeaturePrompt},
      {[](ModelT& m) { m.generation->no_repeat_source_ngram = 3; },
          [&](ModelT& m) {
            m.generation->sequences = {2, 5, 6, 1, 3};
            m.generation->sequence_biases = {never, -65536.0f};
          }});
}

TEST(HostileSequences, HaveBounds) {
  const auto refused = [](const std::vector<uint32_t>& ids, const std::vector<float>& biases) {
    const Mutation set = [&](ModelT& m) {
      m.generation->sequences = ids;
      m.generation->sequence_biases = biases;
    };
    expect_corrupt(with_features(kFeatureSequences, set), "generation.sequences");
  };
  refused({2, 5, 7}, {1});
  refused({2, 5}, {1});
  refused({0}, {1});
  refused({UINT32_MAX, 5}, {1});
  refused({1, 5, UINT32_MAX, 5}, {1, 1});
  refused({1, 5, 1}, {1, 1});
  refused({1, 5, 1, 5}, {1});
  refused({1, 5}, {1, 1});
  refused({1, 5}, {});
  refused({}, {1});
  for (const float bad :
      {-65537.0f, 65537.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    refused({1, 5}, {bad});
}

// Files whose texts subword-nmt's merges cut: tokenizers with and without the feature bit, wrong values, damage.

using format::TokenizerKind;

TEST(Subword, TheFileRuns) {
  expect_runs(smallest_subword_file());
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
  expect_refused(
      smallest_file(), {
                           {"tokenizer.kind", [](ModelT& m) { m.tokenizer->kind = TokenizerKind::Subword; }},
                           {"detokenizer: vocabulary", [](ModelT& m) { m.detokenizer->kind = TokenizerKind::Subword; }},
                       });
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

// A vector of added tokens without runs, with an empty trie.
FileImage file_with_added_tokens() {
  return remade(smallest_file(), [](ModelT& m) {
    m.features = kFeatureAddedTokens;
    m.tokenizer->added = {5, 0, 0, 0};
  });
}

TEST(AddedTokens, AFileWithThemRuns) { expect_runs(file_with_added_tokens()); }

TEST(AddedTokens, AreRefusedWithoutTheirBitOrWithRunsThatDoNotFit) {
  constexpr const char* subject = "tokenizer.added";
  expect_refused(file_with_added_tokens(), {
                                               {"metadata: feature bits", [](ModelT& m) { m.features = 0; }},
                                               {subject, [](ModelT& m) { m.tokenizer->added.clear(); }},
                                               {subject,
                                                   [](ModelT& m) {
                                                     m.tokenizer->added = {5, 0, 0};
                                                   }},
                                               {subject,
                                                   [](ModelT& m) {
                                                     m.tokenizer->added = {5, 1, 0, 1, 0};
                                                   }},
                                               {subject,
                                                   [](ModelT& m) {
                                                     m.tokenizer->added = {5, 2, 0, 1};
                                                   }},
                                               {subject, [](ModelT& m) { m.tokenizer->added[1] = 0xFFFFFFFE; }},
                                               {subject, [](ModelT& m) { m.tokenizer->added[2] = 0xFFFFFFFE; }},
                                           });
  expect_refused(smallest_file(), {{subject, [](ModelT& m) { m.features = kFeatureAddedTokens; }}});
}

TEST(Subword, ScoresThatAreNone) {
  for (const float bad : {NAN, INFINITY, -INFINITY, 2e9f}) {
    FileImage file = smallest_subword_file();
    const format::Model& model = *format::GetModel(file.bytes());
    const size_t section = size_t{model.sections()->Get(3)->offset()} * 64;
    std::memcpy(file.bytes() + section + size_t{model.tokenizer()->score()} * 64 + 4 * 8, &bad, sizeof bad);
    repair_checksums(file);
    EXPECT_EQ(try_file(file).detail, "tokenizer.score") << bad;
  }
}

TEST(Subword, EveryTruncationAndEveryFlippedBitIsRefused) { expect_damage_refused(smallest_subword_file()); }

TEST(Subword, WithRightChecksumsAFlippedBitIsRefusedOrRuns) { expect_flips_refused_or_run(smallest_subword_file()); }

// Files with a prompt: none without the feature bit, none beyond its bounds.

// The file's target has 7 ids, of which 0 ends a text; its self-test targets have two ids, its limits three.
void refused(const Mutation& mutate) { expect_corrupt(with_features(kFeaturePrompt, mutate), "generation: prompt"); }

TEST(HostilePrompt, NeedsItsFeature) {
  expect_needed(kFeaturePrompt, {0u, kFeatureRules},
      {[](ModelT& m) { m.generation->forced_ids = {4}; },
          [](ModelT& m) {
            m.generation->first_choices = {1, 3, 5};
          },
          [](ModelT& m) {
            m.generation->first_suppressed_ids = {0, 6, 6};
          },
          [](ModelT& m) { m.limits->max_prefix_tokens = 1; },
          [](ModelT& m) { m.limits->max_prefix_tokens = m.limits->max_target_tokens - 1; }});
}

TEST(HostilePrompt, HasBounds) {
  for (const uint32_t bad : {0u, 7u, UINT32_MAX}) {
    refused([&](ModelT& m) { m.generation->first_choices = {bad}; });
    refused([&](ModelT& m) { m.generation->forced_ids = {bad}; });
  }
  refused([](ModelT& m) { m.generation->first_suppressed_ids = {7}; });
  refused([](ModelT& m) { m.generation->first_suppressed_ids.assign(kMaxPositions + 1, 1); });
  for (const std::vector<uint32_t>& bad : {std::vector<uint32_t>{4, 1}, {4, 4}, {1, 4, 2}})
    refused([&](ModelT& m) { m.generation->first_choices = bad; });
  for (const bool chosen : {false, true}) {
    refused([&](ModelT& m) {
      (chosen ? m.generation->first_choices : m.generation->forced_ids) = {3};
      m.generation->forced_first_id = 4;
    });
  }
  refused([](ModelT& m) { m.generation->forced_ids.assign(m.limits->max_target_tokens, 1); });
  refused([](ModelT& m) {
    m.generation->first_choices = {2};
    m.generation->forced_ids.assign(m.limits->max_target_tokens - 1, 1);
  });
  refused([](ModelT& m) { m.limits->max_prefix_tokens = m.limits->max_target_tokens; });
  refused([](ModelT& m) { m.generation->forced_ids = {1, 1}; });
  refused([](ModelT& m) {
    m.features |= kFeatureRules;
    m.generation->more_end_ids = {5};
    m.generation->forced_ids = {5};
  });
}

TEST(HostilePacked, MultipliersSumsAndPanels) {
  const FileImage file = packed_tiny_file(tiny_spec(odd_tiny_options()));
  EXPECT_EQ(try_file(file).status, GOLDCREST_OK);
  ModelT metadata;
  format::GetModel(file.bytes())->UnPackTo(&metadata);
  const format::LinearT& projection = *metadata.projection;
  const size_t groups = (projection.k + 31) / 32, rows = (projection.n + 15) / 16 * 16;
  const size_t nibbles = size_t{projection.weights} * 64, multipliers = nibbles + rows * groups * 16;
  const auto changed = [&](size_t at, int value) {
    return try_file(remade_with_contents(
        file, [&](ModelT&, Contents& contents) { contents[0][at] = static_cast<uint8_t>(value); }));
  };
  for (const int bad : {16, -16, 127, -128}) {
    const Verdict verdict = changed(multipliers + rows * groups - 1, bad);  // a bad multiplier of padding
    EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT) << bad;
    EXPECT_EQ(verdict.detail, "projection") << bad;
  }
  EXPECT_EQ(changed(multipliers + rows * groups - 1, -15).status, GOLDCREST_OK);
  EXPECT_EQ(changed(nibbles, 0x97).detail, "projection") << "the sum is another one";
  // The last matrix of the weights loses a byte, and a matrix of 8 bits is said to have 4.
  expect_corrupt(remade_with_contents(file, [](ModelT&, Contents& contents) { contents[0].pop_back(); }), "projection");
}

TEST(HostilePacked, NeedsItsFeatureAndInt8WeightsWithoutASecondMatrix) {
  const Mutation packs = [](ModelT& m) {
    m.projection->packed = true;
    m.features |= kFeaturePacked;
  };
  const Mutation packs_and_refines = [&](ModelT& m) {
    packs(m);
    m.projection->refined = true;
    m.features |= kFeatureRefinedWeights;
  };
  const char* const bits = "metadata: feature bits";
  expect_refused(smallest_file(),
      {{bits, [](ModelT& m) { m.projection->packed = true; }},
          {bits, [](ModelT& m) { m.encoder->embedding->packed = true; }}, {"projection", packs_and_refines}});
  expect_refused(smallest_float32_file(), {{"projection", packs}});
  EXPECT_STREQ(refusal_of(kFeaturePacked), kHasAccuracy ? nullptr : kNoAccuracy);
}
}}  // namespace goldcrest::test
