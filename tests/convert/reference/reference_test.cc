// SPDX-License-Identifier: Apache-2.0
// The float forward pass: the state that it keeps, the layers that it shows, and the inputs that it refuses.
#include "reference/reference.h"
#include <numbers>
#include <tuple>
#include "base/hash.h"
#include "convert/support/chain_model.h"
#include "convert/support/naive_forward.h"
#include "kernels/reference/math.h"
#include "math/ordered_sums.h"
#include "reference/operations.h"
#include "reference/reference_search.h"
#include "spec/error.h"
#include "spec/format_text.h"
#include "support/test.h"

namespace goldcrest::converter { namespace {
const std::vector<int32_t> kSource = {3, 18, 7, 0, 7}, kTarget = {5, 36, 11, 5, 0, 30};

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
  const EncodedSource encoded = reference.encode(kSource);
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
  reference.teacher_forced_logits(reference.encode(kSource), std::vector<int32_t>{1, 2});
  const std::vector<uint32_t> source_rows = {0, 1, 2, 3, 4}, target_rows = {0, 1};
  const std::map<std::string, std::vector<uint32_t>> expected = {{"encoder.embed", source_rows},
      {"encoder.layers.0", source_rows}, {"encoder.norm", source_rows}, {"decoder.embed", target_rows},
      {"decoder.layers.0", target_rows}, {"decoder.layers.1", target_rows}, {"logits", target_rows}};
  EXPECT_EQ(rows, expected);
}

TEST(Reference, RefusesWhatDoesNotFit) {
  ModelSpec spec = test::random_spec(5);
  const Reference reference(spec);
  EXPECT_THROW(reference.encode(std::vector<int32_t>{}), Error);
  EXPECT_THROW(reference.encode(std::vector<int32_t>{19}), Error);
  EXPECT_THROW(reference.encode(std::vector<int32_t>{-1}), Error);
  EXPECT_THROW(reference.encode(std::vector<int32_t>(12, 1)), Error);  // there are 11 positions
  const EncodedSource encoded = reference.encode(kSource);
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
  options.rules.early_stopping = GOLDCREST_STOP_FULL;
  expect_best(spec, options, {1, 0}, .4 * .6);
}

// The search of reference_search_test.cc that ends too early. Here it continues, because at nine tokens 1 2 could be
// better.
TEST(ReferenceRules, StoppingNeverWaitsForWhatIsPossible) {
  const ModelSpec spec = chain_model({{.6f, .4f, 0}, {.5f, 0, .5f}, {.999f, .001f, 0}});
  SearchOptions options = {.beam_size = 2, .max_target_tokens = 9, .n_best = 2};
  options.rules.early_stopping = GOLDCREST_STOP_NEVER;
  const std::vector<Hypothesis> best = search(Reference(spec), kChainSource, options);
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].tokens, (Tokens{0}));
  EXPECT_EQ(best[1].tokens, (Tokens{1, 2, 0}));
}

TEST(ReferenceRules, LengthPenaltyOfWu) {
  const ModelSpec spec = chain_model({{.35f, .65f, 0}, {.2f, .2f, .6f}, {.9f, .1f, 0}});
  for (const uint32_t beam_size : {1u, 2u}) {
    SearchOptions options = {.beam_size = beam_size, .max_target_tokens = 9, .length_penalty = 0.6f};
    options.rules.length_penalty_kind = GOLDCREST_LENGTH_WU;
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
  spec.generation.rules = {.renormalize = true, .early_stopping = GOLDCREST_STOP_FULL, .biases = {{1, 2.0f}}};
  EXPECT_EQ(default_search(spec).rules, spec.generation.rules);
}

// The float forward pass with every option of a stack. It must be within float32's error of a naive pass in double, and
// have the same bits on every machine.

using ExactLogits = std::vector<std::vector<double>>;  // [positions][vocab_size]

struct Case {
  std::string name;
  ModelSpec spec;
  ExactLogits exact;  // a naive pass's in double
  double tolerance;   // a float32 pass's
};

template <typename Change> void change_norms(ModelSpec& spec, const Change& change) {
  for (StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    for (std::optional<NormSpec>* norm : {&stack->embedding_norm, &stack->final_norm})
      if (*norm) change(**norm);
    for (LayerSpec& layer : stack->layers) {
      if (layer.self_attention) change(layer.self_attention->norm);
      if (layer.recurrent) change(layer.recurrent->norm);
      if (layer.cross_attention) change(layer.cross_attention->norm);
      change(layer.feed_forward.norm);
    }
  }
}

Logits reference_logits(const ModelSpec& spec) {
  const Reference reference(spec);
  return reference.teacher_forced_logits(reference.encode(kSource), kTarget);
}

// Returns infinity if a number is NaN.
template <typename Row> double largest_difference(const std::vector<Row>& x, const ExactLogits& y) {
  EXPECT_EQ(x.size(), y.size());
  double largest = 0;
  for (size_t t = 0; t < y.size(); ++t) {
    EXPECT_EQ(x.at(t).size(), y[t].size());
    for (size_t v = 0; v < y[t].size(); ++v) {
      const double difference = std::fabs(double{x[t][v]} - y[t][v]);
      largest = std::isnan(difference) ? INFINITY : std::max(largest, difference);
    }
  }
  return largest;
}

double largest_difference(const Logits& x, const ExactLogits& y) {
  std::vector<std::span<const float>> rows;
  for (size_t t = 0; t < x.rows; ++t) rows.push_back(x.row(t));
  return largest_difference(rows, y);
}

// Returns the error that float32 may cause in this model's logits. Every operation is off at random by at most
// float32's rounding, so a model that amplifies errors gets a larger tolerance. A logit's error is a sum of thousands
// of errors and nearly has a normal distribution. Its largest value in 16 runs is near two standard deviations. The
// tolerance is twice that, four deviations, which one correct model in ten thousand exceeds. The errors of true
// rounding are smaller still, because half a unit in the last place is between 2^-25 and 2^-24 of a value.
double tolerance(const ModelSpec& spec, const ExactLogits& exact) {
  double deviation = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    test::Perturbed::seed(seed);
    const auto logits = test::NaiveForward<test::Perturbed>::logits(spec, kSource, kTarget);
    deviation = std::max(deviation, largest_difference(logits, exact));
  }
  return 2 * deviation;
}

Case case_of(const std::string& name, const ModelSpec& spec) {
  const ExactLogits exact = test::NaiveForward<double>::logits(spec, kSource, kTarget);
  return {name, spec, exact, tolerance(spec, exact)};
}

// Makes a model for every option of a stack, with an epsilon that matters next to variances of about 1.
std::vector<Case> make_cases() {
  test::RandomFloats random(7);
  std::vector<Case> cases;
  for (const Activation activation : {Activation::kRelu, Activation::kGelu, Activation::kGeluTanh, Activation::kSilu}) {
    for (const bool pre_norm : {false, true}) {
      for (const bool norms : {false, true}) {
        ModelSpec spec = test::random_spec(static_cast<uint64_t>(activation) + 11);
        for (StackSpec* stack : {&spec.encoder, &spec.decoder}) {
          stack->activation = activation;
          stack->pre_norm = pre_norm;
          stack->embedding_norm.reset();
          stack->final_norm.reset();
          if (!norms) continue;
          stack->embedding_norm = random.norm(stack->d_model);
          stack->final_norm = random.norm(stack->d_model);
        }
        change_norms(spec, [](NormSpec& norm) { norm.epsilon = 1e-3f; });
        const std::string name =
            format_text("activation {}, pre_norm {}, norms {}", static_cast<int>(activation), pre_norm, norms);
        cases.push_back(case_of(name, spec));
      }
    }
  }
  return cases;
}

// All layers of the decoder are recurrent, with both orders of norms; in the last case only the first layer is.
std::vector<Case> make_recurrent_cases() {
  std::vector<Case> cases;
  for (const auto& [name, pre_norm, mixed] :
      {std::tuple{"post-norm", false, false}, {"pre-norm", true, false}, {"mixed", false, true}}) {
    ModelSpec spec = test::random_recurrent_spec(5);
    spec.decoder.pre_norm = pre_norm;
    change_norms(spec, [](NormSpec& norm) { norm.epsilon = 1e-3f; });
    if (mixed) spec.decoder.layers[1] = test::random_spec(5).decoder.layers[1];
    cases.push_back(case_of(name, spec));
  }
  return cases;
}

// Both stacks have gates; the activations are those of T5 and of Moonshine.
std::vector<Case> make_gated_cases() {
  test::RandomFloats random(9);
  std::vector<Case> cases;
  for (const Activation activation : {Activation::kGeluTanh, Activation::kSilu}) {
    ModelSpec spec = test::random_spec(6);
    for (StackSpec* stack : {&spec.encoder, &spec.decoder}) {
      stack->activation = activation;
      stack->gated = true;
      for (LayerSpec& layer : stack->layers)
        layer.feed_forward.in.gate = random.linear("gate", stack->d_ff, stack->d_model);
    }
    cases.push_back(case_of(format_text("activation {}", static_cast<int>(activation)), spec));
  }
  return cases;
}

const std::vector<Case>& recurrent() {
  static const std::vector<Case> cases = make_recurrent_cases();
  return cases;
}

const std::vector<Case>& every_option() {
  static const std::vector<Case> cases = make_cases();
  return cases;
}

TEST(Reference, EqualsNaiveForwardPassInEveryOption) {
  for (const Case& c : every_option())
    EXPECT_LE(largest_difference(reference_logits(c.spec), c.exact), c.tolerance) << c.name;
}

// The tolerance is tight enough: a forward pass with a small mistake exceeds it.
TEST(Reference, SmallMistakesAreOutsideTheTolerance) {
  const auto no_epsilon = [](ModelSpec& spec) { change_norms(spec, [](NormSpec& norm) { norm.epsilon = 1e-12f; }); };
  const auto scale_of_one_head = [](ModelSpec& spec) {
    LinearSpec& query = spec.encoder.layers[0].self_attention->query;
    Matrix scaled = *query.weight;
    for (size_t i = 0; i < spec.encoder.d_head; ++i) {
      for (size_t k = 0; k < scaled.columns; ++k) scaled.values.edit()[i * scaled.columns + k] *= 1.01f;
      query.bias[i] *= 1.01f;
    }
    query.weight = std::make_shared<Matrix>(scaled);
  };
  const auto other_gelu = [](ModelSpec& spec) {
    for (StackSpec* stack : {&spec.encoder, &spec.decoder})
      stack->activation = stack->activation == Activation::kGelu ? Activation::kGeluTanh : Activation::kGelu;
  };
  for (const Case& c : every_option()) {
    const auto difference_after = [&](const auto& mistake) {
      ModelSpec wrong = c.spec;
      mistake(wrong);
      return largest_difference(reference_logits(wrong), c.exact);
    };
    EXPECT_GT(difference_after(no_epsilon), c.tolerance) << c.name;
    EXPECT_GT(difference_after(scale_of_one_head), c.tolerance) << c.name;
    if (c.spec.encoder.activation == Activation::kGelu || c.spec.encoder.activation == Activation::kGeluTanh) {
      EXPECT_GT(difference_after(other_gelu), c.tolerance) << c.name;
    }
  }
}

TEST(Reference, RecurrentLayersEqualANaiveForwardPass) {
  for (const Case& c : recurrent())
    EXPECT_LE(largest_difference(reference_logits(c.spec), c.exact), c.tolerance) << c.name;
}

TEST(Reference, SmallMistakesInRecurrentLayersAreOutsideTheTolerance) {
  const auto scaled_by_a_hundredth_more = [](std::shared_ptr<const Matrix>& weight) {
    Matrix scaled = *weight;
    for (float& value : scaled.values.edit()) value *= 1.01f;
    weight = std::make_shared<Matrix>(scaled);
  };
  for (const Case& c : recurrent()) {
    for (LinearSpec RecurrentSpec::*part : {&RecurrentSpec::input, &RecurrentSpec::forget}) {
      ModelSpec wrong = c.spec;
      scaled_by_a_hundredth_more(((*wrong.decoder.layers[0].recurrent).*part).weight);
      EXPECT_GT(largest_difference(reference_logits(wrong), c.exact), c.tolerance) << c.name;
      wrong = c.spec;
      for (float& bias : ((*wrong.decoder.layers[0].recurrent).*part).bias) bias += 0.01f;
      EXPECT_GT(largest_difference(reference_logits(wrong), c.exact), c.tolerance) << c.name;
    }
  }
}

TEST(Reference, GatedStacksEqualANaiveForwardPass) {
  for (const Case& c : make_gated_cases()) {
    EXPECT_LE(largest_difference(reference_logits(c.spec), c.exact), c.tolerance) << c.name;
    ModelSpec swapped = c.spec;
    InnerSpec& inner = swapped.decoder.layers[0].feed_forward.in;
    std::swap(static_cast<LinearSpec&>(inner), *inner.gate);
    EXPECT_GT(largest_difference(reference_logits(swapped), c.exact), c.tolerance) << c.name;
  }
}

// Hypotheses that part keep their own cells, as if each was the only one from the start.
TEST(Reference, RecurrentHypothesesKeepTheirOwnPast) {
  const ModelSpec& spec = recurrent()[2].spec;
  const Reference reference(spec);
  const EncodedSource encoded = reference.encode(kSource);
  const int32_t start = static_cast<int32_t>(spec.generation.decoder_start_id);
  const std::vector<int32_t> first = {5, 11}, second = {7, 9, 30};
  const std::vector<uint32_t> parents = {1, 0, 1}, both = {0, 0};
  DecoderState state = reference.start(1);
  (void)reference.decode(encoded, {&start, 1}, state);
  state = state.select(both);
  (void)reference.decode(encoded, first, state);
  state = state.select(parents);
  const Logits logits = reference.decode(encoded, second, state);
  for (size_t i = 0; i < second.size(); ++i) {
    const std::vector<int32_t> target = {first[parents[i]], second[i], 0};
    const Logits alone = reference.teacher_forced_logits(encoded, target);
    for (size_t v = 0; v < alone.ids; ++v) EXPECT_EQ(logits.row(i)[v], alone.row(2)[v]);
  }
}

uint64_t hash_of_logits(const std::vector<Case>& cases) {
  uint64_t hash = kHashStart;
  for (const Case& c : cases) {
    const Logits logits = reference_logits(c.spec);
    hash = hash_floats(hash, logits.values.data(), logits.values.size());
  }
  return hash;
}

TEST(Reference, LogitsHaveTheSameBitsEverywhere) {
  EXPECT_EQ(hash_of_logits(every_option()), 0x95103e8a64cf4245u) << std::hex << hash_of_logits(every_option());
  EXPECT_EQ(hash_of_logits(recurrent()), 0xbcb5784b5bcc9a7eu) << std::hex << hash_of_logits(recurrent());
}
}}  // namespace goldcrest::converter
