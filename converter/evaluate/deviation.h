// SPDX-License-Identifier: Apache-2.0
// How far the file's norms are from those of a checkpoint that adds epsilon to the deviation s, in place of the
// variance: by epsilon / s of their value, which is most where s is smallest. No weights tell how small it becomes, so
// the float32 reference runs.
#pragma once

#include <string>
#include <vector>

#include "spec/spec.h"

namespace goldcrest::converter {

struct DeviationBound {
  double epsilon = 0;   // of the checkpoint
  double smallest = 0;  // unbiased deviation of a row that a norm got
  double error = 0;     // there, relative
  size_t rows = 0, sources = 0;
};

constexpr double kMaxDeviationError = 0x1p-16;

// Of these sources and their greedy results, each of at most 64 tokens; a row of equal values, of which a norm makes
// beta in either way, is not counted. Throws Error, which begins with `where`, above kMaxDeviationError.
DeviationBound bound_deviations(const ModelSpec& spec, const std::vector<std::vector<int32_t>>& sources,
                                const std::string& where);

// One line with its end.
std::string to_text(const DeviationBound& bound);

}  // namespace goldcrest::converter
