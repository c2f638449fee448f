// SPDX-License-Identifier: Apache-2.0
// --matrices keys: keys lose their mean, and the float model stays what it is.
#include "evaluate/centre_keys.h"
#include "reference/reference.h"
#include "support/random_spec.h"
#include "support/test.h"

namespace goldcrest::converter { namespace {
const std::vector<std::vector<int32_t>> kSources = {{3, 18, 7, 0, 7}, {11, 2, 2, 5}};

// All attentions of a model.
std::vector<AttentionSpec*> attentions_of(ModelSpec& spec) {
  std::vector<AttentionSpec*> attentions;
  for (StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    for (LayerSpec& layer : stack->layers) {
      if (layer.self_attention) attentions.push_back(&*layer.self_attention);
      if (layer.cross_attention) attentions.push_back(&*layer.cross_attention);
    }
  }
  return attentions;
}

void add_means(ModelSpec& spec) {
  for (AttentionSpec* attention : attentions_of(spec))
    for (size_t i = 0; i < attention->key.bias.size(); ++i) attention->key.bias[i] += i % 3 == 0 ? 30.0f : -30.0f;
}

TEST(CentreKeys, ChangesNoLogit) {
  ModelSpec spec = test::random_spec(21);
  add_means(spec);
  ModelSpec centred = spec;
  const size_t n_heads = spec.encoder.n_heads + 2 * 2 * spec.decoder.n_heads;
  std::vector<size_t> done;
  const CentredKeys keys = centre_keys(
      kSources, [&](size_t i, size_t) { done.push_back(i); }, centred);
  EXPECT_EQ(done, (std::vector<size_t>{0, 1}));
  EXPECT_EQ(keys.heads, n_heads);
  EXPECT_EQ(keys.centred, n_heads);
  const std::vector<AttentionSpec*> before = attentions_of(spec), after = attentions_of(centred);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i]->query.bias, before[i]->query.bias);
    EXPECT_EQ(after[i]->value.bias, before[i]->value.bias);
    for (const float bias : after[i]->key.bias) EXPECT_LT(std::abs(bias), 20.0f);
  }
  const std::vector<int32_t> target = {5, 36, 11, 5, 0, 30};
  const auto logits = [&](const ModelSpec& of) {
    const Reference reference(of);
    return reference.teacher_forced_logits(reference.encode(kSources[0]), target).values;
  };
  const std::vector<float> expected = logits(spec), found = logits(centred);
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-3f) << i;

  ModelSpec again = centred;
  EXPECT_EQ(centre_keys(kSources, {}, again).centred, 0u) << "they have no mean any more";
  for (size_t i = 0; i < after.size(); ++i) EXPECT_EQ(attentions_of(again)[i]->key.bias, after[i]->key.bias);
}

// A mean before a turn is no constant after it. The keys that the decoder makes of the encoder's rows do not turn.
TEST(CentreKeys, LeavesKeysThatTurn) {
  ModelSpec spec = test::random_spec(22);
  test::RandomFloats random(23);
  spec.encoder.d_head = 32;
  spec.encoder.layers.clear();
  fill_stack(random, {"encoder", 19, 1, 0}, spec.encoder);
  spec.encoder.rotary = {random.matrix("rotary", 11, 32), 16};
  add_means(spec);
  ModelSpec centred = spec;
  const CentredKeys keys = centre_keys(kSources, {}, centred);
  EXPECT_EQ(keys.heads, 2u * 2 * spec.decoder.n_heads);
  EXPECT_EQ(keys.centred, keys.heads);
  EXPECT_EQ(centred.encoder.layers[0].self_attention->key.bias, spec.encoder.layers[0].self_attention->key.bias);
  EXPECT_NE(centred.decoder.layers[0].cross_attention->key.bias, spec.decoder.layers[0].cross_attention->key.bias);
}
}}  // namespace goldcrest::converter
