// SPDX-License-Identifier: Apache-2.0
// Families of models, by Hugging Face's model_type and by the names of their tensors.
#include <string>

#include "sources/sniffing/sniff_kinds.h"

namespace goldcrest::converter {
namespace {

constexpr const char* kPlanned = "its family is planned; it cannot be converted yet";
constexpr const char* kUnplanned = "its family is not supported";

constexpr Kind kT5 = {Use::kOtherFamily, "this is a T5 model (T5, mT5, FLAN-T5, ByT5 ...)", kPlanned};
constexpr Kind kBart = {Use::kOtherFamily, "this is a BART model", kPlanned};
constexpr Kind kMBart = {Use::kOtherFamily, "this is an mBART model", kPlanned};
constexpr Kind kM2m = {Use::kOtherFamily, "this is an M2M-100 or NLLB model", kPlanned};
constexpr Kind kPegasus = {Use::kOtherFamily, "this is a Pegasus model", kPlanned};
constexpr Kind kWhisper = {Use::kOtherFamily, "this is a Whisper model", kPlanned};
constexpr Kind kMoonshine = {Use::kOtherFamily, "this is a Moonshine model", kPlanned};
constexpr Kind kOtherSeq2Seq = {Use::kOtherFamily, "this is another encoder-decoder of Hugging Face", kUnplanned};
constexpr Kind kEncoderOnly = {Use::kOtherFamily, "this is an encoder without a decoder (as BERT is)",
                               "Goldcrest runs encoder-decoder Transformers; it cannot be converted"};
constexpr Kind kDecoderOnly = {Use::kOtherFamily, "this is a decoder-only language model (as GPT and Llama are)",
                               "Goldcrest runs encoder-decoder Transformers; it cannot be converted"};

struct Family {
  std::string_view model_types;  // each between spaces
  const Kind* kind;
  const char* name;
};

constexpr Family kFamilies[] = {
    {" t5 mt5 umt5 byt5 ", &kT5, "T5"},
    {" bart ", &kBart, "BART"},
    {" mbart ", &kMBart, "mBART"},
    {" m2m_100 nllb ", &kM2m, "M2M-100, NLLB"},
    {" pegasus ", &kPegasus, "Pegasus"},
    {" whisper ", &kWhisper, "Whisper"},
    {" moonshine ", &kMoonshine, "Moonshine"},
    {" bigbird_pegasus blenderbot blenderbot-small encoder-decoder fsmt led longt5 mvp nllb-moe pegasus_x plbart "
     "prophetnet seamless_m4t seamless_m4t_v2 speech-encoder-decoder speech_to_text speecht5 switch_transformers "
     "t5gemma "
     "udop vision-encoder-decoder xlm-prophetnet ",
     &kOtherSeq2Seq, "other encoder-decoders of Hugging Face (LED, ProphetNet, SpeechT5 ...)"},
    {" albert bert big_bird camembert canine convbert deberta deberta-v2 distilbert electra ernie esm funnel hubert "
     "longformer mobilebert modernbert mpnet nomic_bert roberta roformer squeezebert vit wav2vec2 xlm-roberta "
     "xlm-roberta-xl xmod ",
     &kEncoderOnly, "encoder-only models (BERT)"},
    {" bloom codegen cohere cohere2 ctrl deepseek_v2 deepseek_v3 falcon gemma gemma2 gemma3 gemma3_text gemma3n gemma4 "
     "gemma4_text glm glm4 gpt2 gpt_bigcode gpt_neo gpt_neox gpt_oss gptj granite internlm3 llama llama4 mamba mamba2 "
     "ministral ministral3 mistral mixtral mpt nemotron olmo olmo2 olmo3 openai-gpt opt persimmon phi phi3 phimoe "
     "qwen2 qwen2_moe qwen3 qwen3_5 qwen3_moe qwen3_next rwkv smollm3 stablelm starcoder2 xglm xlnet ",
     &kDecoderOnly, "decoder-only models (GPT, Llama)"},
};

}  // namespace

const Kind* family_of_type(std::string_view model_type) {
  if (model_type.empty() || model_type.find(' ') != std::string_view::npos) return nullptr;
  for (const Family& family : kFamilies) {
    for (size_t at = 0; (at = family.model_types.find(model_type, at)) != std::string_view::npos; ++at) {
      if (family.model_types[at - 1] == ' ' && family.model_types[at + model_type.size()] == ' ') return family.kind;
    }
  }
  return nullptr;
}

std::string refused_families(bool planned) {
  std::string names;
  for (const Family& family : kFamilies) {
    const bool is_planned = std::string_view(family.kind->advice).find("planned") != std::string_view::npos;
    if (is_planned == planned) names += (names.empty() ? "" : ", ") + std::string(family.name);
  }
  return names;
}

const Kind* family_of_names(std::string_view names) {
  const auto has = [&](std::string_view part) { return names.find(part) != std::string_view::npos; };
  if (has("block.0.layer.0.SelfAttention.q.")) return has("EncDecAttention.q.") ? &kT5 : &kEncoderOnly;
  if (has("make_embedding.emb_luts.") || has("context_attn.linear_keys.")) return &kOpenNmtPy;
  if (has("encoder.conv1.weight") && has("encoder_attn.q_proj.")) return &kWhisper;
  if (has("encoder.blocks.0.attn.query.") && has("decoder.token_embedding.")) return &kWhisper;
  if (has("model.decoder.layers.0.encoder_attn.")) {
    const bool has_final_norm = has("model.encoder.layer_norm.");
    if (has("model.encoder.layernorm_embedding.")) return has_final_norm ? &kMBart : &kBart;
    if (has_final_norm) return has("final_logits_bias") ? &kPegasus : &kM2m;
    return &kMarianTensors;
  }
  if (has("self_attn.linears.0.") && has("src_attn.linears.0.")) return &kAnnotatedTensors;
  if (has("encoder_attention.fc_q.") && has("positionwise_feedforward.fc_1.")) return &kTrevettTensors;
  if (has("src_tok_emb.embedding.") && has("tgt_tok_emb.embedding.") && has("multihead_attn.")) return &kSeq2SeqTensors;
  if (has("linear1.weight") && (has("self_attn.in_proj_weight") || has("self_attn.q_proj_weight"))) {
    return has("multihead_attn.") ? &kNnTransformer : &kEncoderOnly;
  }
  const bool attends_across = has("crossattention.") || has("encoder_attn.");
  if (attends_across) return nullptr;
  for (const std::string_view part :
       {"attention.self.query.weight", "attention.q_lin.weight", "full_layers.0.attention."})
    if (has(part)) return &kEncoderOnly;
  for (const std::string_view part : {"attn.c_attn.weight", "layers.0.self_attn.q_proj.", "attention.query_key_value.",
                                      "layers.0.self_attn.qkv_proj.", "layers.0.attention.wq."})
    if (has(part)) return &kDecoderOnly;
  return nullptr;
}

}  // namespace goldcrest::converter
