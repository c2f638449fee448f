// SPDX-License-Identifier: Apache-2.0
// Greedy search, and the parts that greedy and beam search share: lengths, forced and suppressed ids, scores.
#include "decoding/search/hypotheses.h"
#include "naive_search.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
EngineSetup setup_with(uint32_t beam_size, uint32_t max_target_tokens) {
  return {.limits = {.max_target_tokens = max_target_tokens, .beam_size = beam_size, .n_best = beam_size}};
}

goldcrest_search greedy_search(uint32_t max_target_tokens, uint32_t flags) {
  return {.beam_size = 1, .max_target_tokens = max_target_tokens, .length_penalty = 1, .flags = flags};
}

TEST(HypothesisScore, IsTheFormula) {
  for (const float length_penalty : {0.0f, 0.6f, 1.0f, 2.0f, -1.0f}) {
    for (const float word_penalty : {0.0f, 0.3f, -2.0f}) {
      goldcrest_search search = {.length_penalty = length_penalty, .word_penalty = word_penalty};
      for (const uint32_t n : {1u, 2u, 7u, 512u}) {
        const double expected =
            (-3.5 - double{word_penalty} * n) / std::pow(static_cast<double>(n), double{length_penalty});
        EXPECT_NEAR(hypothesis_score(search, -3.5f, n), expected, 5e-6 * std::fabs(expected))
            << length_penalty << " " << n;
      }
    }
  }
}

// Takes the largest logit at every position; has its log-probability if that was asked for.
TEST(Greedy, TakesTheLargestLogit) {
  const ModelSpec spec = tiny_spec(deep_tiny_options());
  const FileImage file = tiny_file(spec);
  Rng rng(1);
  const std::vector<int32_t> source = rng.ids(9, 50);
  PrefixLogits logits(file.span(), source, 13);
  TestEngine engine(file.span(), setup_with(1, 12));
  engine.set_search(greedy_search(12, GOLDCREST_SEARCH_SCORES));
  const Translation found = engine.run(source);
  std::vector<int32_t> prefix;
  double log_prob = 0;
  for (size_t i = 0; i < found.tokens.size(); ++i) {
    if (i + 1 == 12) {
      EXPECT_EQ(found.tokens[i], 0) << "the end token is forced";
      break;
    }
    std::vector<float> row = logits.after(prefix);
    double sum = 0;
    for (const float logit : row) sum += std::exp(double{logit});
    row.back() = -1e30f;  // suppressed
    const auto best = std::max_element(row.begin(), row.end());
    ASSERT_EQ(found.tokens[i], best - row.begin()) << "position " << i;
    log_prob += *best - std::log(sum);
    prefix.push_back(found.tokens[i]);
  }
  EXPECT_NEAR(found.log_prob, log_prob, 2e-5);
  EXPECT_NEAR(found.score, log_prob / static_cast<double>(found.tokens.size()), 2e-5);
  engine.set_search(greedy_search(12, 0));
  const Translation unscored = engine.run(source);
  EXPECT_EQ(unscored.tokens, found.tokens);
  EXPECT_EQ(unscored.log_prob, 0.0f);
  EXPECT_EQ(unscored.logits_hash, 0u);
}

// In an engine planned for beams, greedy search uses another stride of slots but gives the same results.
TEST(Greedy, DoesNotDependOnThePlannedBeams) {
  const FileImage file = tiny_file(tiny_spec(odd_tiny_options()));
  Rng rng(2);
  for (int i = 0; i < 5; ++i) {
    const std::vector<int32_t> source = rng.ids(rng.between(1, 15), 19);
    const uint32_t flags = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS;
    TestEngine narrow(file.span(), setup_with(1, 13)), wide(file.span(), setup_with(7, 13));
    narrow.set_search(greedy_search(13, flags));
    wide.set_search(greedy_search(13, flags));
    EXPECT_EQ(narrow.run(source), wide.run(source));
  }
}

TEST(Lengths, HoldForGreedyAndBeams) {
  TinyOptions options;
  options.end_bias = 50;  // ends as soon as it may
  const FileImage file = tiny_file(tiny_spec(options));
  const std::vector<int32_t> source = {3, 4, 5};
  for (const uint32_t beam_size : {1u, 4u}) {
    TestEngine engine(file.span(), setup_with(beam_size, 15));
    for (const uint32_t min_tokens : {0u, 1u, 2u, 6u, 15u}) {
      goldcrest_search search = greedy_search(15, 0);
      search.beam_size = beam_size;
      search.min_target_tokens = min_tokens;
      engine.set_search(search);
      const std::vector<Translation> translations = engine.run(std::span(&source, 1)).at(0);
      EXPECT_EQ(translations.size(), beam_size);
      for (const Translation& translation : translations) {
        EXPECT_GE(translation.tokens.size(), std::max(1u, min_tokens));
        EXPECT_LE(translation.tokens.size(), 15u);
        EXPECT_EQ(std::count(translation.tokens.begin(), translation.tokens.end(), 0), 1);
        EXPECT_EQ(translation.tokens.back(), 0);
      }
      if (beam_size == 1) {
        EXPECT_EQ(engine.run(source).tokens.size(), std::max(1u, min_tokens));
      }
    }
  }
}

TEST(Lengths, TheEndIsForcedAtTheMaximum) {
  TinyOptions options;
  options.end_bias = -50;  // never ends by itself
  const FileImage file = tiny_file(tiny_spec(options));
  for (const uint32_t beam_size : {1u, 3u}) {
    TestEngine engine(file.span(), setup_with(beam_size, 20));
    for (const uint32_t max_tokens : {1u, 2u, 20u}) {
      goldcrest_search search = greedy_search(max_tokens, GOLDCREST_SEARCH_SCORES);
      search.beam_size = beam_size;
      engine.set_search(search);
      const Translation best = engine.run({7, 8, 9});
      EXPECT_EQ(best.tokens.size(), max_tokens);
      EXPECT_EQ(best.tokens.back(), 0);
      EXPECT_EQ(best.log_prob == 0.0f, max_tokens == 1) << "a forced token costs nothing";
    }
  }
}

// A text is cut where the same search without that limit goes on, or could not end earlier.
void expect_cuts(const FileImage& file, goldcrest_search search, const std::vector<int32_t>& source) {
  constexpr uint32_t kMost = 40;
  search.max_target_tokens = kMost;
  TestEngine engine(file.span(), setup_with(1, kMost));
  engine.set_search(search);
  const Translation whole = engine.run(source);
  const size_t n = whole.tokens.size();
  EXPECT_EQ(whole.was_cut, n == kMost ? 1u : 0u);
  for (uint32_t most = 1; most < kMost; ++most) {
    search.max_target_tokens = most;
    engine.set_search(search);
    const Translation found = engine.run(source);
    EXPECT_EQ(found.was_cut, n > most || (search.force_end == GOLDCREST_YES && n == most) ? 1u : 0u)
        << n << " " << most;
    EXPECT_EQ(found.tokens.size(), std::min<size_t>(n, most));
  }
}

TEST(Lengths, ResultsSayWhetherALimitEndedThem) {
  size_t n_ended = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    TinyOptions options = {.seed = seed, .decoder = {.positions = 40}, .end_bias = 3};
    const FileImage file = tiny_file(tiny_spec(options));
    goldcrest_search search = greedy_search(0, 0);
    const std::vector<int32_t> source = Rng(seed).ids(5, 19);
    for (const goldcrest_choice forced : {GOLDCREST_YES, GOLDCREST_NO}) {
      search.force_end = static_cast<uint8_t>(forced);
      expect_cuts(file, search, source);
    }
    TestEngine engine(file.span(), setup_with(4, 12));
    for (const float factor : {1.0f, 2.0f, HUGE_VALF}) {  // factors of 5 source ids
      search = engine.search();
      search.max_length_factor = factor;
      engine.set_search(search);
      const size_t most = factor == 1.0f ? 5 : factor == 2.0f ? 10 : 12;
      const std::vector<Translation> results = engine.run(std::span(&source, 1)).at(0);
      for (const Translation& found : results) {
        EXPECT_EQ(found.was_cut, found.tokens.size() == most ? 1u : 0u);
        n_ended += found.was_cut == 0;
      }
    }
    EngineSetup scored = setup_with(1, 12);
    scored.limits.inspection = GOLDCREST_INSPECT_TARGETS;
    TestEngine scorer(file.span(), scored);
    const std::vector<int32_t> target(12, 7);
    EXPECT_EQ(scorer.score(std::span(&source, 1), std::span(&target, 1)).at(0).was_cut, 0u) << "no search ended it";
  }
  EXPECT_GT(n_ended, 8u);
}

TEST(Constraints, ForcedFirstAndSuppressedIds) {
  TinyOptions options;
  ModelSpec spec = tiny_spec(options);
  spec.generation.forced_first_id = 9;
  std::vector<int32_t> allowed = {0, 4, 9, 20, 21};
  spec.generation.suppressed_ids.clear();
  for (uint32_t id = 0; id < 37; ++id)
    if (std::find(allowed.begin(), allowed.end(), id) == allowed.end()) spec.generation.suppressed_ids.push_back(id);
  const FileImage file = tiny_file(spec);
  for (const uint32_t beam_size : {1u, 4u}) {
    TestEngine engine(file.span(), setup_with(beam_size, 10));
    const std::vector<int32_t> source = {1, 2, 3, 4};
    const std::vector<Translation> translations = engine.run(std::span(&source, 1)).at(0);
    EXPECT_EQ(translations.size(), beam_size);
    for (const Translation& translation : translations) {
      EXPECT_EQ(translation.tokens[0], 9);
      for (const int32_t token : translation.tokens)
        EXPECT_NE(std::find(allowed.begin(), allowed.end(), token), allowed.end()) << token;
    }
  }
}

// A file may suppress everything; the search then ends with the only token left, the end token.
TEST(Constraints, EverythingSuppressedEndsTheSearch) {
  ModelSpec spec = tiny_spec({});
  spec.generation.suppressed_ids.clear();
  for (uint32_t id = 0; id < 37; ++id) spec.generation.suppressed_ids.push_back(id);
  const FileImage file = tiny_file(spec);
  for (const uint32_t beam_size : {1u, 4u}) {
    TestEngine engine(file.span(), setup_with(beam_size, 10));
    EXPECT_EQ(engine.run({1, 2, 3}).tokens, std::vector<int32_t>{0}) << "beam size " << beam_size;
  }
}
}}  // namespace goldcrest::test
