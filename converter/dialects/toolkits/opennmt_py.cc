// SPDX-License-Identifier: Apache-2.0
// OpenNMT-py's Transformer (onmt/encoders/transformer.py, decoders/transformer.py, modules/embeddings.py and
// models/model_saver.py at 3.5.1 and 2.3.0): pre-norm, absolute positions, vocabularies in the checkpoint.
#include <algorithm>
#include "base/bounds.h"
#include "dialects/toolkits/toolkit.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kUsualHeads = 8;
// The checkpoint's table has 5,000 positions; we keep as many as CTranslate2 reads of a source.
constexpr uint64_t kOpenNmtPositions = 1024;
// The defaults of translate.py.
constexpr uint64_t kOpenNmtBeams = 5, kOpenNmtTokens = 250;

constexpr const char* kGated = "gated feed-forward networks (w_3) are not supported";
constexpr AllowedOption kAllowedByOpenNmt[] = {{"model_type", R"(["text"])", ""},
    {"model_task", R"(["seq2seq"])", "language models are not supported"}, {"encoder_type", R"(["transformer"])", ""},
    {"decoder_type", R"(["transformer"])", ""}, {"self_attn_type", R"(["scaled-dot", "scaled-dot-flash"])", ""},
    {"max_relative_positions", "[0]",
        "relative positions (above 0), rotary positions (-1) and ALiBi (-2) are not supported"},
    {"relative_positions_buckets", "[0]", "relative attention biases are not supported"},
    {"position_encoding", "[true]", "a model without positions is not supported"},
    {"position_encoding_type", R"(["SinusoidalInterleaved", "SinusoidalConcat"])", ""},
    {"pos_ffn_activation_fn", R"(["relu", "gelu"])", kGated},
    {"layer_norm", R"(["standard"])", "RMS norms are not supported"},
    {"parallel_residual", "[false]", "parallel residuals are not supported"},
    {"multiquery", "[false]", "multi-query attention is not supported"},
    {"sliding_window", "[0]", "a sliding window is not supported"},
    {"num_experts", "[0]", "mixtures of experts are not supported"},
    {"n_src_feats", "[0]", "source features are not supported"},
    {"copy_attn", "[false]", "copying from the source is not supported"}, {"generator_function", R"(["softmax"])", ""},
    {"lora_layers", "[[]]", "merge the LoRA weights first (tools/lora_weights.py)"},
    {"lora_embedding", "[false]", "merge the LoRA weights first (tools/lora_weights.py)"},
    {"quant_type", R"([""])", "weights in OpenNMT-py's quantized layers are not supported"}};

bool changes_no_layer(const std::string&) { return false; }

// Returns the list of tokens in `side` of the vocabulary. Version 3 has the list itself, earlier versions torchtext's
// objects.
const Value* tokens_of(const Value& vocabulary, const char* side) {
  const Value* entry = nullptr;
  if (vocabulary.is_map() && vocabulary.contains(side)) entry = &vocabulary[side];
  if (vocabulary.is_list()) {  // a list of [name, vocabulary], in the oldest checkpoints
    for (const Value& pair : vocabulary)
      if (pair.is_list() && pair.size() == 2 && pair[0] == side) entry = &pair[1];
  }
  if (entry == nullptr || entry->is_list()) return entry;
  const auto member = [](const Value* value, const char* key) -> const Value* {
    return value != nullptr && value->is_map() && value->contains(key) ? &(*value)[key] : nullptr;
  };
  if (const Value* fields = member(entry, "fields"); fields != nullptr && fields->is_list()) {
    const bool is_one = fields->size() == 1 && (*fields)[0].is_list() && (*fields)[0].size() == 2;
    entry = is_one ? &(*fields)[0][1] : nullptr;
  }
  if (const Value* of_field = member(entry, "vocab")) entry = of_field;
  return member(entry, "itos");
}

class OpenNmtPyReader {
 public:
  explicit OpenNmtPyReader(const SavedModel& model)
      : model_(model), options_(part("opt"), model.file.string() + ": opt", model.file), vocabulary_(part("vocab")) {}

  ToolkitModel read() {
    check_options(options_, kAllowedByOpenNmt);
    const uint32_t heads = options_.count_or("heads", kUsualHeads, 1, kMaxHeads);
    settings_ = {{"nhead", heads}, {"activation", options_.text_or("pos_ffn_activation_fn", "relu")},
        {"norm_first", true}, {"final_norm", true}, {"layer_norm_eps", options_.number_or("norm_eps", 1e-6, 1e-12, 1)},
        {"scale_embedding", true}, {"max_positions", kOpenNmtPositions}, {"add_source_bos", false},
        {"add_source_eos", false}, {"beam_size", kOpenNmtBeams}, {"length_penalty", 1}, {"max_length", kOpenNmtTokens}};
    read_positions();
    read_sizes();
    name_tensors();
    for (const char* side : {"source", "target"}) read_vocabulary(side);
    settings_["decoder_start_token"] = start_token();
    return {std::move(settings_), names(), {}, {}};
  }
 private:
  const Value& part(const char* key) const {
    const auto found = model_.saved.find(key);
    if (found == nullptr || !(found->is_map() || found->is_list())) {
      throw Error(
          "{}: has no {}, which OpenNMT-py saves with the weights; give the checkpoint that it wrote itself, with "
          "-save_format pytorch",
          model_.file.string(), in_quotes(key));
    }
    return *found;
  }

  void read_positions() {
    const bool is_interleaved =
        options_.text_or("position_encoding_type", "SinusoidalInterleaved") == "SinusoidalInterleaved";
    settings_["position_encoding"] = is_interleaved ? "sinusoidal_interleaved" : "sinusoidal_concatenated";
    settings_["position_denominator"] = is_interleaved ? "d_model" : "d_model-2";
  }

  // Reads the sizes that the tensors determine too; options that give them must agree.
  void read_sizes() {
    const auto copy = [&](const char* setting, std::initializer_list<const char*> options) {
      for (const char* option : options) {
        const Value* const value = options_.find(option);
        if (value == nullptr || !value->is_natural() || value->natural() == 0) continue;
        settings_[setting] = *value;
        return;
      }
    };
    copy("num_encoder_layers", {"layers", "enc_layers"});
    copy("num_decoder_layers", {"layers", "dec_layers"});
    copy("dim_feedforward", {"transformer_ff"});
    copy("d_model", {"hidden_size", "rnn_size", "enc_hid_size", "enc_rnn_size"});
  }

  void name_tensors() {
    const bool is_sequential = model_.tensors.has("generator.0.weight");
    settings_["tensors"] = {{"encoder", "encoder."}, {"decoder", "decoder."},
        {"source_embedding", "encoder.embeddings.make_embedding.emb_luts.0.weight"},
        {"target_embedding", "decoder.embeddings.make_embedding.emb_luts.0.weight"},
        {"output_projection", is_sequential ? "generator.0" : "generator"}};
  }

  void read_vocabulary(const std::string& side) {
    const Value* const tokens = tokens_of(vocabulary_, side == "source" ? "src" : "tgt");
    if (tokens == nullptr) {
      throw Error(
          "{}: the {} vocabulary is not a list of tokens, nor torchtext's object of one; save the model with "
          "OpenNMT-py 3 (tools/convertv2_v3.py)",
          model_.file.string(), side);
    }
    settings_[side + "_vocabulary"] = *tokens;
    settings_[side + "_unk_token"] = "<unk>";
    for (const auto& [key, text] : {std::pair("_pad_token", "<blank>"), {"_bos_token", "<s>"}, {"_eos_token", "</s>"}})
      if (std::find(tokens->begin(), tokens->end(), text) != tokens->end()) settings_[side + key] = text;
  }

  std::string start_token() const {
    const bool is_told = vocabulary_.is_map() && vocabulary_.contains("decoder_start_token") &&
                         vocabulary_["decoder_start_token"].is_text();
    return is_told ? vocabulary_["decoder_start_token"].text() : "<s>";
  }

  // Norms were once a module of OpenNMT-py's own, whose parameters had other names.
  LayerNames names() const {
    const bool is_old = model_.tensors.has("encoder.layer_norm.a_2");
    return {.encoder_layers = "transformer.",
        .decoder_layers = "transformer_layers.",
        .cross_attention = "context_attn.",
        .query = "linear_query",
        .key = "linear_keys",
        .value = "linear_values",
        .attention_out = "final_linear",
        .inner = "feed_forward.w_1",
        .outer = "feed_forward.w_2",
        .encoder_self_norm = "layer_norm",
        .decoder_self_norm = "layer_norm_1",
        .cross_norm = "layer_norm_2",
        .encoder_last_norm = "feed_forward.layer_norm",
        .decoder_last_norm = "feed_forward.layer_norm",
        .final_norm = "layer_norm",
        .gamma = is_old ? ".a_2" : ".weight",
        .beta = is_old ? ".b_2" : ".bias",
        .has_no_effect = changes_no_layer};
  }

  const SavedModel& model_;
  const Config options_;
  const Value& vocabulary_;
  Value settings_;
};
}  // namespace

const Toolkit kOpenNmtPyToolkit = {"opennmt_py", KindId::kOpenNmtPy,
    [](const SavedModel& model) { return OpenNmtPyReader(model).read(); },
    {"OpenNMT-py's Transformers", "`.pt`; [details of OpenNMT-py checkpoints](converter/dialects/OPENNMT_PY.md)"}};
}  // namespace goldcrest::converter
