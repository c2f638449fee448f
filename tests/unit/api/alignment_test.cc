// SPDX-License-Identifier: Apache-2.0
// Compares alignments with those of a naive forward pass in double, and, to the bit, with the kernels' attention.
#include <gtest/gtest.h>

#include <vector>

#include "api/engine.h"
#include "inspected.h"

namespace goldcrest {
namespace {

using test::EngineSetup;
using test::inspecting;
using test::random_source;
using test::Rng;
using test::TestEngine;
using test::Translation;
using Model = test::InspectedModel;
using Naive = test::NaiveForward<double>;

const std::vector<Model>& models() { return test::inspected_models(); }

// found [tokens][source] is the naive mean over some layers and heads.
void expect_naive_alignment(const TestEngine& engine, const Naive::CrossWeights& cross, goldcrest_alignment wanted,
                            double tolerance) {
  const std::vector<float> found = engine.alignment(wanted);
  double total = 0;
  for (size_t s = 0; s < found.size(); ++s) {
    double sum = 0;
    int n = 0;
    for (size_t l = 0; l < cross.size(); ++l) {
      for (size_t h = 0; h < cross[l].size(); ++h) {
        if (wanted.layer >= 0 && static_cast<size_t>(wanted.layer) != l) continue;
        if (wanted.head >= 0 && static_cast<size_t>(wanted.head) != h) continue;
        sum += cross[l][h][wanted.token].at(s);
        ++n;
      }
    }
    EXPECT_NEAR(found[s], sum / n, tolerance) << "token " << wanted.token << ", source " << s;
    total += double{found[s]};
  }
  EXPECT_NEAR(total, 1, 1e-6);
}

TEST(Alignment, IsTheForwardPasssAlongEveryHypothesis) {
  for (const Model& model : models()) {
    const int32_t n_layers = static_cast<int32_t>(model.spec.decoder.layers.size());
    const int32_t n_heads = static_cast<int32_t>(model.spec.decoder.n_heads);
    Rng rng(97);
    for (const uint32_t beam_size : {1u, 4u}) {
      TestEngine engine(model.float32.span(), inspecting(beam_size, 1));
      for (int i = 0; i < 3; ++i) {
        const std::vector<int32_t> source = random_source(rng, model.spec);
        const std::vector<Translation> found = engine.run(std::span(&source, 1)).at(0);
        for (uint32_t rank = 0; rank < found.size(); ++rank) {
          Naive::CrossWeights cross;
          (void)Naive::logits(model.spec, source, found[rank].tokens, &cross);
          for (uint32_t token = 0; token < found[rank].tokens.size(); ++token) {
            for (int32_t layer = -1; layer < n_layers; ++layer) {
              for (int32_t head = -1; head < n_heads; ++head) {
                expect_naive_alignment(engine, cross, {0, rank, token, layer, head}, test::kCloseInspection);
              }
            }
          }
        }
      }
    }
  }
}

// If the memory keeps only some layers, -1 is their mean, and other layers are refused.
TEST(Alignment, KnowsTheLayersOfTheLimits) {
  const Model& model = models()[1];
  EngineSetup setup = inspecting(1, 1);
  TestEngine all(model.int8.span(), setup);
  setup.limits.alignment_layers = 2;
  TestEngine second(model.int8.span(), setup);
  EXPECT_LT(second.memory().decode_bytes, all.memory().decode_bytes);
  EXPECT_EQ(all.memory().limits.alignment_layers, 3u);
  const std::vector<int32_t> source = {4, 9, 1, 7, 0};
  (void)all.run(source);
  (void)second.run(source);
  for (const int32_t head : {-1, 0, 1}) {
    EXPECT_EQ(second.alignment({0, 0, 0, 1, head}), all.alignment({0, 0, 0, 1, head}));
    EXPECT_EQ(second.alignment({0, 0, 0, -1, head}), all.alignment({0, 0, 0, 1, head}));
  }
  EXPECT_NE(all.alignment({0, 0, 0, -1, -1}), all.alignment({0, 0, 0, 1, -1}));
}

// The weights are those with which the layer mixed its values: here the values are rows of the unit matrix.
TEST(Alignment, IsTheKernelsAttentionToTheBit) {
  for (const Model& model : models()) {
    TestEngine engine(model.int8.span(), inspecting(1, 1));
    const std::vector<int32_t> source = {4, 9, 1, 7, 3, 2, 2, 8, 0};
    const Translation found = engine.run(source);
    const Runtime& runtime = engine.get()->runtime;
    const DecoderRefs& decoder = engine.get()->decoder;
    const StackView& stack = runtime.model.decoder;
    const uint32_t n = static_cast<uint32_t>(source.size()), d = stack.d_head;
    ASSERT_GE(d, n);
    std::vector<int8_t> unit(size_t{n} * d), query_row(d);
    std::vector<float> ones(n, 1.0f), query(d), out(d), scratch(32);
    for (uint32_t i = 0; i < n; ++i) unit[size_t{i} * d + i] = 1;
    for (uint32_t layer = 0; layer < stack.n_layers; ++layer) {
      const KvCache keys = kv_cache_layer(runtime, stack, decoder.source_keys, layer, engine.get()->batch.row_capacity);
      const size_t rows = runtime.limits.max_target_tokens;
      const KvCache queries = recorded_queries(runtime, decoder.alignment, layer, rows);
      for (uint32_t head = 0; head < stack.n_heads; ++head) {
        for (uint32_t token = 0; token < found.tokens.size(); ++token) {
          const int8_t* kept = static_cast<const int8_t*>(queries.keys) + (head * rows + token) * d;
          const float scale = queries.key_scales[head * rows + token];
          for (uint32_t i = 0; i < d; ++i) query[i] = static_cast<float>(kept[i]) * scale;
          AttentionArgs<int8_t> args = {};
          args.q = query.data();
          args.keys = static_cast<const int8_t*>(keys.keys) + head * keys.rows * d;
          args.key_scales = keys.key_scales + head * keys.rows;
          args.values = unit.data();
          args.value_scales = ones.data();
          args.out = out.data();
          args.weights = scratch.data();
          args.q_row = query_row.data();
          args.q_stride = args.out_stride = d;
          args.position_stride = args.rows = args.n_heads = 1;
          args.n_keys = n;
          args.d_head = d;
          args.scale = stack.attention_scale;
          runtime.kernels->int8.attention(args);
          const std::vector<float> weights =
              engine.alignment({0, 0, token, static_cast<int32_t>(layer), static_cast<int32_t>(head)});
          EXPECT_EQ(weights, std::vector<float>(out.begin(), out.begin() + n));
        }
      }
    }
  }
}

}  // namespace
}  // namespace goldcrest
