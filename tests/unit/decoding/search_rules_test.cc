// SPDX-License-Identifier: Apache-2.0
// Compares the rules of a search, one by one and all together, with the naive search. The file or the caller asks for
// them. Each rule must change a result, because otherwise the test would compare nothing.
#include "naive_search.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using converter::RulesSpec;
using converter::SequenceSpec;
using converter::SequencesSpec;

constexpr uint32_t kMostTokens = 14, kVocabulary = 300, kSourceEntries = 29;
constexpr double kTolerance = 5e-5;

// A model that often repeats itself, and prefers one token that is not allowed.
ModelSpec repetitive_spec(uint64_t seed, const RulesSpec& rules, float end_bias) {
  TinyOptions options = {
      .seed = seed, .decoder = {.n_layers = 2}, .target_vocab_size = kVocabulary, .end_bias = end_bias};
  ModelSpec spec = tiny_spec(options);
  spec.projection.bias[kVocabulary - 1] = 4;  // the start token, which is suppressed
  for (const uint32_t id : {7u, 270u}) spec.projection.bias[id] += 2;
  spec.generation.rules = rules;
  return spec;
}

// The search that asks for the rules as a caller; more ends and biases come only from the file.
goldcrest_search search_with(const RulesSpec& rules, uint32_t beam_size, uint32_t max_target_tokens) {
  goldcrest_search search = {.beam_size = beam_size,
      .max_target_tokens = max_target_tokens,
      .length_penalty = 0.8f,
      .flags = GOLDCREST_SEARCH_SCORES};
#define GOLDCREST_RULE(kind, field, ...) GOLDCREST_ASK_##kind(field, __VA_ARGS__)
#define GOLDCREST_ASK_FLAG(field, ...) search.field = rules.field ? GOLDCREST_YES : GOLDCREST_NO;
#define GOLDCREST_ASK_WORD(field, ...) search.field = static_cast<uint8_t>(rules.field);
#define GOLDCREST_ASK_COUNT(field, ...) search.field = rules.field == 0 ? UINT32_MAX : rules.field;
#define GOLDCREST_ASK_NUMBER(field, ...) search.field = rules.field == 0 ? HUGE_VALF : rules.field;
#include "goldcrest/search_rules.h"
  return search;
}

// Searches with the rules, given by the file and by the caller. Returns the number of sources whose tokens or score
// differ from a search without the rules.
size_t compare(const RulesSpec& rules, uint32_t beam_size, float length_penalty = 0.8f, float end_bias = 3) {
  size_t n_changed = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", beam size " << beam_size);
    const ModelSpec spec = repetitive_spec(seed, rules, end_bias);
    Rng rng(seed);
    const std::vector<int32_t> source = rng.ids(rng.between(3, 9), kSourceEntries);
    goldcrest_search asked = search_with(rules, beam_size, kMostTokens);
    asked.length_penalty = length_penalty;
    goldcrest_search of_file = {.beam_size = beam_size,
        .max_target_tokens = kMostTokens,
        .length_penalty = length_penalty,
        .flags = GOLDCREST_SEARCH_SCORES};
    const std::vector<NaiveHypothesis> expected = naive_results(spec, asked, source);
    const std::vector<Translation> found = engine_results(spec, of_file, source);
    expect_same(found, expected, kTolerance);
    ModelSpec plain = spec;
    plain.generation.rules = {};
    plain.generation.rules.more_end_ids = rules.more_end_ids;
    plain.generation.rules.biases = rules.biases;
    EXPECT_EQ(engine_results(plain, asked, source), found) << "asked for by the caller";
    plain.generation.rules = {};
    n_changed += engine_results(plain, of_file, source) != found;
    if (testing::Test::HasFailure()) return n_changed;
  }
  return n_changed;
}

void expect_changes(
    const RulesSpec& rules, const std::vector<uint32_t>& beam_sizes, float length_penalty = 0.8f, float end_bias = 3) {
  for (const uint32_t beam_size : beam_sizes)
    EXPECT_GT(compare(rules, beam_size, length_penalty, end_bias), 0u) << "beam size " << beam_size;
}

TEST(SearchRules, RenormalizeLeavesOutWhatMayNotBeChosen) { expect_changes({.renormalize = true}, {1, 2, 4}); }

TEST(SearchRules, EarlyStopping) {
  expect_changes({.early_stopping = GOLDCREST_STOP_FULL}, {2, 4, 7}, 2.0f);
  expect_changes({.early_stopping = GOLDCREST_STOP_NEVER}, {2, 4, 7}, 1.0f, 8);
  EXPECT_EQ(compare({.early_stopping = GOLDCREST_STOP_NEVER}, 4, -0.5f), 0u)
      << "shorter texts win, and they are equally likely";
  EXPECT_EQ(compare({.early_stopping = GOLDCREST_STOP_FULL}, 1), 0u) << "beams only";
}

TEST(SearchRules, AnyOfSeveralEndsIsTheEnd) {
  expect_changes({.more_end_ids = {7}}, {1, 2, 4});
  expect_changes({.more_end_ids = {7, 270, 21, 22, 23, 24}}, {1, 2, 4, 16});
}

TEST(SearchRules, NoRepeatNgram) {
  for (const uint32_t n : {1u, 2u, 3u}) expect_changes({.no_repeat_ngram = n}, {1, 2, 4});
  EXPECT_EQ(compare({.no_repeat_ngram = kMostTokens + 1}, 4), 0u) << "longer than any text";
}

TEST(SearchRules, RepetitionPenalty) {
  for (const float penalty : {1.3f, 3.0f, 0.7f}) expect_changes({.repetition_penalty = penalty}, {1, 2, 4});
  expect_changes({.renormalize = true, .repetition_penalty = 1.5f}, {1, 2, 4});
}

TEST(SearchRules, NoForcedEnd) { expect_changes({.force_end = false}, {1, 2, 4}); }

TEST(SearchRules, LengthPenaltyOfWu) {
  expect_changes({.length_penalty_kind = GOLDCREST_LENGTH_WU}, {1, 2, 4}, 0.6f);
  expect_changes({.early_stopping = GOLDCREST_STOP_NEVER, .length_penalty_kind = GOLDCREST_LENGTH_WU}, {4}, 0.6f);
}

TEST(SearchRules, MaxExtraTokens) {
  expect_changes({.max_extra_tokens = 1}, {1, 2, 4});
  expect_changes({.force_end = false, .early_stopping = GOLDCREST_STOP_NEVER, .max_extra_tokens = 2}, {1, 4});
}

TEST(SearchRules, MaxLengthFactor) {
  expect_changes({.max_length_factor = 0.4f}, {1, 2, 4});
  expect_changes({.force_end = false, .max_length_factor = 0.75f}, {1, 4});
  expect_changes({.max_extra_tokens = 1, .max_length_factor = 1.0f}, {1, 4});
  EXPECT_EQ(compare({.max_length_factor = 1024}, 4), 0u) << "longer than any text";
}

TEST(SearchRules, Biases) {
  expect_changes({.biases = {{0, -2.0f}, {7, -3.0f}, {280, 6.0f}}}, {1, 2, 4});
  expect_changes({.renormalize = true, .repetition_penalty = 1.2f, .biases = {{12, 5.0f}, {299, 9.0f}}}, {1, 4});
}

// Sequences of the file and of the caller give the results of the naive search. Returns the caller's results.
std::vector<Translation> results_with(const SequencesSpec& sequences, ModelSpec spec, const goldcrest_search& search,
    const std::vector<int32_t>& source) {
  std::vector<int32_t> ids;
  std::vector<float> biases;
  for (const SequenceSpec& sequence : sequences.list) {
    ids.push_back(static_cast<int32_t>(sequence.ids.size()));
    ids.insert(ids.end(), sequence.ids.begin(), sequence.ids.end());
    biases.push_back(sequence.bias);
  }
  const goldcrest_sequences of_caller = {ids.data(), biases.data(), static_cast<uint32_t>(ids.size()),
      static_cast<uint32_t>(biases.size()), sequences.no_repeat_source_ngram};
  const std::vector<Translation> found = engine_results(spec, search, source, &of_caller);
  spec.generation.sequences = sequences;
  expect_same(found, naive_results(spec, search, source), kTolerance);
  EXPECT_EQ(engine_results(spec, search, source), found) << "of the file";
  const goldcrest_sequences none = {};
  ModelSpec plain = spec;
  plain.generation.sequences = {};
  EXPECT_EQ(engine_results(spec, search, source, &none), engine_results(plain, search, source))
      << "the caller's replace the file's";
  return found;
}

TEST(SearchRules, Sequences) {
  size_t n_changed = 0;  // by n-grams of the source
  const float never = -std::numeric_limits<float>::infinity();
  for (const RulesSpec& rules : {RulesSpec{}, RulesSpec{.repetition_penalty = 1.3f}, RulesSpec{.renormalize = true}}) {
    for (const uint32_t beam_size : {1u, 2u, 4u, 8u}) {
      SCOPED_TRACE(testing::Message() << "beam size " << beam_size);
      const ModelSpec spec = repetitive_spec(beam_size, rules, 1);
      Rng rng(beam_size);
      std::vector<int32_t> source = rng.ids(9, kSourceEntries);
      const goldcrest_search search = search_with(rules, beam_size, kMostTokens);
      const std::vector<Translation> plain = engine_results(spec, search, source);
      const std::vector<uint32_t> best(plain[0].tokens.begin(), plain[0].tokens.end());
      ASSERT_GE(best.size(), 4u);
      SequencesSpec sequences;  // from the best text, with the start token too, and one that never occurs
      sequences.list = {{{best[0], best[1]}, never}, {{best[1], best[2], best[3]}, -1.5f}, {{best[2]}, 0.5f},
          {{kVocabulary - 1, best[0]}, -0.25f}, {{best[1], 280}, 3.0f}, {{281, 282, 283}, 9.0f}};
      const std::vector<Translation> found = results_with(sequences, spec, search, source);
      EXPECT_NE(found, plain);
      for (const Translation& result : found) {
        const int32_t pair[] = {static_cast<int32_t>(best[0]), static_cast<int32_t>(best[1])};
        const auto& tokens = result.tokens;
        EXPECT_EQ(std::search(tokens.begin(), tokens.end(), std::begin(pair), std::end(pair)), tokens.end());
      }
      for (size_t i = 1; i < 4; ++i) source[i + 2] = plain[0].tokens[i] % static_cast<int32_t>(kSourceEntries);
      // Ids of the source that the model likes.
      ModelSpec fond = spec;
      for (const uint32_t id : {3u, 7u}) fond.projection.bias[id] += 6;
      source[0] = source[1] = source[3] = 7, source[2] = 3;
      for (const uint32_t n : {1u, 2u, 3u}) {
        sequences.no_repeat_source_ngram = n;
        results_with(sequences, fond, search, source);
        n_changed += results_with({{}, n}, fond, search, source) != engine_results(fond, search, source) ? 1 : 0;
      }
    }
  }
  EXPECT_GE(n_changed, 12u) << "of 36";
}

// The caller's ids change while they are used: nothing outside the array is read.
TEST(SearchRules, ChangedSequencesAreHarmless) {
  const FileImage file = tiny_file(repetitive_spec(1, {}, 1));
  for (const int32_t changed : {0, 3, 1000, -1, INT32_MAX}) {
    TestEngine engine(file.span(), {});
    GuardedBuffer<int32_t> ids(3);
    ids[0] = 2, ids[1] = 7, ids[2] = 8;
    const goldcrest_sequences sequences = {ids.get(), nullptr, 3, 1, 0};
    ASSERT_EQ(goldcrest_set_sequences(engine.get(), &sequences), GOLDCREST_OK);
    for (int i = 0; i < 3; ++i) ids[i] = changed;
    const std::vector<int32_t> source = {3, 4, 5};
    EXPECT_FALSE(engine.run(source).tokens.empty());
  }
}

TEST(SearchRules, BadSequencesAreRefused) {
  const FileImage file = tiny_file(repetitive_spec(1, {}, 1));
  TestEngine engine(file.span(), {});
  const auto status_of = [&](const std::vector<int32_t>& ids, const std::vector<float>& biases) {
    const goldcrest_sequences sequences = {
        ids.data(), biases.data(), static_cast<uint32_t>(ids.size()), static_cast<uint32_t>(biases.size()), 0};
    return goldcrest_set_sequences(engine.get(), &sequences);
  };
  const std::vector<int32_t> source = {3, 4, 5};
  const int32_t first = engine.run(source).tokens[0];
  const std::vector<int32_t> used_ids = {1, first};
  const std::vector<float> used_biases = {-HUGE_VALF};
  ASSERT_EQ(status_of(used_ids, used_biases), GOLDCREST_OK);
  const Translation without = engine.run(source);
  EXPECT_NE(without.tokens[0], first);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto refused = [&](const std::vector<int32_t>& ids, const std::vector<float>& biases, int32_t index) {
    EXPECT_EQ(status_of(ids, biases), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_STREQ(engine.detail().message, "sequences: a length, an id or a bias is out of range");
    EXPECT_EQ(engine.detail().index, index);
  };
  refused({2, 1}, {1}, 0);
  refused({0}, {1}, 0);
  refused({1, 5, -1, 5}, {1, 1}, 1);
  refused({1, 5, INT32_MAX, 5}, {1, 1}, 1);
  refused({2, 5, 300}, {1}, 0);
  refused({2, -1, 5}, {1}, 0);
  refused({1, 5, 1, 6}, {1}, 1);
  refused({1, 5}, {1, 1}, 1);
  for (const float bad : {65537.0f, -65537.0f, HUGE_VALF, nan}) refused({1, 5, 1, 6}, {0, bad}, 1);
  const goldcrest_sequences null = {nullptr, nullptr, 1, 0, 0};
  EXPECT_EQ(goldcrest_set_sequences(engine.get(), &null), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_set_sequences(nullptr, nullptr), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(engine.run(source), without) << "errors change nothing";
  EXPECT_LT(goldcrest_self_test(engine.get(), nullptr), 0) << "the file has none";
  EXPECT_EQ(engine.run(source), without);
  ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
  ASSERT_GE(goldcrest_step(engine.get(), nullptr), 0);
  EXPECT_EQ(goldcrest_set_sequences(engine.get(), nullptr), GOLDCREST_ERROR_STATE);
  ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  ASSERT_EQ(goldcrest_set_sequences(engine.get(), nullptr), GOLDCREST_OK);
  EXPECT_EQ(engine.run(source).tokens[0], first) << "the file's again: none";
}

TEST(SearchRules, AllAtOnce) {
  Rng rng(5);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    RulesSpec rules = {.renormalize = rng.below(2) == 1,
        .force_end = rng.below(2) == 1,
        .early_stopping = static_cast<goldcrest_early_stopping>(1 + rng.below(3)),
        .length_penalty_kind = static_cast<goldcrest_length_penalty>(1 + rng.below(2))};
    if (rng.below(2) == 1) rules.more_end_ids = {7, 30};
    rules.no_repeat_ngram = rng.below(4);
    rules.max_extra_tokens = rng.below(2) * 4;
    if (rng.below(2) == 1) rules.max_length_factor = 0.5f + 0.125f * static_cast<float>(rng.below(8));
    if (rng.below(2) == 1) rules.repetition_penalty = 1.0f + 0.25f * rng.uniform();
    if (rng.below(2) == 1) rules.biases = {{3, 2 * rng.uniform()}, {150, 3.0f}, {270, -1.0f}};
    compare(rules, std::vector<uint32_t>{1, 2, 3, 4, 8}[rng.below(5)]);
    if (testing::Test::HasFailure()) return;
  }
}

// If every token is forbidden at once, ends too, the text still ends.
TEST(SearchRules, NothingLeftEndsTheText) {
  RulesSpec rules = {.force_end = false, .no_repeat_ngram = 1};
  ModelSpec spec = tiny_spec({.target_vocab_size = 4, .end_bias = -50});
  spec.generation.suppressed_ids = {0, 3};
  spec.generation.rules = rules;
  for (const uint32_t beam_size : {1u, 2u}) {
    const std::vector<Translation> found = engine_results(spec, search_with(rules, beam_size, 9), {1, 2});
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].tokens.size(), 3u) << "both tokens, then only the end remains";
    EXPECT_EQ(found[0].tokens.back(), 0);
  }
}

// Vaswani et al. 2017, section 6.1: beam size 4, length penalty 0.6 of Wu et al., at most 50 tokens more than the
// source.
TEST(SearchRules, ThePapersDecoding) {
  const RulesSpec rules = {.length_penalty_kind = GOLDCREST_LENGTH_WU, .max_extra_tokens = 50};
  for (const float end_bias : {2.0f, -50.0f}) {
    ModelSpec spec = tiny_spec({.seed = 31, .decoder = {.positions = 70}, .end_bias = end_bias});
    spec.generation.rules = rules;
    goldcrest_search search = {.beam_size = 4, .max_target_tokens = 69, .length_penalty = 0.6f};
    Rng rng(6);
    for (const uint32_t length : {3u, 8u}) {
      const std::vector<int32_t> source = rng.ids(length, kSourceEntries);
      const std::vector<Translation> found = engine_results(spec, search, source);
      expect_same(found, naive_results(spec, search, source), kTolerance);
      if (end_bias < 0) {
        EXPECT_EQ(found[0].tokens.size(), length + 50);
      }
      const double n = static_cast<double>(found[0].tokens.size());
      EXPECT_NEAR(found[0].score, found[0].log_prob / std::pow((5 + n) / 6, 0.6), 1e-5 * std::fabs(found[0].score));
    }
  }
}
}}  // namespace goldcrest::test
