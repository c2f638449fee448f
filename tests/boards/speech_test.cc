// SPDX-License-Identifier: Apache-2.0
// On the board: every kernel table hears in a clip what the host heard. Prints arena, stack (painted) and instructions
// a second of sound; QEMU runs with `-icount shift=0`.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include "board_api.h"
#include "boards/painted_stack.h"
#include "boards/speech_hash.h"
#include "instruction_count.h"
#include "model_heard.h"

extern "C" {
extern const int16_t heard_clip[], heard_clip_end[];
extern const char heard_hash[];  // 16 hexadecimal digits and a line feed
}

namespace goldcrest::test { namespace {
alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_HEARD_ARENA_BYTES];

// longest_step: instructions
int run_steps(goldcrest_engine* engine, size_t n_samples, uint64_t& longest_step) {
  int status = GOLDCREST_PAINTED(begin_to_hear, engine, heard_clip, n_samples);
  while (status >= 0 && status != GOLDCREST_DONE) {
    const uint64_t start = board_ticks();
    status = GOLDCREST_PAINTED(goldcrest_step, engine, nullptr);
    longest_step = std::max(longest_step, instructions_since(start));
  }
  return status;
}

// Returns whether this table finds the host's hash.
bool hears(const char* kernels, size_t n_samples) {
  goldcrest_detail detail = {"", -1};
  goldcrest_info info = {};
  goldcrest_config config = {.model = model_heard,
      .model_bytes = MODEL_HEARD_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_HEARD_LIMITS,
      .kernels = kernels,
      .detail = &detail};
  goldcrest_engine* engine = nullptr;
  Heard heard = {};
  int status = GOLDCREST_PAINTED(goldcrest_model_info, model_heard, MODEL_HEARD_BYTES, &info, &detail);
  if (status >= 0) status = GOLDCREST_PAINTED(goldcrest_init, &engine, &config);
  if (status >= 0) status = GOLDCREST_PAINTED(goldcrest_self_test, engine, &detail);
  uint64_t longest_step = 0;
  const uint64_t start = board_ticks();
  if (status >= 0) status = run_steps(engine, n_samples, longest_step);
  const uint64_t instructions = instructions_since(start);
  if (status >= 0) status = heard_result(engine, 0, heard);
  if (status < 0) {
    std::printf("%s: %s, %s\n", kernels, goldcrest_status_string(status), detail.message);
    return false;
  }
  const uint64_t voice_start = board_ticks();
  const bool has_voice = GOLDCREST_PAINTED(hash_voice, engine, heard_clip, n_samples, &heard.hash) >= 0;
  const uint64_t voice_instructions = instructions_since(voice_start);
  const bool same = heard.hash == std::strtoull(heard_hash, nullptr, 16);
  std::printf("%-16s %u ids, hash %08" PRIx32 "%08" PRIx32 " %s: %s\n", kernels, static_cast<unsigned>(heard.n_tokens),
      static_cast<uint32_t>(heard.hash >> 32), static_cast<uint32_t>(heard.hash), same ? "same" : "DIFFERENT",
      heard.text);
  std::printf("%-16s %" PRIu32 " thousand instructions a second of sound, %" PRIu32
              " thousand in the longest step, arena %u bytes\n",
      kernels, static_cast<uint32_t>(instructions * info.sample_rate / n_samples / 1000),
      static_cast<uint32_t>(longest_step / 1000), static_cast<unsigned>(sizeof arena));
  if (has_voice)
    std::printf("%-16s %" PRIu32 " thousand instructions a second of sound for the voice detector, %u bytes of RAM\n",
        kernels, static_cast<uint32_t>(voice_instructions * info.sample_rate / n_samples / 1000),
        static_cast<unsigned>(sizeof(goldcrest_voice)));
  return same;
}

bool hear_with_every_table() {
  const auto bytes = reinterpret_cast<uintptr_t>(heard_clip_end) - reinterpret_cast<uintptr_t>(heard_clip);
  bool all_same = goldcrest_kernels_at(0) != nullptr;
  for (uint32_t i = 0; i < GOLDCREST_SPEECH_TABLES && goldcrest_kernels_at(i) != nullptr; ++i)
    all_same &= hears(goldcrest_kernels_at(i), bytes / sizeof(int16_t));
  return all_same;
}
}}  // namespace goldcrest::test

int main() {
  using namespace goldcrest::test;
  board_init();
  const bool all_same = hear_with_every_table();
  return print_stack_uses() && all_same ? 0 : 1;
}
