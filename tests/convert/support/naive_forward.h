// SPDX-License-Identifier: Apache-2.0
// A naive forward pass without caches, over any type of number: double, or one in which every operation has an error.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>
#include "converter/spec/spec.h"
#include "support/rng.h"

namespace goldcrest::test {
// Monte Carlo arithmetic (Parker 1997). Each result of an operation is off by a random part of float32's largest
// rounding error. Each result of a function is off by a random part of the error in kernels/reference/math.h.
class Perturbed {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): the parameters of a model are exact
  Perturbed(double value) : value_(value) {}
  static void seed(uint64_t seed) { rng() = Rng(seed); }
  explicit operator double() const { return value_; }

  // value (1 + a) + b with random |a| <= relative, |b| <= absolute.
  static Perturbed off(double value, double relative, double absolute = 0) {
    const double part = double{rng().uniform()};
    return value + part * (relative * std::fabs(value) + absolute);
  }
  friend Perturbed operator+(Perturbed a, Perturbed b) { return rounded(a.value_ + b.value_); }
  friend Perturbed operator-(Perturbed a, Perturbed b) { return rounded(a.value_ - b.value_); }
  friend Perturbed operator*(Perturbed a, Perturbed b) { return rounded(a.value_ * b.value_); }
  friend Perturbed operator/(Perturbed a, Perturbed b) { return rounded(a.value_ / b.value_); }
  friend bool operator>(Perturbed a, Perturbed b) { return a.value_ > b.value_; }
 private:
  static Perturbed rounded(double value) { return off(value, 0x1p-24); }
  static Rng& rng() {
    static Rng rng(0);
    return rng;
  }

  double value_;
};

inline double root(double x) { return std::sqrt(x); }
inline double exponential(double x) { return std::exp(x); }
inline double error_function(double x) { return std::erf(x); }
inline double hyperbolic_tangent(double x) { return std::tanh(x); }
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline Perturbed root(Perturbed x) { return Perturbed::off(root(double{x}), 0x1p-24); }
inline Perturbed exponential(Perturbed x) { return Perturbed::off(exponential(double{x}), 2e-7); }
inline Perturbed error_function(Perturbed x) { return Perturbed::off(error_function(double{x}), 0, 6e-7); }
inline Perturbed hyperbolic_tangent(Perturbed x) { return Perturbed::off(hyperbolic_tangent(double{x}), 0, 2e-7); }
inline Perturbed sigmoid(Perturbed x) { return Perturbed::off(sigmoid(double{x}), 4e-7); }

template <typename Number> class NaiveForward {
 public:
  using Vector = std::vector<Number>;
  using Sequence = std::vector<Vector>;  // [positions][width]

  // Soft-max of the decoder's attention to the source: [layers][heads][target positions][source positions].
  using CrossWeights = std::vector<std::vector<Sequence>>;

  // Logits of every position if the decoder gets `target` shifted right: [target.size()][vocab_size]. Fills `cross`,
  // which may be null.
  static Sequence logits(const converter::ModelSpec& spec, const std::vector<int32_t>& source,
      const std::vector<int32_t>& target, CrossWeights* cross = nullptr) {
    const Sequence memory = stack(spec.encoder, source, nullptr, nullptr);
    std::vector<int32_t> shifted = {static_cast<int32_t>(spec.generation.decoder_start_id)};
    shifted.insert(shifted.end(), target.begin(), target.end() - 1);
    return linear(spec.projection, stack(spec.decoder, shifted, &memory, cross));
  }
 private:
  static Sequence linear(const converter::LinearSpec& linear, const Sequence& x) {
    Sequence y;
    for (const Vector& row : x) {
      y.emplace_back(linear.bias.begin(), linear.bias.end());
      for (uint32_t n = 0; n < linear.weight->rows; ++n)
        for (uint32_t k = 0; k < linear.weight->columns; ++k)
          y.back()[n] = y.back()[n] + Number{linear.weight->row(n)[k]} * row[k];
    }
    return y;
  }

  static Sequence norm(const converter::StackSpec& stack, const converter::NormSpec& norm, const Sequence& x) {
    Sequence y = x;
    for (Vector& row : y) {
      const Number n = static_cast<double>(row.size());
      Number mean = 0.0, variance = 0.0;
      if (stack.centred)
        for (const Number v : row) mean = mean + v / n;
      for (const Number v : row) variance = variance + (v - mean) * (v - mean) / n;
      for (size_t i = 0; i < row.size(); ++i)
        row[i] = (row[i] - mean) / root(variance + Number{norm.epsilon}) * Number{norm.gamma[i]} + Number{norm.beta[i]};
    }
    return y;
  }

  static Number activation(converter::Activation activation, Number v) {
    switch (activation) {
      case converter::Activation::kRelu: return v > 0.0 ? v : 0.0;
      case converter::Activation::kGelu: return v * 0.5 * (1.0 + error_function(v / std::sqrt(2.0)));
      case converter::Activation::kGeluTanh:
        return v * 0.5 * (1.0 + hyperbolic_tangent(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
      case converter::Activation::kSilu: return v * sigmoid(v);
      case converter::Activation::kTanh: return hyperbolic_tangent(v);
      case converter::Activation::kNone: return v;
    }
    return NAN;
  }

  // Applies the soft-max to score(s), s in 0 .. n - 1.
  template <typename Score> static Vector soft_max(size_t n, Score score) {
    Vector weights;
    Number sum = 0.0;
    for (size_t s = 0; s < n; ++s) {
      weights.push_back(exponential(score(s)));
      sum = sum + weights.back();
    }
    for (Number& weight : weights) weight = weight / sum;
    return weights;
  }

  struct Attended {
    const Sequence& memory;
    bool is_causal;  // position t attends to positions 0 .. t; otherwise to all
  };

  // Fills kept: [heads][positions of x][of memory], which may be null.
  static Sequence attention(const converter::StackSpec& stack, const converter::AttentionSpec& spec, const Sequence& x,
      const Attended& to, std::vector<Sequence>* kept = nullptr) {
    const Sequence queries = linear(spec.query, x), keys = linear(spec.key, to.memory),
                   values = linear(spec.value, to.memory);
    Sequence out;
    if (kept != nullptr) kept->resize(stack.n_heads);
    for (size_t t = 0; t < x.size(); ++t) {
      Vector joined(queries[t].size(), 0.0);
      const size_t n = to.is_causal ? t + 1 : to.memory.size();
      for (size_t head = 0; head < stack.n_heads; ++head) {
        const size_t begin = head * stack.d_head, end = begin + stack.d_head;
        Vector weights = soft_max(n, [&](size_t s) {
          Number score = 0.0;
          for (size_t j = begin; j < end; ++j) score = score + queries[t][j] * keys[s][j];
          score = score * Number{stack.attention_scale};
          return spec.bias ? score + Number{spec.bias->row(static_cast<uint32_t>(head))[spec.bias->before + s - t]}
                           : score;
        });
        for (size_t s = 0; s < n; ++s)
          for (size_t j = begin; j < end; ++j) joined[j] = joined[j] + weights[s] * values[s][j];
        if (kept != nullptr) (*kept)[head].push_back(weights);
      }
      out.push_back(joined);
    }
    return linear(spec.out, out);
  }

  // c_t = f_t c_(t-1) + (1 - f_t) W x_t, f_t = sigmoid(Wf x_t + bf); relu(c_t)
  static Sequence recurrence(const converter::RecurrentSpec& spec, const Sequence& x) {
    Sequence out = linear(spec.input, x);
    const Sequence forget = linear(spec.forget, x);
    Vector cell(out[0].size(), 0.0);
    for (size_t t = 0; t < out.size(); ++t) {
      for (size_t i = 0; i < cell.size(); ++i) {
        const Number f = sigmoid(forget[t][i]);
        cell[i] = f * cell[i] + (Number{1.0} - f) * out[t][i];
        out[t][i] = cell[i] > 0.0 ? cell[i] : 0.0;
      }
    }
    return out;
  }

  // x + block(norm(x)) or norm(x + block(x)).
  template <typename Block>
  static Sequence residual(
      const converter::StackSpec& stack, const converter::NormSpec& spec, const Sequence& x, Block block) {
    Sequence y = block(stack.pre_norm ? norm(stack, spec, x) : x);
    for (size_t t = 0; t < x.size(); ++t)
      for (size_t i = 0; i < x[t].size(); ++i) y[t][i] = y[t][i] + x[t][i];
    return stack.pre_norm ? y : norm(stack, spec, y);
  }

  // memory: null for the encoder.
  static Sequence stack(const converter::StackSpec& stack, const std::vector<int32_t>& tokens, const Sequence* memory,
      CrossWeights* cross) {
    Sequence x;
    for (uint32_t t = 0; t < tokens.size(); ++t) {
      Vector row;
      for (uint32_t i = 0; i < stack.d_model; ++i)
        row.push_back(
            Number{stack.embedding->row(static_cast<uint32_t>(tokens[t]))[i]} * Number{stack.embedding_scale} +
            Number{stack.positions_used ? stack.positions.row(t)[i] : 0.0f});
      x.push_back(row);
    }
    if (stack.embedding_norm) x = norm(stack, *stack.embedding_norm, x);
    for (const converter::LayerSpec& layer : stack.layers) {
      if (layer.self_attention) {
        x = residual(stack, layer.self_attention->norm, x, [&](const Sequence& h) {
          return attention(stack, *layer.self_attention, h, {h, memory != nullptr});
        });
      } else {
        x = residual(
            stack, layer.recurrent->norm, x, [&](const Sequence& h) { return recurrence(*layer.recurrent, h); });
      }
      if (memory != nullptr) {
        x = residual(stack, layer.cross_attention->norm, x, [&](const Sequence& h) {
          std::vector<Sequence>* const kept = cross != nullptr ? &cross->emplace_back() : nullptr;
          return attention(stack, *layer.cross_attention, h, {*memory, false}, kept);
        });
      }
      x = residual(stack, layer.feed_forward.norm, x, [&](const Sequence& h) {
        const auto& gate = layer.feed_forward.in.gate;
        Sequence inner = linear(gate ? *gate : layer.feed_forward.in, h);
        for (Vector& row : inner)
          for (Number& v : row) v = activation(stack.activation, v);
        if (gate) {
          const Sequence factors = linear(layer.feed_forward.in, h);
          for (size_t r = 0; r < inner.size(); ++r)
            for (size_t c = 0; c < inner[r].size(); ++c) inner[r][c] = inner[r][c] * factors[r][c];
        }
        return linear(layer.feed_forward.out, inner);
      });
    }
    return stack.final_norm ? norm(stack, *stack.final_norm, x) : x;
  }
};
}  // namespace goldcrest::test
