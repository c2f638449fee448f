// SPDX-License-Identifier: Apache-2.0
// The bounds are FORMAT.md's, section 3.
#include "spec/validate_spec.h"

#include <string>

#include "base/align.h"
#include "base/bounds.h"
#include "spec/error.h"
#include "spec/printable.h"
#include "spec/validate_shortlist.h"

namespace goldcrest::converter {
namespace {

// Also refuses what is not a number.
template <typename T>
void require_range(const std::string& setting, T found, T low, T high) {
  if (!(found >= low && found <= high)) throw Error("{} is {}; expected {} to {}", setting, found, low, high);
}

void require_matrix(const std::string& role, const Matrix& matrix, uint32_t rows, uint32_t columns) {
  if (matrix.rows != rows || matrix.columns != columns) {
    throw Error("tensor '{}' ({}) has the shape [{}, {}]; expected [{}, {}]", printable(matrix.name), role, matrix.rows,
                matrix.columns, rows, columns);
  }
  const size_t stored_rows = matrix.same_rows ? 1 : rows;
  if (matrix.values.size() != stored_rows * columns) {
    throw Error("tensor '{}' ({}) has {} values; its shape [{}, {}] needs {}", printable(matrix.name), role,
                matrix.values.size(), rows, columns, size_t{rows} * columns);
  }
  if (matrix.stored_scale.empty()) return;
  if (matrix.stored_scale.size() != rows) {
    throw Error("tensor '{}' ({}) has {} stored scales; expected {}, one a row", printable(matrix.name), role,
                matrix.stored_scale.size(), rows);
  }
  for (const float scale : matrix.stored_scale) {
    require_range(format_text("tensor '{}' ({}): a stored scale", printable(matrix.name), role), scale, 0x1p-47f,
                  0x1p16f);
  }
}

void require_length(const std::string& role, size_t found, uint32_t expected) {
  if (found != expected) throw Error("{} has {} values; expected {}", role, found, expected);
}

void check_linear(const std::string& role, const LinearSpec& linear, uint32_t outputs, uint32_t inputs) {
  if (linear.weight == nullptr) throw Error("{} has no weight; expected the shape [{}, {}]", role, outputs, inputs);
  require_matrix(role, *linear.weight, outputs, inputs);
  require_length(role + ".bias", linear.bias.size(), outputs);
}

void check_norm(const std::string& role, const NormSpec& norm, uint32_t d_model) {
  require_length(role + ".gamma", norm.gamma.size(), d_model);
  require_length(role + ".beta", norm.beta.size(), d_model);
  require_range(role + ".epsilon", norm.epsilon, kMinEpsilon, kMaxEpsilon);
}

// key_value_source_width: of what keys and values are made from.
void check_attention(const std::string& role, const AttentionSpec& attention, const StackSpec& stack,
                     uint32_t key_value_source_width) {
  const uint32_t width = stack.n_heads * stack.d_head;
  check_linear(role + ".query", attention.query, width, stack.d_model);
  check_linear(role + ".key", attention.key, width, key_value_source_width);
  check_linear(role + ".value", attention.value, width, key_value_source_width);
  check_linear(role + ".out", attention.out, stack.d_model, width);
  check_norm(role + ".norm", attention.norm, stack.d_model);
}

void check_recurrent(const std::string& role, const RecurrentSpec& recurrent, uint32_t d_model) {
  check_linear(role + ".input", recurrent.input, d_model, d_model);
  check_linear(role + ".forget", recurrent.forget, d_model, d_model);
  check_norm(role + ".norm", recurrent.norm, d_model);
}

void check_dimensions(const std::string& name, const StackSpec& stack) {
  require_range(name + ".d_model", stack.d_model, 1u, kMaxWidth);
  require_range(name + ".d_ff", stack.d_ff, 1u, kMaxWidth);
  require_range(name + ".n_heads", stack.n_heads, 1u, kMaxHeads);
  require_range(name + ".d_head", stack.d_head, 1u, kMaxHeadWidth);
  require_range(name + ": n_heads * d_head (padded to a multiple of 16)", stack.n_heads * pad16(stack.d_head), 1u,
                kMaxWidth);
  require_range(name + ".attention_scale", stack.attention_scale, kMinAttentionScale, kMaxAttentionScale);
  require_range(name + ".embedding_scale", stack.embedding_scale, kMinEmbeddingScale, kMaxEmbeddingScale);
  require_range(name + ": number of layers", stack.layers.size(), size_t{1}, size_t{kMaxLayers});
}

void check_stack(const std::string& name, const StackSpec& stack, uint32_t key_value_source_width, bool is_decoder) {
  check_dimensions(name, stack);
  if (stack.embedding == nullptr)
    throw Error("{} has no embedding; expected the shape [vocabulary, {}]", name, stack.d_model);
  require_range(name + ": vocabulary", stack.embedding->rows, 1u, kMaxVocabulary);
  require_matrix(name + ".embedding", *stack.embedding, stack.embedding->rows, stack.d_model);
  require_range(name + ": number of positions", stack.positions.rows, 1u, kMaxPositions);
  require_matrix(name + ".positions", stack.positions, stack.positions.rows, stack.d_model);
  if (stack.embedding_norm) check_norm(name + ".embedding_norm", *stack.embedding_norm, stack.d_model);
  if (stack.final_norm) check_norm(name + ".final_norm", *stack.final_norm, stack.d_model);
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    const std::string role = format_text("{}.layers.{}", name, i);
    if (layer.recurrent && !is_decoder) throw Error("{} has a recurrent block; only decoder layers may", role);
    if (layer.self_attention.has_value() == layer.recurrent.has_value()) {
      throw Error("{} has {}; expected {}", role,
                  layer.recurrent ? "both self-attention and a recurrent block" : "no self-attention",
                  is_decoder ? "self-attention or a recurrent block" : "one");
    }
    if (layer.self_attention)
      check_attention(role + ".self_attention", *layer.self_attention, stack, stack.d_model);
    else
      check_recurrent(role + ".recurrent", *layer.recurrent, stack.d_model);
    if (layer.cross_attention.has_value() != is_decoder) {
      throw Error("{} {} cross-attention; decoder layers have it, encoder layers have not", role,
                  is_decoder ? "lacks" : "has");
    }
    if (is_decoder) check_attention(role + ".cross_attention", *layer.cross_attention, stack, key_value_source_width);
    check_linear(role + ".feed_forward.in", layer.feed_forward.in, stack.d_ff, stack.d_model);
    check_linear(role + ".feed_forward.out", layer.feed_forward.out, stack.d_model, stack.d_ff);
    check_norm(role + ".feed_forward.norm", layer.feed_forward.norm, stack.d_model);
  }
}

void check_ids(const std::string& setting, const std::vector<uint32_t>& ids, uint32_t vocab_size) {
  for (const uint32_t id : ids) require_range(setting, id, 0u, vocab_size - 1);
}

void check_rules(const GenerationSpec& generation, uint32_t target_vocab_size) {
  const RulesSpec& rules = generation.rules;
  check_ids("generation: end id", rules.more_end_ids, target_vocab_size);
  require_range("generation: number of end ids", rules.more_end_ids.size() + 1, size_t{1}, size_t{kMaxMoreEnds} + 1);
  require_range("generation: repetition penalty", rules.repetition_penalty, kMinRepetitionPenalty,
                kMaxRepetitionPenalty);
  if (rules.max_length_factor != 0) {
    require_range("generation: length factor", rules.max_length_factor, kMinLengthFactor, kMaxLengthFactor);
  }
  for (const auto& [id, bias] : rules.biases) {
    check_ids("generation: biased id", {id}, target_vocab_size);
    require_range("generation: bias", bias, -kMaxBias, kMaxBias);
  }
}

void check_generation(const GenerationSpec& generation, uint32_t source_vocab_size, uint32_t target_vocab_size) {
  require_range("generation: decoder start id", generation.decoder_start_id, 0u, target_vocab_size - 1);
  require_range("generation: end id", generation.end_id, 0u, target_vocab_size - 1);
  if (generation.pad_id) check_ids("generation: pad id", {*generation.pad_id}, target_vocab_size);
  if (generation.unknown_id) check_ids("generation: unknown id", {*generation.unknown_id}, target_vocab_size);
  if (generation.forced_first_id)
    check_ids("generation: forced first id", {*generation.forced_first_id}, target_vocab_size);
  check_ids("generation: suppressed id", generation.suppressed_ids, target_vocab_size);
  check_ids("generation: source prefix id", generation.source_prefix, source_vocab_size);
  check_ids("generation: source suffix id", generation.source_suffix, source_vocab_size);
  require_range("generation: beam size", generation.beam_size, 1u, kMaxBeams);
  require_range("generation: length penalty", generation.length_penalty, kMinLengthPenalty, kMaxLengthPenalty);
  require_range("generation: word penalty", generation.word_penalty, kMinWordPenalty, kMaxWordPenalty);
  check_rules(generation, target_vocab_size);
}

}  // namespace

void validate_spec(const ModelSpec& spec) {
  check_stack("encoder", spec.encoder, spec.encoder.d_model, false);
  check_stack("decoder", spec.decoder, spec.encoder.d_model, true);
  const uint32_t source_vocab_size = spec.encoder.embedding->rows, target_vocab_size = spec.decoder.embedding->rows;
  check_linear("projection", spec.projection, target_vocab_size, spec.decoder.d_model);
  check_generation(spec.generation, source_vocab_size, target_vocab_size);
  if (spec.shortlist) check_shortlist(*spec.shortlist, source_vocab_size, target_vocab_size);
  if (spec.source_tokenizer && spec.source_tokenizer->vocab_size != source_vocab_size) {
    throw Error("the source tokenizer has {} ids; the encoder's embedding '{}' has {} rows",
                spec.source_tokenizer->vocab_size, printable(spec.encoder.embedding->name), source_vocab_size);
  }
  if (spec.target_tokenizer && spec.target_tokenizer->vocab_size != target_vocab_size) {
    throw Error("the target tokenizer has {} ids; the decoder's embedding '{}' has {} rows",
                spec.target_tokenizer->vocab_size, printable(spec.decoder.embedding->name), target_vocab_size);
  }
}

}  // namespace goldcrest::converter
