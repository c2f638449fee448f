// SPDX-License-Identifier: Apache-2.0
// The float forward pass: the state that it keeps, the layers that it shows, and the inputs that it refuses.
#include "reference/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "spec/error.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

const std::vector<int32_t> kSource = {3, 18, 7, 0, 7}, kTarget = {5, 36, 11, 5, 0, 30};

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
  const EncodedSource encoded = reference.encode(kSource);
  EXPECT_THROW(reference.teacher_forced_logits(encoded, std::vector<int32_t>(12, 1)), Error);
  spec.decoder.layers[1].feed_forward.out.bias.pop_back();
  EXPECT_THROW(Reference{spec}, Error);
}

}  // namespace
}  // namespace goldcrest::converter
