// SPDX-License-Identifier: Apache-2.0
// Compares the tutorials' Transformers with their formulas, layer by layer (--check), and bounds the error of folded
// norms.
#include <gtest/gtest.h>

#include <cmath>

#include "convert/support/formula_samples.h"
#include "convert/support/tutorial_folder.h"
#include "evaluate/check.h"
#include "evaluate/deviation.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

using namespace test;

constexpr size_t kMaxTarget = 7;
const std::vector<std::vector<int32_t>> kSources = {{0, 3, 7, 2, 8, 1}, {0, 1}, {0, 5, 5, 4, 1}};

// Greedy ids: token 0 is the start. Token 1 is the end, which is forced as the last.
std::vector<int32_t> greedy(TutorialFormula& formula, const std::vector<int32_t>& source) {
  std::vector<int32_t> inputs = {0}, ids;
  while (ids.empty() || ids.back() != 1) {
    const TutorialFormula::Row logits = formula.run(source, inputs).at("logits").back();
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    ids.push_back(ids.size() + 1 == kMaxTarget ? 1 : static_cast<int32_t>(best));
    inputs.push_back(ids.back());
  }
  return ids;
}

// The samples that the tutorial's own code would export.
std::vector<test::FormulaSample> samples_of(TutorialFormula& formula) {
  std::vector<test::FormulaSample> samples;
  for (const std::vector<int32_t>& source : kSources) {
    const std::vector<int32_t> ids = greedy(formula, source);
    std::vector<int32_t> inputs = {0};
    inputs.insert(inputs.end(), ids.begin(), ids.end() - 1);
    samples.push_back({source, ids, formula.run(source, inputs)});
  }
  return samples;
}

TEST(Tutorial, LayersAndResultsAreThoseOfTheFormula) {
  for (const auto& [kind, model_type] : kTutorials) {
    const TutorialFolder checkpoint(kind);
    TutorialFormula formula(checkpoint);
    const test::SampleFolder samples;
    write_samples(samples_of(formula), kMaxTarget, samples);
    const ModelSpec spec = checkpoint.load();
    EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
    EXPECT_EQ(spec.dialect, model_type);
    const CheckReport report = check(Reference(spec), samples.path(), {});
    EXPECT_TRUE(report.passed()) << model_type << "\n" << to_text(report);
    const size_t n_norms = kind == TutorialKind::kTrevett ? 0 : 2;
    EXPECT_EQ(report.tensors.size(), 6 + n_norms + kSources.size()) << "embeddings, layers, norms and logits";
    ASSERT_EQ(report.searches.size(), 1u);
    EXPECT_EQ(report.searches[0].equal, kSources.size());
  }
}

TEST(Tutorial, TheCheckFindsAWrongLayer) {
  for (const auto& [kind, model_type] : kTutorials) {
    const TutorialFolder checkpoint(kind);
    TutorialFormula formula(checkpoint);
    const test::SampleFolder samples;
    write_samples(samples_of(formula), kMaxTarget, samples);
    const auto departs = [&, name = model_type](const char* layer, const auto& make) {
      ModelSpec spec = checkpoint.load();
      make(spec);
      const CheckReport report = check(Reference(spec), samples.path(), {});
      ASSERT_NE(report.first_departure(), nullptr) << name << " " << layer;
      EXPECT_EQ(report.first_departure()->tensor, layer) << name;
    };
    departs("encoder.embed", [](ModelSpec& spec) { spec.encoder.embedding_scale = 1; });
    departs("encoder.layers.0", [](ModelSpec& spec) { spec.encoder.pre_norm = !spec.encoder.pre_norm; });
    departs("encoder.layers.1", [](ModelSpec& spec) {  // as if a gamma was not folded
      for (float& gamma : spec.encoder.layers[1].self_attention->norm.gamma) gamma *= std::sqrt(8.0f / 7.0f);
    });
    departs("decoder.layers.0", [](ModelSpec& spec) {
      std::swap(spec.decoder.layers[0].cross_attention->key, spec.decoder.layers[0].cross_attention->value);
    });
  }
}

TEST(Tutorial, ItsCodeTellsWhatTheConfigLeavesOut) {
  for (const auto& [kind, model_type] : kTutorials) {
    TutorialFolder checkpoint(kind);
    const ModelSpec spec = checkpoint.load();
    EXPECT_EQ(spec.encoder.layers.size(), 2u);
    EXPECT_EQ(spec.encoder.positions.rows, 10u);
    EXPECT_EQ(spec.encoder.pre_norm, kind == TutorialKind::kAnnotated);
    EXPECT_EQ(spec.decoder.final_norm.has_value(), kind != TutorialKind::kTrevett);
    EXPECT_EQ(spec.decoder.embedding_scale, std::sqrt(8.0f));
    EXPECT_EQ(spec.generation.source_prefix, std::vector<uint32_t>{0});
    EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{1});
    EXPECT_EQ(spec.deviation_epsilon, kind == TutorialKind::kAnnotated ? 1e-6f : 0);

    checkpoint.config.update({{"activation", "gelu"}, {"add_source_bos", false}, {"model_type", model_type}});
    const ModelSpec changed = checkpoint.load();
    EXPECT_TRUE(changed.warnings.empty()) << changed.warnings.front();
    EXPECT_EQ(changed.encoder.activation, Activation::kGelu);
    EXPECT_TRUE(changed.generation.source_prefix.empty());

    for (const char* prefix : {"module.", "model.", "model._orig_mod."}) {
      TutorialFolder wrapped(kind);
      wrapped.wrap(prefix);
      const ModelSpec same = wrapped.load();
      EXPECT_TRUE(same.warnings.empty()) << same.warnings.front();
      EXPECT_EQ(same.encoder.embedding->values, spec.encoder.embedding->values) << prefix;
      EXPECT_EQ(same.projection.bias, spec.projection.bias) << prefix;
    }
  }
}

TEST(Tutorial, FewerPositionsThanItsTable) {
  for (const TutorialKind kind : {TutorialKind::kAnnotated, TutorialKind::kSeq2Seq, TutorialKind::kTrevett}) {
    TutorialFolder checkpoint(kind);
    checkpoint.config["max_positions"] = 6;
    const ModelSpec spec = checkpoint.load();
    EXPECT_EQ(spec.encoder.positions.rows, 6u);
    EXPECT_EQ(spec.decoder.positions.rows, 6u);
  }
}

TEST(Tutorial, TheBoundOfFoldedNormsIsThatOfTheSmallestDeviation) {
  TutorialFolder checkpoint(TutorialKind::kAnnotated);
  const ModelSpec spec = checkpoint.load();
  const DeviationBound bound = bound_deviations(spec, {kSources[0]}, "model.pt");
  TutorialFormula formula(checkpoint);
  const std::vector<int32_t> ids = [&] {
    std::vector<int32_t> inputs = {0};
    for (size_t n = 1; n < 10; ++n) {
      const TutorialFormula::Row logits = formula.run(kSources[0], inputs).at("logits").back();
      const auto best = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
      if (best == 1) break;
      inputs.push_back(best);
    }
    return inputs;
  }();
  formula.run(kSources[0], ids);
  EXPECT_NEAR(bound.smallest, formula.smallest_deviation, 1e-5);
  EXPECT_NEAR(bound.error, 1e-6 / bound.smallest, 1e-11);
  EXPECT_EQ(bound.sources, 1u);
  // Each source position has two norms a layer and one at the end, each target position three and one.
  EXPECT_EQ(bound.rows, kSources[0].size() * 5 + ids.size() * 4);
  EXPECT_EQ(to_text({1e-6, 0.532, 1.88e-6, 187, 3}),
            "norms    1e-06 is added to the deviation, folded; this changes a norm by at most 1.9e-06 of its value, at "
            "the smallest deviation, 0.532, of 187 rows of 3 sources\n");
}

TEST(Tutorial, RefusesNormsThatTheirEpsilonChanges) {
  TutorialFolder checkpoint(TutorialKind::kAnnotated);
  checkpoint.config["layer_norm_eps"] = 1e-3;
  const ModelSpec spec = checkpoint.load();
  TutorialFormula formula(checkpoint);
  try {
    bound_deviations(spec, {kSources[1]}, "model.pt");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    ModelSpec small = spec;
    small.deviation_epsilon = 1e-6f;
    const DeviationBound bound = bound_deviations(small, {kSources[1]}, "");
    EXPECT_EQ(
        std::string(error.what()),
        format_text("model.pt: its norms add 0.001 to the deviation, which a file's norms add to the variance; the "
                    "smallest deviation of {} rows is {:.3g}, where this changes a norm by {:.2g} of its value, "
                    "more than 2^-16; it cannot be converted",
                    bound.rows, bound.smallest, 1e-3 / bound.smallest));
  }
}

// A row of equal values has the deviation 0, and every norm turns it into beta.
TEST(Tutorial, RowsOfEqualValuesAreNoSmallDeviation) {
  TutorialFolder checkpoint(TutorialKind::kAnnotated);
  ModelSpec spec = checkpoint.load();
  auto flat = std::make_shared<Matrix>(*spec.encoder.embedding);
  flat->values = std::vector<float>(flat->values.size(), 0.0f);
  spec.encoder.embedding = flat;
  spec.encoder.positions.values = std::vector<float>(spec.encoder.positions.values.size(), 1.0f);
  EXPECT_GT(bound_deviations(spec, {{0, 1}}, "").smallest, 0);
}

}  // namespace
}  // namespace goldcrest::converter
