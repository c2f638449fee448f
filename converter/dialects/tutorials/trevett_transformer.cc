// SPDX-License-Identifier: Apache-2.0
// Ben Trevett's tutorial 6, "Attention is All You Need" (github.com/bentrevett/pytorch-seq2seq): post-norm, learned
// positions, no norms after the stacks.
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/tutorials/tutorial.h"

namespace goldcrest::converter {

const Tutorial kTrevettTransformer = {
    .model_type = "trevett_transformer",
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

const ConfigFamily kTrevettFamily = {
    "trevett_transformer",
    "Ben Trevett's tutorial 6",
    [](const Checkpoint& checkpoint) { return load_named(checkpoint, kTrevettTransformer.names); },
    nn_transformer_tensors,
    name_nn_transformer_tensors,
    &kTrevettTransformer,
    {"Ben Trevett's tutorial 6, \"Attention is All You Need\"", kTutorialsFrom}};

}  // namespace goldcrest::converter
