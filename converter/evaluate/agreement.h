// SPDX-License-Identifier: Apache-2.0
// How far two files of one model agree: what a smaller vocabulary changes.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "evaluate/evaluate.h"

namespace goldcrest::converter {

struct Agreement {
  size_t lines = 0, identical = 0;  // by their texts; lines that one of them cannot translate are left out
  double chrf = 0;                  // of the second's texts against the first's, 0..100
};

Agreement measure_agreement(const std::vector<EvaluationLine>& lines, Translator& whole, Translator& part,
                            const std::function<void(size_t done, size_t total)>& progress);

}  // namespace goldcrest::converter
