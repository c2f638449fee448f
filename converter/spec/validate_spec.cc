// SPDX-License-Identifier: Apache-2.0
// The bounds are FORMAT.md's, section 3.
#include "spec/validate_spec.h"
#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include "base/align.h"
#include "base/bounds.h"
#include "host/printable.h"
#include "spec/error.h"
#include "spec/layer_blocks.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kMostConvolutions = 4;

// Also refuses NaN.
template <typename T> void require_range(const std::string& setting, T found, T low, T high) {
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
    throw Error("tensor '{}' ({}) has {} stored scales; expected {}, one per row", printable(matrix.name), role,
        matrix.stored_scale.size(), rows);
  }
  for (const float scale : matrix.stored_scale) {
    require_range(
        format_text("tensor '{}' ({}): a stored scale", printable(matrix.name), role), scale, 0x1p-47f, 0x1p16f);
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

void check_dimensions(const std::string& name, const StackSpec& stack) {
  require_range(name + ".d_model", stack.d_model, 1u, kMaxWidth);
  require_range(name + ".d_ff", stack.d_ff, 1u, kMaxWidth);
  require_range(name + ".n_heads", stack.n_heads, 1u, kMaxHeads);
  require_range(name + ".d_head", stack.d_head, 1u, kMaxHeadWidth);
  require_range(
      name + ": n_heads * d_head (padded to a multiple of 16)", stack.n_heads * pad16(stack.d_head), 1u, kMaxWidth);
  require_range(name + ".attention_scale", stack.attention_scale, kMinAttentionScale, kMaxAttentionScale);
  require_range(name + ".embedding_scale", stack.embedding_scale, kMinEmbeddingScale, kMaxEmbeddingScale);
  require_range(name + ": number of layers", stack.layers.size(), size_t{1}, size_t{kMaxLayers});
}

// Checks the biases of a layer's self-attention.
void check_bias(const std::string& role, const StackSpec& stack, const LayerKind& kind, const AttentionBiasSpec& bias) {
  const uint32_t farthest = stack.positions.rows - 1;
  require_range(role + ".before", bias.before, farthest, kMaxPositions - 1);
  require_range(role + ".after", bias.after, kind.is_decoder ? 0 : farthest, kind.is_decoder ? 0 : kMaxPositions - 1);
  const size_t expected = size_t{stack.n_heads} * (bias.before + 1 + bias.after);
  if (bias.values.size() != expected) throw Error("{} has {} values; expected {}", role, bias.values.size(), expected);
}

// Checks a block's matrices and norm by the engine's list of them.
template <typename Block, typename Spec>
void check_block(const std::string& role, Block block, const Spec& spec, const StackGroups& groups) {
  const auto check = [&](const MatrixEntry& entry, const auto& given) {
    const std::vector<LinearPart> parts = parts_of(entry, given);
    const Groups outputs = groups_of_part(entry.n, groups, parts.size()), inputs = groups_of_part(entry.k, groups, 1);
    for (const LinearPart& part : parts)
      check_linear(format_text("{}.{}", role, part.name), *part.linear, outputs.count * outputs.elements,
          inputs.count * inputs.elements);
  };
  block.for_each_matrix(check, spec);
  check_norm(role + ".norm", spec.norm, groups.of(Width::kModel).elements);
}

void check_layer(const std::string& role, const LayerSpec& layer, const LayerKind& kind, const StackGroups& groups) {
  if (layer.recurrent && !kind.is_decoder) throw Error("{} has a recurrent block; only decoder layers may", role);
  if (layer.self_attention.has_value() == layer.recurrent.has_value()) {
    throw Error("{} has {}; expected {}", role,
        layer.recurrent ? "both self-attention and a recurrent block" : "no self-attention",
        kind.is_decoder ? "self-attention or a recurrent block" : "one");
  }
  for_each_block(
      [&](auto block, const auto& of_layer) {
        const auto* const given = given_block(of_layer);
        if ((given != nullptr) != block.belongs(kind))
          throw Error("{} {} {}; expected {}", role, given != nullptr ? "has" : "lacks", block.kName,
              given != nullptr ? "none" : "one");
        if (given != nullptr) check_block(format_text("{}.{}", role, block.kName), block, *given, groups);
      },
      layer);
}

void check_convolution(const std::string& role, const ConvolutionSpec& convolution, uint32_t channels) {
  require_range(role + ".kernel", convolution.kernel, 1u, kMaxKernel);
  require_range(role + ".stride", convolution.stride, 1u, convolution.kernel);
  require_range(role + ".padding", convolution.padding, 0u, (convolution.kernel - 1) / 2);
  const uint32_t width = channels == 1 ? 1 : pad16(channels);
  require_range(role + ": kernel * channels", uint64_t{convolution.kernel} * width, uint64_t{1}, uint64_t{kMaxWidth});
  if (convolution.channels != channels)
    throw Error("{}.channels is {}; expected {}, as many as its input has", role, convolution.channels, channels);
  if (convolution.stride * width % 16 != 0)
    throw Error("{}.stride is {}; expected a multiple of 16 for samples", role, convolution.stride);
  if (convolution.linear.weight == nullptr) throw Error("{} has no weight", role);
  const uint32_t outputs = convolution.linear.weight->rows;
  require_range(role + ": outputs", outputs, 1u, kMaxWidth);
  check_linear(role, convolution.linear, outputs, convolution.kernel * channels);
  if (convolution.whole_norm) check_norm(role + ".whole_norm", *convolution.whole_norm, outputs);
}

void check_log_mel(const LogMelSpec& log_mel, uint32_t channels) {
  uint32_t rest = log_mel.n_fft;
  while (rest != 0 && rest % 2 == 0) rest /= 2;
  while (rest != 0 && rest % 5 == 0) rest /= 5;
  if (rest != 1 || log_mel.n_fft % 2 != 0 || log_mel.n_fft > kMaxTransform)
    throw Error("log-mel: frames of {} samples; expected 2^a * 5^b, even, at most {}", log_mel.n_fft, kMaxTransform);
  require_range("log-mel: hop", log_mel.hop, 1u, log_mel.n_fft);
  require_length("log-mel: window", log_mel.window.size(), log_mel.n_fft);
  require_range("log-mel: bands", log_mel.filters.rows, 1u, kMaxBands);
  require_matrix("log-mel: bands", log_mel.filters, channels, log_mel.n_fft / 2 + 1);
}

void check_frontend(const StackSpec& stack) {
  const FrontendSpec& frontend = *stack.frontend;
  const size_t n = frontend.convolutions.size();
  require_range("encoder.frontend: number of convolutions", n, size_t{1}, kMostConvolutions);
  require_range("encoder.frontend.channels", frontend.channels, 1u, kMaxWidth);
  if (frontend.log_mel) check_log_mel(*frontend.log_mel, frontend.channels);
  uint32_t channels = frontend.channels;
  for (size_t i = 0; i < n; ++i) {
    const ConvolutionSpec& convolution = frontend.convolutions[i];
    check_convolution(format_text("encoder.frontend.convolutions.{}", i), convolution, channels);
    const bool may_have_norm = i == 0 && n > 1 && !frontend.log_mel && convolution.activation == Activation::kTanh;
    if (convolution.whole_norm && !may_have_norm) {
      throw Error(
          "encoder.frontend.convolutions.{}: has a norm over the whole clip; only the first of several may, with tanh",
          i);
    }
    channels = convolution.linear.weight->rows;
  }
  if (channels != stack.d_model) {
    throw Error("encoder.frontend: its last convolution has {} outputs; expected {}, the encoder's d_model", channels,
        stack.d_model);
  }
}

// A stack has an embedding, or the encoder a stem in its place.
void check_source(const std::string& name, const StackSpec& stack, bool is_decoder) {
  if (stack.frontend) {
    if (is_decoder || stack.embedding != nullptr)
      throw Error("{} has a stem; only an encoder without an embedding may", name);
    return check_frontend(stack);
  }
  if (stack.embedding == nullptr)
    throw Error("{} has no embedding; expected the shape [vocabulary, {}]", name, stack.d_model);
  require_range(name + ": vocabulary", stack.embedding->rows, 1u, kMaxVocabulary);
  require_matrix(name + ".embedding", *stack.embedding, stack.embedding->rows, stack.d_model);
}

void check_rotary(const std::string& name, const StackSpec& stack) {
  const RotarySpec& rotary = *stack.rotary;
  if (rotary.half == 0 || rotary.half % 16 != 0 || 2 * rotary.half > pad16(stack.d_head)) {
    throw Error("{}.half is {}; expected a multiple of 16, at most half of a head's {} columns", name, rotary.half,
        pad16(stack.d_head));
  }
  require_matrix(name + ".table", rotary.table, stack.positions.rows, 2 * rotary.half);
}

void check_stack(const std::string& name, const ModelSpec& model, bool is_decoder) {
  const StackSpec& stack = is_decoder ? model.decoder : model.encoder;
  check_dimensions(name, stack);
  check_source(name, stack, is_decoder);
  require_range(name + ": number of positions", stack.positions.rows, 1u, kMaxPositions);
  if (stack.positions_used) require_matrix(name + ".positions", stack.positions, stack.positions.rows, stack.d_model);
  if (!stack.positions_used &&
      !has_feature(block_features(model), kFeatureAttentionBias | kFeatureRotary | kFeatureFrontend))
    throw Error("{} uses no positions and has no other way to tell them apart; expected attention biases", name);
  if (stack.rotary) check_rotary(name + ".rotary", stack);
  if (stack.embedding_norm) check_norm(name + ".embedding_norm", *stack.embedding_norm, stack.d_model);
  if (stack.head) check_linear(name + ".head", *stack.head, stack.d_model, stack.d_model);
  if (stack.final_norm) check_norm(name + ".final_norm", *stack.final_norm, stack.d_model);
  const StackGroups groups = groups_of(stack, model.encoder.d_model);
  const uint32_t features = block_features(model);
  for (size_t i = 0; i < stack.layers.size(); ++i) {
    const LayerSpec& layer = stack.layers[i];
    if (layer.feed_forward.in.gate.has_value() != stack.gated) {
      throw Error("{}.layers.{}.feed_forward {} a gate; its stack is {}", name, i, stack.gated ? "lacks" : "has",
          stack.gated ? "gated" : "not gated");
    }
    if (layer.cross_attention && layer.cross_attention->bias)
      throw Error("{}.layers.{}.cross_attention has biases; only self-attention may", name, i);
    if (layer.self_attention && layer.self_attention->bias) {
      check_bias(format_text("{}.layers.{}.self_attention.bias", name, i), stack, {is_decoder, false, features},
          *layer.self_attention->bias);
    }
    check_layer(
        format_text("{}.layers.{}", name, i), layer, {is_decoder, layer.recurrent.has_value(), features}, groups);
  }
}

void check_ids(const std::string& setting, const std::vector<uint32_t>& ids, uint32_t vocab_size) {
  for (const uint32_t id : ids) require_range(setting, id, 0u, vocab_size - 1);
}

void check_rules(const GenerationSpec& generation, uint32_t target_vocab_size) {
  const RulesSpec& rules = generation.rules;
  check_ids("generation: end id", rules.more_end_ids, target_vocab_size);
  require_range("generation: number of end ids", rules.more_end_ids.size() + 1, size_t{1}, size_t{kMaxMoreEnds} + 1);
  require_range(
      "generation: repetition penalty", rules.repetition_penalty, kMinRepetitionPenalty, kMaxRepetitionPenalty);
  if (rules.max_length_factor != 0)
    require_range("generation: length factor", rules.max_length_factor, kMinLengthFactor, kMaxLengthFactor);
  for (const auto& [id, bias] : rules.biases) {
    check_ids("generation: biased id", {id}, target_vocab_size);
    require_range("generation: bias", bias, -kMaxBias, kMaxBias);
  }
}

void check_sequences(const ModelSpec& model, uint32_t target_vocab_size) {
  const SequencesSpec& sequences = model.generation.sequences;
  for (const SequenceSpec& sequence : sequences.list) {
    if (sequence.ids.empty()) throw Error("generation: a sequence without ids");
    check_ids("generation: id of a sequence", sequence.ids, target_vocab_size);
    if (sequence.bias != -std::numeric_limits<float>::infinity())
      require_range("generation: bias of a sequence", sequence.bias, -kMaxBias, kMaxBias);
  }
  if (sequences.no_repeat_source_ngram != 0 && model.encoder.frontend)
    throw Error("generation: n-grams of the source must not be repeated, but the source is sound");
}

void check_prompt(const GenerationSpec& generation, uint32_t target_vocab_size) {
  const PromptSpec& prompt = generation.prompt;
  check_ids("generation: first choice", prompt.first_choices, target_vocab_size);
  check_ids("generation: forced id", prompt.forced_ids, target_vocab_size);
  check_ids("generation: first suppressed id", prompt.first_suppressed_ids, target_vocab_size);
  if (!std::ranges::is_sorted(prompt.first_choices, std::ranges::less_equal{}))
    throw Error("generation: the first choices do not ascend; expected each id once, the lowest first");
  if (prompt.size() > 0 && generation.forced_first_id)
    throw Error("generation: a forced first id and a prompt; expected only one of them");
  for (const auto* ids : {&prompt.first_choices, &prompt.forced_ids}) {
    for (const uint32_t id : *ids)
      if (id == generation.end_id ||
          std::ranges::find(generation.rules.more_end_ids, id) != generation.rules.more_end_ids.end())
        throw Error("generation: the prompt has id {}, which ends a text", id);
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
  check_prompt(generation, target_vocab_size);
}

void check_languages(const LanguagesSpec& languages, uint32_t source_vocab_size, uint32_t target_vocab_size) {
  const bool is_before = languages.target_place == LanguagePlace::kBeforeText;
  for (const Language& entry : languages.entries) {
    const std::string role = format_text("language '{}'", printable(entry.code));
    require_range(role + ": bytes of its name", entry.code.size(), size_t{1}, size_t{kMaxLanguageBytes});
    if (entry.source) check_ids(role, {*entry.source}, source_vocab_size);
    if (entry.target) check_ids(role, {*entry.target}, is_before ? source_vocab_size : target_vocab_size);
    if (languages.find(entry.code) != &entry) throw Error("{} is listed twice; expected each name once", role);
  }
}
}  // namespace

void validate_spec(const ModelSpec& spec) {
  check_stack("encoder", spec, false);
  check_stack("decoder", spec, true);
  const uint32_t target_vocab_size = spec.decoder.embedding->rows;
  const uint32_t source_vocab_size = spec.encoder.embedding != nullptr ? spec.encoder.embedding->rows : 1;
  if (spec.encoder.frontend && (spec.source_tokenizer || spec.shortlist || !spec.generation.source_prefix.empty() ||
                                   !spec.generation.source_suffix.empty()))
    throw Error("a model of speech has a tokenizer, a shortlist or ids around its source; expected none");
  check_linear("projection", spec.projection, target_vocab_size, spec.decoder.d_model);
  check_generation(spec.generation, source_vocab_size, target_vocab_size);
  check_languages(spec.languages, source_vocab_size, target_vocab_size);
  check_sequences(spec, target_vocab_size);
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

namespace {
void check_list(const std::string& role, std::span<const uint32_t> ids, uint32_t target_vocab_size) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= target_vocab_size)
      throw Error("{} has the target id {}; expected 0 to {}", role, ids[i], target_vocab_size - 1);
    if (i > 0 && ids[i] <= ids[i - 1])
      throw Error("{}: {} follows {}; expected ascending ids", role, ids[i], ids[i - 1]);
  }
}

void check_ngram(const NgramList& list, uint32_t source_vocab_size) {
  if (list.ngram.size() < 2 || list.ngram.size() > kMaxSourceNgram)
    throw Error("shortlist: an n-gram has {} ids; expected 2 to {}", list.ngram.size(), kMaxSourceNgram);
  for (const uint32_t id : list.ngram) {
    if (id < source_vocab_size) continue;
    throw Error("shortlist: an n-gram has the source id {}; expected 0 to {}", id, source_vocab_size - 1);
  }
}
}  // namespace

void check_shortlist(const ShortlistSpec& shortlist, uint32_t source_vocab_size, uint32_t target_vocab_size) {
  check_list("shortlist: the list of every sentence", shortlist.always, target_vocab_size);
  const std::vector<uint64_t>& offset = shortlist.offset;
  if (offset.size() != size_t{source_vocab_size} + 1) {
    throw Error("shortlist: has {} offsets; expected one for each of {} source ids, and the end", offset.size(),
        source_vocab_size);
  }
  if (offset.front() != 0 || offset.back() != shortlist.ids.size() || !std::is_sorted(offset.begin(), offset.end()))
    throw Error("shortlist: its offsets do not ascend from 0 to {}", shortlist.ids.size());
  for (uint32_t id = 0; id < source_vocab_size; ++id) {
    const auto first = static_cast<size_t>(offset[id]), end = static_cast<size_t>(offset[id + 1]);
    check_list(format_text("shortlist: the list of the source id {}", id),
        std::span(shortlist.ids).subspan(first, end - first), target_vocab_size);
  }
  for (size_t i = 0; i < shortlist.ngrams.size(); ++i) {
    const NgramList& list = shortlist.ngrams[i];
    check_ngram(list, source_vocab_size);
    if (i > 0 && !(shortlist.ngrams[i - 1].ngram < list.ngram))
      throw Error("shortlist: its n-grams do not ascend; expected each once, in order");
    check_list("shortlist: the list of an n-gram", list.ids, target_vocab_size);
  }
}
}  // namespace goldcrest::converter
