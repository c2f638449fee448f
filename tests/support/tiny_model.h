// SPDX-License-Identifier: Apache-2.0
// Small models of any architecture with seeded random weights. Unlike those of random_spec.h, they are scaled so that
// activations stay near 1 in every layer and int8 noise stays small.
#pragma once

#include "converter/file/write.h"
#include "converter/spec/spec.h"

namespace goldcrest::test {
using converter::FileImage;
using converter::ModelSpec;

struct TinyStack {
  uint32_t d_model = 24, d_ff = 40, n_heads = 2, d_head = 12, n_layers = 1, positions = 24;
  converter::Activation activation = converter::Activation::kRelu;
  bool pre_norm = false, embedding_norm = false, final_norm = false;
  uint32_t n_recurrent = 0;  // number of recurrent layers, the last ones; decoder only
  bool gated = false, centred = true;
  uint32_t bias_tables = 0;  // 0: none, 1: all layers share one, 2: each has its own; then no positions are used
};

struct TinyOptions {
  uint64_t seed = 1;
  TinyStack encoder, decoder;
  uint32_t source_vocab_size = 29, target_vocab_size = 37;
  bool tied = false;      // the projection is the decoder's embedding
  float end_bias = 1.5f;  // makes the end token (id 0) more likely than others
};

// decoder_start_id is the last id of the target vocabulary, which is suppressed; end_id is 0.
ModelSpec tiny_spec(const TinyOptions& options);

// Gives a model tokenizers. The first and the last id are control pieces, 1 is unknown, the others are letters, of two
// bytes in the target. Sources end with id 0.
void add_tokenizers(converter::TokenizerKind source_kind, ModelSpec& spec);

// A seeded shortlist: each source id has a few ids of the target, some pairs and triples of source ids have more. It
// leaves short sources fewer ids than the target's vocabulary has.
void add_shortlist(uint64_t seed, ModelSpec& spec);

// Two models that differ in everything: the first has odd widths, the second several layers.
TinyOptions odd_tiny_options();
TinyOptions deep_tiny_options();

// Recurrent layers in the decoder: two of three, in odd widths; and all, as in Marian's students.
TinyOptions mixed_tiny_options();
TinyOptions student_tiny_options();

// As T5: RMS norms, gates, biases that all layers of a stack share, or (umT5) that each layer has.
TinyOptions t5_tiny_options();
TinyOptions umt5_tiny_options();

// Gates in both stacks, of odd widths and with different activations.
TinyOptions gated_tiny_options();

// The file of a spec, without a self-test.
FileImage tiny_file(const ModelSpec& spec, Layout layout = Layout::kN16K4, const goldcrest_limits& limits = {},
    converter::Weights weights = converter::Weights::kInt8);

// The int8 file of a spec with fine inputs in every matrix, or in those that goldcrest-convert --fine would choose. The
// matrices that --refine would choose have a second one.
FileImage fine_tiny_file(const ModelSpec& spec, const goldcrest_limits& limits = {}, const std::string& fine = "all",
    const std::string& refine = "none");

// An int8 file in which the matrices of this name of --pack have 4 bits.
FileImage packed_tiny_file(const ModelSpec& spec, Layout layout = Layout::kN16K4, const goldcrest_limits& limits = {},
    const std::string& packed = "all", const std::string& fine = "none");
}  // namespace goldcrest::test
