// SPDX-License-Identifier: Apache-2.0
// The embedding tables and the output projection, which transformers may tie to one another.
#pragma once

#include "dialects/tensor_reader.h"

namespace goldcrest::converter {

// The names of a family's tables.
struct TableTensors {
  const char *shared, *encoder, *decoder, *head;
  const char* head_bias;  // of the projection; zeros if the checkpoint has none
};

struct TableSettings {
  bool shared = false;  // the encoder and the decoder use the same table
  bool tied = false;    // the projection uses it too
  uint32_t source_rows = 0, target_rows = 0, d_model = 0;
};

// Reads the embeddings and the projection as transformers 5 loads them. A place that has a table of its own keeps it,
// even if config.json ties it. Any other place takes the table that it is tied to.
void read_tables(const TableTensors& names, const TableSettings& settings, TensorReader& tensors, ModelSpec& spec);

}  // namespace goldcrest::converter
