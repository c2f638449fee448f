// SPDX-License-Identifier: Apache-2.0
// Moonshine (transformers/models/moonshine/{configuration,modeling}_moonshine.py at v5.23): samples through three
// convolutions, rotary positions, a gate in the decoder, layer norms without beta.
#include <algorithm>
#include <cmath>
#include "base/bounds.h"
#include "dialects/config.h"
#include "dialects/hugging_face/families.h"
#include "dialects/hugging_face/generation.h"
#include "dialects/hugging_face/layers.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/speech/parts.h"
#include "dialects/tensor_reader.h"
#include "host/wording.h"
#include "spec/error.h"
#include "spec/frontend_rows.h"

namespace goldcrest::converter {
namespace {
constexpr float kNormEpsilon = 1e-5f;  // torch.nn.LayerNorm's and GroupNorm's default, which the model uses
constexpr uint32_t kSampleRate = 16000, kUsualMoonshinePositions = 512, kUsualStart = 1;
constexpr double kUsualSeconds = 30, kUsualFactor = 0.9, kUsualBase = 10000;
// The authors' code allows this many tokens for a second of speech; more are a repetition. For languages that are not
// written in Latin letters it allows 13.
constexpr double kTokensASecond = 6.5;

struct Kernel {
  const char* name;
  uint32_t kernel, stride, widths_in, widths_out;  // channels in multiples of hidden_size; 0: samples
  bool has_bias;
  Activation activation;
};
constexpr Kernel kKernels[] = {{"conv1", 127, 64, 0, 1, false, Activation::kTanh},
    {"conv2", 7, 3, 1, 2, true, Activation::kGelu}, {"conv3", 3, 2, 2, 1, true, Activation::kGelu}};

void require_moonshine_settings(const Config& config) {
  std::vector<std::string> keys = {"hidden_size", "intermediate_size", "vocab_size"};
  for (const std::string stack : {"encoder", "decoder"})
    keys.insert(keys.end(), {stack + "_num_hidden_layers", stack + "_num_attention_heads", stack + "_hidden_act"});
  RequiredSettings required(config, keys);
  for (const std::string& key : keys) required.require(key, key.ends_with("_act") ? kActivationNames : "an integer");
  required.check();
}

// Throws Error unless the setting, if it is there, has the only value that the graph below fits.
void require_flag(const Config& config, const char* key, bool expected) {
  if (config.flag_or(key, expected) == expected) return;
  throw Error(
      "{} is {}, expected {}: other Moonshine graphs are not supported", config.where(key), !expected, expected);
}

class MoonshineReader {
 public:
  MoonshineReader(const Checkpoint& checkpoint, TensorReader& tensors, ModelSpec& spec)
      : config_(checkpoint.config),
        seconds_(checkpoint.choices.max_seconds),
        tokens_a_second_(checkpoint.choices.ids_a_second < 0 ? kTokensASecond : checkpoint.choices.ids_a_second),
        tensors_(tensors),
        spec_(spec) {}

  void read() {
    require_moonshine_settings(config_);
    require_flag(config_, "attention_bias", false);
    d_model_ = config_.count("hidden_size", 4, kMaxWidth / 2);
    read_frontend();
    const double seconds = seconds_ > 0 ? seconds_ : kUsualSeconds;
    const size_t rows = rows_of_seconds(*spec_.encoder.frontend, seconds);
    if (rows < 1 || rows > kMaxPositions) {
      throw Error(
          "--max-seconds {}: the model makes {} rows of such a clip; expected 1 to {}", seconds, rows, kMaxPositions);
    }
    read_stack("encoder", static_cast<uint32_t>(rows), spec_.encoder);
    read_stack("decoder", config_.count_or("max_position_embeddings", kUsualMoonshinePositions, 2, kMaxPositions),
        spec_.decoder);
    read_tables();
    tensors_.check_missing();
    const std::vector<std::string> unused = tensors_.unused();
    if (!unused.empty())
      spec_.warnings.push_back(format_text("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
    limit_tokens(seconds);
  }
 private:
  // A clip has at most this many tokens a second, the longest clip and every shorter one.
  void limit_tokens(double seconds) {
    if (tokens_a_second_ == 0) return;
    const FrontendSpec& frontend = *spec_.encoder.frontend;
    const auto most = static_cast<uint32_t>(std::min(std::ceil(seconds * tokens_a_second_), 1e6));
    spec_.generation.max_target_tokens = std::min(spec_.generation.max_target_tokens, most);
    const double tokens_a_row =
        tokens_a_second_ * static_cast<double>(window_input_rows(frontend, 1)) / frontend.sample_rate;
    spec_.generation.rules.max_length_factor = static_cast<float>(tokens_a_row);
  }

  void read_frontend() {
    FrontendSpec& frontend = spec_.encoder.frontend.emplace();
    frontend.sample_rate = kSampleRate;
    for (const Kernel& kernel : kKernels) {
      const std::string name = std::string("model.encoder.") + kernel.name;
      const uint32_t outputs = kernel.widths_out * d_model_, channels = std::max(1u, kernel.widths_in * d_model_);
      ConvolutionSpec convolution;
      convolution.linear = {tensors_.convolution(name + ".weight", outputs, channels, kernel.kernel),
          kernel.has_bias ? tensors_.vector(name + ".bias", outputs) : std::vector<float>(outputs, 0.0f)};
      convolution.channels = channels;
      convolution.kernel = kernel.kernel;
      convolution.stride = kernel.stride;
      convolution.activation = kernel.activation;
      frontend.convolutions.push_back(std::move(convolution));
    }
    frontend.convolutions.front().whole_norm = tensors_.norm("model.encoder.groupnorm", d_model_, true, kNormEpsilon);
    frontend.convolutions.back().linear.fine_input = true;
  }

  // The settings of transformers 5, or those of version 4, which have no object of their own.
  InterleavedRotary rotary_of(const StackSpec& stack) const {
    const bool is_new = config_.has("rope_parameters");
    const Config settings =
        is_new ? config_.object_or_empty("rope_parameters") : config_.object_or_empty("rope_scaling");
    const std::string key = settings.has("rope_type") ? "rope_type" : "type", type = settings.text_or(key, "default");
    if (type != "default") throw Error("{} is {}, expected \"default\"", settings.where(key), in_quotes(type));
    const Config& home = is_new ? settings : config_;
    const double factor = home.number_or("partial_rotary_factor", kUsualFactor, 0, 1);
    InterleavedRotary rotary;
    rotary.d_head = stack.d_head;
    rotary.base = home.number_or("rope_theta", kUsualBase, 1, 1e9);
    rotary.turned = static_cast<uint32_t>(stack.d_head * factor);  // as int() cuts it there
    if (rotary.turned < 2 || rotary.turned % 2 != 0) {
      throw Error("{}: {} of a head's {} columns turn; expected an even number, 2 or more",
          home.where("partial_rotary_factor"), rotary.turned, stack.d_head);
    }
    return rotary;
  }

  NormSpec norm(const std::string& prefix) { return tensors_.norm(prefix, d_model_, false, kNormEpsilon); }

  AttentionSpec attention(const std::string& prefix, const std::string& norm_name) {
    const auto projection = [&](const char* name) { return tensors_.linear(prefix + name, d_model_, d_model_, false); };
    return {
        projection(".q_proj"), projection(".k_proj"), projection(".v_proj"), projection(".o_proj"), norm(norm_name)};
  }

  // The second half of fc1's rows is the gate, which comes first in a file.
  InnerSpec inner(const std::string& prefix, const StackSpec& stack) {
    if (!stack.gated) return tensors_.linear(prefix, stack.d_ff, d_model_, true);
    const LinearSpec both = tensors_.linear(prefix, 2 * stack.d_ff, d_model_, true);
    const auto part = [&](uint32_t begin) {
      const auto first = both.bias.begin() + (both.bias.empty() ? 0 : begin);
      const auto end = both.bias.empty() ? first : first + stack.d_ff;
      return LinearSpec{slice_rows(both.weight, begin, begin + stack.d_ff), std::vector<float>(first, end)};
    };
    InnerSpec inner = part(0);
    inner.gate = part(stack.d_ff);
    return inner;
  }

  void read_layer(const std::string& prefix, const InterleavedRotary& rotary, StackSpec& stack) {
    LayerSpec layer;
    const bool is_decoder = &stack == &spec_.decoder;
    const std::string second_norm = prefix + ".post_attention_layernorm", last_norm = prefix + ".final_layernorm";
    layer.self_attention = attention(prefix + ".self_attn", prefix + ".input_layernorm");
    halve_pairs(rotary, stack.n_heads, *layer.self_attention);
    if (is_decoder) {
      layer.cross_attention = attention(prefix + ".encoder_attn", second_norm);
      widen_heads(rotary, stack.n_heads, *layer.cross_attention);
    }
    layer.feed_forward = {inner(prefix + ".mlp.fc1", stack),
        tensors_.linear(prefix + ".mlp.fc2", d_model_, stack.d_ff, true), norm(is_decoder ? last_norm : second_norm)};
    stack.layers.push_back(std::move(layer));
  }

  void read_stack(const std::string& name, uint32_t positions, StackSpec& stack) {
    stack.d_model = d_model_;
    stack.d_ff = config_.count("intermediate_size", 1, kMaxWidth / 2);
    const std::string heads = name + "_num_attention_heads", shared = name + "_num_key_value_heads";
    stack.n_heads = config_.count(heads, 1, kMaxHeads);
    if (config_.count_or(shared, stack.n_heads, 1, kMaxHeads) != stack.n_heads) {
      throw Error("{}: expected {}, as many as {}: shared keys and values are not supported", config_.where(shared),
          stack.n_heads, heads);
    }
    if (d_model_ % stack.n_heads != 0 ||
        config_.count_or("head_dim", d_model_ / stack.n_heads, 1, kMaxWidth) != d_model_ / stack.n_heads) {
      throw Error("{} is {}, expected a divisor of hidden_size {}, and no \"head_dim\" of another width",
          config_.where(heads), stack.n_heads, d_model_);
    }
    stack.d_head = d_model_ / stack.n_heads;
    stack.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(stack.d_head)));
    stack.activation = read_activation(config_, (name + "_hidden_act").c_str());
    stack.pre_norm = true;
    stack.gated = name == "decoder";
    const InterleavedRotary rotary = rotary_of(stack);
    stack.positions_used = false;
    stack.positions = {"", positions, d_model_, std::vector<float>(d_model_), true};
    stack.rotary = halved_rotary(rotary, positions);
    const uint32_t layers = config_.count(name + "_num_hidden_layers", 1, kMaxLayers);
    for (uint32_t i = 0; i < layers; ++i) read_layer(format_text("model.{}.layers.{}", name, i), rotary, stack);
    stack.d_head = halved_width(rotary);
    stack.final_norm = norm(name == "encoder" ? "model.encoder.layer_norm" : "model.decoder.norm");
  }

  void read_tables() {
    const uint32_t rows = config_.count("vocab_size", 1, kMaxVocabulary);
    spec_.decoder.embedding = tensors_.matrix("model.decoder.embed_tokens.weight", rows, d_model_);
    const bool may_be_own = tensors_.lists() || tensors_.has("proj_out.weight");
    const bool is_tied = config_.flag_or("tie_word_embeddings", true) || !may_be_own;
    if (is_tied && tensors_.has("proj_out.weight")) tensors_.matrix("proj_out.weight", rows, d_model_);
    spec_.projection = {is_tied ? spec_.decoder.embedding : tensors_.matrix("proj_out.weight", rows, d_model_),
        std::vector<float>(rows, 0.0f)};
  }

  const Config& config_;
  const double seconds_, tokens_a_second_;
  TensorReader& tensors_;
  ModelSpec& spec_;
  uint32_t d_model_ = 0;
};

void read_moonshine_text(const Checkpoint& checkpoint, ModelSpec& spec) {
  const std::filesystem::path path = side_file(checkpoint, "tokenizer.json");
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !std::filesystem::is_symlink(path, error)) {
    if (checkpoint.is_shape) return;
    spec.warnings.push_back(
        path.string() + ": is missing; results are ids. Copy it from where the checkpoint came from");
    return;
  }
  const uint32_t rows = spec.decoder.embedding->rows;
  const Vocabulary vocabulary = read_tokenizer_json(path, rows, SpeechText::kByteFallback);
  spec.tokenizer_files = {path};
  spec.target_tokenizer = speech_tokenizer(vocabulary, rows, SpeechText::kByteFallback);
}

ModelSpec load_moonshine(const Checkpoint& checkpoint) {
  ModelSpec spec;
  const Config& config = checkpoint.config;
  require_moonshine_settings(config);
  const Config generation = side_config(checkpoint, "generation_config.json");
  std::error_code error;
  const bool has_generation = std::filesystem::exists(side_file(checkpoint, "generation_config.json"), error);
  const uint32_t positions = config.count_or("max_position_embeddings", kUsualMoonshinePositions, 2, kMaxPositions);
  spec.generation = hugging_face_generation(generation, config,
      {config.count("vocab_size", 1, kMaxVocabulary), positions, has_generation, std::nullopt, kUsualStart},
      spec.warnings);
  TensorReader tensors(checkpoint.tensors);
  MoonshineReader(checkpoint, tensors, spec).read();
  read_moonshine_text(checkpoint, spec);
  return spec;
}

std::vector<ShapedTensor> moonshine_tensors(const Config& config) {
  ModelSpec spec;
  TensorReader lister;
  MoonshineReader({{}, config, nullptr, true}, lister, spec).read();
  return lister.listed();
}
}  // namespace

const ConfigFamily kMoonshineFamily = {"moonshine", "Moonshine", load_moonshine, moonshine_tensors, nullptr, nullptr,
    {"Moonshine and Whisper of Hugging Face",
        "safetensors (also sharded), `pytorch_model.bin`; [details of speech "
        "models](converter/dialects/speech/SPEECH.md)"}};
}  // namespace goldcrest::converter
