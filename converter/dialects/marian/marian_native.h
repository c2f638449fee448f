// SPDX-License-Identifier: Apache-2.0
// The parts of the marian_native dialect: the graph that special:model.yml describes, and texts and search from the
// YAML beside the model.
#pragma once

#include "dialects/way_in.h"
#include "sources/values/value.h"

namespace goldcrest::converter {

// By one of Marian's own models, .npz or .bin, whose settings are in it.
extern const WayIn kMarianNativeWay;

struct MarianGraph {
  uint32_t d_model = 0, n_heads = 0, encoder_layers = 0, decoder_layers = 0, encoder_d_ff = 0, decoder_d_ff = 0;
  Activation activation = Activation::kSilu;
  bool is_recurrent = false;  // SSRU in place of the decoder's self-attention
  bool pre_norm = false, embedding_norm = false, final_norm = false;
  bool shared_tables = false;    // of source and target
  bool tied_projection = false;  // to the target's table
  bool has_projection_bias = true;
};

// A setting's value for a message, its beginning where it is long: YAML's texts may be any bytes.
std::string shown_setting(const Value& value);

// Throws Error naming the setting where the graph is another, or may be one: every key is known or refused.
MarianGraph read_marian_graph(const Config& config);

// The settings that marian-decoder is started with: --config's file, or the YAML beside the model whose "models" names
// it; greedy search's, with a warning, where there is none.
Config find_decoder_settings(const Checkpoint& checkpoint, std::vector<std::string>& warnings);

// A file that a setting names: where it lies as it is written, from the settings' folder, or else beside them under its
// last name.
std::filesystem::path named_file(const Config& decoder, const std::string& name);

// Beam size, penalties and the like, with Marian's defaults, but without max-length-factor a text may be of any length;
// warns of settings that are not known.
void read_marian_search(const Config& decoder, GenerationSpec& generation, std::vector<std::string>& warnings);

// The shortlist that the settings name, or the one of Marian's binaries beside the model; or none. Needs the tables and
// tokenizers as they will be.
void read_marian_shortlist(const Checkpoint& checkpoint, const Config& decoder, ModelSpec& spec);

// Vocabularies, special ids but the start's, and search. Needs the positions and the tables, without a start row.
void read_marian_text(const Checkpoint& checkpoint, const Config& decoder, ModelSpec& spec);

}  // namespace goldcrest::converter
