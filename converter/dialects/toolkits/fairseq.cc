// SPDX-License-Identifier: Apache-2.0
// fairseq's Transformer (fairseq/models/transformer and modules/transformer_layer.py at 0.12.2, with the older
// checkpoints that their upgrade_state_dict accepts). Its vocabularies are stored next to the checkpoint.
#include <algorithm>
#include <map>
#include "base/bounds.h"
#include "dialects/text/vocabulary_file.h"
#include "dialects/toolkits/toolkit.h"
#include "host/printable.h"
#include "host/wording.h"
#include "sources/files/input_file.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// The first ids of every dictionary.
constexpr uint32_t kFairseqStart = 0, kFairseqPadding = 1, kFairseqEnd = 2, kFairseqUnknown = 3;
constexpr uint64_t kFairseqPositions = 1024;  // unless a setting says otherwise
// The defaults of fairseq-generate: an end, up to 200 tokens before it and at least one.
constexpr uint64_t kFairseqBeams = 5, kFairseqMostTokens = 201, kFairseqLeastTokens = 2;

bool is_count(const std::string& text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  return text.size() > sign && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(sign), text.end(),
                                   [](char c) { return c >= '0' && c <= '9'; });
}

// Reads dict.LANGUAGE.txt (fairseq/data/dictionary.py at 0.12.2, add_from_file). Returns the texts in the order of
// their ids: the four above, then those of the file's lines. A line is a text, a space and a count. Throws Error naming
// the first line that is not, or that repeats a text.
std::vector<std::string> read_fairseq_dictionary(const std::filesystem::path& path) {
  const std::string content = read_small_file(path, kMaxVocabularyBytes);
  std::vector<std::string> texts = {"<s>", "<pad>", "</s>", "<unk>"};
  std::map<std::string, size_t> lines;  // line of each text; 0: not from the file
  for (const std::string& text : texts) lines[text] = 0;
  for (size_t at = 0, line = 1; at < content.size(); ++line) {
    const size_t end = std::min(content.find('\n', at), content.size());
    std::string row = content.substr(at, end - at);
    at = end + 1;
    while (row.ends_with('\r') || row.ends_with(' ') || row.ends_with('\t')) row.pop_back();
    const auto refuse = [&](const std::string& why) { throw Error("{}: line {} {}", path.string(), line, why); };
    if (row.ends_with(" #fairseq:overwrite"))
      refuse("has the flag #fairseq:overwrite (a text with two ids), which is not supported");
    const size_t space = row.rfind(' ');
    const bool has_count = space != std::string::npos && space > 0 && is_count(row.substr(space + 1));
    if (!has_count) refuse(format_text("is {}, expected a text, a space and its count", in_quotes(row)));
    const std::string text = row.substr(0, space);
    if (!is_utf8(text)) refuse(format_text("has the text {}, which is not UTF-8", in_quotes(text)));
    const auto [first, is_new] = lines.emplace(text, line);
    if (!is_new) {
      refuse(format_text("has the text {} again, {}", in_quotes(text),
          first->second == 0 ? "which every dictionary begins with"
                             : "which line " + std::to_string(first->second) + " has"));
    }
    texts.push_back(text);
  }
  return texts;
}

constexpr const char* kPruned = "a model whose layers are chosen when it is loaded is not supported";
constexpr const char* kQuantNoise = "models that were trained with quantization noise are not supported";
constexpr AllowedOption kAllowed[] = {{"activation_fn", R"(["relu", "gelu", "gelu_accurate", "gelu_fast"])", ""},
    {"adaptive_softmax_cutoff", "[]", "an adaptive softmax is not supported"},
    {"adaptive_input", "[false]", "adaptive inputs are not supported"},
    {"char_inputs", "[false]", "characters as inputs are not supported"},
    {"no_token_positional_embeddings", "[false]", "a model without positions is not supported"},
    {"no_cross_attention", "[false]", "a decoder that does not attend to the encoder is not supported"},
    {"cross_self_attention", "[false]", "self-attention and cross-attention in one are not supported"},
    {"encoder_layers_to_keep", "[]", kPruned}, {"decoder_layers_to_keep", "[]", kPruned},
    {"mha_heads_to_keep", "[-1]", "pruned heads are not supported"},
    {"base_layers", "[0]", "mixtures of experts are not supported"},
    {"moe_freq", "[0]", "mixtures of experts are not supported"}, {"quant_noise_pq", "[0]", kQuantNoise},
    {"quant_noise_scalar", "[0]", kQuantNoise},
    {"lang_tok_replacing_bos_eos", "[false]", "tokens of languages in the place of start and end are not supported"}};
constexpr AllowedOption kAllowedTasks[] = {
    {"task", R"(["translation"])", "what other tasks put around texts is not known"},
    {"_name", R"(["translation"])", "what other tasks put around texts is not known"}};

// True for buffers, and for copies of a layer's tensors that fairseq 0.12 keeps for PyTorch's fast path.
bool changes_nothing(const std::string& name) {
  for (const char* buffer : {".version", ".embed_positions._float_tensor", ".embed_positions.weights"})
    if (name == "encoder" + std::string(buffer) || name == "decoder" + std::string(buffer)) return true;
  const std::string layers = "encoder.layers.";
  if (!name.starts_with(layers)) return false;
  const size_t dot = name.find('.', layers.size());
  const std::string rest = dot == std::string::npos ? "" : name.substr(dot + 1);
  const auto is_rest = [&](const char* copy) { return rest == copy; };
  constexpr const char* kCopies[] = {"in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias", "fc1_weight",
      "fc1_bias", "fc2_weight", "fc2_bias"};
  return std::any_of(std::begin(kCopies), std::end(kCopies), is_rest);
}

// Turns {"encoder": {"layers": 6}} into {"encoder_layers": 6}, the form of older versions.
Value flat(Value options) {
  for (const std::string part : {"encoder", "decoder", "quant_noise"}) {
    if (!options.contains(part) || !options[part].is_map()) continue;
    const Value members = options[part];
    for (const auto& [key, value] : members.members()) options[part + "_" + key] = value;
  }
  return options;
}

class FairseqReader {
 public:
  explicit FairseqReader(const SavedModel& model)
      : model_(model),
        is_args_(model.saved.contains("args") && model.saved["args"].is_map()),
        options_(flat(part("model")), model.file.string() + (is_args_ ? ": args" : ": cfg.model"), model.file),
        task_(part("task"), model.file.string() + (is_args_ ? ": args" : ": cfg.task"), model.file) {}

  ToolkitModel read() {
    check_architecture();
    check_options(task_, kAllowedTasks);
    check_options(options_, kAllowed);
    settings_ = {{"activation", activation()}, {"scale_embedding", !options_.flag_or("no_scale_embedding", false)},
        {"layer_norm_eps", 1e-5}, {"position_offset", kFairseqPadding + 1}, {"bos_token", kFairseqStart},
        {"pad_token", kFairseqPadding}, {"eos_token", kFairseqEnd}, {"unk_token", kFairseqUnknown},
        {"decoder_start_token", kFairseqEnd}, {"suppressed_tokens", Value::list({kFairseqPadding})},
        {"add_source_bos", false}, {"add_source_eos", true}, {"beam_size", kFairseqBeams},
        {"early_stopping", true},  // fairseq/sequence_generator.py: once as many hypotheses as beams are done
        {"length_penalty", 1}, {"max_length", kFairseqMostTokens}, {"min_length", kFairseqLeastTokens}};
    name_tables();
    for (const std::string stack : {"encoder", "decoder"}) read_stack(stack);
    std::vector<std::filesystem::path> dictionaries = {read_vocabulary("source"), read_vocabulary("target")};
    return {std::move(settings_), names(), std::move(dictionaries), {}};
  }
 private:
  // Returns args, or the object of this name inside cfg.
  const Value& part(const char* key) const {
    if (is_args_) return model_.saved["args"];
    const auto cfg = model_.saved.find("cfg");
    const bool has_both = cfg != nullptr && cfg->is_map() && cfg->contains("model") && (*cfg)["model"].is_map() &&
                          cfg->contains("task") && (*cfg)["task"].is_map();
    if (!has_both) {
      throw Error(
          "{}: has neither \"args\" nor \"cfg\" with \"model\" and \"task\", which fairseq saves with the weights; "
          "give the checkpoint that fairseq-train wrote",
          model_.file.string());
    }
    return (*cfg)[key];
  }

  void check_architecture() const {
    const std::string key = options_.has("arch") ? "arch" : "_name", name = options_.text_or(key, "transformer");
    const bool is_transformer = name == "transformer" || name.starts_with("transformer_");
    if (!is_transformer || name.starts_with("transformer_lm")) {
      throw Error("{} is {}, expected \"transformer\" or an encoder-decoder whose name begins with \"transformer_\"",
          options_.where(key), in_quotes(name));
    }
  }

  const char* activation() const {
    const std::string name = options_.text_or("activation_fn", "relu");
    return name == "relu" ? "relu" : name == "gelu" ? "gelu" : "gelu_tanh";
  }

  void name_tables() {
    Value tensors = {{"encoder", "encoder."}, {"decoder", "decoder."},
        {"source_embedding", "encoder.embed_tokens.weight"}, {"target_embedding", "decoder.embed_tokens.weight"}};
    const bool has_projection = model_.tensors.has("decoder.output_projection.weight");
    if (!has_projection && model_.tensors.has("decoder.embed_out")) tensors["output_projection"] = "decoder.embed_out";
    else if (!has_projection && (options_.flag_or("share_decoder_input_output_embed", false) ||
                                    options_.flag_or("share_all_embeddings", false)))
      settings_["tied_output_projection"] = true;
    else tensors["output_projection"] = "decoder.output_projection";
    if (options_.flag_or("layernorm_embedding", false)) {
      tensors["source_embedding_norm"] = "encoder.layernorm_embedding";
      tensors["target_embedding_norm"] = "decoder.layernorm_embedding";
    }
    settings_["tensors"] = std::move(tensors);
  }

  void read_stack(const std::string& stack) {
    const auto copy = [&](const std::string& setting, const std::string& option) {
      if (const Value* const value = options_.find(option)) settings_[setting] = *value;
    };
    const bool is_decoder = stack == "decoder", is_learned = options_.flag_or(stack + "_learned_pos", false);
    settings_[stack + "_nhead"] = options_.count_or(stack + "_attention_heads", 8, 1, kMaxHeads);
    copy("num_" + stack + "_layers", stack + "_layers");
    copy(stack + "_d_model", stack + "_embed_dim");
    copy(stack + "_dim_feedforward", stack + "_ffn_embed_dim");
    const bool is_pre_norm = options_.flag_or(stack + "_normalize_before", false);
    settings_[stack + "_norm_first"] = is_pre_norm;
    // Before these versions nothing was normalized after a stack.
    if (version(stack) >= (is_decoder ? 3.0f : 2.0f)) {
      const bool is_off = is_decoder && options_.flag_or("no_decoder_final_norm", false);
      settings_[stack + "_final_norm"] = is_pre_norm && !is_off;
    }
    const std::string most = is_decoder ? "max_target_positions" : "max_source_positions";
    settings_[stack + "_position_encoding"] = is_learned ? "learned" : "sinusoidal_concatenated";
    settings_[stack + "_max_positions"] =
        options_.count_or(options_.has(most) ? most : "max_positions", kFairseqPositions, 1, kMaxPositions);
    if (!is_learned) settings_[stack + "_position_denominator"] = "d_model-2";
    else settings_["tensors"][is_decoder ? "target_positions" : "source_positions"] = stack + ".embed_positions.weight";
  }

  float version(const std::string& stack) const {
    const std::string name = stack + ".version";
    return model_.tensors.has(name) ? model_.tensors.vector(name, 1)[0] : 1.0f;
  }

  // Returns the dictionary's file.
  std::filesystem::path read_vocabulary(const std::string& side) {
    const std::string option = side + "_lang", setting = side + "_language";
    const bool is_given = model_.given.contains(setting) && model_.given[setting].is_text();
    const std::string language = is_given ? model_.given[setting].text() : task_.text_or(option, "");
    if (language.empty() || language.find('/') != std::string::npos) {
      throw Error(
          "{} is {}, expected a language, which names the dictionary dict.LANGUAGE.txt; set {} in a config.json next "
          "to it",
          task_.where(option), language.empty() ? "missing" : in_quotes(language), in_quotes(setting));
    }
    std::filesystem::path path = model_.file.parent_path() / ("dict." + language + ".txt");
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      throw Error(
          "{}: is missing; it has the {} vocabulary: copy it from the training's data folder", path.string(), side);
    }
    std::vector<std::string> texts = read_fairseq_dictionary(path);
    const std::string table = settings_["tensors"][side + "_embedding"].text();
    const std::vector<uint64_t> shape = model_.tensors.shape(table);
    if (shape.empty() || shape[0] < texts.size()) {
      throw Error("{}: has {} texts with the 4 that every dictionary begins with, but {} has shape {}", path.string(),
          texts.size(), model_.tensors.describe(table), shape_text(shape));
    }
    settings_[side + "_vocabulary"] = std::move(texts);
    settings_[setting] = language;
    return path;
  }

  // In older versions the projections were one matrix, and norms had numbers.
  LayerNames names() const {
    const bool is_fused = model_.tensors.has("encoder.layers.0.self_attn.in_proj_weight");
    const bool is_numbered = model_.tensors.has("encoder.layers.0.layer_norms.0.weight");
    const auto linear = [&](const char* name) { return is_fused ? nullptr : name; };
    const auto norm = [&](const char* number, const char* name) { return is_numbered ? number : name; };
    return {.cross_attention = "encoder_attn.",
        .query = linear("q_proj"),
        .key = linear("k_proj"),
        .value = linear("v_proj"),
        .inner = "fc1",
        .outer = "fc2",
        .encoder_self_norm = norm("layer_norms.0", "self_attn_layer_norm"),
        .decoder_self_norm = norm("layer_norms.0", "self_attn_layer_norm"),
        .cross_norm = norm("layer_norms.1", "encoder_attn_layer_norm"),
        .encoder_last_norm = norm("layer_norms.1", "final_layer_norm"),
        .decoder_last_norm = norm("layer_norms.2", "final_layer_norm"),
        .final_norm = "layer_norm",
        .has_no_effect = changes_nothing};
  }

  const SavedModel& model_;
  const bool is_args_;
  const Config options_, task_;
  Value settings_;
};
}  // namespace

const Toolkit kFairseqToolkit = {"fairseq", KindId::kFairseq,
    [](const SavedModel& model) { return FairseqReader(model).read(); },
    {"fairseq's Transformers (`transformer`, `transformer_...`)",
        "`.pt` with its `dict.*.txt`; [details of fairseq checkpoints](converter/dialects/FAIRSEQ.md)"}};
}  // namespace goldcrest::converter
