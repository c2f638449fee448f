// SPDX-License-Identifier: Apache-2.0
// Measures how far two files of one model agree, for instance before and after its vocabulary is trimmed.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "evaluate/evaluate.h"

namespace goldcrest::converter {

struct Agreement {
  size_t lines = 0,
         identical = 0;  // identical: by their texts; lines that one of the files cannot translate are left out
  double chrf = 0;       // of the second's texts against the first's, 0..100
};

Agreement measure_agreement(const std::vector<EvaluationLine>& lines, Translator& whole, Translator& part,
                            const std::function<void(size_t done, size_t total)>& progress);

}  // namespace goldcrest::converter
