// SPDX-License-Identifier: Apache-2.0
// On the board: one engine pre-empts another in the middle of its kernels, with floating-point and vector registers in
// use. Both must get the golden hash. Engine A works in main, engine B in the timer's handler, at varying times.
#include <cinttypes>
#include <cstdio>
#include "board_api.h"
#include "boards/golden_run.h"
#include "kernels/reference/reference.h"
#include "support/rng.h"

namespace goldcrest {
extern const Kernels kernels_cortexm_dsp;
extern const Kernels kernels_cortexm_helium;
extern const Kernels kernels_riscv_scalar;

namespace {
#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)
constexpr const Kernels& kBest = kernels_cortexm_helium;
#elif defined(__riscv)
constexpr const Kernels& kBest = kernels_riscv_scalar;
#else
constexpr const Kernels& kBest = kernels_cortexm_dsp;
#endif

// The work of the running context; the handler saves and restores it.
enum Activity : uint32_t { kQuantizeRows, kLinear, kEmbed, kLayerNorm, kAttention, kOutputBlock, kOther, kActivities };
constexpr const char* kActivityNames[kActivities] = {
    "quantize_rows", "linear", "embed", "layer_norm", "attention", "output_block", "other than that"};
volatile uint32_t activity = kOther;

// Calls the best table's kernel and records it in `activity`.
template <typename Args> void watched(void (*kernel)(const Args&), Activity name, const Args& args) {
  const uint32_t outer = activity;
  activity = name;
  kernel(args);
  activity = outer;
}

template <auto slot, Activity name, typename Args> void watched_slot(const Args& args) {
  watched(kBest.int8.*slot, name, args);
}

void layer_norm(const LayerNormArgs& args) { watched(kBest.layer_norm, kLayerNorm, args); }
void list_largest(const ListLargestArgs& args) { kBest.list_largest(args); }
uint32_t crc32c(uint32_t crc, const void* bytes, size_t n) { return kBest.crc32c(crc, bytes, n); }
bool weights_valid(const int8_t* w, const int32_t* weight_sum, uint32_t n, uint32_t k, Layout layout) {
  return kBest.weights_valid(w, weight_sum, n, k, layout);
}

constexpr Kernels make_watched_table() {
  using Int8 = TypedKernels<int8_t>;
  Kernels table = {.name = "watched"};
  table.int8.quantize_rows = watched_slot<&Int8::quantize_rows, kQuantizeRows>;
  table.int8.linear = watched_slot<&Int8::linear, kLinear>;
  table.int8.embed = watched_slot<&Int8::embed, kEmbed>;
  table.int8.attention = watched_slot<&Int8::attention, kAttention>;
  table.int8.output_block = watched_slot<&Int8::output_block, kOutputBlock>;
  table.layer_norm = layer_norm;
  table.list_largest = list_largest;
  table.crc32c = crc32c;
  table.weights_valid = weights_valid;
  return table;
}

constexpr Kernels kWatched = make_watched_table();
}  // namespace

// This program's kernel table replaces select_static.cc.
const Kernels* kernels_at(uint32_t index) { return index == 0 ? &kWatched : nullptr; }
const Kernels* select_kernels(const char*) { return &kWatched; }
const char* wanted_kernels(const char* name) { return name; }

namespace test { namespace {
#if defined(__riscv)
#if !defined(__riscv_zicsr)
asm(".option arch, +zicsr");  // as in the start-up code
#endif
// The timer of SiFive's CLINT, whose ticks are 100 ns: it interrupts while the clock is at least at the value of
// compare.
void set_timer(uint64_t ticks) {
  volatile uint32_t* const compare = reinterpret_cast<volatile uint32_t*>(0x02004000u);
  compare[1] = 0xFFFFFFFFu;  // no interrupt between the two writes
  compare[0] = static_cast<uint32_t>(ticks);
  compare[1] = static_cast<uint32_t>(ticks >> 32);
}
void stop_timer() { set_timer(~uint64_t{0}); }
void run_timer(uint32_t clocks) { set_timer(board_ticks() + clocks); }
void allow_interrupts() {
  asm volatile("csrs mie, %0" : : "r"(1u << 7));
  asm volatile("csrs mstatus, %0" : : "r"(1u << 3));
}
#else
// The architecture's timer (Armv7-M ARM, B3.3). This program takes over its handler (--wrap), so board_ticks is not
// available.
struct SysTick {
  volatile uint32_t control, reload, value;
};
constexpr uint32_t kTimerOff = 0, kTimerOn = 7;  // 7: the CPU's clock, with interrupt
SysTick& timer() { return *reinterpret_cast<SysTick*>(0xE000E010u); }
void stop_timer() { timer().control = kTimerOff; }
void run_timer(uint32_t clocks) {
  timer().control = kTimerOff;
  timer().reload = clocks;
  timer().value = 0;
  *reinterpret_cast<volatile uint32_t*>(0xE000ED04u) = 1u << 25;  // the pending interrupt is gone
  timer().control = kTimerOn;
}
void allow_interrupts() {}  // they are after reset
#endif

// Clock cycles between two interrupts: about the work of one step.
constexpr uint32_t kFewestClocks = 100, kMaxClocks = 5000;
constexpr uint32_t kEnoughInKernels = 1000;

alignas(GOLDCREST_ALIGN) uint8_t arena_a[MODEL_GOLDEN_ARENA_BYTES];
alignas(GOLDCREST_ALIGN) uint8_t arena_b[MODEL_GOLDEN_ARENA_BYTES];
GoldenRun run_a, run_b;
volatile int status_b;

Rng rng(1);
uint32_t n_interrupts, n_during[kActivities];
uint32_t n_with_float_state;  // interrupts while floating-point (and vector) registers were in use

void start_timer() { run_timer(rng.between(kFewestClocks, kMaxClocks)); }

// Runs one step of engine B. has_float_state: the interrupted context uses floating-point registers.
void preempt(bool has_float_state) {
  const uint32_t interrupted = activity;
  activity = kOther;
  ++n_interrupts;
  ++n_during[interrupted];
  if (has_float_state) ++n_with_float_state;
  status_b = run_b.step();
  activity = interrupted;
  if (status_b < 0 || status_b == GOLDCREST_DONE) stop_timer();
  else start_timer();  // counts from here, so that engine A gets its turn
}

bool same_hash(const char* name, const GoldenRun& run) {
  const bool same = run.hash() == expected_golden_hash() && run.n_words() > 0;
  std::printf("%s: %u words, hash %08" PRIx32 "%08" PRIx32 " %s\n", name, static_cast<unsigned>(run.n_words()),
      static_cast<uint32_t>(run.hash() >> 32), static_cast<uint32_t>(run.hash()), same ? "same" : "DIFFERENT");
  return same;
}

// Returns whether engine A was interrupted often, in every kernel except embed, which is short. If the CPU has
// floating-point state, some interrupts must have found it in use.
bool was_preempted() {
  bool enough = n_interrupts - n_during[kOther] >= kEnoughInKernels;
  std::printf("%" PRIu32 " interrupts, %" PRIu32 " with floating-point state\n", n_interrupts, n_with_float_state);
  for (uint32_t i = 0; i < kActivities; ++i) {
    std::printf("  %6" PRIu32 " during %s\n", n_during[i], kActivityNames[i]);
    if (i != kEmbed) enough &= n_during[i] > 0;
  }
#if defined(__ARM_FP)
  enough &= n_with_float_state >= kEnoughInKernels;
#endif
  if (!enough) std::printf("too few to prove anything\n");
  return enough;
}

bool run() {
  int status = run_a.start(arena_a, nullptr, GOLDCREST_STEP_POSITION);
  if (status < 0) return run_a.report(status);
  status_b = run_b.start(arena_b, nullptr, GOLDCREST_STEP_LAYER);
  if (status_b < 0) return run_b.report(status_b);
  start_timer();
  allow_interrupts();
  while (status >= 0 && status != GOLDCREST_DONE) status = run_a.step();
  while (status_b >= 0 && status_b != GOLDCREST_DONE) {
  }
  stop_timer();
  if (status < 0) return run_a.report(status);
  if (status_b < 0) return run_b.report(status_b);
  bool ok = same_hash("engine A, in main", run_a);
  ok &= same_hash("engine B, in the timer's handler", run_b);
  ok &= was_preempted();
  return ok;
}
}}  // namespace test
}  // namespace goldcrest

#if defined(__riscv)
// The start-up code has saved the registers of the FPU, if there is one.
extern "C" void Timer_Handler() { goldcrest::test::preempt(false); }
#else
// Bit 4 of the handler's return address is clear if the CPU stored floating-point registers, too.
extern "C" void __wrap_SysTick_Handler() {
  goldcrest::test::preempt((reinterpret_cast<uint32_t>(__builtin_return_address(0)) & 0x10u) == 0);
}
#endif

int main() {
  board_init();
  return goldcrest::test::run() ? 0 : 1;
}
