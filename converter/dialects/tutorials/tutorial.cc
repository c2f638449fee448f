// SPDX-License-Identifier: Apache-2.0
#include "dialects/tutorials/tutorial.h"
#include <algorithm>
#include "base/bounds.h"
#include "dialects/nn_transformer/nn_transformer.h"
#include "sources/values/json_text.h"

namespace goldcrest::converter {
namespace {
// Returns the prefix of all the model's names: "" or, for instance, "model.".
std::string prefix_of(const Tutorial& tutorial, const TensorReader& tensors) {
  const std::string first = tutorial.module + ("encoder." + tutorial.names.first("encoder"));
  for (const std::string& name : tensors.names())
    if (name == first || name.ends_with("." + first)) return name.substr(0, name.size() - first.size());
  return "";
}
}  // namespace

const Tutorial* tutorial_of(KindId kind) {
  for (const Tutorial* tutorial : {&kAnnotatedTransformer, &kSeq2SeqTransformer, &kTrevettTransformer})
    if (kind == tutorial->kind) return tutorial;
  return nullptr;
}

Value tutorial_settings(const Tutorial& tutorial, const TensorReader& tensors) {
  const std::string prefix = prefix_of(tutorial, tensors);
  Value settings = parse_json(tutorial.settings, kSettingsDepth, tutorial.model_type);
  settings["tensors"] = parse_json(tutorial.tensors, kSettingsDepth, tutorial.model_type);
  for (Value& name : settings["tensors"].items()) name = prefix + name.text();
  if (tutorial.sinusoids != nullptr && tensors.has(prefix + tutorial.sinusoids)) {
    std::vector<uint64_t> shape = tensors.shape(prefix + tutorial.sinusoids);  // [1, rows, d_model], [rows, 1, d_model]
    if (!shape.empty()) shape.pop_back();
    if (!shape.empty())
      settings["max_positions"] = std::min<uint64_t>(*std::max_element(shape.begin(), shape.end()), kMaxPositions);
  }
  return settings;
}

const Tutorial kAnnotatedTransformer = {.model_type = "annotated_transformer",
    .kind = KindId::kAnnotatedTensors,
    .module = "",
    .settings = R"({"activation": "relu", "norm_first": true, "layer_norm_eps": 1e-6, "scale_embedding": true,
                    "position_encoding": "sinusoidal_interleaved", "final_norm": true, "add_source_bos": true,
                    "add_source_eos": true})",
    .tensors = R"({"source_embedding": "src_embed.0.lut.weight", "target_embedding": "tgt_embed.0.lut.weight",
                   "output_projection": "generator.proj"})",
    .sinusoids = "src_embed.1.pe",
    .start = R"("<s>", id 0)",
    .end = R"("</s>", id 1)",
    .padding = R"("<blank>", id 2)",
    .unknown = R"("<unk>", id 3)",
    .names = {.cross_attention = "src_attn.",
        .query = "linears.0",
        .key = "linears.1",
        .value = "linears.2",
        .attention_out = "linears.3",
        .inner = "feed_forward.w_1",
        .outer = "feed_forward.w_2",
        .encoder_self_norm = "sublayer.0.norm",
        .decoder_self_norm = "sublayer.0.norm",
        .cross_norm = "sublayer.1.norm",
        .encoder_last_norm = "sublayer.1.norm",
        .decoder_last_norm = "sublayer.2.norm",
        .gamma = ".a_2",
        .beta = ".b_2",
        .divides_by_deviation = true}};

const ConfigFamily kAnnotatedFamily = {"annotated_transformer", "the Annotated Transformer",
    [](const Checkpoint& checkpoint) { return load_named(checkpoint, kAnnotatedTransformer.names); },
    nn_transformer_tensors, name_nn_transformer_tensors, &kAnnotatedTransformer,
    {"the Annotated Transformer of Harvard NLP", kTutorialsFrom}};

const Tutorial kSeq2SeqTransformer = {.model_type = "seq2seq_transformer",
    .kind = KindId::kSeq2SeqTensors,
    .module = "transformer.",
    .settings = R"({"activation": "relu", "norm_first": false, "layer_norm_eps": 1e-5, "scale_embedding": true,
                    "position_encoding": "sinusoidal_interleaved", "final_norm": true, "add_source_bos": true,
                    "add_source_eos": true})",
    .tensors = R"({"source_embedding": "src_tok_emb.embedding.weight",
                   "target_embedding": "tgt_tok_emb.embedding.weight", "output_projection": "generator"})",
    .sinusoids = "positional_encoding.pos_embedding",
    .start = R"("<bos>", id 2)",
    .end = R"("<eos>", id 3)",
    .padding = R"("<pad>", id 1)",
    .unknown = R"("<unk>", id 0)",
    .names = {}};

const ConfigFamily kSeq2SeqFamily = {"seq2seq_transformer", "PyTorch's translation tutorial",
    [](const Checkpoint& checkpoint) { return load_named(checkpoint, kSeq2SeqTransformer.names); },
    nn_transformer_tensors, name_nn_transformer_tensors, &kSeq2SeqTransformer,
    {"`Seq2SeqTransformer` of PyTorch's translation tutorial", kTutorialsFrom}};

const Tutorial kTrevettTransformer = {.model_type = "trevett_transformer",
    .kind = KindId::kTrevettTensors,
    .module = "",
    .settings = R"({"activation": "relu", "norm_first": false, "layer_norm_eps": 1e-5, "scale_embedding": true,
               "position_encoding": "learned", "final_norm": false, "add_source_bos": true, "add_source_eos": true})",
    .tensors = R"({"source_embedding": "encoder.tok_embedding.weight",
                   "target_embedding": "decoder.tok_embedding.weight", "output_projection": "decoder.fc_out",
                   "source_positions": "encoder.pos_embedding.weight",
                   "target_positions": "decoder.pos_embedding.weight"})",
    .sinusoids = nullptr,
    .start = R"("<sos>", id 2)",
    .end = R"("<eos>", id 3)",
    .padding = R"("<pad>", id 1)",
    .unknown = R"("<unk>", id 0)",
    .names = {.self_attention = "self_attention.",
        .cross_attention = "encoder_attention.",
        .query = "fc_q",
        .key = "fc_k",
        .value = "fc_v",
        .attention_out = "fc_o",
        .inner = "positionwise_feedforward.fc_1",
        .outer = "positionwise_feedforward.fc_2",
        .encoder_self_norm = "self_attn_layer_norm",
        .decoder_self_norm = "self_attn_layer_norm",
        .cross_norm = "enc_attn_layer_norm",
        .encoder_last_norm = "ff_layer_norm",
        .decoder_last_norm = "ff_layer_norm"}};

const ConfigFamily kTrevettFamily = {"trevett_transformer", "Ben Trevett's tutorial 6",
    [](const Checkpoint& checkpoint) { return load_named(checkpoint, kTrevettTransformer.names); },
    nn_transformer_tensors, name_nn_transformer_tensors, &kTrevettTransformer,
    {"Ben Trevett's tutorial 6, \"Attention is All You Need\"", kTutorialsFrom}};
}  // namespace goldcrest::converter
