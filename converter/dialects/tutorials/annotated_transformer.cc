// SPDX-License-Identifier: Apache-2.0
// The Annotated Transformer (Rush et al., nlp.seas.harvard.edu/annotated-transformer). Its norms divide by the unbiased
// deviation s + epsilon. With the biased variance v of n values, s = sqrt(v n / (n - 1)). So gamma sqrt((n - 1) / n)
// gives a norm that departs by epsilon / s of its value. evaluate/deviation.h checks this bound on the rows of sample
// inputs.
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/tutorials/tutorial.h"

namespace goldcrest::converter {

const Tutorial kAnnotatedTransformer = {
    .model_type = "annotated_transformer",
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

const ConfigFamily kAnnotatedFamily = {
    "annotated_transformer",
    "the Annotated Transformer",
    [](const Checkpoint& checkpoint) { return load_named(checkpoint, kAnnotatedTransformer.names); },
    nn_transformer_tensors,
    name_nn_transformer_tensors,
    &kAnnotatedTransformer,
    {"the Annotated Transformer of Harvard NLP", kTutorialsFrom}};

}  // namespace goldcrest::converter
