// SPDX-License-Identifier: Apache-2.0
// Bounds the error of a file's norms for a checkpoint that adds epsilon to the deviation s instead of the variance. The
// relative error is epsilon / s, largest where s is smallest. The weights do not tell how small s becomes, so the
// float32 reference runs.
#pragma once

#include <string>
#include <vector>

#include "spec/spec.h"

namespace goldcrest::converter {

struct DeviationBound {
  double epsilon = 0;   // of the checkpoint
  double smallest = 0;  // of a row that a norm reads; unbiased
  double error = 0;     // relative, at the smallest deviation
  size_t rows = 0, sources = 0;
};

constexpr double kMaxDeviationError = 0x1p-16;

// Measures these sources and their greedy results, each of at most 64 tokens. A row of equal values is not counted,
// because both norms turn it into beta. Above kMaxDeviationError throws an Error that begins with `where`.
DeviationBound bound_deviations(const ModelSpec& spec, const std::vector<std::vector<int32_t>>& sources,
                                const std::string& where);

// Returns one line, with its line end.
std::string to_text(const DeviationBound& bound);

}  // namespace goldcrest::converter
