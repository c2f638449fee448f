// SPDX-License-Identifier: Apache-2.0
// Bounds the error of a file's norms for a checkpoint that adds epsilon to the deviation s instead of the variance. The
// relative error is epsilon / s, largest where s is smallest. The weights do not tell how small s becomes, so the
// float32 reference runs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>
#include "evaluate/evaluate.h"
#include "spec/spec.h"

namespace goldcrest::converter {
struct DeviationBound {
  double epsilon = 0;   // the checkpoint's
  double smallest = 0;  // the smallest of a row that a norm reads; unbiased
  double error = 0;     // relative, at the smallest deviation
  size_t rows = 0, sources = 0;
};

constexpr double kMaxDeviationError = 0x1p-16;

// Measures these sources and their greedy results, each of at most 64 tokens. A row of equal values is not counted,
// because both norms turn it into beta. Above kMaxDeviationError throws an Error that begins with `where`.
DeviationBound bound_deviations(
    const ModelSpec& spec, const std::vector<std::vector<int32_t>>& sources, const std::string& where);

// Returns one line, with its line end.
std::string to_text(const DeviationBound& bound);

// Measures how far two files of one model agree, for instance before and after its vocabulary is trimmed.

struct Agreement {
  size_t lines = 0,
         identical = 0;  // identical: by their texts; lines that one of the files cannot translate are left out
  double chrf = 0;       // the second's texts against the first's, 0..100
};

Agreement measure_agreement(const std::vector<EvaluationLine>& lines, Translator& whole, Translator& part,
    const std::function<void(size_t done, size_t total)>& progress);
}  // namespace goldcrest::converter
