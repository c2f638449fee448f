// SPDX-License-Identifier: Apache-2.0
// The graph that most encoder-decoders of transformers share: Marian's, BART's and their relatives'. A family fills the
// struct from its config.json; tensors are then read, or listed, in one place.
#pragma once

#include <vector>
#include "dialects/config.h"
#include "dialects/hugging_face/layers.h"
#include "sources/containers/shape_tensors.h"

namespace goldcrest::converter {
enum class PositionTable {
  kLearned,          // stored; its first rows may belong to no position
  kStoredSinusoid,   // computed unless a table is stored, which is then used
  kIgnoredSinusoid,  // computed; a stored table is ignored, as transformers does
};

struct Seq2SeqGraph {
  const char* family = "";  // for messages
  TableTensors table_names;
  TableSettings tables;
  Activation activation = Activation::kRelu;
  bool scale_embedding = false;
  bool pre_norm = false, embedding_norm = false, final_norm = false;
  PositionTable positions = PositionTable::kLearned;
  uint32_t max_positions = 0;
  uint32_t dropped_positions = 0;  // rows of a stored table before the one of position 0
  bool fairseq_angles = false;     // sinusoids: frequencies end at 1/10000 exactly
  uint32_t first_angle = 0;        // sinusoids: the position of row 0
};

inline constexpr float kSeq2SeqNormEpsilon = 1e-5f;  // torch.nn.LayerNorm's default, which these families use

// Reads all tensors into `spec`. Throws one Error that names every tensor that is missing; tensors that are not used
// become a warning, except those whose names end in one of `ignored`.
void read_seq2seq_graph(const Seq2SeqGraph& graph, const Config& config, const std::vector<std::string>& ignored,
    TensorReader& tensors, ModelSpec& spec);

// The tensors of a checkpoint with this graph, as transformers 5 saves them.
std::vector<ShapedTensor> seq2seq_tensors(const Seq2SeqGraph& graph, const Config& config);

// The counts that every config.json of these families has: "vocab_size" is not among them.
std::vector<std::string> seq2seq_counts();
}  // namespace goldcrest::converter
