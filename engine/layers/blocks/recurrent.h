// SPDX-License-Identifier: Apache-2.0
// The recurrent block (SSRU), in place of a decoder layer's self-attention: relu(cell), where the cell is what a
// hypothesis keeps of its past.                                                                   Kim et al. 2019
#pragma once

#include "base/build_options.h"
#include "layers/linear.h"

namespace goldcrest {

// Layers of the decoder with self-attention, which alone keep keys of each target position. Like all of this file that
// asks for the build's options, `static`: other libraries are not compiled with these.
static inline uint32_t count_self_attending(const ModelView& model) {
  return kHasSsru ? model.decoder.n_layers - model.n_recurrent : model.decoder.n_layers;
}

// Columns of the widest output of a recurrent block's matrix, or 0.
static inline uint32_t recurrent_width(const ModelView& model) {
  return kHasSsru && model.n_recurrent > 0 ? 2 * model.decoder.d_model_padded : 0;
}

// Cells: float [recurrent layer][half][slot][d_model padded]. Position p reads half (p - 1) % 2, at the slot that the
// hypothesis had then, and writes half p % 2: a beam reorder moves nothing.
inline BufferRef plan_cells(Plan& plan, const ModelView& model) {
  return plan.add("decoder.cells", Phase::kDecode, Region::kMain,
                  {0,
                   2 * sizeof(float) * uint64_t{model.decoder.d_model_padded} * model.n_recurrent,
                   {GOLDCREST_FACTOR_BEAM, GOLDCREST_FACTOR_BATCH, 0, 0}});
}

// One recurrent layer's.
struct Cells {
  float* start;  // [half][slot][width]
  size_t n_slots, width;
  float* at(uint32_t position, size_t slot) const { return start + (position % 2 * n_slots + slot) * width; }
};

inline Cells cells_of_layer(const Runtime& runtime, BufferRef ref, uint32_t recurrent_layer, size_t n_slots) {
  const size_t width = runtime.model.decoder.d_model_padded;
  return {runtime.buffer<float>(ref) + recurrent_layer * 2 * n_slots * width, n_slots, width};
}

// visit(LinearUse) for every call of a linear layer that the block makes.
template <typename Visit>
void for_each_decoder_use(const RecurrentView& block, const Visit& visit) {
  visit(LinearUse{block.input_forget, Activation::kNone, false});
}

}  // namespace goldcrest
