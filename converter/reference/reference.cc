// SPDX-License-Identifier: Apache-2.0
// Encoder and decoder in float32, one page each, over the few operations above them. The bits are the same on every
// machine: Eigen adds, multiplies and divides elements, sums have a fixed order, and functions consist of basic
// operations.
#include "reference/reference.h"
#include <cmath>
#include <utility>
#include "kernels/reference/math.h"
#include "math/ordered_sums.h"
#include "reference/frontend.h"
#include "reference/operations.h"
#include "spec/error.h"
#include "spec/validate_spec.h"

namespace goldcrest::converter {
namespace {
using ConstRow = Eigen::Map<const Eigen::RowVectorXf>;

ConstRow view_row(const std::vector<float>& values) { return {values.data(), index(values.size())}; }
ConstRows view_matrix(const Matrix& m) { return {m.values.data(), index(m.rows), index(m.columns)}; }
// Views `values` as rows of `width` floats.
ConstRows view_rows(const std::vector<float>& values, Eigen::Index width) {
  return {values.data(), index(values.size()) / width, width};
}

void append(const Rows& rows, Eigen::Index row, std::vector<float>& values) {
  values.insert(values.end(), rows.row(row).data(), rows.row(row).data() + rows.cols());
}

std::vector<float> values_of(const Rows& rows) { return {rows.data(), rows.data() + rows.size()}; }

// Row i: embedding_scale * embedding[tokens[i]] + positions[first_position + i * position_step], then the norm if any.
Rows embed(const StackSpec& stack, std::span<const int32_t> tokens, uint32_t first_position, uint32_t position_step) {
  const ConstRows table = view_matrix(*stack.embedding), positions = view_matrix(stack.positions);
  Rows x(index(tokens.size()), index(stack.d_model));
  for (size_t i = 0; i < tokens.size(); ++i) {
    const size_t position = first_position + i * position_step;
    if (position >= stack.positions.rows)
      throw Error("position {} of a sequence: the model has {} positions; shorten the text or the limits", position,
          stack.positions.rows);
    if (tokens[i] < 0 || static_cast<uint32_t>(tokens[i]) >= stack.embedding->rows)
      throw Error("token id {}: expected one below the vocabulary's size, {}", tokens[i], stack.embedding->rows);
    x.row(index(i)) = stack.embedding_scale * table.row(tokens[i]);
    if (stack.positions_used) x.row(index(i)) += positions.row(index(position));
  }
  return x;
}

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, row by row. Rows that are not centred have the mean 0.
Rows layer_norm(const NormSpec& norm, bool centred, const Rows& x) {
  const float width = static_cast<float>(x.cols());
  Rows y = x;
  if (centred) y.colwise() -= Eigen::VectorXf(row_sums(x) / width);
  const Eigen::VectorXf variance = row_sums(y.cwiseProduct(y)) / width;
  const auto root = [](float v) { return std::sqrt(v); };  // correctly rounded, unlike Eigen's sqrt
  y.array().colwise() /= (variance.array() + norm.epsilon).unaryExpr(root);
  y.array().rowwise() *= view_row(norm.gamma).array();
  y.rowwise() += view_row(norm.beta);
  return y;
}

// exp_float maps NaN to 0; this keeps it visible.
float exponential(float x) { return std::isnan(x) ? x : exp_float(x); }

float sigmoid(float x) { return std::isnan(x) ? x : sigmoid_float(x); }

Rows feed_forward(const StackSpec& stack, const FeedForwardSpec& spec, const Rows& x) {
  const auto activated = [&](const LinearSpec& of) {
    return Rows(linear(of, x).unaryExpr([&](float v) { return activate(stack.activation, v); }));
  };
  // Shazeer 2020, eq. 6
  if (spec.in.gate) return linear(spec.out, activated(*spec.in.gate).cwiseProduct(linear(spec.in, x)));
  return linear(spec.out, activated(spec.in));
}

// weights[i, t] += bias[t - i]
void add_bias(const float* bias, Rows& weights) {
  for (Eigen::Index i = 0; i < weights.rows(); ++i)
    for (Eigen::Index t = 0; t < weights.cols(); ++t) weights(i, t) += bias[t - i];
}

// For each head h: softmax(query_h keys_h^T * attention_scale) values_h       Vaswani et al. 2017, eq. 1
// With biases, query i adds bias[h, t - i + before] to its score with key t       Raffel et al. 2020, section 2.1
// query: [m, n_heads * d_head], the first at first_position; keys_values: [t, n_heads * d_head]; returns [m, n_heads *
// d_head].
Rows attend(const StackSpec& stack, const Rows& query, const KeysValues& keys_values,
    const AttentionBiasSpec* bias = nullptr, uint32_t first_position = 0) {
  const Eigen::Index d_head = index(stack.d_head), width = query.cols();
  const ConstRows keys = view_rows(keys_values.keys, width), values = view_rows(keys_values.values, width);
  Rows out(query.rows(), width);
  for (Eigen::Index column = 0; column < width; column += d_head) {
    Rows weights = times_transposed(query.middleCols(column, d_head), keys.middleCols(column, d_head));
    weights *= stack.attention_scale;
    if (bias != nullptr)
      add_bias(bias->row(static_cast<uint32_t>(column / d_head)) + bias->before - first_position, weights);
    const Eigen::VectorXf largest = weights.rowwise().maxCoeff();
    weights = (weights.colwise() - largest).unaryExpr(&exponential);
    weights.array().colwise() /= row_sums(weights).array();
    out.middleCols(column, d_head) = times(weights, values.middleCols(column, d_head));
  }
  return out;
}

// Self-attention of one row per hypothesis, each to its own past and its key.
Rows attend_to_past(
    const StackSpec& stack, const AttentionSpec& spec, const Rows& x, Rows key, size_t layer, DecoderState& state) {
  Rows query = linear(spec.query, x);
  const Rows value = linear(spec.value, x);
  if (stack.rotary) {
    turn(stack, state.position, 0, query);
    turn(stack, state.position, 0, key);
  }
  Rows attended(query.rows(), query.cols());
  for (Eigen::Index row = 0; row < query.rows(); ++row) {
    KeysValues& past = state.hypotheses[static_cast<size_t>(row)][layer].attended;
    append(key, row, past.keys);
    append(value, row, past.values);
    const auto position = static_cast<uint32_t>(view_rows(past.keys, query.cols()).rows() - 1);
    attended.row(row) = attend(stack, query.row(row), past, spec.bias.get(), position);
  }
  return linear(spec.out, attended);
}

// relu(cell), cell = f * the previous cell + (1 - f) * input(x), f = sigmoid(forget(x))       Kim et al. 2019
Rows recur(const RecurrentSpec& spec, const Rows& x, size_t layer, std::vector<std::vector<LayerPast>>& hypotheses) {
  const Rows input = linear(spec.input, x), forget = linear(spec.forget, x).unaryExpr(&sigmoid);
  Rows out(input.rows(), input.cols());
  for (Eigen::Index row = 0; row < input.rows(); ++row) {
    std::vector<float>& cell = hypotheses[static_cast<size_t>(row)][layer].cell;
    cell.resize(static_cast<size_t>(input.cols()));
    for (Eigen::Index i = 0; i < input.cols(); ++i) {
      float& value = cell[static_cast<size_t>(i)];
      value = forget(row, i) * value + (1.0f - forget(row, i)) * input(row, i);
      out(row, i) = activate(Activation::kRelu, value);
    }
  }
  return out;
}
}  // namespace

DecoderState DecoderState::select(std::span<const uint32_t> parents) const {
  DecoderState next;
  next.position = position;
  for (const uint32_t parent : parents) next.hypotheses.push_back(hypotheses[parent]);
  return next;
}

class Reference::Pass {
 public:
  explicit Pass(const Reference& reference)
      : spec_(reference.spec_),
        trace_(reference.trace_),
        norm_trace_(reference.norm_trace_),
        key_trace_(reference.key_trace_) {}

  EncodedSource encode(const Source& source) const;
  // Returns the logits.
  Rows decode(const EncodedSource& encoded, std::span<const int32_t> tokens, DecoderState& state) const;
 private:
  // Returns the encoder's rows before its layers.
  Rows enter(const Source& source) const;
  Rows norm(const StackSpec& stack, const NormSpec& spec, const Rows& x) const;
  Rows maybe_norm(const StackSpec& stack, const std::optional<NormSpec>& spec, const Rows& x) const;
  template <typename Block>
  Rows residual(const StackSpec& stack, const NormSpec& spec, const Rows& x, const Block& block) const;
  Rows keys(const AttentionSpec& spec, const Rows& x) const;
  void trace(const std::string& name, int layer, uint32_t first_row, uint32_t row_step, const Rows& rows) const;

  const ModelSpec& spec_;
  const TraceFunction& trace_;
  const std::function<void(std::span<const float>)>& norm_trace_;
  const std::function<void(const AttentionSpec&, std::span<const float>)>& key_trace_;
};

Rows Reference::Pass::norm(const StackSpec& stack, const NormSpec& spec, const Rows& x) const {
  for (Eigen::Index row = 0; norm_trace_ && row < x.rows(); ++row)
    norm_trace_({x.data() + row * x.cols(), static_cast<size_t>(x.cols())});
  return layer_norm(spec, stack.centred, x);
}

Rows Reference::Pass::maybe_norm(const StackSpec& stack, const std::optional<NormSpec>& spec, const Rows& x) const {
  return spec ? norm(stack, *spec, x) : x;
}

// A block with its residual and norm: x + block(norm(x)) or norm(x + block(x)).
template <typename Block>
Rows Reference::Pass::residual(const StackSpec& stack, const NormSpec& spec, const Rows& x, const Block& block) const {
  if (stack.pre_norm) return x + block(norm(stack, spec, x));
  return norm(stack, spec, x + block(x));
}

Rows Reference::Pass::keys(const AttentionSpec& spec, const Rows& x) const {
  Rows y = linear(spec.key, x);
  for (Eigen::Index row = 0; key_trace_ && row < y.rows(); ++row)
    key_trace_(spec, {y.data() + row * y.cols(), static_cast<size_t>(y.cols())});
  return y;
}

Rows Reference::Pass::enter(const Source& source) const {
  const StackSpec& stack = spec_.encoder;
  if (!stack.frontend) {
    if (!source.samples.empty() || !source.features.empty()) throw Error("the model takes token ids; found a clip");
    if (source.ids.empty()) throw Error("empty source: expected at least one token id");
    return embed(stack, source.ids, 0, 1);
  }
  if (!source.ids.empty()) throw Error("the model takes a clip; found token ids");
  const auto trace_rows = [&](const std::string& name, int layer, const Rows& rows) { trace(name, layer, 0, 1, rows); };
  const Frontend frontend(*stack.frontend, stack.positions.rows, trace_rows);
  Rows x = source.features.empty() ? frontend.run_samples(source.samples) : frontend.run_features(source.features);
  if (x.rows() > index(stack.positions.rows)) {
    throw Error("a clip of {} rows: the model has {} positions; shorten the clip or raise --max-seconds", x.rows(),
        stack.positions.rows);
  }
  if (stack.positions_used) x += view_matrix(stack.positions).topRows(x.rows());
  return x;
}

EncodedSource Reference::Pass::encode(const Source& source) const {
  const StackSpec& stack = spec_.encoder;
  Rows x = maybe_norm(stack, stack.embedding_norm, enter(source));
  trace("encoder.embed", -1, 0, 1, x);
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    const AttentionSpec& self = *layer.self_attention;
    x = residual(stack, self.norm, x, [&](const Rows& h) {
      Rows query = linear(self.query, h), key = keys(self, h);
      if (stack.rotary) {
        turn(stack, 0, 1, query);
        turn(stack, 0, 1, key);
      }
      const KeysValues keys_values = {values_of(key), values_of(linear(self.value, h))};
      return linear(self.out, attend(stack, query, keys_values, self.bias.get()));
    });
    x = residual(
        stack, layer.feed_forward.norm, x, [&](const Rows& h) { return feed_forward(stack, layer.feed_forward, h); });
    trace("encoder.layers", static_cast<int>(i), 0, 1, x);
  }
  if (stack.final_norm) {
    x = norm(stack, *stack.final_norm, x);
    trace("encoder.norm", -1, 0, 1, x);
  }
  EncodedSource encoded;
  encoded.rows = static_cast<uint32_t>(x.rows());
  for (const LayerSpec& layer : spec_.decoder.layers) {
    const AttentionSpec& cross = *layer.cross_attention;
    encoded.cross.push_back({values_of(keys(cross, x)), values_of(linear(cross.value, x))});
  }
  return encoded;
}

Rows Reference::Pass::decode(const EncodedSource& encoded, std::span<const int32_t> tokens, DecoderState& state) const {
  const StackSpec& stack = spec_.decoder;
  const uint32_t position = state.position;
  Rows x = maybe_norm(stack, stack.embedding_norm, embed(stack, tokens, position, 0));
  trace("decoder.embed", -1, position, 0, x);
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    if (const auto& self = layer.self_attention) {
      x = residual(stack, self->norm, x,
          [&](const Rows& h) { return attend_to_past(stack, *self, h, keys(*self, h), i, state); });
    } else {
      const RecurrentSpec& recurrent = *layer.recurrent;
      x = residual(stack, recurrent.norm, x, [&](const Rows& h) { return recur(recurrent, h, i, state.hypotheses); });
    }
    const AttentionSpec& cross = *layer.cross_attention;
    x = residual(stack, cross.norm, x,
        [&](const Rows& h) { return linear(cross.out, attend(stack, linear(cross.query, h), encoded.cross[i])); });
    x = residual(
        stack, layer.feed_forward.norm, x, [&](const Rows& h) { return feed_forward(stack, layer.feed_forward, h); });
    trace("decoder.layers", static_cast<int>(i), position, 0, x);
  }
  if (stack.head) x = linear(*stack.head, x).unaryExpr([&](float v) { return activate(stack.activation, v); });
  if (stack.final_norm) {
    x = norm(stack, *stack.final_norm, x);
    trace("decoder.norm", -1, position, 0, x);
  }
  ++state.position;
  Rows logits = linear(spec_.projection, x);
  trace("logits", -1, position, 0, logits);
  return logits;
}

void Reference::Pass::trace(
    const std::string& name, int layer, uint32_t first_row, uint32_t row_step, const Rows& rows) const {
  if (!trace_) return;
  for (Eigen::Index i = 0; i < rows.rows(); ++i)
    trace_(name, layer, first_row + static_cast<uint32_t>(i) * row_step,
        {rows.data() + i * rows.cols(), static_cast<size_t>(rows.cols())});
}

Reference::Reference(const ModelSpec& spec) : spec_(spec) { validate_spec(spec); }

EncodedSource Reference::encode(const Source& source) const { return Pass(*this).encode(source); }

DecoderState Reference::start(uint32_t n_hypotheses) const {
  DecoderState state;
  state.hypotheses.assign(n_hypotheses, std::vector<LayerPast>(spec_.decoder.layers.size()));
  return state;
}

Logits Reference::decode(const EncodedSource& encoded, std::span<const int32_t> tokens, DecoderState& state) const {
  const Rows logits = Pass(*this).decode(encoded, tokens, state);
  return {tokens.size(), spec_.projection.weight->rows, values_of(logits)};
}

Logits Reference::teacher_forced_logits(const EncodedSource& encoded, std::span<const int32_t> target) const {
  DecoderState state = start(1);
  Logits logits = {target.size(), spec_.projection.weight->rows, {}};
  logits.values.reserve(logits.rows * logits.ids);
  int32_t input = static_cast<int32_t>(spec_.generation.decoder_start_id);
  for (const int32_t token : target) {
    append(Pass(*this).decode(encoded, {&input, 1}, state), 0, logits.values);
    input = token;
  }
  return logits;
}
}  // namespace goldcrest::converter
