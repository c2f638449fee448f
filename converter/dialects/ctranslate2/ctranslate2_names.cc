// SPDX-License-Identifier: Apache-2.0
// The variables that a model.bin may have (python/ctranslate2/specs at 0d8bcd36, and src/layers, which reads them).
// Unknown variables are refused.
#include <algorithm>
#include "dialects/ctranslate2/ctranslate2.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
struct Unsupported {
  const char *part, *description;  // part: of a variable's name
};

// The name of Whisper's specification, and a part of the names of its stem.
constexpr const char *kWhisperSpec = "WhisperSpec", *kConvolution = "conv";

constexpr Unsupported kUnsupported[] = {
    {"relative_position_", "relative positions are"},
    {"relative_asymmetric_", "relative positions are"},
    {"relative_left_", "relative positions are"},
    {"relative_right_", "relative positions are"},
    {"relative_attention_", "relative attention biases are"},
    {"rotary_", "rotary positions are"},
    {"max_position_embeddings", "rotary positions are"},
    {"num_heads_kv", "multi-query attention is"},
    {"multi_query/", "multi-query attention is"},
    {"head_dim", "heads of another width than the model's over their number are"},
    {"linear_0_noact", "a gated feed-forward network is"},
    {"/q_norm/", "norms of queries, keys or values are"},
    {"/k_norm/", "norms of queries, keys or values are"},
    {"/v_norm/", "norms of queries, keys or values are"},
    {"project_in/", "projections around a stack are"},
    {"project_out/", "projections around a stack are"},
    {"scale_outputs", "a scale of the decoder's output is"},
    {"final_logit_softcapping", "capped logits are"},
    {"sliding_window", "a sliding window is"},
    {"input_layer_norm/", "norms on both sides of a block, and parallel residuals, are"},
    {"post_attention_layer_norm/", "norms on both sides of a block, and parallel residuals, are"},
    {"pre_feedforward_layer_norm/", "norms on both sides of a block, and parallel residuals, are"},
    {"post_feedforward_layer_norm/", "norms on both sides of a block, and parallel residuals, are"},
    {"shared_layer_norm/", "norms on both sides of a block, and parallel residuals, are"},
    {"external_pre_", "norms on both sides of a block, and parallel residuals, are"},
    {"external_post_", "norms on both sides of a block, and parallel residuals, are"},
    {"layer_norm_use_residual", "RMS norms are"},
    {"layer_scalar", "scaled layers are"},
    {"merged_encoder_attention", "self-attention and cross-attention in one are"},
    {"memory_kv/", "self-attention and cross-attention in one are"},
    {"weight_zero", "4-bit weights are"},
    {"encoder/embeddings_1/", "several words per position (source features) are"},
    {kConvolution, "convolutions are"},
};

// Flags that must be 0, and numbers that have no effect then.
constexpr Unsupported kFlags[] = {
    {"decoder/alibi", "ALiBi is"}, {"encoder/multi_query_attention", "multi-query attention is"}};
// Settings without effect here. They concern alignments, which Goldcrest gives for any layer, ALiBi, and the merging of
// several words per position. ctranslate2_config has read the others in place of a config.json.
constexpr const char* kWithoutEffect[] = {"alignment_layer", "alignment_heads", "embeddings_merge",
    "alibi_use_positive_positions", "scale_alibi", "unk_token", "bos_token", "eos_token", "with_source_bos",
    "with_source_eos", "with_target_bos", "user_decoder_start_tokens"};

constexpr const char* kConfigKeys[] = {"unk_token", "bos_token", "eos_token", "decoder_start_token", "add_source_bos",
    "add_source_eos", "layer_norm_epsilon", "multi_query_attention", "name", "license", "attribution", "_name_or_path",
    "alignment_heads", "lang_ids", "suppress_ids", "suppress_ids_begin"};

void refuse(const std::string& name, const std::string& where, bool may_have_convolutions) {
  const auto* const found = std::find_if(std::begin(kUnsupported), std::end(kUnsupported), [&](const Unsupported& u) {
    return ("/" + name + "/").find(u.part) != std::string::npos &&
           !(may_have_convolutions && std::string_view(u.part) == kConvolution);
  });
  if (found != std::end(kUnsupported)) throw Error("{}: {} not supported", where, found->description);
}
}  // namespace

bool is_whisper(const Config& scalars) { return scalars.text_or("spec", "") == kWhisperSpec; }

void refuse_unsupported(const TensorReader& tensors, const Config& scalars) {
  const bool may_have_convolutions = is_whisper(scalars);
  for (const std::string& key : scalars.keys()) refuse(key, scalars.where(key), may_have_convolutions);
  for (const Unsupported& flag : kFlags)
    if (scalars.count_or(flag.part, 0, 0, UINT32_MAX) != 0)
      throw Error("{} is set: {} not supported", scalars.where(flag.part), flag.description);
  for (const std::string& name : tensors.names()) {
    refuse(name, tensors.describe(name), may_have_convolutions);
    const std::string gamma = "/gamma";
    if (name.ends_with(gamma) && !tensors.has(name.substr(0, name.size() - gamma.size()) + "/beta"))
      throw Error("{}: has no beta next to it: RMS norms are not supported", tensors.describe(name));
  }
  if (!tensors.has("decoder/layer_0/attention/linear_0/weight")) {
    throw Error("{}: has no variable \"decoder/layer_0/attention/linear_0/weight\": this is not an encoder-decoder",
        scalars.path().string());
  }
}

void refuse_unread(const TensorReader& tensors, const Config& scalars, const Config& config) {
  for (const std::string& name : tensors.unused())
    throw Error("{} is not known, and may change the graph", tensors.describe(name));
  for (const std::string& key : scalars.unread()) {
    const std::string end = key.substr(key.rfind('/') + 1);
    if (std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), end) != std::end(kWithoutEffect)) continue;
    throw Error("{} is not known, and may change the graph", scalars.where(key));
  }
  const std::vector<std::string> known(std::begin(kConfigKeys), std::end(kConfigKeys));
  for (const std::string& key : config.unread()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw Error("{} is not known, and may change the graph{}", config.where(key), guess(key, known));
  }
}
}  // namespace goldcrest::converter
