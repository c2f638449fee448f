// SPDX-License-Identifier: Apache-2.0
// --check: the float32 reference against samples that the user's own framework wrote.
//
// A folder of samples holds (tests/golden and examples/export_nn_transformer.py have the layout)
//   results.jsonl        one JSON object per line: "source_ids", and any of "greedy", "beam4" (or another beam size):
//                        ids from the framework without start token, with end token; "line" (default: its place,
//                        from 0); "max_target_tokens" (default: CheckOptions's, else the model's)
//   logits.safetensors   logits.<line> [greedy ids, vocabulary], teacher-forced along the greedy ids
//   trace.safetensors    every layer's output for the first line, likewise teacher-forced: encoder.embed,
//                        encoder.layers.<i>, encoder.norm, the same for decoder, logits; for a stem also
//                        encoder.features and encoder.convolutions.<i>, after its norm
//   samples.npy          for a model of speech: the clips of all lines one after another, int16. A line then has
//                        "samples", the number of its clip's samples, in place of "source_ids". For a model of feature
//                        rows (images): their values, float32
// If a first layer departs, other heads, activations, orders of norms and scales of embeddings are tried, two at a
// time. Only results.jsonl is required; it has the ids that the other files were made with.
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
  // A value departs if |found - expected| > tolerance * max(1, largest |expected| of its row), or if it is NaN.
  double tolerance = 2e-4;
  // Different ids are a tie if their score and the sample's differ by at most this.
  double tie = 1e-4;
  uint32_t max_target_tokens = 0;                           // bounds the searches; 0: the model's
  std::function<void(size_t done, size_t total)> progress;  // counts sample lines of the searches; may be empty
};

// The place where a tensor first departs: the first such row, and in it the column that departs most.
struct Departure {
  std::string tensor;  // "decoder.layers.1", "logits.3"
  size_t line = 0;     // results.jsonl's "line"
  size_t row = 0, column = 0;
  double found = 0, expected = 0;
  std::string reason;  // not empty: the reason why no value was compared ("the model has no such layer")
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
  // The sample's lead by the reference's own arithmetic. Greedy: the log-probability of the first token that differs.
  // Beams: the score of the whole hypothesis. Negative: the reference's result is better.
  double gap = 0;
  bool tie = false;
};

struct SearchCheck {
  std::string name;  // "greedy", "beam4"
  size_t lines = 0, equal = 0, ties = 0;
  std::vector<SearchDifference> differences;  // includes ties
};

struct CheckReport {
  std::vector<TensorCheck> tensors;   // in forward order, the trace before the logits
  std::vector<SearchCheck> searches;  // empty if a tensor departs, because ids would then tell nothing
  std::vector<std::string> not_compared;
  // "nhead 4 and activation gelu": settings of config.json with which no tensor departs. Empty: none, or none is
  // needed.
  std::string equal_with;

  const Departure* first_departure() const;  // null: none
  bool passed() const;
};

// Throws Error if results.jsonl is missing or a file is invalid.
CheckReport check(const Reference& reference, const std::filesystem::path& samples, const CheckOptions& options);

std::string to_text(const CheckReport& report);
}  // namespace goldcrest::converter
