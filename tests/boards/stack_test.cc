// SPDX-License-Identifier: Apache-2.0
// On the board: the stack that public functions take. It is painted before each call; afterwards the test looks how far
// the paint is gone. Prints lines "stack NAME BYTES"; fails beyond GOLDCREST_STACK_BYTES.
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "board_api.h"
#include "common/linker_symbols.h"
#include "goldcrest/check.h"
#include "goldcrest/goldcrest.h"
#include "model_g2p.h"

namespace goldcrest::test {
namespace {

constexpr uint32_t kPaint = 0xc5a15bd7u;
constexpr const char* kWords[] = {"through", "microcontroller", "a", "don't"};

alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_G2P_ARENA_BYTES];
char text[256];

struct StackUse {
  const char* name;
  uint32_t bytes;
};
StackUse uses[16];

// Keeps the largest use of each name. Returns `status`.
int keep(const char* name, uint32_t bytes, int status) {
  StackUse* use = uses;
  while (use->name != nullptr && std::strcmp(use->name, name) != 0) ++use;
  use->name = name;
  if (bytes > use->bytes) use->bytes = bytes;
  return status;
}

inline uint32_t stack_pointer() {
  uint32_t address;
  asm volatile("mov %0, sp" : "=r"(address) : : "memory");
  return address;
}

// Calls a function, and keeps the bytes that it wrote below the stack as it was at the call. `call` must be inlined.
template <typename Call>
__attribute__((noinline)) int painted(const char* name, Call call) {
  const auto bottom = reinterpret_cast<uintptr_t>(board_stack_bottom);
  const uint32_t top = stack_pointer();
  for (uintptr_t at = bottom; at < top; at += 4) *reinterpret_cast<volatile uint32_t*>(at) = kPaint;
  const int status = static_cast<int>(call());
  uintptr_t at = bottom;
  while (at < top && *reinterpret_cast<volatile uint32_t*>(at) == kPaint) at += 4;
  return keep(name, static_cast<uint32_t>(top - at), status);
}

#define GOLDCREST_PAINTED(function, ...) \
  painted(                               \
      #function, [&]() __attribute__((always_inline)) { return function(__VA_ARGS__); })

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
    goldcrest_search search = {};
    search.beam_size = beam_size;
    search.length_penalty = 1.0f;
    search.flags = GOLDCREST_SEARCH_SCORES;
    if (status >= 0) status = GOLDCREST_PAINTED(goldcrest_set_search, engine, &search);
    for (const char* word : kWords) {
      if (status >= 0) status = measure_steps(engine, word);
      if (status >= 0) {
        status = GOLDCREST_PAINTED(goldcrest_translate, engine, word, std::strlen(word), text, sizeof text);
      }
    }
  }
  return status;
}

int measure_all() {
  goldcrest_detail detail = {};
  goldcrest_info info;
  goldcrest_memory memory;
  goldcrest_config config = {};
  config.model = model_g2p;
  config.model_bytes = MODEL_G2P_BYTES;
  config.arena = arena;
  config.arena_bytes = sizeof arena;
  config.limits = MODEL_G2P_LIMITS;
  config.detail = &detail;
  goldcrest_engine* engine = nullptr;
  int status = GOLDCREST_PAINTED(goldcrest_model_info, model_g2p, MODEL_G2P_BYTES, &info, &detail);
  if (status >= 0) {
    status = GOLDCREST_PAINTED(goldcrest_plan_memory, model_g2p, MODEL_G2P_BYTES, &config.limits, &memory, nullptr,
                               nullptr, &detail);
  }
  goldcrest_check check = {};
  do {
    const auto end = static_cast<size_t>(check.checked_bytes) + 4096;
    if (status >= 0) {
      status = GOLDCREST_PAINTED(goldcrest_check_weights, model_g2p, MODEL_G2P_BYTES, end, &check, &detail);
    }
  } while (status == GOLDCREST_WORKING);
  if (status >= 0) status = GOLDCREST_PAINTED(goldcrest_init, &engine, &config);
  if (status >= 0) status = GOLDCREST_PAINTED(goldcrest_self_test, engine, &detail);
  if (status >= 0) status = measure_searches(engine);
  if (status < 0) std::printf("%s: %s\n", goldcrest_status_string(status), detail.message ? detail.message : "");
  return status;
}

}  // namespace
}  // namespace goldcrest::test

int main() {
  using namespace goldcrest::test;
  board_init();
  asm volatile("cpsid i");  // an interrupt's frame is not the engine's
  const int status = measure_all();
  asm volatile("cpsie i");
  if (status < 0) return 1;
  bool small_enough = uses[0].name != nullptr;
  for (const StackUse* use = uses; use->name != nullptr; ++use) {
    std::printf("stack %s %u\n", use->name, static_cast<unsigned>(use->bytes));
    small_enough &= use->bytes > 0 && use->bytes <= GOLDCREST_STACK_BYTES;
  }
  return small_enough ? 0 : 1;
}
