// SPDX-License-Identifier: Apache-2.0
// A model with recurrent layers: --check with samples of Marian's formula, and the self-test of its file.
#include <gtest/gtest.h>

#include "convert/support/formula_samples.h"
#include "convert/support/native_folder.h"
#include "convert/support/native_formula.h"
#include "evaluate/check.h"
#include "file/build.h"
#include "report/engine_session.h"

namespace goldcrest::converter {
namespace {

using test::NativeFolder;
using test::NativeFormula;

constexpr uint32_t kMaxTarget = 9;
const std::vector<std::vector<int32_t>> kSources = {{3, 7, 2, 11, 5, 0}, {0}, {9, 9, 4, 0}};

std::vector<int32_t> greedy_ids(const NativeFormula& formula, const std::vector<int32_t>& source,
                                NativeFormula::Trace& trace) {
  std::vector<int32_t> ids;
  NativeFormula::State state = formula.start(source, &trace);
  while (ids.empty() || (ids.back() != 0 && ids.size() < kMaxTarget)) {
    NativeFormula::Row logits = formula.step(ids.empty() ? -1 : ids.back(), state, &trace);
    logits[1] = -1e9;  // <unk> is never chosen
    const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
    ids.push_back(ids.size() + 1 == kMaxTarget ? 0 : static_cast<int32_t>(best));  // the end is forced
  }
  return ids;
}

std::vector<test::FormulaSample> samples_of(const NativeFormula& formula) {
  std::vector<test::FormulaSample> samples;
  for (const std::vector<int32_t>& source : kSources) {
    test::FormulaSample& sample = samples.emplace_back();
    sample.source = source;
    sample.greedy = greedy_ids(formula, source, sample.trace);
  }
  return samples;
}

TEST(NativeCheck, FindsWhatIsWrongInARecurrentLayer) {
  NativeFolder checkpoint;
  const test::SampleFolder samples;
  write_samples(samples_of({checkpoint.tensors, checkpoint.shape}), kMaxTarget, samples);
  const CheckReport report = check(Reference(checkpoint.load()), samples.path(), {});
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_EQ(report.tensors.size(), 7 + kSources.size()) << "embeddings, layers and logits";
  ASSERT_EQ(report.searches.size(), 1u);
  EXPECT_EQ(report.searches[0].equal, kSources.size());

  const std::pair<const char*, void (*)(RecurrentSpec&)> mistakes[] = {
      {"decoder.layers.0", [](RecurrentSpec& layer) { std::swap(layer.input.weight, layer.forget.weight); }},
      {"decoder.layers.0",
       [](RecurrentSpec& layer) {
         for (float& bias : layer.forget.bias) bias += 0.1f;
       }},
      {"decoder.layers.1", [](RecurrentSpec& layer) { layer.norm.epsilon = 0.01f; }}};
  for (const auto& [departs, make] : mistakes) {
    ModelSpec spec = checkpoint.load();
    make(*spec.decoder.layers[departs[15] - '0'].recurrent);
    const CheckReport wrong = check(Reference(spec), samples.path(), {});
    ASSERT_NE(wrong.first_departure(), nullptr);
    EXPECT_EQ(wrong.first_departure()->tensor, departs);
  }
}

TEST(NativeCheck, TheSelfTestPassesWithEveryTable) {
  NativeFolder checkpoint;
  const ModelSpec spec = checkpoint.load();
  const NativeFormula formula(checkpoint.tensors, checkpoint.shape);
  for (const Weights weights : {Weights::kInt8, Weights::kFloat32}) {
    BuildOptions options;
    options.weights = weights;
    options.limits.max_target_tokens = kMaxTarget;
    const Payload payload = build_payload(spec, options);
    const FileImage first = assemble(payload, {});
    EngineSession session(first.span(), {}, "student");
    const std::vector<SelfTestLine> lines = make_self_test(session, kSources, {});
    ASSERT_EQ(lines.size(), kSources.size());
    for (size_t i = 0; i < kSources.size() && weights == Weights::kFloat32; ++i) {
      NativeFormula::Trace trace;
      EXPECT_EQ(std::vector<int32_t>(lines[i].target.begin(), lines[i].target.end()),
                greedy_ids(formula, kSources[i], trace));
    }
    const FileImage file = assemble(payload, lines);
    for (uint32_t i = 0; const char* name = goldcrest_kernels_at(i); ++i) {
      setenv("GOLDCREST_KERNELS", name, 1);
      EXPECT_EQ(goldcrest_self_test(EngineSession(file.span(), {}, "student").engine(), nullptr), GOLDCREST_OK) << name;
    }
    unsetenv("GOLDCREST_KERNELS");
  }
}

}  // namespace
}  // namespace goldcrest::converter
