// SPDX-License-Identifier: Apache-2.0
// Small models of any architecture with seeded random weights, scaled so that activations stay near 1 in every layer
// and int8 noise stays small, unlike random_spec.h's.
#pragma once

#include "converter/file/write.h"
#include "converter/spec/spec.h"

namespace goldcrest::test {

struct TinyStack {
  uint32_t d_model = 24, d_ff = 40, n_heads = 2, d_head = 12, n_layers = 1, positions = 24;
  converter::Activation activation = converter::Activation::kRelu;
  bool pre_norm = false, embedding_norm = false, final_norm = false;
  uint32_t n_recurrent = 0;  // the last so many layers; decoder only
};

struct TinyOptions {
  uint64_t seed = 1;
  TinyStack encoder, decoder;
  uint32_t source_vocab_size = 29, target_vocab_size = 37;
  bool tied = false;      // the projection is the decoder's embedding
  float end_bias = 1.5f;  // makes the end token (id 0) likelier than others
};

// decoder_start_id is the last id of the target vocabulary, which is suppressed; end_id is 0.
converter::ModelSpec tiny_spec(const TinyOptions& options);

// Gives a model tokenizers: ids 0 and last are control pieces, 1 is unknown, the others letters, in the target two-byte
// ones. Sources end with id 0.
void add_tokenizers(converter::TokenizerKind source_kind, converter::ModelSpec& spec);

// A seeded shortlist: each source id has a few ids of the target, some pairs and triples of source ids have more.
// Leaves short sources less than the target's vocabulary.
void add_shortlist(uint64_t seed, converter::ModelSpec& spec);

// Two models that differ in everything, the first with odd widths, the second with several layers.
TinyOptions odd_tiny_options();
TinyOptions deep_tiny_options();

// Recurrent layers in the decoder: two of three, in odd widths; all, as Marian's students have them.
TinyOptions mixed_tiny_options();
TinyOptions student_tiny_options();

// The file of a spec, without self-test.
converter::FileImage tiny_file(const converter::ModelSpec& spec, Layout layout = Layout::kN16K4,
                               const goldcrest_limits& limits = {},
                               converter::Weights weights = converter::Weights::kInt8);

}  // namespace goldcrest::test
