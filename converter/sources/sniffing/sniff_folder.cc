// SPDX-License-Identifier: Apache-2.0
// Identifies a folder: the weights in it, the model that its config.json names, or a list of what it has instead.
#include <algorithm>
#include <string>
#include "host/wording.h"
#include "sources/sniffing/peek.h"
#include "sources/sniffing/sniff.h"
#include "sources/sniffing/sniff_kinds.h"

namespace goldcrest::converter {
namespace {
namespace fs = std::filesystem;
using Extensions = std::vector<std::string>;

constexpr const char* kLookedFor =
    "model.safetensors, pytorch_model.bin, an index.json of their shards, or one other .safetensors, .pt, .pth, .bin "
    "or .npz file";

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::is_symlink(path, error) || fs::exists(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<fs::path> files_with(const fs::path& folder, const Extensions& extensions) {
  std::vector<fs::path> files;
  for (const std::string& name : names_in(folder)) {
    const std::string extension = fs::path(name).extension().string();
    if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end() && !is_folder(folder / name))
      files.push_back(folder / name);
  }
  return files;
}

// Firefox stores its models next to their shortlists, which are .bin files too.
std::vector<fs::path> without_shortlists(std::vector<fs::path> files) {
  constexpr uint64_t kHeadBytes = 16;
  std::erase_if(files,
      [](const fs::path& file) { return kind_of_head(Peek(file).text(0, kHeadBytes)) == KindId::kMarianShortlist; });
  return files;
}

// Returns the first file that is refused; unknown if there is none or if some file has weights.
Sniffed first_refused(const std::vector<fs::path>& files) {
  constexpr size_t kMost = 16;
  Sniffed result;
  for (size_t i = 0; i < std::min(files.size(), kMost); ++i) {
    Sniffed sniffed = sniff_file(files[i]);
    if (sniffed.use == Use::kConvert || sniffed.use == Use::kOtherFamily) return {};
    if (result.use == Use::kUnknown) result = std::move(sniffed);
  }
  return result;
}

std::string contents(const fs::path& folder) {
  constexpr size_t kMost = 8;
  const std::vector<std::string> names = names_in(folder);
  return names.empty() ? "it is empty" : "it holds " + list_in_quotes(names, kMost);
}

// Returns a folder inside this one that has a checkpoint, or "".
std::string checkpoint_below(const fs::path& folder) {
  for (const std::string& name : names_in(folder))
    if (is_folder(folder / name) && is_there(folder / name / "config.json") && !find_weights(folder / name).empty())
      return name;
  return "";
}

Sniffed without_weights(const fs::path& folder, const std::vector<fs::path>& others) {
  Sniffed result = {KindId::kNoWeights, Use::kNoWeights, folder, "holds no weights",
      std::string("expected ") + kLookedFor + "; " + contents(folder)};
  if (!others.empty()) {
    result.description = "holds weights only in formats that are not read";
    result.advice += "; save the model with PyTorch";
  } else if (!is_there(folder / "config.json")) {
    result.where = folder / "config.json";
    result.description = "is missing";
    result.advice =
        "the folder holds no weights either: expected config.json (of a PyTorch nn.Transformer: "
        "converter/dialects/NN_TRANSFORMER.md), and " +
        std::string(kLookedFor) + "; " + contents(folder);
  }
  const std::string below = checkpoint_below(folder);
  if (!below.empty()) result.advice += "; there is a checkpoint in " + in_quotes(below) + ": give that folder";
  return result;
}
}  // namespace

std::vector<std::string> names_in(const fs::path& folder) {
  constexpr size_t kMost = 1000;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end && names.size() < kMost;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<fs::path> find_weights(const fs::path& folder) {
  for (const char* name :
      {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"})
    if (is_there(folder / name)) return {folder / name};
  for (const Extensions& extensions : {Extensions{".safetensors"}, {".pt", ".pth", ".bin"}, {".npz"}}) {
    std::vector<fs::path> files = without_shortlists(files_with(folder, extensions));
    if (!files.empty()) return files;
  }
  return files_with(folder, {".bin"});
}

Sniffed sniff(const fs::path& path) {
  if (!is_folder(path)) return sniff_file(path);
  const fs::path unpacked = path / "model" / "model.bin";
  if (is_there(path / "metadata.json") && is_there(unpacked)) return sniff_file(unpacked);
  const std::vector<fs::path> weights = find_weights(path);
  Sniffed refused = first_refused(weights);
  if (refused.use != Use::kUnknown) return refused;

  const fs::path config = path / "config.json";
  const KindId family = family_of_type(json_text_of(Peek(config).text(0, kMaxPeekBytes), "model_type"));
  if (family != KindId::kUnknown) return sniffed_as(family, config);
  if (weights.size() == 1) return sniff_file(weights[0]);
  if (!weights.empty()) return sniffed_as(KindId::kUnknown, path);

  const std::vector<fs::path> others =
      files_with(path, {".npz", ".onnx", ".gguf", ".ggml", ".h5", ".keras", ".tflite", ".ckpt", ".pb", ".index", ".zip",
                           ".tar", ".gz", ".tgz", ".nemo", ".pt2", ".pkl", ".msgpack", ".ot"});
  Sniffed other = first_refused(others);
  return other.use != Use::kUnknown ? other : without_weights(path, others);
}

namespace {
struct Family {
  std::string_view model_types;  // separated by spaces, also at both ends
  KindId kind;
  const char* name;
};

constexpr Family kFamilies[] = {
    {" bigbird_pegasus blenderbot-small encoder-decoder led longt5 mvp nllb-moe pegasus_x plbart prophetnet "
     "seamless_m4t seamless_m4t_v2 speech-encoder-decoder speech_to_text speecht5 switch_transformers t5gemma udop "
     "xlm-prophetnet ",
        KindId::kOtherSeq2Seq, "other encoder-decoders of Hugging Face (LED, ProphetNet, SpeechT5 ...)"},
    {" albert bert big_bird camembert canine convbert deberta deberta-v2 distilbert electra ernie esm funnel hubert "
     "longformer mobilebert modernbert mpnet nomic_bert roberta roformer squeezebert vit wav2vec2 xlm-roberta "
     "xlm-roberta-xl xmod ",
        KindId::kEncoderOnly, "encoder-only models (BERT)"},
    {" bloom codegen cohere cohere2 ctrl deepseek_v2 deepseek_v3 falcon gemma gemma2 gemma3 gemma3_text gemma3n gemma4 "
     "gemma4_text glm glm4 gpt2 gpt_bigcode gpt_neo gpt_neox gpt_oss gptj granite internlm3 llama llama4 mamba mamba2 "
     "ministral ministral3 mistral mixtral mpt nemotron olmo olmo2 olmo3 openai-gpt opt persimmon phi phi3 phimoe "
     "qwen2 qwen2_moe qwen3 qwen3_5 qwen3_moe qwen3_next rwkv smollm3 stablelm starcoder2 xglm xlnet ",
        KindId::kDecoderOnly, "decoder-only models (GPT, Llama)"},
};
}  // namespace

KindId family_of_type(std::string_view model_type) {
  if (model_type.empty() || model_type.find(' ') != std::string_view::npos) return KindId::kUnknown;
  for (const Family& family : kFamilies) {
    for (size_t at = 0; (at = family.model_types.find(model_type, at)) != std::string_view::npos; ++at)
      if (family.model_types[at - 1] == ' ' && family.model_types[at + model_type.size()] == ' ') return family.kind;
  }
  return KindId::kUnknown;
}

std::string refused_families() {
  std::string names;
  for (const Family& family : kFamilies) names += (names.empty() ? "" : ", ") + std::string(family.name);
  return names;
}

KindId family_of_names(std::string_view names) {
  const auto has = [&](std::string_view part) { return names.find(part) != std::string_view::npos; };
  if (has("block.0.layer.0.SelfAttention.q.")) return has("EncDecAttention.q.") ? KindId::kT5 : KindId::kEncoderOnly;
  if (has("make_embedding.emb_luts.") || has("context_attn.linear_keys.")) return KindId::kOpenNmtPy;
  if (has("encoder.conv1.weight") && has("encoder_attn.q_proj."))
    return has("encoder.groupnorm.") ? KindId::kMoonshine : KindId::kWhisper;
  if (has("encoder.blocks.0.attn.query.") && has("decoder.token_embedding.")) return KindId::kOpenAiWhisper;
  if (has("model.decoder.layers.0.encoder_attn.")) {
    const bool has_final_norm = has("model.encoder.layer_norm.");
    if (has("model.encoder.layernorm_embedding.")) return has_final_norm ? KindId::kMBart : KindId::kBart;
    if (has_final_norm) return has("final_logits_bias") ? KindId::kPegasus : KindId::kM2m;
    return KindId::kMarianTensors;
  }
  if (has("self_attn.linears.0.") && has("src_attn.linears.0.")) return KindId::kAnnotatedTensors;
  if (has("encoder_attention.fc_q.") && has("positionwise_feedforward.fc_1.")) return KindId::kTrevettTensors;
  if (has("src_tok_emb.embedding.") && has("tgt_tok_emb.embedding.") && has("multihead_attn."))
    return KindId::kSeq2SeqTensors;
  if (has("linear1.weight") && (has("self_attn.in_proj_weight") || has("self_attn.q_proj_weight")))
    return has("multihead_attn.") ? KindId::kNnTransformer : KindId::kEncoderOnly;
  const bool attends_across = has("crossattention.") || has("encoder_attn.");
  if (attends_across) return KindId::kUnknown;
  for (const std::string_view part :
      {"attention.self.query.weight", "attention.q_lin.weight", "full_layers.0.attention."})
    if (has(part)) return KindId::kEncoderOnly;
  for (const std::string_view part : {"attn.c_attn.weight", "layers.0.self_attn.q_proj.", "attention.query_key_value.",
           "layers.0.self_attn.qkv_proj.", "layers.0.attention.wq."})
    if (has(part)) return KindId::kDecoderOnly;
  return KindId::kUnknown;
}
}  // namespace goldcrest::converter
