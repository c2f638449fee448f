// SPDX-License-Identifier: Apache-2.0
// PyTorch's nn.Transformer: the state dict (torch/nn/modules/transformer.py and activation.py at v2.13), and a
// config.json for what the state dict cannot tell (NN_TRANSFORMER.md).
#include "dialects/nn_transformer/nn_transformer.h"
#include <algorithm>
#include <cmath>
#include <map>
#include "base/bounds.h"
#include "dialects/nn_transformer/nn_transformer_attention.h"
#include "dialects/positions.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
template <typename Value>
Value choice(const Config& config, const std::string& key, const std::string& found,
    const std::map<std::string, Value>& choices) {
  const auto chosen = choices.find(found);
  if (chosen != choices.end()) return chosen->second;
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  throw Error("{} is {}, expected one of {}", config.where(key), in_quotes(found), list_in_quotes(names, names.size()));
}

// The dimensions of one stack while it is read.
struct Shapes {
  uint32_t d_model, d_ff, memory_width;  // memory_width: d_model of the encoder
  bool has_bias, has_attention_bias;
  float epsilon;
};

class NnTransformerReader {
 public:
  NnTransformerReader(const Checkpoint& checkpoint, const LayerNames& layer_names, ModelSpec& spec)
      : layer_names_(layer_names),
        config_(checkpoint.config),
        names_(config_.object_or_empty("tensors")),
        tensors_(checkpoint.tensors),
        spec_(spec) {}

  void read() {
    check_nn_transformer_settings(config_, names_, tensors_);
    spec_.encoder.embedding = embedding("source_embedding");
    const bool shared = config_.flag_or("shared_embeddings", false);
    if (shared && names_.has("target_embedding")) {
      throw Error(
          "{} is true, but tensors.target_embedding names a table of its own", config_.where("shared_embeddings"));
    }
    spec_.decoder.embedding = shared ? spec_.encoder.embedding
                                     : tensors_.share_if_equal(spec_.encoder.embedding, embedding("target_embedding"));
    read_stack("encoder", spec_.encoder);
    read_stack("decoder", spec_.decoder);
    read_projection();
    tensors_.check_missing();
    check_position_buffers();
    for (const std::string& key : names_.unread())
      spec_.warnings.push_back(names_.where(key) + why_ignored(key, nn_transformer_tensor_settings()));
    const std::vector<std::string> unused = without_effect_left_out(tensors_.unused());
    if (unused.empty()) return;
    if (layer_names_.has_no_effect != nullptr)
      throw Error("{} is not known, and may change the graph", tensors_.describe(unused[0]));
    spec_.warnings.push_back(format_text("{} tensors were not used: {}", unused.size(), list_in_quotes(unused, 8)));
  }
 private:
  std::string tensor_name(const std::string& role) { return without_wrappers(names_.text(role)); }

  uint32_t stack_count(const std::string& stack, const char* key, uint32_t most) {
    return config_.count(side_key(config_, stack, key), 1, most);
  }

  std::vector<std::string> without_effect_left_out(std::vector<std::string> names) const {
    if (layer_names_.has_no_effect != nullptr) std::erase_if(names, layer_names_.has_no_effect);
    return names;
  }

  // A setting must agree with the tensors that determine it too.
  void check_setting(const std::string& key, uint32_t of_tensors, const std::string& tensor) {
    const auto setting = config_.optional_count(key, 1, kMaxPositions);
    if (setting && *setting != of_tensors)
      throw Error("{} is {}, but the tensors have {} ({})", config_.where(key), *setting, of_tensors, tensor);
  }

  std::shared_ptr<const Matrix> embedding(const char* role) {
    const std::string name = tensor_name(role);
    const std::vector<uint64_t> shape = tensors_.shape(name);
    if (shape.size() != 2 || shape[1] == 0 || shape[1] > kMaxWidth)
      throw Error("{} has shape {}, expected [vocabulary, d_model]", tensors_.describe(name), shape_text(shape));
    auto table = tensors_.table(name, static_cast<uint32_t>(shape[1]));
    check_setting(
        std::string(role).substr(0, std::string("source").size()) + "_vocab_size", table->rows, in_quotes(name));
    return table;
  }

  // Returns "transformer.encoder." or the prefix that the settings or the tensors give.
  std::string stack_prefix(const std::string& stack) {
    if (names_.has(stack)) return module_prefix(names_, stack);
    if (names_.has("transformer")) return module_prefix(names_, "transformer") + stack + ".";
    const std::string first = stack + "." + layer_names_.first(stack);
    std::vector<std::string> prefixes;
    for (const std::string& name : tensors_.names())
      if (name == first || name.ends_with("." + first)) prefixes.push_back(name.substr(0, name.size() - first.size()));
    if (prefixes.size() == 1) return prefixes[0] + stack + ".";
    throw Error("{}: {} tensors are named ...{}, expected one, or {} to say which prefix the {} has",
        config_.path().string(), prefixes.size(), first, names_.where("transformer"), stack);
  }

  void read_stack(const std::string& name, StackSpec& stack) {
    const std::string prefix = stack_prefix(name), first = prefix + layer_names_.first(name);
    stack.d_model = stack.embedding->columns;
    check_setting(side_key(config_, name, "d_model"), stack.d_model, in_quotes(stack.embedding->name));
    const std::vector<uint64_t> shape = tensors_.shape(first);
    const bool is_kernel = shape.size() == 3 && shape[2] == 1;  // a convolution of width 1
    if ((shape.size() != 2 && !is_kernel) || shape[0] == 0 || shape[0] > kMaxWidth) {
      throw Error("{} has shape {}, expected [dim_feedforward, {}]", tensors_.describe(first), shape_text(shape),
          stack.d_model);
    }
    stack.d_ff = static_cast<uint32_t>(shape[0]);
    check_setting(side_key(config_, name, "dim_feedforward"), stack.d_ff, in_quotes(first));
    read_settings(name, stack);
    const Shapes shapes = {stack.d_model, stack.d_ff, spec_.encoder.d_model,
        tensors_.has(prefix + layer_names_.layer(name, 0) + layer_names_.inner + ".bias"),
        has_attention_bias(tensors_, layer_names_, prefix + layer_names_.layer(name, 0) + layer_names_.self_attention),
        static_cast<float>(config_.number_or(side_key(config_, name, "layer_norm_eps"), 1e-5, 1e-12, 1))};
    for (uint32_t i = 0; i < kMaxLayers; ++i) {
      const std::string layer_prefix = prefix + layer_names_.layer(name, i);
      if (!tensors_.has(layer_prefix + layer_names_.inner + ".weight")) break;
      stack.layers.push_back(layer(layer_prefix, shapes, name == "decoder"));
    }
    set_heads(name, stack);
    check_setting("num_" + name + "_layers", static_cast<uint32_t>(stack.layers.size()), prefix + "layers");
    // nn.Transformer always creates these norms, even with norm_first=False; separate stacks need not have them.
    const std::string norm_name = prefix + layer_names_.final_norm + layer_names_.gamma;
    const bool has_norm = tensors_.has(norm_name);
    const std::string final_norm = side_key(config_, name, "final_norm");
    if (config_.flag_or(final_norm, has_norm) != has_norm) {
      throw Error("{} is {}, but the tensors have {} {}", config_.where(final_norm), !has_norm, has_norm ? "the" : "no",
          in_quotes(norm_name));
    }
    if (has_norm) stack.final_norm = norm(prefix + layer_names_.final_norm, shapes);
    const char* const embedding_norm = name == "encoder" ? "source_embedding_norm" : "target_embedding_norm";
    if (names_.has(embedding_norm)) {
      const std::string module = module_prefix(names_, embedding_norm);
      stack.embedding_norm = norm(module.substr(0, module.size() - 1), shapes);
    }
    stack.positions = positions(name, stack.d_model);
  }

  void read_settings(const std::string& name, StackSpec& stack) {
    stack.n_heads = stack_count(name, "nhead", kMaxHeads);
    const std::string activation = side_key(config_, name, "activation");
    stack.activation = choice<Activation>(config_, activation, config_.text(activation),
        {{"relu", Activation::kRelu}, {"gelu", Activation::kGelu}, {"gelu_tanh", Activation::kGeluTanh},
            {"silu", Activation::kSilu}});
    stack.pre_norm = config_.flag(side_key(config_, name, "norm_first"));
    const bool scaled = config_.flag(side_key(config_, name, "scale_embedding"));
    stack.embedding_scale = scaled ? static_cast<float>(std::sqrt(static_cast<double>(stack.d_model))) : 1.0f;
  }

  NormSpec norm(const std::string& prefix, const Shapes& shapes) {
    NormSpec norm = {tensors_.vector(prefix + layer_names_.gamma, shapes.d_model),
        std::vector<float>(shapes.d_model, 0.0f), shapes.epsilon};
    if (shapes.has_bias || tensors_.has(prefix + layer_names_.beta))
      norm.beta = tensors_.vector(prefix + layer_names_.beta, shapes.d_model);
    return layer_names_.divides_by_deviation ? of_variance(std::move(norm)) : norm;
  }

  // The checkpoint divides by the unbiased deviation; tutorials/tutorial.cc derives the norm.
  NormSpec of_variance(NormSpec norm) {
    const auto n = static_cast<double>(norm.gamma.size());
    for (float& gamma : norm.gamma) gamma = static_cast<float>(gamma * std::sqrt((n - 1) / n));
    spec_.deviation_epsilon = std::max(spec_.deviation_epsilon, norm.epsilon);
    norm.epsilon = kMinEpsilon;
    return norm;
  }

  AttentionSpec attention(const std::string& prefix, const Shapes& shapes, uint32_t key_width) {
    return read_attention(tensors_, layer_names_, prefix, {shapes.d_model, key_width, shapes.has_attention_bias});
  }

  LayerSpec layer(const std::string& prefix, const Shapes& shapes, bool is_decoder) {
    LayerSpec layer;
    const LayerNames& names = layer_names_;
    layer.self_attention = attention(prefix + names.self_attention, shapes, shapes.d_model);
    layer.self_attention->norm =
        norm(prefix + (is_decoder ? names.decoder_self_norm : names.encoder_self_norm), shapes);
    if (is_decoder) {
      layer.cross_attention = attention(prefix + names.cross_attention, shapes, shapes.memory_width);
      layer.cross_attention->norm = norm(prefix + names.cross_norm, shapes);
    }
    layer.feed_forward = {tensors_.linear(prefix + names.inner, shapes.d_ff, shapes.d_model, shapes.has_bias),
        tensors_.linear(prefix + names.outer, shapes.d_model, shapes.d_ff, shapes.has_bias),
        norm(prefix + (is_decoder ? names.decoder_last_norm : names.encoder_last_norm), shapes)};
    return layer;
  }

  // Returns the width of a head of this matrix, whose rows (or columns) are those of all heads.
  uint32_t head_width(const std::string& stack, const StackSpec& spec, uint32_t all_heads, const Matrix& matrix) {
    if (all_heads % spec.n_heads == 0) return all_heads / spec.n_heads;
    const std::string nhead = config_.where(side_key(config_, stack, "nhead"));
    if (all_heads == spec.d_model)
      throw Error("{} is {}, expected a divisor of d_model {}", nhead, spec.n_heads, spec.d_model);
    throw Error("{} is {}, expected a divisor of the {} rows of its heads ({})", nhead, spec.n_heads, all_heads,
        in_quotes(matrix.name));
  }

  // Heads of queries and keys may be narrower or wider than those of values; zeros fill up the narrower ones.
  void set_heads(const std::string& name, StackSpec& stack) {
    std::vector<AttentionSpec*> attentions;
    for (LayerSpec& layer : stack.layers) {
      attentions.push_back(&*layer.self_attention);
      if (layer.cross_attention) attentions.push_back(&*layer.cross_attention);
    }
    uint32_t d_k = 0;
    for (const AttentionSpec* attention : attentions) {
      const Matrix &query = *attention->query.weight, &out = *attention->out.weight;
      const uint32_t keys = head_width(name, stack, query.rows, query),
                     values = head_width(name, stack, out.columns, out);
      if (d_k == 0) d_k = keys;
      if (keys != d_k)
        throw Error("{}: {}: its heads have {} rows, others of the {} {}", config_.path().string(),
            in_quotes(query.name), keys, name, d_k);
      check_setting(side_key(config_, name, "d_k"), keys, in_quotes(query.name));
      check_setting(side_key(config_, name, "d_v"), values, in_quotes(out.name));
      stack.d_head = std::max({stack.d_head, keys, values});
    }
    stack.attention_scale = static_cast<float>(1 / std::sqrt(static_cast<double>(d_k)));
    for (AttentionSpec* attention : attentions) pad_heads(*attention, stack.n_heads, stack.d_head);
  }

  void read_projection() {
    const auto& table = spec_.decoder.embedding;
    std::string name = without_wrappers(names_.text_or("output_projection", ""));
    if (config_.flag_or("tied_output_projection", false)) {
      if (!name.empty()) {
        throw Error("{} is true, but tensors.output_projection names weights of its own",
            config_.where("tied_output_projection"));
      }
      spec_.projection.weight = table;
    } else {
      if (name.ends_with(".weight")) name.resize(name.size() - std::string(".weight").size());
      const std::string weight = tensors_.has(name) ? name : name + ".weight";  // a parameter, or a linear layer
      spec_.projection.weight = tensors_.share_if_equal(table, tensors_.matrix(weight, table->rows, table->columns));
    }
    const std::string bias = without_wrappers(names_.text_or("output_bias", name + ".bias"));
    const bool has_bias = names_.has("output_bias") || tensors_.has(bias);
    spec_.projection.bias = has_bias ? tensors_.vector(bias, table->rows) : std::vector<float>(table->rows, 0.0f);
  }

  bool has_sinusoids(const std::string& stack) {
    return config_.text(side_key(config_, stack, "position_encoding")).starts_with("sinusoidal");
  }

  Matrix positions(const std::string& stack, uint32_t d_model) {
    enum class Kind { kInterleaved, kConcatenated, kStored };
    const std::string key = side_key(config_, stack, "position_encoding");
    const Kind kind = choice<Kind>(config_, key, config_.text(key),
        {{"sinusoidal_interleaved", Kind::kInterleaved}, {"sinusoidal_concatenated", Kind::kConcatenated},
            {"learned", Kind::kStored}, {"stored", Kind::kStored}});
    const uint32_t offset = config_.count_or(side_key(config_, stack, "position_offset"), 0, 0, kMaxPositions);
    if (kind == Kind::kStored) return stored_positions(stack, d_model, offset);
    if (d_model % 2 != 0 || d_model < 4)
      throw Error("{}: sinusoids need an even d_model above 2, found {}", config_.where(key), d_model);
    const std::string denominator = side_key(config_, stack, "position_denominator");
    Sinusoid sinusoid;
    sinusoid.interleaved = kind == Kind::kInterleaved;
    sinusoid.first = offset;
    sinusoid.base = config_.number_or(side_key(config_, stack, "position_base"), 10000, 2, 1e9);
    sinusoid.denominator_minus_two = choice<bool>(
        config_, denominator, config_.text_or(denominator, "d_model"), {{"d_model", false}, {"d_model-2", true}});
    const uint32_t rows = stack_count(stack, "max_positions", kMaxPositions);
    check_position_rows(config_.where(side_key(config_, stack, "max_positions")), rows, d_model);
    return sinusoid_table(sinusoid, rows, d_model);
  }

  Matrix stored_positions(const std::string& stack, uint32_t d_model, uint32_t offset) {
    const std::string role = stack == "encoder" ? "source_positions" : "target_positions";
    const auto table = tensors_.table(names_.has(role) ? tensor_name(role) : tensor_name("positions"), d_model);
    const std::string key = side_key(config_, stack, "max_positions");
    const auto rows = config_.optional_count(key, 1, kMaxPositions);
    if (offset >= table->rows || rows.value_or(1) > table->rows - offset) {
      throw Error("{} has {} rows, expected at least position_offset {} + max_positions {}",
          tensors_.describe(table->name), table->rows, offset, rows.value_or(1));
    }
    return *slice_rows(table, offset, offset + rows.value_or(table->rows - offset));
  }

  // Many models save their table of sinusoids as a buffer. If a buffer differs from the table of the settings, the
  // settings are wrong. They are also wrong if a second table is next to a stored one.
  void check_position_buffers() {
    constexpr float kTolerance = 2e-3f;  // a table in half precision is off by up to 5e-4
    for (const std::string& name : without_effect_left_out(tensors_.unused())) {
      const bool is_named_so = name == "pe" || name.ends_with(".pe") || name.find("pos") != std::string::npos;
      const std::vector<uint64_t> shape = tensors_.shape(name);
      if (!is_named_so || shape.size() < 2) continue;
      for (const StackSpec* stack : {&spec_.encoder, &spec_.decoder}) {
        if (shape.back() != stack->d_model) continue;
        if (!has_sinusoids(stack == &spec_.encoder ? "encoder" : "decoder")) {
          refuse_second_table(name, stack->d_model);
          continue;
        }
        const auto table = tensors_.table(name, stack->d_model);
        const float difference = largest_difference(*table, stack->positions);
        if (difference > kTolerance) {
          throw Error(
              "{} differs by up to {:.3g} from the table that {} describes; correct the setting, or use \"stored\" "
              "and name this tensor in tensors.positions",
              tensors_.describe(name), difference, config_.where("position_encoding"));
        }
      }
    }
  }

  // Refuses a table of positions that no setting names, next to one that a setting names: otherwise one side would
  // use the other side's table.
  void refuse_second_table(const std::string& name, uint32_t d_model) {
    const std::string weight = ".weight";
    const std::string module = name.ends_with(weight) ? name.substr(0, name.size() - weight.size()) : name;
    if (tensors_.has(module + ".bias")) return;  // a linear layer
    const auto table = tensors_.table(name, d_model);
    const float *const first = table->values.data(), *const last = first + size_t{table->rows} * d_model;
    for (const StackSpec* stack : {&spec_.encoder, &spec_.decoder}) {
      const Matrix& used = stack->positions;
      const float *const begin = used.values.data(), *const end = begin + size_t{used.rows} * used.columns;
      if (!used.same_rows && std::search(first, last, begin, end) != last) return;  // a copy
    }
    throw Error(
        "{} is not used, although it looks like a table of positions; name the tables of both sides as "
        "tensors.source_positions and tensors.target_positions, or leave this one out of the checkpoint",
        tensors_.describe(name));
  }

  const LayerNames& layer_names_;
  const Config& config_;
  const Config names_;
  TensorReader tensors_;
  ModelSpec& spec_;
};
}  // namespace

std::string side_key(const Config& config, const std::string& side, const std::string& key) {
  const std::string own = side + "_" + key;
  return config.has(own) ? own : key;
}

std::string module_prefix(const Config& names, const std::string& role) {
  std::string prefix = names.text(role);
  if (!prefix.empty() && !prefix.ends_with('.')) prefix += '.';
  return without_wrappers(prefix);
}

ModelSpec load_named(const Checkpoint& checkpoint, const LayerNames& names) {
  ModelSpec spec;
  const LayerNames own;  // for a shape without weights
  NnTransformerReader(checkpoint, checkpoint.is_shape ? own : names, spec).read();
  read_nn_transformer_text(checkpoint, spec);
  return spec;
}

const ConfigFamily kNnTransformerFamily = {"nn_transformer", "PyTorch nn.Transformer",
    [](const Checkpoint& checkpoint) { return load_named(checkpoint, {}); }, nn_transformer_tensors,
    name_nn_transformer_tensors, nullptr,
    {"your own PyTorch `nn.Transformer`",
        "safetensors, `torch.save` state dict; [a config.json](converter/dialects/NN_TRANSFORMER.md), which "
        "`--print-config` drafts"}};
}  // namespace goldcrest::converter
