// SPDX-License-Identifier: Apache-2.0
// The recurrent block (SSRU), which replaces a decoder layer's self-attention: relu(cell). The cell is the memory that
// a hypothesis has of its past.                                                                     Kim et al. 2019
#pragma once

#include "layers/norm.h"
#include "layers/rows.h"

namespace goldcrest {
// Cells: float [recurrent layer][half][slot][d_model padded]. Position p writes half p % 2. It reads half (p - 1) % 2
// at the slot that the hypothesis had then, so a beam reorder moves nothing.
inline BufferRef plan_cells(Plan& plan, const ModelView& model) {
  return plan.add("decoder.cells", Phase::kDecode, Region::kMain,
      {0, 2 * sizeof(float) * uint64_t{model.decoder.d_model_padded} * model.n_recurrent,
          {GOLDCREST_FACTOR_BEAM, GOLDCREST_FACTOR_BATCH, 0, 0}});
}

// The cells of one recurrent layer.
struct Cells {
  float* start;  // [half][slot][width]
  size_t n_slots, width;
  float* at(uint32_t position, size_t slot) const { return start + (size_t{position} % 2 * n_slots + slot) * width; }
};

inline Cells cells_of_layer(const Runtime& runtime, BufferRef ref, uint32_t recurrent_layer, size_t n_slots) {
  const size_t width = runtime.model.decoder.d_model_padded;
  return {runtime.buffer<float>(ref) + size_t{recurrent_layer} * 2 * n_slots * width, n_slots, width};
}

// x = x + relu(cell). Each hypothesis computes its cell from the cell of its past and stores it in its own slot.
// input_forget: [rows, 2, d_model padded]
inline void add_cells(
    const Pass& pass, const TargetRows& targets, const Cells& cells, const float* input_forget, float* x) {
  const size_t width = cells.width;
  for (uint32_t i = 0; i < targets.n_sentences; ++i) {
    const LiveSentence& sentence = targets.sentences[i];
    const SentencePart part = part_of_sentence(pass, sentence);
    const uint8_t* before = nullptr;  // each hypothesis' slot at the previous position
    if (targets.ancestor != nullptr && targets.position > 0)
      before = targets.ancestor + sentence.first_past + size_t{targets.position - 1} * targets.beam_size + part.first;
    for (uint32_t b = 0; b < part.rows.count; ++b) {
      const size_t row = part.rows.first + b, slot_before = sentence.first_slot + (before != nullptr ? before[b] : 0u);
      const float* input = input_forget + row * 2 * width;
      pass.runtime.kernels->recurrence(
          {input, input + width, targets.position > 0 ? cells.at(targets.position - 1, slot_before) : nullptr,
              cells.at(targets.position, sentence.first_slot + part.first + b), x + row * width,
              static_cast<uint32_t>(width)});
    }
  }
}

// The cells of the decoder's rows.
struct CellsOfRows {
  const TargetRows& targets;
  const Cells& cells;
};

// Computes the block with its norm; x: [rows, d_model padded]
inline void add_recurrent(const Pass& pass, const RecurrentView& block, const CellsOfRows& past, float* x) {
  const Quantized h = block_input(pass, block.norm, block.input_forget, x);
  float* const input_forget = pass.projected;
  multiply(pass, block.input_forget, h, {}, input_forget);
  add_cells(pass, past.targets, past.cells, input_forget, x);
  end_block(pass, block.norm, x);
}

template <typename Visit>
void for_each_call_site(const StackView&, const LayerKind&, const RecurrentView& block, const Visit& visit) {
  visit(LinearCallSite{block.input_forget, Activation::kNone, false});
}
}  // namespace goldcrest
