// SPDX-License-Identifier: Apache-2.0
// The float forward pass against a naive one in double, without caches, over every option that a stack has.
#include "reference/reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "spec/error.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

using Vector = std::vector<double>;
using Sequence = std::vector<Vector>;  // [positions][width]

Vector naive_linear(const LinearSpec& linear, const Vector& x) {
  Vector y(linear.bias.begin(), linear.bias.end());
  for (uint32_t n = 0; n < linear.weight->rows; ++n)
    for (uint32_t k = 0; k < linear.weight->columns; ++k) y[n] += double{linear.weight->row(n)[k]} * x[k];
  return y;
}

Vector naive_norm(const NormSpec& norm, const Vector& x) {
  const double n = static_cast<double>(x.size());
  double mean = 0, variance = 0;
  for (const double v : x) mean += v / n;
  for (const double v : x) variance += (v - mean) * (v - mean) / n;
  Vector y(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    y[i] = (x[i] - mean) / std::sqrt(variance + double{norm.epsilon}) * double{norm.gamma[i]} + double{norm.beta[i]};
  return y;
}

double naive_activation(Activation activation, double v) {
  switch (activation) {
    case Activation::kRelu:
      return v > 0 ? v : 0;
    case Activation::kGelu:
      return v * 0.5 * std::erfc(-v / std::sqrt(2.0));
    case Activation::kGeluTanh:
      return v * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
    case Activation::kSilu:
      return v / (1 + std::exp(-v));
  }
  return NAN;
}

// Position t of x attends to positions 0..last(t) of memory.
template <typename Last>
Sequence naive_attention(const StackSpec& stack, const AttentionSpec& spec, const Sequence& x, const Sequence& memory,
                         Last last) {
  Sequence out;
  for (size_t t = 0; t < x.size(); ++t) {
    const Vector query = naive_linear(spec.query, x[t]);
    Vector joined(query.size());
    for (size_t head = 0; head < stack.n_heads; ++head) {
      const size_t begin = head * stack.d_head, end = begin + stack.d_head;
      Vector weights;
      double sum = 0;
      for (size_t s = 0; s <= last(t); ++s) {
        const Vector key = naive_linear(spec.key, memory[s]);
        double score = 0;
        for (size_t j = begin; j < end; ++j) score += query[j] * key[j];
        weights.push_back(std::exp(score * double{stack.attention_scale}));
        sum += weights.back();
      }
      for (size_t s = 0; s <= last(t); ++s) {
        const Vector value = naive_linear(spec.value, memory[s]);
        for (size_t j = begin; j < end; ++j) joined[j] += weights[s] / sum * value[j];
      }
    }
    out.push_back(naive_linear(spec.out, joined));
  }
  return out;
}

template <typename Block>
Sequence naive_residual(const StackSpec& stack, const NormSpec& norm, const Sequence& x, Block block) {
  Sequence normed;
  for (const Vector& row : x) normed.push_back(naive_norm(norm, row));
  Sequence y = block(stack.pre_norm ? normed : x);
  for (size_t t = 0; t < x.size(); ++t) {
    for (size_t i = 0; i < x[t].size(); ++i) y[t][i] += x[t][i];
    if (!stack.pre_norm) y[t] = naive_norm(norm, y[t]);
  }
  return y;
}

// memory: null for the encoder.
Sequence naive_stack(const StackSpec& stack, const std::vector<int32_t>& tokens, const Sequence* memory) {
  Sequence x;
  for (uint32_t t = 0; t < tokens.size(); ++t) {
    Vector row;
    for (uint32_t i = 0; i < stack.d_model; ++i)
      row.push_back(double{stack.embedding->row(static_cast<uint32_t>(tokens[t]))[i]} * double{stack.embedding_scale} +
                    double{stack.positions.row(t)[i]});
    x.push_back(stack.embedding_norm ? naive_norm(*stack.embedding_norm, row) : row);
  }
  for (const LayerSpec& layer : stack.layers) {
    const auto last = [&](size_t t) { return memory == nullptr ? tokens.size() - 1 : t; };
    x = naive_residual(stack, layer.self_attention.norm, x,
                       [&](const Sequence& h) { return naive_attention(stack, layer.self_attention, h, h, last); });
    if (memory != nullptr) {
      x = naive_residual(stack, layer.cross_attention->norm, x, [&](const Sequence& h) {
        return naive_attention(stack, *layer.cross_attention, h, *memory, [&](size_t) { return memory->size() - 1; });
      });
    }
    x = naive_residual(stack, layer.feed_forward.norm, x, [&](Sequence h) {
      for (Vector& row : h) {
        Vector inner = naive_linear(layer.feed_forward.in, row);
        for (double& v : inner) v = naive_activation(stack.activation, v);
        row = naive_linear(layer.feed_forward.out, inner);
      }
      return h;
    });
  }
  if (stack.final_norm)
    for (Vector& row : x) row = naive_norm(*stack.final_norm, row);
  return x;
}

Sequence naive_logits(const ModelSpec& spec, const std::vector<int32_t>& source, const std::vector<int32_t>& target) {
  const Sequence memory = naive_stack(spec.encoder, source, nullptr);
  std::vector<int32_t> shifted = {static_cast<int32_t>(spec.generation.decoder_start_id)};
  shifted.insert(shifted.end(), target.begin(), target.end() - 1);
  Sequence logits;
  for (const Vector& row : naive_stack(spec.decoder, shifted, &memory))
    logits.push_back(naive_linear(spec.projection, row));
  return logits;
}

const std::vector<int32_t> kSource = {3, 18, 7, 0, 7}, kTarget = {5, 36, 11, 5, 0, 30};

void expect_naive_logits(const ModelSpec& spec, const std::string& what) {
  const Reference reference(spec);
  const Rows found = reference.teacher_forced_logits(reference.encode(kSource), kTarget);
  const Sequence expected = naive_logits(spec, kSource, kTarget);
  ASSERT_EQ(static_cast<size_t>(found.rows()), expected.size());
  for (Eigen::Index t = 0; t < found.rows(); ++t) {
    // Float rounding grows with the values, which reach some hundreds where nothing is normed.
    const double tolerance = 2e-6 * std::max(10.0, double{found.row(t).cwiseAbs().maxCoeff()});
    for (Eigen::Index v = 0; v < found.cols(); ++v)
      ASSERT_NEAR(double{found(t, v)}, expected[static_cast<size_t>(t)][static_cast<size_t>(v)], tolerance)
          << what << ", row " << t << ", column " << v;
  }
}

TEST(Reference, EqualsNaiveForwardPassInEveryOption) {
  test::RandomFloats random(7);
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
        expect_naive_logits(
            spec, fmt::format("activation {}, pre_norm {}, norms {}", static_cast<int>(activation), pre_norm, norms));
      }
    }
  }
}

TEST(Reference, HypothesesDoNotMeetAndSelectCopiesThem) {
  const ModelSpec spec = test::random_spec(3);
  const Reference reference(spec);
  const Memory memory = reference.encode(kSource);
  // Two hypotheses, then three that continue number 1, 0 and 1.
  DecoderState state = reference.start(2);
  reference.decode(memory, std::vector<int32_t>{36, 36}, state);
  reference.decode(memory, std::vector<int32_t>{4, 9}, state);
  state = state.select(std::vector<uint32_t>{1, 0, 1});
  const Rows together = reference.decode(memory, std::vector<int32_t>{8, 8, 1}, state);
  const std::vector<std::vector<int32_t>> targets = {{9, 8, 0}, {4, 8, 0}, {9, 1, 0}};
  for (Eigen::Index i = 0; i < 3; ++i) {
    const Rows alone = reference.teacher_forced_logits(memory, targets[static_cast<size_t>(i)]);
    EXPECT_LT((together.row(i) - alone.row(2)).cwiseAbs().maxCoeff(), 1e-5f) << "hypothesis " << i;
  }
}

TEST(Reference, TraceNamesEveryLayerAndRow) {
  ModelSpec spec = test::random_spec(5);
  Reference reference(spec);
  std::map<std::string, std::vector<uint32_t>> rows;
  reference.set_trace([&](const std::string& name, int layer, uint32_t row, std::span<const float> values) {
    rows[layer < 0 ? name : fmt::format("{}.{}", name, layer)].push_back(row);
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
  EXPECT_THROW(reference.encode(std::vector<int32_t>(12, 1)), Error);  // 11 positions
  const Memory memory = reference.encode(kSource);
  EXPECT_THROW(reference.teacher_forced_logits(memory, std::vector<int32_t>(12, 1)), Error);
  spec.decoder.layers[1].feed_forward.out.bias.pop_back();
  EXPECT_THROW(Reference{spec}, Error);
}

}  // namespace
}  // namespace goldcrest::converter
