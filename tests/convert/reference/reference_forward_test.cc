// SPDX-License-Identifier: Apache-2.0
// The float forward pass with every option of a stack. It must be within float32's error of a naive pass in double, and
// have the same bits on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "base/hash.h"
#include "convert/support/naive_forward.h"
#include "reference/reference.h"
#include "spec/format_text.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

using ExactLogits = std::vector<std::vector<double>>;  // [positions][vocab_size]

const std::vector<int32_t> kSource = {3, 18, 7, 0, 7}, kTarget = {5, 36, 11, 5, 0, 30};

struct Case {
  std::string name;
  ModelSpec spec;
  ExactLogits exact;  // of a naive pass in double
  double tolerance;   // of a float32 pass
};

template <typename Change>
void change_norms(ModelSpec& spec, const Change& change) {
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

ExactLogits naive_logits(const ModelSpec& spec) { return test::NaiveForward<double>::logits(spec, kSource, kTarget); }

// Returns infinity if a number is NaN.
template <typename Row>
double largest_difference(const std::vector<Row>& x, const ExactLogits& y) {
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
        const ExactLogits exact = naive_logits(spec);
        cases.push_back({name, spec, exact, tolerance(spec, exact)});
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
    const ExactLogits exact = naive_logits(spec);
    cases.push_back({name, spec, exact, tolerance(spec, exact)});
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
    const ExactLogits exact = naive_logits(spec);
    cases.push_back({format_text("activation {}", static_cast<int>(activation)), spec, exact, tolerance(spec, exact)});
  }
  return cases;
}

const std::vector<Case>& recurrent() {
  static const std::vector<Case> cases = make_recurrent_cases();
  return cases;
}

const std::vector<Case>& gated() {
  static const std::vector<Case> cases = make_gated_cases();
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
  for (const Case& c : gated()) {
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

}  // namespace
}  // namespace goldcrest::converter
