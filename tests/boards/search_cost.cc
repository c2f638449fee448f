// SPDX-License-Identifier: Apache-2.0
#include "search_cost.h"

#include <cstring>

#include "board_api.h"
#include "instruction_count.h"

namespace goldcrest::test {

int search_all(goldcrest_engine* engine, const CountedModel& model, uint32_t beam_size, uint32_t max_target_tokens,
               SearchCost* cost) {
  goldcrest_search search = {};
  search.beam_size = beam_size;
  search.max_target_tokens = max_target_tokens;
  search.length_penalty = 1.0f;
  int status = goldcrest_set_search(engine, &search);
  *cost = {};
  for (uint32_t i = 0; i < model.n_sources; ++i) {
    const uint64_t start = board_ticks();
    if (status >= 0) status = goldcrest_begin_text(engine, model.sources[i], std::strlen(model.sources[i]));
    for (; status >= 0 && status != GOLDCREST_DONE; ++cost->steps) status = goldcrest_step(engine, nullptr);
    cost->instructions += instructions_since(start);
    goldcrest_result result = {};
    if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &result);
    if (status < 0) return status;
    cost->tokens += result.n_tokens;
  }
  return 0;
}

}  // namespace goldcrest::test
