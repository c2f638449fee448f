// SPDX-License-Identifier: Apache-2.0
// The float32 forward pass of a ModelSpec. int8 is measured against it, and --check compares it with a framework.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>
#include "spec/spec.h"

namespace goldcrest::converter {
// The input of an encoder, by reference: token ids of a text, samples of a clip, or rows of features one after another.
// Only one of them has values.
struct Source {
  std::span<const int32_t> ids;
  std::span<const int16_t> samples;
  std::span<const float> features;

  Source(std::span<const int32_t> of) : ids(of) {}      // NOLINT(google-explicit-constructor): any of these
  Source(const std::vector<int32_t>& of) : ids(of) {}   // NOLINT(google-explicit-constructor)
  Source(std::span<const int16_t> of) : samples(of) {}  // NOLINT(google-explicit-constructor)
  Source(std::span<const float> of) : features(of) {}   // NOLINT(google-explicit-constructor)
};

// The same with its values.
struct OwnedSource {
  std::variant<std::vector<int32_t>, std::vector<int16_t>, std::vector<float>> values;

  template <typename T>
  OwnedSource(std::vector<T> of) : values(std::move(of)) {}  // NOLINT(google-explicit-constructor): any of these
  Source view() const {
    return std::visit([](const auto& of) { return Source(std::span(of)); }, values);
  }
};

// Receives intermediate values. name: "encoder.embed", "encoder.layers", "encoder.norm", the same for "decoder", or
// "logits"; of a stem "encoder.features" and "encoder.convolutions" too; layer: its index or -1; row: source or target
// position.
using TraceFunction =
    std::function<void(const std::string& name, int layer, uint32_t row, std::span<const float> values)>;

// Keys and values of one attention, row-major [positions, n_heads * d_head] each.
struct KeysValues {
  std::vector<float> keys, values;
};

// An encoded source, which every decoder layer's cross-attention reads.
struct EncodedSource {
  std::vector<KeysValues> cross;  // [decoder layers], of `rows` positions each
  uint32_t rows = 0;
};

// The memory of a decoder layer for earlier positions. Its spec decides which member is used.
struct LayerPast {
  KeysValues attended;      // self-attention's
  std::vector<float> cell;  // a recurrent block's: [d_model]; empty before position 0
};

// The pasts of one source's hypotheses, which have all reached the same position.
struct DecoderState {
  uint32_t position = 0;                           // the next token's
  std::vector<std::vector<LayerPast>> hypotheses;  // [hypotheses][decoder layers]

  // Returns a state whose hypothesis i continues this state's hypothesis parents[i].
  DecoderState select(std::span<const uint32_t> parents) const;
};

// Row-major: [rows, ids].
struct Logits {
  size_t rows = 0, ids = 0;  // ids: the target's vocabulary
  std::vector<float> values;

  std::span<const float> row(size_t i) const { return std::span(values).subspan(i * ids, ids); }
};

class Reference {
 public:
  // Keeps a reference to `spec`. Throws Error as validate_spec does.
  explicit Reference(const ModelSpec& spec);

  const ModelSpec& spec() const { return spec_; }
  // With several hypotheses, the rows of one position arrive one after another.
  void set_trace(TraceFunction trace) { trace_ = std::move(trace); }
  // Receives every input row of a layer norm.
  void set_norm_trace(std::function<void(std::span<const float> row)> trace) { norm_trace_ = std::move(trace); }
  // Receives every key of an attention, [n_heads * d_head], before it turns.
  void set_key_trace(std::function<void(const AttentionSpec& of, std::span<const float> key)> trace) {
    key_trace_ = std::move(trace);
  }

  // Throws Error for an empty source, for one longer than the positions, for an id outside the vocabulary, and for a
  // kind of source that the model does not take.
  EncodedSource encode(const Source& source) const;
  DecoderState start(uint32_t n_hypotheses) const;
  // Feeds one token to each hypothesis and advances the state. Returns the logits: [hypotheses, target vocab_size].
  // Throws Error beyond the positions or for an id outside the vocabulary.
  Logits decode(const EncodedSource& encoded, std::span<const int32_t> tokens, DecoderState& state) const;
  // Returns the logits of every position if the decoder reads `target` shifted right: [target.size(), target
  // vocab_size].
  Logits teacher_forced_logits(const EncodedSource& encoded, std::span<const int32_t> target) const;
 private:
  class Pass;  // the arithmetic, over the matrices of math/ordered_sums.h

  const ModelSpec& spec_;
  TraceFunction trace_;
  std::function<void(std::span<const float>)> norm_trace_;
  std::function<void(const AttentionSpec&, std::span<const float>)> key_trace_;
};
}  // namespace goldcrest::converter
