// SPDX-License-Identifier: Apache-2.0
// The embedding tables and the output projection, which transformers may tie to one another.
#pragma once

#include "dialects/tensor_reader.h"

namespace goldcrest::converter {

// How a family names them.
struct TableTensors {
  const char *shared, *encoder, *decoder, *head;
  const char* head_bias;  // of the projection; zeros where the checkpoint has none
};

struct TableSettings {
  bool shared = false;  // the encoder and the decoder have one table
  bool tied = false;    // so has the projection
  uint32_t source_rows = 0, target_rows = 0, d_model = 0;
};

// Reads the embeddings and the projection, as transformers 5 loads them: a table of a place's own stays its own, also
// where config.json ties it; else the place takes the table that it is tied to.
void read_tables(const TableTensors& names, const TableSettings& settings, TensorReader& tensors, ModelSpec& spec);

}  // namespace goldcrest::converter
