// SPDX-License-Identifier: Apache-2.0
// Families of models, by Hugging Face's model_type and by the names of their tensors.
#include <string>

#include "sources/sniffing/sniff_kinds.h"

namespace goldcrest::converter {
namespace {

struct Family {
  std::string_view model_types;  // separated by spaces, also at both ends
  KindId kind;
  const char* name;
};

constexpr Family kFamilies[] = {
    {" bigbird_pegasus blenderbot-small encoder-decoder led longt5 mvp nllb-moe pegasus_x plbart "
     "prophetnet seamless_m4t seamless_m4t_v2 speech-encoder-decoder speech_to_text speecht5 switch_transformers "
     "t5gemma "
     "udop vision-encoder-decoder xlm-prophetnet ",
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
    for (size_t at = 0; (at = family.model_types.find(model_type, at)) != std::string_view::npos; ++at) {
      if (family.model_types[at - 1] == ' ' && family.model_types[at + model_type.size()] == ' ') return family.kind;
    }
  }
  return KindId::kUnknown;
}

std::string refused_families() {
  std::string names;
  for (const Family& family : kFamilies) {
    names += (names.empty() ? "" : ", ") + std::string(family.name);
  }
  return names;
}

KindId family_of_names(std::string_view names) {
  const auto has = [&](std::string_view part) { return names.find(part) != std::string_view::npos; };
  if (has("block.0.layer.0.SelfAttention.q.")) return has("EncDecAttention.q.") ? KindId::kT5 : KindId::kEncoderOnly;
  if (has("make_embedding.emb_luts.") || has("context_attn.linear_keys.")) return KindId::kOpenNmtPy;
  if (has("encoder.conv1.weight") && has("encoder_attn.q_proj.")) {
    return has("encoder.groupnorm.") ? KindId::kMoonshine : KindId::kWhisper;
  }
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
  if (has("linear1.weight") && (has("self_attn.in_proj_weight") || has("self_attn.q_proj_weight"))) {
    return has("multihead_attn.") ? KindId::kNnTransformer : KindId::kEncoderOnly;
  }
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
