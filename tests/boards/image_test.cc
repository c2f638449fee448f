// SPDX-License-Identifier: Apache-2.0
// On the board: every kernel table reads in images what the host reads. Prints texts, stack (painted), bytes, and
// instructions an image; QEMU runs with `-icount shift=0`.
#include <cinttypes>
#include <cstdio>
#include "board_api.h"
#include "boards/painted_stack.h"
#include "boards/speech_hash.h"
#include "instruction_count.h"
#include "model_reader.h"

extern "C" const uint8_t packed_images[], packed_images_end[];

namespace goldcrest::test { namespace {
alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_READER_ARENA_BYTES];

// Returns whether this table finds the host's hash.
bool reads(const char* kernels) {
  goldcrest_detail detail = {"", -1};
  goldcrest_config config = {.model = model_reader,
      .model_bytes = MODEL_READER_BYTES,
      .arena = arena,
      .arena_bytes = sizeof arena,
      .limits = MODEL_READER_LIMITS,
      .kernels = kernels,
      .detail = &detail};
  goldcrest_engine* engine = nullptr;
  int status = GOLDCREST_PAINTED(goldcrest_init, &engine, &config);
  uint64_t hash = kHashStart, instructions = 0;
  uint32_t n = 0;
  for (const uint8_t* at = packed_images; status >= 0 && at != packed_images_end; ++n) {
    const uint64_t start = board_ticks();
    status = GOLDCREST_PAINTED(begin_to_read, engine, &at, &hash);
    while (status >= 0 && status != GOLDCREST_DONE) status = GOLDCREST_PAINTED(goldcrest_step, engine, nullptr);
    instructions += instructions_since(start);
    Heard found = {};
    if (status >= 0) status = heard_result(engine, 0, found);
    hash = hash_halves(hash, found.hash);
    std::printf("%-16s reads %s\n", kernels, found.text);
  }
  const bool same = status >= 0 && hash == kLinesHash;
  std::printf("%-16s hash %08" PRIx32 "%08" PRIx32 " %s %s\n", kernels, static_cast<uint32_t>(hash >> 32),
      static_cast<uint32_t>(hash), same ? "same" : "DIFFERENT", detail.message);
  std::printf("%-16s %" PRIu32 " thousand instructions an image, model %u bytes, arena %u bytes\n", kernels,
      static_cast<uint32_t>(instructions / 1000 / (n == 0 ? 1 : n)), static_cast<unsigned>(MODEL_READER_BYTES),
      static_cast<unsigned>(sizeof arena));
  return same;
}
}}  // namespace goldcrest::test

int main() {
  using namespace goldcrest::test;
  board_init();
  bool all_same = goldcrest_kernels_at(0) != nullptr;
  for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) all_same &= reads(goldcrest_kernels_at(i));
  return print_stack_uses() && all_same ? 0 : 1;
}
