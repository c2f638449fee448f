// SPDX-License-Identifier: Apache-2.0
// On the board: flips a bit in a region of the model or of the arena between two steps of a search. Each flip gets a
// line with the finding of each check, the result of the search, and whether the next search is right. Each check runs
// as if it were the only one. The lines begin with the number that is typed: faults.sh starts the program again after a
// flip that ended it.
//   flip NUMBER REGION INIT SLICES RESULT NEXT SELF_TEST CANARIES
// INIT, SELF_TEST, CANARIES: found, passed. SLICES: calls of goldcrest_check_weights until one found the flip, 0 if
// none did. RESULT: same, other, error. NEXT: right, wrong, error.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include "api/engine.h"
#include "base/hash.h"
#include "board_api.h"
#include "goldcrest/check.h"
#include "model_g2p.h"

namespace goldcrest::test { namespace {
constexpr std::string_view kWord = "goldcrest", kNextWord = "renewal";
constexpr size_t kSliceBytes = 4096;
constexpr size_t kSlices = (MODEL_G2P_BYTES + kSliceBytes - 1) / kSliceBytes;
constexpr int kMostSteps = 1000;           // a search has far fewer
constexpr uint64_t kWatchdogSeconds = 10;  // a step takes far less

enum Region {
  kMetadata,
  kWeights,
  kParameters,
  kPositions,
  kTokenizer,
  kTrailer,
  kEngine,
  kSource,
  kCross,
  kEncoder,
  kCache,
  kActivations,
  kBeams,
  kOutputs,
  kRegions
};
constexpr const char* kNames[] = {"metadata", "weights", "parameters", "positions", "tokenizer", "trailer", "engine",
    "source", "cross", "encoder", "cache", "activations", "beams", "outputs"};

// A range of bytes and the phase that uses them.
struct Extent {
  Region region;
  uint32_t phase;  // a goldcrest_phase; for the model: always
  size_t offset, bytes;
};

alignas(GOLDCREST_ALIGN) uint8_t model[MODEL_G2P_BYTES];  // stands in for flash
struct {
  alignas(GOLDCREST_ALIGN) uint8_t before[GOLDCREST_ALIGN];
  uint8_t arena[MODEL_G2P_ARENA_BYTES];
  uint8_t after[GOLDCREST_ALIGN];
} memory;
Extent extents[64];
int n_extents;
uint64_t fed_at;

// A bit and the step after which it flips.
struct Flip {
  uint8_t* byte;
  uint8_t mask;
  int step;
};

void flip_bit(const Flip& flip) { *flip.byte ^= flip.mask; }

// The result of a search: a hash of ids and scores, or an error.
struct Found {
  int status;
  uint64_t hash;
  int n_steps, n_encoding;  // the first n_encoding of n_steps belong to the encoder
};

uint32_t random_state;
uint32_t random_below(uint32_t n) {
  random_state = random_state * 1664525u + 1013904223u;
  return static_cast<uint32_t>((uint64_t{random_state} * n) >> 32);
}

bool is_in(const char* name, std::string_view prefix) {
  return std::string_view(name).substr(0, prefix.size()) == prefix;
}

Region region_of(const goldcrest_buffer& buffer) {
  if (is_in(buffer.name, "engine")) return kEngine;
  if (is_in(buffer.name, "source.")) return kSource;
  if (is_in(buffer.name, "cross.")) return kCross;
  if (is_in(buffer.name, "encoder.")) return kEncoder;
  if (is_in(buffer.name, "decoder.x") || is_in(buffer.name, "rows.")) return kActivations;
  if (is_in(buffer.name, "decoder.")) return kCache;
  if (is_in(buffer.name, "search.")) return kBeams;
  return kOutputs;  // output. and candidates.
}

void add_extent(const Extent& extent) {
  if (extent.bytes > 0) extents[n_extents++] = extent;
}

void add_buffer(void*, const goldcrest_buffer* buffer) {
  add_extent({region_of(*buffer), buffer->phase, static_cast<size_t>(buffer->offset_bytes),
      static_cast<size_t>(buffer->bytes)});
}

// Lists the parts of the model that goldcrest_check_weights checks, and the buffers of the arena.
bool list_regions(const goldcrest_limits& limits) {
  goldcrest_check check = {};
  while (check.part == 0) {
    const size_t end = static_cast<size_t>(check.checked_bytes) + kSliceBytes;
    if (goldcrest_check_weights(model_g2p, MODEL_G2P_BYTES, end, &check, nullptr) != GOLDCREST_WORKING) return false;
  }
  size_t start = 0;
  for (int part = 0; part < 5; ++part) {
    const auto end = static_cast<size_t>(check.ends[part]);
    add_extent({static_cast<Region>(part), GOLDCREST_PHASE_ALWAYS, start, end - start});
    start = static_cast<size_t>(align_bytes(end));
  }
  add_extent({kTrailer, GOLDCREST_PHASE_ALWAYS, start, MODEL_G2P_BYTES - start});
  goldcrest_memory planned;
  return goldcrest_plan_memory(model_g2p, MODEL_G2P_BYTES, &limits, &planned, add_buffer, nullptr, nullptr) >= 0;
}

// Chooses a byte of the region, all equally likely, and a step of the phase in which its buffer is in use.
Flip choose_flip(Region region, const Found& good) {
  uint32_t bytes = 0;
  for (int i = 0; i < n_extents; ++i)
    bytes += extents[i].region == region ? static_cast<uint32_t>(extents[i].bytes) : 0;
  uint32_t at = random_below(bytes);
  int i = 0;
  for (; extents[i].region != region || at >= extents[i].bytes; ++i)
    if (extents[i].region == region) at -= static_cast<uint32_t>(extents[i].bytes);
  const Extent& extent = extents[i];
  const int first = extent.phase == GOLDCREST_PHASE_DECODE ? good.n_encoding : 0;
  const int last = extent.phase == GOLDCREST_PHASE_ENCODE ? good.n_encoding : good.n_steps;
  uint8_t* const start = region < kEngine ? model : memory.arena;
  return {start + extent.offset + at, static_cast<uint8_t>(1u << random_below(8)),
      first + static_cast<int>(random_below(static_cast<uint32_t>(last - first)))};
}

// Makes the code's memory and the model's read-only, as flash is: QEMU's are RAM, and a damaged pointer would change
// the program for all later flips. Sources: Armv7-M ARM, B3.5; boards/mps2-an500/linker.ld.
void protect_flash() {
  const auto set = [](uintptr_t reg, uint32_t value) { *reinterpret_cast<volatile uint32_t*>(reg) = value; };
  constexpr uintptr_t kControl = 0xE000ED94u, kBase = 0xE000ED9Cu, kSizeAndAccess = 0xE000EDA0u;
  constexpr uint32_t kValid = 1u << 4, kReadOnly = 6u << 24 | 1u << 17, k4MiB = 21u << 1, k16MiB = 23u << 1, kOn = 1u;
  set(kBase, 0x00000000u | kValid | 0u);
  set(kSizeAndAccess, kReadOnly | k4MiB | kOn);
  set(kBase, 0x60000000u | kValid | 1u);
  set(kSizeAndAccess, kReadOnly | k16MiB | kOn);
  set(kControl, 1u << 2 | kOn);  // all else stays as it is
  __asm volatile("dsb\n\tisb" ::: "memory");
}

void feed_watchdog() { fed_at = board_ticks(); }

// Runs a search, with a flip (null: none) before one of its steps.
Found search(goldcrest_engine* engine, std::string_view word, const Flip* flip) {
  Found found = {goldcrest_begin_text(engine, word.data(), word.size()), kHashStart, 0, 0};
  while (found.status >= 0 && found.status != GOLDCREST_DONE && found.n_steps < kMostSteps) {
    feed_watchdog();
    if (flip != nullptr && found.n_steps == flip->step) flip_bit(*flip);
    found.n_encoding += engine->state <= EngineState::kEncoding;
    found.status = goldcrest_step(engine, nullptr);
    ++found.n_steps;
  }
  goldcrest_result result = {};
  if (found.status >= 0) found.status = goldcrest_get_result(engine, 0, 0, &result);
  if (found.status < 0) return found;
  for (uint32_t i = 0; i < result.n_tokens && i < MODEL_G2P_MAX_TARGET_TOKENS; ++i)
    found.hash = hash_word(found.hash, static_cast<uint32_t>(result.tokens[i]));
  const float scores[] = {result.log_prob, result.score};
  found.hash = hash_floats(found.hash, scores, 2);
  return found;
}

goldcrest_engine* start_engine() {
  std::memset(&memory, 0xC5, sizeof memory);
  goldcrest_config config = {.model = model,
      .model_bytes = sizeof model,
      .arena = memory.arena,
      .arena_bytes = sizeof memory.arena,
      .limits = MODEL_G2P_LIMITS};
  goldcrest_engine* engine = nullptr;
  return goldcrest_init(&engine, &config) < 0 ? nullptr : engine;
}

bool canaries_intact() {
  for (size_t i = 0; i < GOLDCREST_ALIGN; ++i)
    if (memory.before[i] != 0xC5 || memory.after[i] != 0xC5) return false;
  return true;
}

// Checks the file in slices, pass after pass, and flips a bit anywhere in a pass. Returns the number of slices until
// one finds it, or 0 if two passes do not.
uint32_t slices_until_found(const Flip& flip) {
  goldcrest_check check = {};
  const uint32_t before = random_below(kSlices);
  for (uint32_t i = 0; i < before + 2 * kSlices; ++i) {
    if (i == before) flip_bit(flip);
    const size_t end = static_cast<size_t>(check.checked_bytes) + kSliceBytes;
    if (goldcrest_check_weights(model, sizeof model, end, &check, nullptr) < 0) return i - before + 1;
  }
  return 0;
}

// Makes one flip and prints its line. The line's first part is printed before the search, which can end the program.
void report_flip(uint32_t number, Region region, const Found& good, const Found& good_next) {
  random_state = number * 2654435761u + 1;
  std::memcpy(model, model_g2p, sizeof model);
  const Flip flip = choose_flip(region, good);
  const char* by_init = "passed";
  uint32_t slices = 0;
  feed_watchdog();
  if (region < kEngine) {
    slices = slices_until_found(flip);
    if (start_engine() == nullptr) by_init = "found";
    flip_bit(flip);
  }
  std::printf(
      "flip %u %s %s %u ", static_cast<unsigned>(number), kNames[region], by_init, static_cast<unsigned>(slices));
  std::fflush(stdout);
  goldcrest_engine* engine = start_engine();
  const Found found = search(engine, kWord, &flip);
  const Found next = search(engine, kNextWord, nullptr);
  feed_watchdog();
  const bool passed = goldcrest_self_test(engine, nullptr) >= 0;
  std::printf("%s %s %s %s\n",
      found.status < 0          ? "error"
      : found.hash == good.hash ? "same"
                                : "other",
      next.status < 0               ? "error"
      : next.hash == good_next.hash ? "right"
                                    : "wrong",
      passed ? "passed" : "found", canaries_intact() ? "passed" : "found");
}

// Reports the flips from number `first`: GOLDCREST_FLIPS of each region.
bool report_flips(uint32_t first) {
  std::memcpy(model, model_g2p, sizeof model);
  if (!list_regions(MODEL_G2P_LIMITS)) return false;
  goldcrest_engine* engine = start_engine();
  if (engine == nullptr) return false;
  const Found good = search(engine, kWord, nullptr), good_next = search(engine, kNextWord, nullptr);
  if (good.status < 0 || good_next.status < 0 || goldcrest_self_test(engine, nullptr) < 0) return false;
  for (uint32_t number = first; number < GOLDCREST_FLIPS * kRegions; ++number)
    report_flip(number, static_cast<Region>(number % kRegions), good, good_next);
  std::printf("all flips are reported\n");
  return true;
}
}}  // namespace goldcrest::test

extern "C" void __real_SysTick_Handler(void);
extern "C" void __wrap_SysTick_Handler(void);
// The watchdog finds a step that does not end.
extern "C" void __wrap_SysTick_Handler(void) {
  using namespace goldcrest::test;
  __real_SysTick_Handler();
  if (fed_at != 0 && board_ticks() - fed_at > kWatchdogSeconds * board_ticks_per_second()) board_exit(99);
}

int main() {
  board_init();
  goldcrest::test::protect_flash();
  char line[16];
  if (board_read_line(line, sizeof line) <= 0) return 2;
  return goldcrest::test::report_flips(static_cast<uint32_t>(std::atoi(line))) ? 0 : 1;
}
