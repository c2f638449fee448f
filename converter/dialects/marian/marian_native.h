// SPDX-License-Identifier: Apache-2.0
// The parts of the marian_native dialect: the graph that special:model.yml describes, and texts and search from the
// YAML next to the model.
#pragma once

#include "dialects/way_in.h"
#include "sources/values/value.h"

namespace goldcrest::converter {
// Recognises Marian's own models, .npz or .bin, which contain their settings.
extern const WayIn kMarianNativeWay;

struct MarianGraph {
  uint32_t d_model = 0, n_heads = 0, encoder_layers = 0, decoder_layers = 0, encoder_d_ff = 0, decoder_d_ff = 0;
  Activation activation = Activation::kSilu;
  bool is_recurrent = false;  // SSRU in place of the decoder's self-attention
  bool pre_norm = false, embedding_norm = false, final_norm = false;
  bool shared_tables = false;    // between source and target
  bool tied_projection = false;  // to the target's table
  bool has_projection_bias = true;
};

// Shows a setting's value in a message, cut if it is long, because YAML's texts may be any bytes.
std::string shown_setting(const Value& value);

// Throws Error naming the setting if the graph is, or may be, a different one: every key is known or refused.
MarianGraph read_marian_graph(const Config& config);

// Returns marian-decoder's settings: --config's file, or the YAML next to the model whose "models" name it. If there is
// none, returns the settings of greedy search and warns.
Config find_decoder_settings(const Checkpoint& checkpoint, std::vector<std::string>& warnings);

// Returns the file that a setting names: relative to the settings' folder, or else in that folder under its last name.
std::filesystem::path named_file(const Config& decoder, const std::string& name);

// Reads beam size, penalties and the like with Marian's defaults, except that a text may have any length if
// max-length-factor is missing. Warns of unknown settings.
void read_marian_search(const Config& decoder, GenerationSpec& generation, std::vector<std::string>& warnings);

// Reads the shortlist that the settings name, or the one next to a binary of Marian, if any. Needs the final tables and
// tokenizers.
void read_marian_shortlist(const Checkpoint& checkpoint, const Config& decoder, ModelSpec& spec);

// Reads vocabularies, special ids except the start id, and search. Needs the positions, and the tables without a start
// row.
void read_marian_text(const Checkpoint& checkpoint, const Config& decoder, ModelSpec& spec);
}  // namespace goldcrest::converter
