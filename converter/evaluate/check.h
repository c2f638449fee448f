// SPDX-License-Identifier: Apache-2.0
// --check: the float32 reference against samples that the user's own framework wrote.
//
// A folder of samples holds (tests/golden and examples/export_nn_transformer.py have the layout)
//   results.jsonl        one JSON object a line: "source_ids", and any of "greedy", "beam4" (or another beam size), ids
//   as
//                        the framework gave them, start token left out, end token kept; "line" (default: its place,
//                        from 0); "max_target_tokens" (default: CheckOptions's, else the model's)
//   logits.safetensors   logits.<line> [greedy ids, vocabulary], teacher-forced along the greedy ids
//   trace.safetensors    the same for every layer's output, of the first line: encoder.embed, encoder.layers.<i>,
//                        encoder.norm, the same for decoder, logits
// Only results.jsonl, which has the ids that the others were made with, must be there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reference/reference.h"

namespace goldcrest::converter {

struct CheckOptions {
  // A value departs when |found - expected| > tolerance * max(1, largest |expected| of its row), or is not a number.
  double tolerance = 2e-4;
  // Other ids are a tie when their score and the sample's differ by at most this.
  double tie = 1e-4;
  uint32_t max_target_tokens = 0;                           // of the searches; 0: the model's
  std::function<void(size_t done, size_t total)> progress;  // of the searches, in sample lines; may be empty
};

// Where a tensor departs first: the first row that does, and in it the column that does most.
struct Departure {
  std::string tensor;  // "decoder.layers.1", "logits.3"
  size_t line = 0;     // of results.jsonl's "line"
  size_t row = 0, column = 0;
  double found = 0, expected = 0;
  std::string reason;  // not empty: no value was compared, because of this ("the model has no such layer")
};

struct TensorCheck {
  std::string name;
  size_t rows = 0, columns = 0;
  double largest_difference = 0;  // absolute
  std::optional<Departure> departure;
};

struct SearchDifference {
  size_t line = 0;
  std::vector<int32_t> found, expected;
  // How far the sample's is ahead by the reference's own arithmetic. Greedy: log-probability of the first token that
  // differs. Beams: score of the whole hypothesis. Negative: the reference found the better one.
  double gap = 0;
  bool tie = false;
};

struct SearchCheck {
  std::string name;  // "greedy", "beam4"
  size_t lines = 0, equal = 0, ties = 0;
  std::vector<SearchDifference> differences;  // ties too
};

struct CheckReport {
  std::vector<TensorCheck> tensors;   // in forward order, the trace before the logits
  std::vector<SearchCheck> searches;  // empty when a tensor departs: the ids would say nothing
  std::vector<std::string> not_compared;

  const Departure* first_departure() const;  // null: none
  bool passed() const;
};

// Throws Error when results.jsonl is missing or a file makes no sense.
CheckReport check(const Reference& reference, const std::filesystem::path& samples, const CheckOptions& options);

std::string to_text(const CheckReport& report);

}  // namespace goldcrest::converter
