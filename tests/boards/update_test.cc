// SPDX-License-Identifier: Apache-2.0
// On the board: the power fails during some writes of an update (examples/model_update), at several bytes of each. Then
// either the old model or the new one starts, whole. Finally an updated model has the host's golden hash.
#include <cstdio>
#include <cstring>
#include <string_view>

#include "board_api.h"
#include "boards/golden_run.h"
#include "model_small.h"
#include "model_update.h"
#include "simulated_flash.h"

namespace goldcrest::test {
namespace {
constexpr uint32_t kSectorBytes = 4096, kPageBytes = 256;
constexpr uint32_t kSectors = 2 + 2 * ((MODEL_GOLDEN_BYTES + kSectorBytes - 1) / kSectorBytes);
constexpr size_t kChunkBytes = 1000;
constexpr int kCuts = 24;  // writes of an update that are cut, besides the last ones
constexpr std::string_view kWord = "renewal";

#ifdef FLASH_SECTION
__attribute__((section(FLASH_SECTION)))
#endif
alignas(GOLDCREST_ALIGN) uint8_t flash_memory[size_t{kSectors} * kSectorBytes];
alignas(GOLDCREST_ALIGN) uint8_t arena[MODEL_GOLDEN_ARENA_BYTES];
static_assert(MODEL_GOLDEN_ARENA_BYTES >= MODEL_SMALL_ARENA_BYTES, "one arena for both");

SimulatedFlash flash;
ModelSlots slots;
ModelUpdate update;
goldcrest_detail detail;

int install(const uint8_t* model, size_t model_bytes) {
  const size_t rest = model_bytes - kTrailerBytes;
  int status = begin_update(&update, &slots, model_bytes, model + rest);
  for (size_t at = 0; status >= 0 && at < rest; at += kChunkBytes)
    status = write_update(&update, model + at, rest - at < kChunkBytes ? rest - at : kChunkBytes);
  return status < 0 ? status : finish_update(&update);
}

int start(goldcrest_engine** engine) {
  goldcrest_config config = {.arena = arena, .arena_bytes = sizeof arena};
  config.limits = MODEL_SMALL_LIMITS;  // both models can run with these
  config.detail = &detail;
  std::memset(arena, 0xAA, sizeof arena);
  return start_model(&slots, &config, engine);
}

// Starts a model and returns its hash for a word; 0 if none starts.
uint64_t started_hash() {
  simulated_power_on(&flash, 0, 0);
  goldcrest_engine* engine = nullptr;
  goldcrest_search search = {.beam_size = 1, .flags = GOLDCREST_SEARCH_HASH_LOGITS};
  goldcrest_result result = {};
  int status = start(&engine);
  if (status >= 0) status = goldcrest_set_search(engine, &search);
  if (status >= 0) status = goldcrest_begin_text(engine, kWord.data(), kWord.size());
  if (status >= 0) status = goldcrest_run(engine);
  if (status >= 0) status = goldcrest_get_result(engine, 0, 0, &result);
  if (status >= 0) return result.logits_hash;
  std::printf("%s: %s\n", goldcrest_status_string(status), detail.message != nullptr ? detail.message : "");
  return 0;
}

bool failed(const char* what, uint32_t write, size_t byte) {
  std::printf("%s, at write %u, byte %u\n", what, static_cast<unsigned>(write), static_cast<unsigned>(byte));
  return false;
}

// Updates to the small model, with the power cut at a byte of a write. Returns whether a whole model starts.
bool survives(uint64_t old_hash, uint64_t new_hash, uint32_t n_writes, uint32_t cut_at, size_t cut_bytes) {
  simulated_power_on(&flash, cut_at, cut_bytes);
  if (install(model_small, MODEL_SMALL_BYTES) >= 0) return failed("not cut", cut_at, cut_bytes);
  const uint64_t hash = started_hash();
  if (hash != old_hash && hash != new_hash) return failed("no whole model", cut_at, cut_bytes);
  if (cut_at < n_writes && hash != old_hash) return failed("the new model, before its record", cut_at, cut_bytes);
  if (started_hash() != old_hash) return failed("the new model, unconfirmed", cut_at, cut_bytes);
  return true;
}

bool run() {
  FlashDevice layout = {.n_sectors = kSectors, .sector_bytes = kSectorBytes, .page_bytes = kPageBytes};
  make_simulated_flash(&flash, flash_memory, &layout);
  slots.flash = &flash.device;
  if (install(model_golden, MODEL_GOLDEN_BYTES) < 0) return failed("the first model", 0, 0);
  const uint64_t old_hash = started_hash();
  if (old_hash == 0 || confirm_model(&slots, &detail) < 0) return failed("the first start", 0, 0);
  simulated_power_on(&flash, 0, 0);
  if (install(model_small, MODEL_SMALL_BYTES) < 0) return failed("the second model", 0, 0);
  const uint32_t n_writes = flash.n_writes;
  const uint64_t new_hash = started_hash();
  if (new_hash == 0 || new_hash == old_hash || started_hash() != old_hash) return failed("the second start", 0, 0);

  int n_cut = 0;
  for (uint32_t i = 0; i < kCuts; ++i, ++n_cut)
    if (!survives(old_hash, new_hash, n_writes, 1 + i * (n_writes - 3) / kCuts, i * 12)) return false;
  for (uint32_t cut_at = n_writes - 2; cut_at <= n_writes; ++cut_at) {
    for (const size_t cut_bytes : {0, 1, 31, 32, 63, 64}) {
      if (!survives(old_hash, new_hash, n_writes, cut_at, cut_bytes)) return false;
      ++n_cut;
    }
  }
  std::printf("%d of an update's %u writes cut short: the old model or the new one, whole\n", n_cut,
      static_cast<unsigned>(n_writes));

  // Updates to the small model and back, so that an update has brought the golden model.
  goldcrest_engine* engine = nullptr;
  for (const bool to_small : {true, false}) {
    const int status = to_small ? install(model_small, MODEL_SMALL_BYTES) : install(model_golden, MODEL_GOLDEN_BYTES);
    if (status < 0 || start(&engine) < 0 || confirm_model(&slots, &detail) < 0) return failed("back and forth", 0, 0);
  }
  GoldenRun golden;
  int status = golden.take(engine);
  while (status >= 0 && status != GOLDCREST_DONE) status = golden.step();
  if (status < 0) return golden.report(status);
  std::printf("the golden hash is %s\n", golden.hash() == expected_golden_hash() ? "the host's" : "ANOTHER");
  return golden.hash() == expected_golden_hash() && !flash.is_misused;
}
}  // namespace
}  // namespace goldcrest::test

int main() {
  board_init();
  return goldcrest::test::run() ? 0 : 1;
}
