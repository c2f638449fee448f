// SPDX-License-Identifier: Apache-2.0
// The Seq2SeqTransformer of PyTorch's tutorial on translation. It contains an nn.Transformer, and tables with names of
// their own.
#include "dialects/nn_transformer/nn_transformer.h"
#include "dialects/tutorials/tutorial.h"

namespace goldcrest::converter {

const Tutorial kSeq2SeqTransformer = {
    .model_type = "seq2seq_transformer",
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

const ConfigFamily kSeq2SeqFamily = {
    "seq2seq_transformer",
    "PyTorch's translation tutorial",
    [](const Checkpoint& checkpoint) { return load_named(checkpoint, kSeq2SeqTransformer.names); },
    nn_transformer_tensors,
    name_nn_transformer_tensors,
    &kSeq2SeqTransformer,
    {"`Seq2SeqTransformer` of PyTorch's translation tutorial", kTutorialsFrom}};

}  // namespace goldcrest::converter
