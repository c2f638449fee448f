// SPDX-License-Identifier: Apache-2.0
// On the board: the stack that public functions take, in searches of words. Prints lines "stack NAME BYTES"; fails
// beyond GOLDCREST_STACK_BYTES.
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include "board_api.h"
#include "goldcrest/check.h"
#include "model_g2p.h"
#include "painted_stack.h"

namespace goldcrest::test { namespace {
constexpr const char* kWords[] = {"through", "microcontroller", "a", "don't"};

alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];
char text[256];

// Runs one word, step by step. Returns a status.
int measure_steps(goldcrest_engine* engine, const char* word) {
  int status = GOLDCREST_PAINTED(goldcrest_begin_text, engine, word, std::strlen(word));
  while (status >= 0 && status != GOLDCREST_DONE) status = GOLDCREST_PAINTED(goldcrest_step, engine, nullptr);
  goldcrest_result result = {};
  if (status >= 0) status = GOLDCREST_PAINTED(goldcrest_get_result, engine, 0, 0, &result);
  goldcrest_text_state state = {};
  if (status < 0) return status;
  return GOLDCREST_PAINTED(goldcrest_detokenize, engine, &state, result.tokens, result.n_tokens, text, sizeof text);
}

int measure_searches(goldcrest_engine* engine) {
  int status = 0;
  for (const uint32_t beam_size : {1u, 4u}) {
    goldcrest_search search = {.beam_size = beam_size, .length_penalty = 1.0f, .flags = GOLDCREST_SEARCH_SCORES};
    if (status >= 0) status = GOLDCREST_PAINTED(goldcrest_set_search, engine, &search);
    for (const char* word : kWords) {
      if (status >= 0) status = measure_steps(engine, word);
      if (status >= 0)
        status = GOLDCREST_PAINTED(goldcrest_translate, engine, word, std::strlen(word), text, sizeof text);
    }
  }
  return status;
}

int measure_all() {
  goldcrest_detail detail = {};
  goldcrest_info info;
  goldcrest_memory memory;
  goldcrest_config config = {.model = model_g2p,
      .model_bytes = MODEL_G2P_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_G2P_LIMITS,
      .detail = &detail};
  goldcrest_engine* engine = nullptr;
  int status = GOLDCREST_PAINTED(goldcrest_model_info, model_g2p, MODEL_G2P_BYTES, &info, &detail);
  if (status >= 0) {
    status = GOLDCREST_PAINTED(
        goldcrest_plan_memory, model_g2p, MODEL_G2P_BYTES, &config.limits, &memory, nullptr, nullptr, &detail);
  }
  goldcrest_check check = {};
  do {
    const auto end = static_cast<size_t>(check.checked_bytes) + 4096;
    if (status >= 0)
      status = GOLDCREST_PAINTED(goldcrest_check_weights, model_g2p, MODEL_G2P_BYTES, end, &check, &detail);
  } while (status == GOLDCREST_WORKING);
  if (status >= 0) status = GOLDCREST_PAINTED(goldcrest_init, &engine, &config);
  if (status >= 0) status = GOLDCREST_PAINTED(goldcrest_self_test, engine, &detail);
  if (status >= 0) status = measure_searches(engine);
  if (status < 0) std::printf("%s: %s\n", goldcrest_status_string(status), detail.message ? detail.message : "");
  return status;
}
}}  // namespace goldcrest::test

int main() {
  using namespace goldcrest::test;
  board_init();
  // An interrupt's frame is not the engine's. Boards with RISC-V have no interrupt.
#if !defined(__riscv)
  asm volatile("cpsid i");
#endif
  const int status = measure_all();
#if !defined(__riscv)
  asm volatile("cpsie i");
#endif
  if (status < 0) return 1;
  return print_stack_uses() ? 0 : 1;
}
