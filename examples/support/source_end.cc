// SPDX-License-Identifier: Apache-2.0
#include "source_end.h"

#include "model/model_view.h"

std::vector<int32_t> source_end(const void* model) {
  const goldcrest::GenerationView generation = goldcrest::view_generation(model);
  return {generation.source_suffix, generation.source_suffix + generation.n_suffix};
}
