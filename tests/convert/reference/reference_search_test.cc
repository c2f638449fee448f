// SPDX-License-Identifier: Apache-2.0
// Compares searches with an exhaustive one on random models, and step by step on models whose next token depends only
// on the last one.
#include "reference/reference_search.h"
#include <bit>
#include "base/hash.h"
#include "convert/support/chain_model.h"
#include "spec/spec.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
using test::chain_model;
using Tokens = std::vector<int32_t>;

const Tokens kShortSource = {3, 18, 7};

Tokens best_tokens(const ModelSpec& spec, const SearchOptions& options) {
  return search(Reference(spec), kShortSource, options)[0].tokens;
}

TEST(ReferenceSearch, GreedyTakesTheLikeliestAndTheLowestIdAmongEquals) {
  const ModelSpec spec = chain_model({{0, .4f, .4f, .2f}, {.1f, .2f, .3f, .4f}, {1, 0, 0, 0}, {.3f, .3f, .3f, .1f}});
  const Hypothesis best = search(Reference(spec), kShortSource, {.max_target_tokens = 9})[0];
  EXPECT_EQ(best.tokens, (Tokens{1, 3, 0}));
  EXPECT_NEAR(best.log_prob, std::log(.4 * .4 * .3), 1e-6);
  EXPECT_NEAR(best.score, best.log_prob / 3, 1e-12);
}

TEST(ReferenceSearch, ConstraintsOnTheNthToken) {
  ModelSpec spec = chain_model({{.9f, .1f, 0, 0}, {.5f, .3f, .2f, 0}, {.5f, .1f, .1f, .3f}, {.9f, 0, .1f, 0}});
  SearchOptions options = {.max_target_tokens = 5};
  EXPECT_EQ(best_tokens(spec, options), (Tokens{0}));
  options.min_target_tokens = 3;
  EXPECT_EQ(best_tokens(spec, options), (Tokens{1, 1, 0}));
  spec.generation.suppressed_ids = {1};
  EXPECT_NE(best_tokens(spec, options)[0], 1);
  spec.generation.suppressed_ids = {};
  spec.generation.forced_first_id = 3;
  EXPECT_EQ(best_tokens(spec, options), (Tokens{3, 2, 0}));
  spec.generation.suppressed_ids = {0};  // the end token still comes at the limit
  EXPECT_EQ(best_tokens(spec, options), (Tokens{3, 2, 3, 2, 0}));
  options.beam_size = 3;
  EXPECT_EQ(best_tokens(spec, options), (Tokens{3, 2, 3, 2, 0}));
}

// As transformers' sequence_bias, bad_words_ids and encoder_no_repeat_ngram_size.
TEST(ReferenceSearch, SequencesAreBiasedAndForbidden) {
  ModelSpec spec = chain_model({{.1f, .2f, .3f, .4f}, {.5f, .3f, .2f, 0}, {.6f, .3f, .1f, 0}, {.4f, .5f, .1f, 0}});
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  for (const uint32_t beams : {1u, 2u}) {
    const SearchOptions options = {.beam_size = beams, .max_target_tokens = 9, .length_penalty = 0};
    const auto found = [&](const SequencesSpec& sequences, const Tokens& source = kShortSource) {
      spec.generation.sequences = sequences;
      return search(Reference(spec), source, options)[0].tokens;
    };
    const bool is_greedy = beams == 1;
    EXPECT_EQ(found({}), is_greedy ? (Tokens{3, 1, 0}) : (Tokens{2, 0})) << beams;
    EXPECT_EQ(found({{{{3, 1}, kNever}, {{2, 0}, kNever}}}), (Tokens{3, 0})) << beams;
    EXPECT_EQ(found({{{{0, 3, 1}, kNever}, {{0, 2, 0}, -9}}}), (Tokens{3, 0})) << "the start token counts, " << beams;
    EXPECT_EQ(found({{{{3, 0}, 2}}}), (Tokens{3, 0})) << beams;
    EXPECT_EQ(found({{}, 2}, {3, 1, 2, 0}), (Tokens{3, 0})) << "two ids of the source, " << beams;
    EXPECT_EQ(found({{}, 3}, {3, 1, 2, 0}), is_greedy ? (Tokens{3, 1, 0}) : (Tokens{2, 0})) << beams;
  }
}

// The next token depends only on the last one, so the right results are known.
TEST(ReferenceSearch, PromptsAndPrefixes) {
  ModelSpec spec = chain_model({{.1f, .2f, .3f, .4f}, {.5f, .3f, .2f, 0}, {.6f, .3f, .1f, 0}, {.4f, .5f, .1f, 0}});
  SearchOptions options = {.max_target_tokens = 4, .prefix = {2, 3}};
  const Hypothesis found = search(Reference(spec), kShortSource, options)[0];
  EXPECT_EQ(found.tokens, (Tokens{2, 3, 1, 0}));
  EXPECT_NEAR(found.log_prob, std::log(.5 * .5), 1e-6);
  EXPECT_NEAR(found.score, found.log_prob / 2, 1e-12) << "the prefix is in no length";
  options.prefix_in_lengths = true;
  EXPECT_NEAR(search(Reference(spec), kShortSource, options)[0].score, std::log(.5) / 4, 1e-6) << "the end is forced";
  options.max_target_tokens = 1;
  EXPECT_EQ(best_tokens(spec, options), (Tokens{2, 3, 0})) << "the prefix is not cut";
  options.prefix_in_lengths = false;
  options.max_target_tokens = 2;
  EXPECT_EQ(best_tokens(spec, options), (Tokens{2, 3, 1, 0}));
  options.min_target_tokens = 3;
  options.max_target_tokens = 4;
  EXPECT_EQ(best_tokens(spec, options), (Tokens{2, 3, 1, 1, 0}));

  spec.generation.prompt = {{1, 2}, {3}, {1}};
  options = {.max_target_tokens = 4};
  EXPECT_EQ(best_tokens(spec, options), (Tokens{2, 3, 0})) << "2 is likelier than 1, and 1 cannot follow at once";
  options.beam_size = options.n_best = 3;
  for (const Hypothesis& hypothesis : search(Reference(spec), kShortSource, options))
    EXPECT_EQ(hypothesis.tokens[0], 2);
  options = {.max_target_tokens = 4, .prefix = {1}};
  EXPECT_EQ(best_tokens(spec, options), (Tokens{1, 0}));
  options.prefix_behind_prompt = true;
  EXPECT_EQ(best_tokens(spec, options), (Tokens{2, 3, 1, 0}));
}

TEST(ReferenceSearch, ForcedTokensAddNothing) {
  ModelSpec spec = chain_model({{.5f, .5f, 0}, {.25f, .5f, .25f}, {1, 0, 0}});
  spec.generation.forced_first_id = 1;
  const Reference reference(spec);
  const SearchOptions options = {.beam_size = 2, .min_target_tokens = 3, .max_target_tokens = 3, .n_best = 2};
  const std::vector<Hypothesis> best = search(reference, kShortSource, options);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].tokens, (Tokens{1, 1, 0}));
  EXPECT_EQ(best[1].tokens, (Tokens{1, 2, 0}));
  EXPECT_NEAR(best[0].log_prob, std::log(.5), 1e-6);
  const std::vector<double> along = token_log_probs(reference, kShortSource, best[1].tokens, options);
  EXPECT_EQ(along[0], 0);
  EXPECT_NEAR(along[1], std::log(.25), 1e-6);
  EXPECT_EQ(along[2], 0);
}

// Drops an end token that is not among the beam_size best candidates, although it would rank among the finished ones.
TEST(ReferenceSearch, OnlyTheBestCandidatesFinish) {
  const ModelSpec spec = chain_model({{.2f, .4f, .4f}, {1, 0, 0}, {1, 0, 0}});
  const SearchOptions options = {.beam_size = 2, .max_target_tokens = 5, .length_penalty = 0, .n_best = 2};
  const std::vector<Hypothesis> best = search(Reference(spec), kShortSource, options);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].tokens, (Tokens{1, 0}));  // equal scores: the lower token first
  EXPECT_EQ(best[1].tokens, (Tokens{2, 0}));
}

// With early_stopping=False the search ends once the best live hypothesis, at its present length, cannot beat the worst
// finished one. It does not wait for a longer one that would win in the end.
TEST(ReferenceSearch, StopsAtTheHeuristicNotAtTheOptimum) {
  const ModelSpec spec = chain_model({{.6f, .4f, 0}, {.5f, 0, .5f}, {.999f, .001f, 0}});
  const SearchOptions options = {.beam_size = 2, .max_target_tokens = 9, .n_best = 2};
  const std::vector<Hypothesis> best = search(Reference(spec), kShortSource, options);
  ASSERT_EQ(best.size(), 2u);
  // At two tokens the finished 1 0 and the live 1 2 both have (ln .4 + ln .5) / 2 = -0.805. So the search never makes 1
  // 2 0, which has -0.537.
  EXPECT_EQ(best[0].tokens, (Tokens{0}));
  EXPECT_EQ(best[1].tokens, (Tokens{1, 0}));
}

// Returns all sequences of at most three tokens that end with the end token, not yet scored.
std::vector<Hypothesis> every_sequence(const Reference& reference, const SearchOptions& options) {
  const int32_t vocab_size = static_cast<int32_t>(reference.spec().projection.weight->rows);
  std::vector<Hypothesis> all;
  const auto add = [&](Tokens tokens) {
    const std::vector<double> along = token_log_probs(reference, kShortSource, tokens, options);
    const double log_prob = std::accumulate(along.begin(), along.end(), 0.0);
    if (!std::isinf(log_prob)) all.push_back({std::move(tokens), log_prob, 0});
  };
  add({0});
  for (int32_t a = 1; a < vocab_size; ++a) {
    add({a, 0});
    for (int32_t b = 1; b < vocab_size; ++b) add({a, b, 0});
  }
  return all;
}

// Returns the scored hypotheses, best first.
std::vector<Hypothesis> scored(std::vector<Hypothesis> all, const SearchOptions& options) {
  for (Hypothesis& hypothesis : all)
    hypothesis.score = length_normalized_score(hypothesis.log_prob, hypothesis.tokens.size(), options);
  std::sort(all.begin(), all.end(), [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return all;
}

TEST(ReferenceSearch, ABeamThatHoldsEverythingFindsTheBest) {
  const ModelSpec spec = test::random_spec(9);
  const Reference reference(spec);
  SearchOptions options = {.beam_size = 2000, .max_target_tokens = 3, .n_best = 2000};
  const std::vector<Hypothesis> all = every_sequence(reference, options);
  for (const auto& [length_penalty, word_penalty] :
      {std::pair{1.0f, 0.0f}, {0.0f, 0.0f}, {0.6f, 0.3f}, {2.0f, -0.5f}}) {
    options.length_penalty = length_penalty;
    options.word_penalty = word_penalty;
    const std::vector<Hypothesis> expected = scored(all, options), found = search(reference, kShortSource, options);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i].score, expected[i].score, 1e-4) << "rank " << i;
    EXPECT_EQ(found[0].tokens, expected[0].tokens);
  }
}

TEST(ReferenceSearch, ScoresHaveTheSameBitsEverywhere) {
  const ModelSpec spec = test::random_spec(9);
  const Reference reference(spec);
  const SearchOptions options = {
      .beam_size = 4, .max_target_tokens = 8, .length_penalty = 0.6f, .word_penalty = 0.1f, .n_best = 4};
  uint64_t hash = kHashStart;
  for (const Hypothesis& hypothesis : search(reference, kShortSource, options))
    for (const double value : {hypothesis.log_prob, hypothesis.score})
      hash = hash_halves(hash, std::bit_cast<uint64_t>(value));
  EXPECT_EQ(hash, 0x36f26aa241502625u) << std::hex << hash;
}

TEST(ReferenceSearch, RefusesLogitsThatAreNotFinite) {
  ModelSpec spec = test::random_spec(9);
  Matrix huge = *spec.projection.weight;
  for (float& value : huge.values.edit()) value *= 3e38f;
  spec.projection.weight = std::make_shared<Matrix>(huge);
  const Reference reference(spec);
  test::expect_error([&] { search(reference, kShortSource, {.max_target_tokens = 3}); }, {"the logits are not finite"});
}

TEST(ReferenceSearch, RefusesImpossibleOptions) {
  ModelSpec spec = test::random_spec(9);
  const Reference reference(spec);
  EXPECT_THROW(search(reference, kShortSource, {.max_target_tokens = 0}), Error);
  EXPECT_THROW(search(reference, kShortSource, {.max_target_tokens = 12}), Error);  // there are 11 positions
  EXPECT_THROW(search(reference, kShortSource, {.beam_size = 0, .max_target_tokens = 3}), Error);
  EXPECT_THROW(search(reference, kShortSource, {.beam_size = 2, .max_target_tokens = 3, .n_best = 3}), Error);
  EXPECT_THROW(search(reference, kShortSource, {.beam_size = 2, .max_target_tokens = 3, .n_best = 0}), Error);
  for (uint32_t id = 0; id < 37; ++id) spec.generation.suppressed_ids.push_back(id);
  EXPECT_THROW(search(Reference(spec), kShortSource, {.beam_size = 2, .max_target_tokens = 3}), Error);
}

TEST(ReferenceSearch, DefaultsComeFromTheModel) {
  ModelSpec spec = test::random_spec(9);
  spec.generation.beam_size = 6;
  spec.generation.length_penalty = 0.7f;
  EXPECT_EQ(default_search(spec).beam_size, 6u);
  EXPECT_EQ(default_search(spec).length_penalty, 0.7f);
  EXPECT_EQ(default_search(spec).max_target_tokens, 7u);
  spec.generation.max_target_tokens = 512;
  EXPECT_EQ(default_search(spec).max_target_tokens, 11u);
}

// The reference's searches among candidates: the choice of candidates, and that no other id is chosen or counts in the
// soft-max.

using Ids = std::vector<uint32_t>;

ModelSpec listed_spec(uint64_t seed) {
  ModelSpec spec = test::random_spec(seed);
  ShortlistSpec shortlist = {.always = {2}};
  for (uint32_t id = 0; id <= 19; ++id) shortlist.offset.push_back(2 * uint64_t{id});
  for (uint32_t id = 0; id < 19; ++id) shortlist.ids.insert(shortlist.ids.end(), {id, id + 17});
  shortlist.ngrams = {{{3, 18}, {9, 10}}, {{3, 18, 7}, {11}}, {{7, 3}, {12}}, {{18, 7}, {13}}};
  spec.shortlist = shortlist;
  return spec;
}

TEST(Candidates, OfIdsNgramsAndEnds) {
  const ModelSpec spec = listed_spec(1);
  const auto of = [&](const std::vector<int32_t>& source) { return candidates_of(*spec.shortlist, source, Ids{0}); };
  EXPECT_EQ(of({}), (Ids{0, 2}));
  EXPECT_EQ(of({3}), (Ids{0, 2, 3, 20}));
  EXPECT_EQ(of({3, 18}), (Ids{0, 2, 3, 9, 10, 18, 20, 35}));
  EXPECT_EQ(of(kShortSource), (Ids{0, 2, 3, 7, 9, 10, 11, 13, 18, 20, 24, 35}));
  EXPECT_EQ(of({18, 3}), (Ids{0, 2, 3, 18, 20, 35}));
  EXPECT_EQ(candidates_of(*spec.shortlist, std::vector<int32_t>{3}, Ids{30, 0}), (Ids{0, 2, 3, 20, 30}));
}

// Same as a search in which every other id has a logit too low to be chosen.
TEST(ReferenceShortlist, OtherIdsAreOutOfReach) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const ModelSpec spec = listed_spec(seed);
    ModelSpec plain = spec;
    plain.shortlist.reset();
    plain.projection.bias.assign(37, -1e6f);
    for (const uint32_t id : candidates_of(*spec.shortlist, kShortSource, Ids{0}))
      plain.projection.bias[id] = spec.projection.bias[id];
    for (const uint32_t beam_size : {1u, 3u}) {
      SearchOptions options = default_search(spec);
      EXPECT_EQ(options.max_candidates, 37u);
      options.beam_size = beam_size;
      const Hypothesis found = search(Reference(spec), kShortSource, options)[0];
      const Hypothesis expected = search(Reference(plain), kShortSource, options)[0];
      EXPECT_EQ(found.tokens, expected.tokens) << "seed " << seed;
      EXPECT_NEAR(found.log_prob, expected.log_prob, 1e-9);
      options.max_candidates = 11;  // there are 12 candidates
      ModelSpec whole = spec;
      whole.shortlist.reset();
      EXPECT_EQ(search(Reference(spec), kShortSource, options)[0].tokens,
          search(Reference(whole), kShortSource, options)[0].tokens);
    }
  }
}
}}  // namespace goldcrest::converter
