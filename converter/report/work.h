// SPDX-License-Identifier: Apache-2.0
// Multiply-accumulates of a model, computed from its padded matrices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include "file/fine_inputs.h"
#include "sources/values/value.h"

namespace goldcrest::format {
struct ModelT;
}  // namespace goldcrest::format

namespace goldcrest::converter {
struct Work {
  uint64_t token = 0;                // per position of the decoder, projection included: greedy, one sentence
  uint64_t token_per_position = 0;   // plus this for each source or target position that it attends to
  uint64_t source_position = 0;      // per position of the encoder, with the decoder's keys and values of it
  uint64_t source_per_position = 0;  // plus this for each position that it attends to
};

Work work_of(const format::ModelT& model);

// Returns two lines for people.
std::string work_text(const Work& work);

// A matrix in the ranking of --accuracy auto.
struct RankedMatrix {
  std::string name;      // file/fine_inputs.h
  double gain = 0;       // the share of the error in log-probabilities that its fine inputs remove
  double more_work = 0;  // share of all linear layers' work
  bool chosen = false;
};

// The choices of --accuracy, --matrices and --pack, and their price.
// The measure by which --pack auto chose matrices.
struct PackedChoice {
  double bound = 0, rise = 0, of_int8 = 0;  // thousandths of a nat an id: the divergence above that of int8
  size_t n_lines = 0;
};

struct FineInputs {
  std::vector<std::string> matrices;        // with fine inputs
  double more_work = 0;                     // share of all linear layers' work
  double source_rows = 1, target_rows = 1;  // the lengths that the shares are of
  size_t n_lines = 0, n_tokens = 0;         // the lines and tokens that rank the matrices; 0: no ranking
  std::vector<RankedMatrix> ranking;        // best first
  Refined refined;
  Packed packed;
  std::optional<PackedChoice> packed_choice;
  uint64_t exact_bytes = 0;                 // --accuracy exact would add them to the file
  std::optional<size_t> identical_before;   // the evaluation's lines, in a coarse search
  std::optional<size_t> identical_in_int8;  // those without weights of 4 bits
  bool any() const { return !matrices.empty() || !ranking.empty() || refined.any() || packed.bytes > 0; }
};

// Returns what the steps of --accuracy would gain and cost, in one sentence.
std::string accuracy_text(const FineInputs& fine);

std::string to_text(const FineInputs& fine);
Value to_json(const FineInputs& fine);
}  // namespace goldcrest::converter
