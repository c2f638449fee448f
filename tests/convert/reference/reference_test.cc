// SPDX-License-Identifier: Apache-2.0
// The float forward pass: the state that it keeps, the layers that it shows, and the inputs that it refuses.
#include "reference/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

#include "convert/support/chain_model.h"
#include "kernels/reference/math.h"
#include "math/ordered_sums.h"
#include "reference/operations.h"
#include "reference/reference_search.h"
#include "spec/error.h"
#include "support/random_spec.h"
#include "support/rng.h"

namespace goldcrest::converter {
namespace {

const std::vector<int32_t> kSourceIds = {3, 18, 7, 0, 7}, kTargetIds = {5, 36, 11, 5, 0, 30};

// The constants of the activations are those of their formulas, rounded once.
TEST(Activations, ConstantsAreTheNearestFloats) {
  const auto root_of_half = static_cast<float>(std::sqrt(0.5)), cube = static_cast<float>(0.044715);
  const auto root = static_cast<float>(std::sqrt(2 / std::numbers::pi));
  for (int i = -4000; i <= 4000; ++i) {
    const float x = static_cast<float>(i) / 997;
    EXPECT_EQ(activate(Activation::kGelu, x), x / 2 * (1 + erf_float(x * root_of_half))) << x;
    EXPECT_EQ(activate(Activation::kGeluTanh, x), x / 2 * (1 + tanh_float(root * (x + cube * (x * x * x))))) << x;
  }
}

TEST(Reference, HypothesesDoNotMeetAndSelectCopiesThem) {
  const ModelSpec spec = test::random_spec(3);
  const Reference reference(spec);
  const EncodedSource encoded = reference.encode(kSourceIds);
  // First two hypotheses, then three that continue numbers 1, 0 and 1.
  DecoderState state = reference.start(2);
  reference.decode(encoded, std::vector<int32_t>{36, 36}, state);
  reference.decode(encoded, std::vector<int32_t>{4, 9}, state);
  state = state.select(std::vector<uint32_t>{1, 0, 1});
  const Logits together = reference.decode(encoded, std::vector<int32_t>{8, 8, 1}, state);
  const std::vector<std::vector<int32_t>> targets = {{9, 8, 0}, {4, 8, 0}, {9, 1, 0}};
  for (size_t i = 0; i < 3; ++i) {
    const Logits alone = reference.teacher_forced_logits(encoded, targets[i]);
    EXPECT_TRUE(std::ranges::equal(together.row(i), alone.row(2))) << "hypothesis " << i;
  }
}

TEST(Reference, TraceNamesEveryLayerAndRow) {
  ModelSpec spec = test::random_spec(5);
  Reference reference(spec);
  std::map<std::string, std::vector<uint32_t>> rows;
  reference.set_trace([&](const std::string& name, int layer, uint32_t row, std::span<const float> values) {
    rows[layer < 0 ? name : format_text("{}.{}", name, layer)].push_back(row);
    EXPECT_EQ(values.size(), name == "logits" ? 37u : name.starts_with("encoder") ? 20u : 24u);
  });
  reference.teacher_forced_logits(reference.encode(kSourceIds), std::vector<int32_t>{1, 2});
  const std::vector<uint32_t> source_rows = {0, 1, 2, 3, 4}, target_rows = {0, 1};
  const std::map<std::string, std::vector<uint32_t>> expected = {
      {"encoder.embed", source_rows}, {"encoder.layers.0", source_rows}, {"encoder.norm", source_rows},
      {"decoder.embed", target_rows}, {"decoder.layers.0", target_rows}, {"decoder.layers.1", target_rows},
      {"logits", target_rows}};
  EXPECT_EQ(rows, expected);
}

TEST(Reference, RefusesWhatDoesNotFit) {
  ModelSpec spec = test::random_spec(5);
  const Reference reference(spec);
  EXPECT_THROW(reference.encode(std::vector<int32_t>{}), Error);
  EXPECT_THROW(reference.encode(std::vector<int32_t>{19}), Error);
  EXPECT_THROW(reference.encode(std::vector<int32_t>{-1}), Error);
  EXPECT_THROW(reference.encode(std::vector<int32_t>(12, 1)), Error);  // there are 11 positions
  const EncodedSource encoded = reference.encode(kSourceIds);
  EXPECT_THROW(reference.teacher_forced_logits(encoded, std::vector<int32_t>(12, 1)), Error);
  spec.decoder.layers[1].feed_forward.out.bias.pop_back();
  EXPECT_THROW(Reference{spec}, Error);
}

// Tests the order of the float reference's sums with a second implementation: a recursive tree over strided partial
// sums.

Rows random_rows(test::Rng& rng, Eigen::Index rows, Eigen::Index columns) {
  return Rows::NullaryExpr(rows, columns, [&] { return rng.uniform(); });
}

// Adds the partial sums i, i + stride, i + 2 stride, ... in a tree.
float tree(const std::array<float, 16>& sums, size_t i, size_t stride) {
  return stride == 16 ? sums[i] : tree(sums, i, 2 * stride) + tree(sums, i + stride, 2 * stride);
}

float strided_dot(const Rows& x, Eigen::Index i, const Rows& y, Eigen::Index j) {
  std::array<float, 16> sums = {};
  for (Eigen::Index k = 0; k < x.cols(); ++k) sums[static_cast<size_t>(k % 16)] += x(i, k) * y(j, k);
  return tree(sums, 0, 1);
}

TEST(OrderedSums, ProductsOfRowsAddStridedPartialSums) {
  test::Rng rng(1);
  for (Eigen::Index width = 1; width <= 70; ++width) {
    for (Eigen::Index rows = 1; rows <= 4; ++rows) {
      const Rows x = random_rows(rng, rows, width), y = random_rows(rng, 3, width), found = times_transposed(x, y);
      for (Eigen::Index i = 0; i < rows; ++i)
        for (Eigen::Index j = 0; j < 3; ++j) ASSERT_EQ(found(i, j), strided_dot(x, i, y, j)) << width;
    }
  }
}

TEST(OrderedSums, ColumnsOfWiderRows) {
  test::Rng rng(2);
  const Rows x = random_rows(rng, 3, 50), y = random_rows(rng, 4, 60);
  const Rows x_part = x.middleCols(7, 21), y_part = y.middleCols(30, 21);
  EXPECT_EQ(times_transposed(x.middleCols(7, 21), y.middleCols(30, 21)), times_transposed(x_part, y_part));
  EXPECT_EQ(times(x.middleCols(1, 4), y.middleCols(30, 21)), times(x.middleCols(1, 4), y_part));
}

TEST(OrderedSums, ProductsAddOneRowAfterTheOther) {
  test::Rng rng(3);
  const Rows x = random_rows(rng, 3, 37), y = random_rows(rng, 37, 5), found = times(x, y);
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index j = 0; j < 5; ++j) {
      float sum = 0;
      for (Eigen::Index k = 0; k < 37; ++k) sum += x(i, k) * y(k, j);
      EXPECT_EQ(found(i, j), sum);
    }
  }
}

TEST(OrderedSums, SumsOfRowsAreProductsWithOnes) {
  test::Rng rng(4);
  const Rows x = random_rows(rng, 3, 41);
  const Eigen::VectorXf sums = row_sums(x);
  for (Eigen::Index i = 0; i < 3; ++i) EXPECT_EQ(sums[i], strided_dot(x, i, Rows::Ones(1, 41), 0));
}

// The rules of a search over the float reference, on models whose next token depends only on the last one. Choices and
// their log-probabilities are computed by hand.

using test::chain_model;
using Tokens = std::vector<int32_t>;

const Tokens kChainSource = {3, 18, 7};

// Returns the best hypothesis; its log-probability must be the sum along its tokens.
Hypothesis best_of(const ModelSpec& spec, const SearchOptions& options) {
  const Reference reference(spec);
  Hypothesis best = search(reference, kChainSource, options)[0];
  const std::vector<double> along = token_log_probs(reference, kChainSource, best.tokens, options);
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
  const Hypothesis second = search(Reference(spec), kChainSource, beams)[1];
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
  const std::vector<Hypothesis> best = search(Reference(spec), kChainSource, options);
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
