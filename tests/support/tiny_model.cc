// SPDX-License-Identifier: Apache-2.0
// Draws weights so that inputs of variance 1 give outputs of variance 1, layer after layer.
#include "support/tiny_model.h"
#include "converter/file/fine_inputs.h"
#include "support/random_spec.h"

namespace goldcrest::test {
namespace {
using converter::Activation;
using converter::AttentionSpec;
using converter::LayerSpec;
using converter::LinearSpec;
using converter::Matrix;
using converter::NormSpec;
using converter::StackSpec;

void scale(std::vector<float>& values, float factor) {
  for (float& value : values) value *= factor;
}

// Inputs of variance 1 give outputs of variance gain^2; uniform values in [-1, 1) have the variance 1/3.
LinearSpec balanced_linear(
    RandomFloats& random, const std::string& name, uint32_t outputs, uint32_t inputs, float gain = 1) {
  Matrix weight = random.matrix(name, outputs, inputs);
  scale(weight.values.edit(), gain * std::sqrt(3.0f / static_cast<float>(inputs)));
  LinearSpec linear = {std::make_shared<Matrix>(std::move(weight)), random.vector(outputs)};
  scale(linear.bias, 0.1f);
  return linear;
}

NormSpec balanced_norm(RandomFloats& random, uint32_t d_model) {
  NormSpec norm = random.norm(d_model);
  for (float& gamma : norm.gamma) gamma = 1 + 0.3f * gamma;
  scale(norm.beta, 0.2f);
  return norm;
}

AttentionSpec balanced_attention(
    RandomFloats& random, const std::string& name, const StackSpec& stack, uint32_t memory_width) {
  const uint32_t width = stack.n_heads * stack.d_head;
  AttentionSpec attention = {.query = balanced_linear(random, name + ".query", width, stack.d_model),
      .key = balanced_linear(random, name + ".key", width, memory_width),
      .value = balanced_linear(random, name + ".value", width, memory_width),
      .out = balanced_linear(random, name + ".out", stack.d_model, width),
      .norm = balanced_norm(random, stack.d_model)};
  return attention;
}

// Each head and distance has a bias of its own.
std::shared_ptr<const converter::AttentionBiasSpec> distance_biases(
    RandomFloats& random, const StackSpec& stack, bool is_decoder) {
  converter::AttentionBiasSpec bias = {.name = "biases", .before = stack.positions.rows - 1};
  bias.after = is_decoder ? 0 : bias.before;
  bias.values = random.vector(size_t{stack.n_heads} * (bias.before + 1 + bias.after));
  scale(bias.values, 2);
  return std::make_shared<converter::AttentionBiasSpec>(std::move(bias));
}

// memory_width: the encoder's d_model; 0 for the encoder itself.
StackSpec make_stack(RandomFloats& random, const std::string& name, const TinyStack& options, uint32_t vocab_size,
    uint32_t memory_width) {
  StackSpec stack = {.d_model = options.d_model,
      .d_ff = options.d_ff,
      .n_heads = options.n_heads,
      .d_head = options.d_head,
      .attention_scale = 1 / std::sqrt(static_cast<float>(options.d_head)),
      .activation = options.activation,
      .pre_norm = options.pre_norm,
      .centred = options.centred,
      .gated = options.gated,
      .positions_used = options.bias_tables == 0};
  stack.embedding = std::make_shared<Matrix>(random.matrix(name + ".embedding", vocab_size, stack.d_model));
  stack.embedding_scale = 1.5f;
  stack.positions = random.matrix(name + ".positions", options.positions, stack.d_model);
  if (options.embedding_norm) stack.embedding_norm = balanced_norm(random, stack.d_model);
  std::shared_ptr<const converter::AttentionBiasSpec> bias;
  for (uint32_t i = 0; i < options.n_layers; ++i) {
    const std::string path = name + ".layers." + std::to_string(i);
    LayerSpec layer;
    if (i + options.n_recurrent < options.n_layers) {
      layer.self_attention = balanced_attention(random, path + ".self_attention", stack, stack.d_model);
      if (options.bias_tables == 2 || (options.bias_tables == 1 && bias == nullptr))
        bias = distance_biases(random, stack, memory_width != 0);
      layer.self_attention->bias = bias;
    } else {
      layer.recurrent = {balanced_linear(random, path + ".input", stack.d_model, stack.d_model),
          balanced_linear(random, path + ".forget", stack.d_model, stack.d_model, 2),
          balanced_norm(random, stack.d_model)};
    }
    if (memory_width != 0)
      layer.cross_attention = balanced_attention(random, path + ".cross_attention", stack, memory_width);
    layer.feed_forward = {balanced_linear(random, path + ".in", stack.d_ff, stack.d_model),
        balanced_linear(random, path + ".out", stack.d_model, stack.d_ff), balanced_norm(random, stack.d_model)};
    if (options.gated) layer.feed_forward.in.gate = balanced_linear(random, path + ".gate", stack.d_ff, stack.d_model);
    stack.layers.push_back(std::move(layer));
  }
  if (options.final_norm) stack.final_norm = balanced_norm(random, stack.d_model);
  return stack;
}

// Letters from `first` on, as UTF-8 of one or two bytes.
converter::TokenizerSpec letters(converter::TokenizerKind kind, uint32_t vocab_size, uint32_t first) {
  converter::TokenizerSpec tokenizer = {.kind = kind,
      .vocab_size = vocab_size,
      .pieces = {{"</s>", 0, converter::PieceType::kControl}, {"<unk>", 0, converter::PieceType::kUnknown}},
      .unknown_id = 1};
  for (uint32_t code = first; tokenizer.pieces.size() + 1 < vocab_size; ++code) {
    std::string text;
    if (code < 0x80) text = static_cast<char>(code);
    else text = {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
    tokenizer.pieces.push_back({text, -static_cast<float>(code), converter::PieceType::kNormal});
  }
  tokenizer.pieces.push_back({"<pad>", 0, converter::PieceType::kControl});
  return tokenizer;
}
}  // namespace

void add_tokenizers(converter::TokenizerKind source_kind, ModelSpec& spec) {
  spec.source_tokenizer = letters(source_kind, spec.encoder.embedding->rows, 'a');
  spec.target_tokenizer = letters(converter::TokenizerKind::kCharacter, spec.decoder.embedding->rows, 0x100);
  spec.generation.source_suffix = {0};
  spec.generation.unknown_id = 1;
}

void add_shortlist(uint64_t seed, ModelSpec& spec) {
  Rng rng(seed);
  const uint32_t source_ids = spec.encoder.embedding->rows, target_ids = spec.projection.weight->rows;
  const auto some_ids = [&](uint32_t n) {
    std::set<uint32_t> ids;
    for (uint32_t i = 0; i < n; ++i) ids.insert(rng.below(target_ids));
    return std::vector<uint32_t>(ids.begin(), ids.end());
  };
  converter::ShortlistSpec shortlist = {.always = some_ids(target_ids / 16), .offset = {0}};
  for (uint32_t id = 0; id < source_ids; ++id) {
    const std::vector<uint32_t> ids = some_ids(rng.below(2 + target_ids / 16));
    shortlist.ids.insert(shortlist.ids.end(), ids.begin(), ids.end());
    shortlist.offset.push_back(shortlist.ids.size());
  }
  std::map<std::vector<uint32_t>, std::vector<uint32_t>> ngrams;
  for (uint32_t i = 0; i < source_ids * 8; ++i) {
    std::vector<uint32_t> ngram(2 + rng.below(2));
    for (uint32_t& id : ngram) id = rng.below(source_ids);
    ngrams[ngram] = some_ids(3);
  }
  for (auto& [ngram, ids] : ngrams) shortlist.ngrams.push_back({ngram, std::move(ids)});
  spec.shortlist = std::move(shortlist);
}

ModelSpec tiny_spec(const TinyOptions& options) {
  RandomFloats random(options.seed);
  ModelSpec spec = {.encoder = make_stack(random, "encoder", options.encoder, options.source_vocab_size, 0),
      .decoder = make_stack(random, "decoder", options.decoder, options.target_vocab_size, options.encoder.d_model)};
  spec.projection = balanced_linear(random, "projection", options.target_vocab_size, spec.decoder.d_model, 3);
  if (options.tied) spec.projection.weight = spec.decoder.embedding;
  spec.projection.bias[0] += options.end_bias;
  spec.generation.decoder_start_id = options.target_vocab_size - 1;
  spec.generation.suppressed_ids = {options.target_vocab_size - 1};
  spec.generation.end_id = 0;
  spec.name = "tiny";
  spec.license = "CC0-1.0";
  spec.dialect = "test";
  return spec;
}

TinyOptions odd_tiny_options() {
  return {.seed = 11,
      .encoder = {20, 33, 2, 10, 1, 15, Activation::kGelu, true, false, true},
      .decoder = {24, 40, 3, 18, 1, 13, Activation::kSilu, false, true, false},
      .source_vocab_size = 19,
      .target_vocab_size = 37};
}

TinyOptions deep_tiny_options() {
  return {.seed = 12,
      .encoder = {48, 64, 4, 12, 3, 40, Activation::kRelu, false, false, false},
      .decoder = {32, 96, 2, 16, 2, 30, Activation::kGeluTanh, true, false, true},
      .source_vocab_size = 50,
      .target_vocab_size = 300,
      .tied = true};
}

TinyOptions mixed_tiny_options() {
  return {.seed = 14,
      .encoder = {20, 33, 2, 10, 1, 15, Activation::kGelu, true, false, true},
      .decoder = {40, 50, 3, 18, 3, 21, Activation::kSilu, true, false, true, 2},
      .source_vocab_size = 19,
      .target_vocab_size = 37};
}

TinyOptions student_tiny_options() {
  return {.seed = 15,
      .encoder = {48, 64, 4, 12, 3, 40, Activation::kRelu, false, false, false},
      .decoder = {48, 64, 4, 12, 2, 30, Activation::kRelu, false, false, false, 2},
      .source_vocab_size = 50,
      .target_vocab_size = 300,
      .tied = true};
}

TinyOptions t5_tiny_options() {
  TinyOptions options = {.seed = 17,
      .encoder = {20, 33, 3, 11, 2, 40, Activation::kGeluTanh, true, false, true},
      .decoder = {24, 30, 2, 18, 3, 35, Activation::kRelu, true, false, true}};
  for (TinyStack* stack : {&options.encoder, &options.decoder}) {
    stack->centred = false;
    stack->gated = stack == &options.encoder;
    stack->bias_tables = 1;
  }
  options.source_vocab_size = 19;
  options.target_vocab_size = 37;
  return options;
}

TinyOptions umt5_tiny_options() {
  TinyOptions options = t5_tiny_options();
  options.seed = 18;
  options.decoder.gated = true;
  options.encoder.bias_tables = options.decoder.bias_tables = 2;
  return options;
}

TinyOptions gated_tiny_options() {
  TinyOptions options = odd_tiny_options();
  options.seed = 16;
  options.encoder.activation = Activation::kSilu;
  options.decoder.activation = Activation::kGeluTanh;
  options.encoder.gated = options.decoder.gated = true;
  options.encoder.n_layers = 2;
  return options;
}

FileImage tiny_file(const ModelSpec& spec, Layout layout, const goldcrest_limits& limits, converter::Weights weights) {
  converter::BuildOptions options = {.weights = weights, .layout = layout, .limits = limits};
  return converter::assemble(converter::build_payload(spec, options), {});
}

FileImage fine_tiny_file(
    const ModelSpec& spec, const goldcrest_limits& limits, const std::string& fine, const std::string& refine) {
  converter::BuildOptions options;
  if (refine != "none") options.accuracy = {{refine, converter::kSecondMatrix}};
  options.limits = limits;
  const converter::Payload payload = converter::build_payload(spec, options);
  converter::MatrixLevels levels({{fine, converter::kFineInput}});
  converter::set_fine_inputs(levels, *payload.metadata);
  return converter::assemble(payload, {});
}

FileImage packed_tiny_file(const ModelSpec& spec, Layout layout, const goldcrest_limits& limits,
    const std::string& packed, const std::string& fine) {
  converter::BuildOptions options = {.layout = layout, .pack = {{packed, converter::kPackedWeights}}, .limits = limits};
  if (fine != "none") options.accuracy = {{fine, converter::kFineInput}};
  return converter::assemble(converter::build_payload(spec, options), {});
}
}  // namespace goldcrest::test
