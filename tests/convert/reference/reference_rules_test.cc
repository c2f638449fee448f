// SPDX-License-Identifier: Apache-2.0
// The rules of a search over the float reference, on models whose next token depends only on the last one. Choices and
// their log-probabilities are computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "convert/support/chain_model.h"
#include "reference/reference_search.h"

namespace goldcrest::converter {
namespace {

using test::chain_model;
using Tokens = std::vector<int32_t>;

const Tokens kSource = {3, 18, 7};

// Returns the best hypothesis; its log-probability must be the sum along its tokens.
Hypothesis best_of(const ModelSpec& spec, const SearchOptions& options) {
  const Reference reference(spec);
  Hypothesis best = search(reference, kSource, options)[0];
  const std::vector<double> along = token_log_probs(reference, kSource, best.tokens, options);
  EXPECT_NEAR(std::accumulate(along.begin(), along.end(), 0.0), best.log_prob, 1e-9);
  return best;
}

void expect_best(const ModelSpec& spec, const SearchOptions& options, const Tokens& tokens, double probability) {
  const Hypothesis best = best_of(spec, options);
  EXPECT_EQ(best.tokens, tokens);
  EXPECT_NEAR(best.log_prob, std::log(probability), 1e-5);
}

TEST(ReferenceRules, RenormalizeLeavesOutWhatMayNotBeChosen) {
  ModelSpec spec = chain_model({{.2f, .5f, .3f}, {1, 0, 0}, {1, 0, 0}});
  spec.generation.suppressed_ids = {1};
  for (const uint32_t beam_size : {1u, 2u}) {
    SearchOptions options = {.beam_size = beam_size, .max_target_tokens = 5};
    expect_best(spec, options, {2, 0}, .3);
    options.rules.renormalize = true;
    expect_best(spec, options, {2, 0}, .3 / .5);
  }
}

// In greedy search the penalty changes logits, which are then renormalized; with beams it changes log-probabilities.
// The start token, 0, counts.
TEST(ReferenceRules, RepetitionPenalty) {
  const ModelSpec spec = chain_model({{.2f, .5f, .3f}, {.3f, .5f, .2f}, {1, 0, 0}});
  const RulesSpec rules = {.repetition_penalty = 4};
  expect_best(spec, {.max_target_tokens = 9, .rules = rules}, {1, 2, 0}, .5 / (.0016 + .5 + .3) * .2 / .2706);
  const SearchOptions beams = {.beam_size = 2, .max_target_tokens = 9, .n_best = 2, .rules = rules};
  expect_best(spec, beams, {2, 0}, .3);
  const Hypothesis second = search(Reference(spec), kSource, beams)[1];
  EXPECT_EQ(second.tokens, (Tokens{1, 2, 0}));
  EXPECT_NEAR(second.log_prob, std::log(.5 * .2), 1e-5);
}

TEST(ReferenceRules, NoRepeatNgramRemovesAndStillCounts) {
  const ModelSpec spec = chain_model({{0, 1, 0}, {.1f, .6f, .3f}, {.4f, .6f, 0}});
  SearchOptions options = {.max_target_tokens = 9};
  EXPECT_EQ(best_of(spec, options).tokens, (Tokens{1, 1, 1, 1, 1, 1, 1, 1, 0}));
  options.rules.no_repeat_ngram = 2;
  expect_best(spec, options, {1, 1, 2, 1, 0}, .6 * .3 * .6 * .1);
  options.rules.no_repeat_ngram = 1;  // the start token is the end token, so no token remains
  expect_best(spec, options, {1, 2}, .3);
}

TEST(ReferenceRules, WithoutAForcedEndTheLastTokenIsFree) {
  const ModelSpec spec = chain_model({{0, 1, 0}, {.1f, .9f, 0}, {1, 0, 0}});
  for (const uint32_t beam_size : {1u, 2u}) {
    SearchOptions options = {.beam_size = beam_size, .max_target_tokens = 3};
    expect_best(spec, options, {1, 1, 0}, .9);
    options.rules.force_end = false;
    expect_best(spec, options, {1, 1, 1}, .81);
  }
}

// At two tokens the finished ones are 1 0 with ln(.24) / 2 = -0.714 and 0 with ln(.3). The live 2 1 has ln(.27) / 2 =
// -0.655. If the search continues, it becomes 2 1 0 with ln(.162) / 3 = -0.607.
TEST(ReferenceRules, EarlyStoppingWaitsForNoBetterOne) {
  const ModelSpec spec =
      chain_model({{.3f, .4f, .3f, 0}, {.6f, 0, .05f, .35f}, {.1f, .9f, 0, 0}, {.25f, .25f, .25f, .25f}});
  SearchOptions options = {.beam_size = 2, .max_target_tokens = 9};
  expect_best(spec, options, {2, 1, 0}, .3 * .9 * .6);
  options.rules.early_stopping = EarlyStopping::kFull;
  expect_best(spec, options, {1, 0}, .4 * .6);
}

// The search of reference_search_test.cc that ends too early. Here it continues, because at nine tokens 1 2 could be
// better.
TEST(ReferenceRules, StoppingNeverWaitsForWhatIsPossible) {
  const ModelSpec spec = chain_model({{.6f, .4f, 0}, {.5f, 0, .5f}, {.999f, .001f, 0}});
  SearchOptions options = {.beam_size = 2, .max_target_tokens = 9, .n_best = 2};
  options.rules.early_stopping = EarlyStopping::kNever;
  const std::vector<Hypothesis> best = search(Reference(spec), kSource, options);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].tokens, (Tokens{0}));
  EXPECT_EQ(best[1].tokens, (Tokens{1, 2, 0}));
}

TEST(ReferenceRules, LengthPenaltyOfWu) {
  const ModelSpec spec = chain_model({{.35f, .65f, 0}, {.2f, .2f, .6f}, {.9f, .1f, 0}});
  for (const uint32_t beam_size : {1u, 2u}) {
    SearchOptions options = {.beam_size = beam_size, .max_target_tokens = 9, .length_penalty = 0.6f};
    options.rules.length_penalty_kind = LengthPenalty::kWu;
    const Hypothesis best = best_of(spec, options);
    EXPECT_EQ(best.tokens, (Tokens{1, 2, 0}));
    EXPECT_NEAR(best.score, std::log(.65 * .6 * .9) / std::pow((5 + 3) / 6.0, double{0.6f}), 1e-5);
  }
}

TEST(ReferenceRules, MaxExtraTokensAreCountedFromTheSource) {
  const ModelSpec spec = chain_model({{0, 1, 0}, {.1f, .9f, 0}, {1, 0, 0}});
  for (const uint32_t beam_size : {1u, 2u}) {
    SearchOptions options = {.beam_size = beam_size, .max_target_tokens = 9, .length_penalty = 4};
    options.rules.max_extra_tokens = 1;
    EXPECT_EQ(best_of(spec, options).tokens, (Tokens{1, 1, 1, 0}));
    options.rules.max_extra_tokens = 20;
    EXPECT_EQ(best_of(spec, options).tokens.size(), 9u);
  }
}

TEST(ReferenceRules, TheLengthFactorIsOfTheSource) {
  const ModelSpec spec = chain_model({{0, 1, 0}, {.1f, .9f, 0}, {1, 0, 0}});
  for (const uint32_t beam_size : {1u, 2u}) {
    SearchOptions options = {.beam_size = beam_size, .max_target_tokens = 9, .length_penalty = 4};
    for (const auto& [factor, n_tokens] : {std::pair{0.5f, 2u}, {1.0f, 3u}, {1.5f, 5u}, {20.0f, 9u}}) {
      options.rules.max_length_factor = factor;
      EXPECT_EQ(best_of(spec, options).tokens.size(), n_tokens) << factor;
    }
  }
}

TEST(ReferenceRules, AnyOfSeveralEndsIsTheEnd) {
  const ModelSpec spec = chain_model({{0, .4f, .6f, 0}, {.1f, .1f, .6f, .2f}, {.25f, .25f, .25f, .25f}, {1, 0, 0, 0}});
  for (const uint32_t beam_size : {1u, 2u}) {
    SearchOptions options = {.beam_size = beam_size, .max_target_tokens = 9};
    options.rules.more_end_ids = {2};
    expect_best(spec, options, {2}, .6);
    options.min_target_tokens = 2;
    expect_best(spec, options, {1, 2}, .4 * .6);
  }
}

TEST(ReferenceRules, Biases) {
  const ModelSpec spec = chain_model({{.2f, .3f, .5f}, {1, 0, 0}, {1, 0, 0}});
  SearchOptions options = {.max_target_tokens = 5};
  options.rules.biases = {{1, 1.0f}, {2, -1.0f}};
  const double e = std::exp(1.0);
  expect_best(spec, options, {1, 0}, .3 * e / (.2 + .3 * e + .5 / e));
  options.beam_size = 2;  // log-probabilities are not renormalized
  expect_best(spec, options, {1, 0}, .3 * e);
}

TEST(ReferenceRules, AreTheModelsByDefault) {
  ModelSpec spec = chain_model({{1, 0}, {1, 0}});
  spec.generation.rules = {.renormalize = true, .early_stopping = EarlyStopping::kFull, .biases = {{1, 2.0f}}};
  EXPECT_EQ(default_search(spec).rules, spec.generation.rules);
}

}  // namespace
}  // namespace goldcrest::converter
