// SPDX-License-Identifier: Apache-2.0
// The costs of instructions on each core. Latencies and throughputs are those that programs measured on silicon:
//   [1] ocxtal/insn_bench_aarch64, commit 5145ffc: Cortex-A53 (Raspberry Pi 3), A72 (LX2160A), Neoverse N1 (Altra)
// A division has the measured cost of a square root. Which instructions share a cycle on in-order cores was found or
// published by others:
//   [2] Tencent/ncnn, docs/developer-guide/arm-a53-a55-dual-issue.md
// For Cortex-M:
//   [3] jnk0le/random, "pipeline cycle test", doc/cortex_m7.md at 0b9c602: programs that ran on an STM32H743
//   [4] LLVM, llvm/lib/Target/ARM: ARMScheduleM7.td at 6a55533, ARMScheduleM55.td at 2f206a0 (both by Arm)
//   [5] slothy-optimizer/slothy, commit ede5131, targets/arm_v81m/cortex_m55r1.py
#include "arm_cycles/core.h"

namespace arm_cycles {
namespace {
using enum Kind;

struct Row {
  std::vector<Kind> kinds;
  Cost cost;
};
using Table = std::vector<Row>;

// A load of several registers costs as many loads of one; its last register is ready that much later.
Cost look_up(const char* core, const Table& table, const Instruction& instruction) {
  for (const Row& row : table) {
    if (std::find(row.kinds.begin(), row.kinds.end(), instruction.kind) == row.kinds.end()) continue;
    Cost cost = row.cost;
    if (instruction.kind == kLoadMultipleD || instruction.kind == kLoadMultipleQ) {
      cost.latency += (instruction.count - 1) * cost.uses[0].cycles;
      cost.uses[0].cycles *= instruction.count;
      cost.alone *= instruction.count;
      cost.slots *= instruction.count;
    }
    return cost;
  }
#define GOLDCREST_KIND(name) #name,
  static constexpr const char* kNames[] = {GOLDCREST_KINDS(GOLDCREST_KIND)};
#undef GOLDCREST_KIND
  throw std::runtime_error(std::string("Cortex-") + core + " has no " + kNames[static_cast<size_t>(instruction.kind)]);
}

// Cores in order. A vector operation on 128 bits takes both halves of the vector unit, one on 64 bits takes either
// half.
namespace little {
constexpr uint32_t kMemory = 1, kHalf0 = 2, kHalf1 = 4, kEitherHalf = 6, kMultiplier = 8, kBranchUnit = 16;
constexpr int kPorts = 5;

std::vector<Use> both_halves(int cycles) { return {{kHalf0, cycles}, {kHalf1, cycles}}; }

// No other instruction issues with a load of 128 bits, which takes two cycles [2].
Cost a53(const Instruction& instruction) {
  static const Table table = {{{kNop, kAlu}, {{}, 1}}, {{kAluShift}, {{}, 2}}, {{kMultiply}, {{{kMultiplier, 2}}, 4}},
      {{kDivide}, {{{kMultiplier, 8}}, 12}}, {{kBranch}, {{{kBranchUnit, 1}}, 1}},
      {{kPrefetch, kStoreX, kStoreD, kStoreQ, kStorePairX}, {{{kMemory, 1}}, 1}},
      {{kStorePairD, kStorePairQ}, {{{kMemory, 2}}, 1}}, {{kLoadX}, {{{kMemory, 1}}, 3}},
      {{kLoadPairX}, {{{kMemory, 2}}, 4}}, {{kLoadD}, {{{kMemory, 1}, {kEitherHalf, 1}}, 4}},
      {{kLoadLane}, {{{kMemory, 1}, {kEitherHalf, 1}}, 5}},
      {{kLoadQ, kLoadPairD}, {.uses = {{kMemory, 2}}, .latency = 5, .alone = 2}},
      {{kLoadPairQ}, {.uses = {{kMemory, 4}}, .latency = 6, .alone = 4}},
      {{kLoadMultipleD}, {.uses = {{kMemory, 1}}, .latency = 5, .alone = 1}},
      {{kLoadMultipleQ}, {.uses = {{kMemory, 2}}, .latency = 5, .alone = 2}},
      {{kMultiplyLong, kMultiplyLongAdd, kVectorMultiplyQ}, {both_halves(1), 4, 1}},
      {{kPairwiseAdd}, {both_halves(2), 4}}, {{kShiftQ, kVectorQ, kDuplicateX}, {both_halves(1), 2}},
      {{kFloatQ, kConvertQ}, {both_halves(1), 4}}, {{kFloatDivideQ}, {both_halves(9), 12}},
      {{kFloatDivideD}, {{{kEitherHalf, 9}}, 12}}, {{kVectorMultiplyD, kFloatD, kConvertX}, {{{kEitherHalf, 1}}, 4}},
      {{kVectorD, kFromX, kInsertX}, {{{kEitherHalf, 1}}, 2}}, {{kToX}, {{{kEitherHalf, 1}}, 3}}};
  return look_up("A53", table, instruction);
}
}  // namespace little

// Cortex-A72: a load and a store a cycle, and two vector units. The first unit multiplies; the second shifts and adds
// pairs. Operations that either unit takes run at 1.5 a cycle on 128 bits and at 2 on 64 bits [1]. A cycle has three
// slots, so a 128-bit result takes two of them.
namespace a72 {
constexpr uint32_t kLoad = 1, kStore = 2, kVector0 = 4, kVector1 = 8, kVector = 12, kAlus = 0x30, kMultiplier = 0x40,
                   kBranchUnit = 0x80;
constexpr int kPorts = 8;

Cost cost(const Instruction& instruction) {
  static const Table table = {{{kNop}, {{}, 1}}, {{kAlu}, {{{kAlus, 1}}, 1}}, {{kAluShift}, {{{kMultiplier, 1}}, 2}},
      {{kMultiply}, {{{kMultiplier, 3}}, 5}}, {{kDivide}, {{{kMultiplier, 8}}, 12}},
      {{kBranch}, {{{kBranchUnit, 1}}, 1}}, {{kPrefetch}, {{{kLoad, 1}}, 1}}, {{kLoadX}, {{{kLoad, 1}}, 4}},
      {{kLoadPairX}, {.uses = {{kLoad, 1}}, .latency = 4, .slots = 2}}, {{kLoadD}, {{{kLoad, 1}}, 5}},
      {{kLoadQ, kLoadPairD}, {.uses = {{kLoad, 1}}, .latency = 5, .slots = 2}},
      {{kLoadPairQ}, {.uses = {{kLoad, 2}}, .latency = 6, .slots = 4}},
      {{kLoadLane}, {.uses = {{kLoad, 1}, {kVector, 1}}, .latency = 8, .slots = 3}},
      {{kLoadMultipleD}, {.uses = {{kLoad, 1}}, .latency = 6, .slots = 1}},
      {{kLoadMultipleQ}, {.uses = {{kLoad, 1}}, .latency = 6, .slots = 2}}, {{kStoreX, kStoreD}, {{{kStore, 1}}, 1}},
      {{kStorePairX, kStoreQ, kStorePairD}, {.uses = {{kStore, 2}}, .latency = 1, .slots = 2}},
      {{kStorePairQ}, {.uses = {{kStore, 4}}, .latency = 1, .slots = 4}},
      {{kMultiplyLong, kMultiplyLongAdd}, {.uses = {{kVector0, 1}}, .latency = 4, .accumulate_latency = 1, .slots = 2}},
      {{kPairwiseAdd}, {.uses = {{kVector1, 1}}, .latency = 4, .accumulate_latency = 1, .slots = 2}},
      {{kShiftQ}, {.uses = {{kVector1, 1}}, .latency = 3, .slots = 2}},
      {{kVectorQ}, {.uses = {{kVector, 1}}, .latency = 3, .slots = 2}}, {{kVectorD}, {{{kVector, 1}}, 3}},
      {{kVectorMultiplyQ}, {.uses = {{kVector0, 2}}, .latency = 4, .accumulate_latency = 2, .slots = 2}},
      {{kVectorMultiplyD}, {.uses = {{kVector0, 1}}, .latency = 4, .accumulate_latency = 1}},
      {{kFloatQ}, {.uses = {{kVector0, 1}, {kVector1, 1}}, .latency = 4, .slots = 2}},
      {{kFloatDivideQ}, {.uses = {{kVector0, 30}}, .latency = 30, .slots = 2}},
      {{kFloatDivideD}, {{{kVector0, 8}}, 17}}, {{kConvertQ}, {.uses = {{kVector0, 2}}, .latency = 3, .slots = 2}},
      {{kFloatD}, {{{kVector, 1}}, 4}},
      {{kFromX, kInsertX, kDuplicateX, kConvertX}, {.uses = {{kLoad, 1}, {kVector, 1}}, .latency = 8, .slots = 2}},
      {{kToX}, {{{kLoad, 1}}, 7}}};
  Cost cost = look_up("A72", table, instruction);
  if (instruction.written_back >= 0) {
    cost.uses.push_back({kAlus, 1});
    ++cost.slots;
  }
  return cost;
}
}  // namespace a72

// Cortex-A76, whose server form is Neoverse N1: two loads, two stores and two vector operations a cycle.
namespace a76 {
constexpr uint32_t kLoad = 3, kVector0 = 4, kVector1 = 8, kVector = 12, kMultiplier = 0x10, kAlus = 0x70,
                   kBranchUnit = 0x80, kStore = 0x300;
constexpr int kPorts = 10;

Cost cost(const Instruction& instruction) {
  static const Table table = {{{kNop}, {{}, 1}}, {{kAlu}, {{{kAlus, 1}}, 1}},
      {{kAluShift}, {{{kAlus, 1}}, 2}},  // small left shifts: one cycle
      {{kMultiply}, {{{kMultiplier, 3}}, 4}}, {{kDivide}, {{{kMultiplier, 8}}, 12}},
      {{kBranch}, {{{kBranchUnit, 1}}, 1}}, {{kPrefetch}, {{{kLoad, 1}}, 1}}, {{kLoadX}, {{{kLoad, 1}}, 4}},
      {{kLoadPairX}, {{{kLoad, 1}, {kLoad, 1}}, 4}}, {{kLoadD, kLoadQ}, {{{kLoad, 1}}, 5}},
      {{kLoadPairD, kLoadPairQ}, {{{kLoad, 1}, {kLoad, 1}}, 7}}, {{kLoadLane}, {{{kLoad, 1}, {kVector, 1}}, 7}},
      {{kStoreX, kStoreD, kStoreQ}, {{{kStore, 1}}, 1}},
      {{kStorePairX, kStorePairD, kStorePairQ}, {{{kStore, 1}, {kStore, 1}}, 1}},
      {{kMultiplyLong, kMultiplyLongAdd}, {{{kVector0, 1}}, 4, 1}}, {{kPairwiseAdd}, {{{kVector1, 1}}, 4, 1}},
      {{kDot}, {{{kVector, 1}}, 3, 1}}, {{kShiftQ}, {{{kVector1, 1}}, 2}}, {{kVectorQ, kVectorD}, {{{kVector, 1}}, 2}},
      {{kVectorMultiplyQ}, {{{kVector0, 2}}, 5, 2}}, {{kVectorMultiplyD}, {{{kVector0, 1}}, 4, 1}},
      {{kFloatQ, kFloatD}, {{{kVector, 1}}, 3}}, {{kFloatDivideQ}, {{{kVector0, 7}}, 9}},
      {{kFloatDivideD}, {{{kVector0, 2}}, 9}}, {{kConvertQ}, {{{kVector0, 2}}, 4}},
      {{kFromX, kInsertX, kDuplicateX}, {{{kMultiplier, 1}}, 3}}, {{kConvertX}, {{{kMultiplier, 1}}, 6}},
      {{kToX}, {{{kVector1, 1}}, 2}}};
  const bool multiple = instruction.kind == kLoadMultipleD || instruction.kind == kLoadMultipleQ;
  const int half = (instruction.count + 1) / 2;
  Cost cost = multiple ? Cost{{{1, half}, {2, half}}, 4 + instruction.count} : look_up("A76", table, instruction);
  if (instruction.written_back >= 0) cost.uses.push_back({kAlus, 1});
  return cost;
}
}  // namespace a76

bool writes_float(const Instruction& instruction) {
  return !instruction.writes.empty() && instruction.writes[0] >= kVectors && instruction.writes[0] < kFlags;
}

bool is_multiple(Kind kind) { return kind == kLoadMultipleX || kind == kLoadMultipleD || kind == kStoreMultiple; }

// M7 issues two instructions a cycle, in order. One of them may multiply, store or compute with floats. One may use the
// shifter; it must be the first if it extends or belongs to the DSP extension. Loads and stores of several registers
// move two words a cycle and share no cycle [3, 4]. The two banks of memory, which two loads of a cycle must not
// share, are not modelled.
namespace m7 {
constexpr uint32_t kMultiplier = 1, kShifter = 2, kLoad = 0xc, kStore = 0x10, kFloat = 0x20, kBranchUnit = 0x40;
constexpr int kPorts = 7;

Cost cost(const Instruction& instruction) {
  static const Table table = {{{kNop, kAlu}, {{}, 1}}, {{kAluShift}, {{{kShifter, 1}}, 1}},
      {{kExtend}, {.uses = {{kShifter, 1}}, .latency = 1, .first_slot = true}},
      {{kMultiply}, {{{kMultiplier, 1}}, 2, 1}}, {{kDivide}, {.uses = {}, .latency = 7, .alone = 7}},
      {{kBranch}, {{{kBranchUnit, 1}}, 1}}, {{kLoadX}, {{{kLoad, 1}}, 1}}, {{kLoadD}, {{{kLoad, 1}}, 2}},
      {{kLoadPairX, kStorePairX}, {.uses = {}, .latency = 1, .alone = 1}},
      {{kStoreX, kStoreD}, {{{kStore, 1}, {kMultiplier, 1}}, 1}}, {{kFloatD, kFromX}, {{{kFloat, 1}}, 3}},
      {{kToX}, {{{kFloat, 1}}, 2}}};
  const Kind kind = instruction.kind;
  if (is_multiple(kind))
    return {.uses = {}, .latency = kind == kLoadMultipleD ? 2 : 1, .alone = (instruction.count + 1) / 2};
  if (kind == kDivide && writes_float(instruction)) return {{{kFloat, 16}}, 16};
  return look_up("M7", table, instruction);
}

// A shift, extension or multiplication needs a loaded word a cycle earlier. A shift or extension needs any result a
// cycle earlier, and an address needs a loaded or extended one a cycle earlier [3]. A load of several registers
// delivers the later words later. A float can be stored as soon as it is ready [3].
int extra_delay(const Instruction& from, const Instruction& to, int reg) {
  const bool shifts = to.kind == kExtend || to.kind == kAluShift;
  const bool loads = to.kind == kLoadX || to.kind == kLoadPairX || to.kind == kLoadMultipleX;
  const Kind kind = from.kind;
  if (kind == kLoadX || kind == kLoadPairX || kind == kLoadMultipleX || kind == kLoadMultipleD) {
    const auto at = std::find(from.writes.begin(), from.writes.end(), reg) - from.writes.begin();
    return static_cast<int>(at) / 2 + (shifts || loads || to.kind == kMultiply ? 1 : 0);
  }
  if (kind == kExtend) return shifts || loads ? 1 : 0;
  if (kind == kFloatD) return to.kind == kStoreD || to.kind == kStoreMultiple ? -2 : 0;
  return shifts && (kind == kAlu || kind == kAluShift || kind == kMultiply) ? 1 : 0;
}
}  // namespace m7

// M55 issues one instruction a cycle, in order. A vector instruction takes two cycles of its unit, and the next may
// begin a cycle later in another unit [4, 5]. There are three units: loads and stores; integers; floats with all
// products. A loop that ends in `le` costs nothing but its first turn. Other taken branches leave two cycles empty.
namespace m55 {
constexpr uint32_t kMemory = 1, kInteger = 2, kFloat = 4, kEither = 6;
constexpr int kPorts = 3;

Cost cost(const Instruction& instruction) {
  static const Table table = {{{kNop, kAlu, kBranch}, {{}, 1}}, {{kAluShift, kExtend, kMultiply}, {{}, 2}},
      {{kDivide}, {.uses = {}, .latency = 8, .alone = 8}}, {{kLoopEnd}, {.uses = {}, .slots = 0}},
      {{kLoadX, kLoadD, kLoadPairX}, {{{kMemory, 1}}, 2}}, {{kStoreX, kStoreD, kStorePairX}, {{{kMemory, 1}}, 1}},
      {{kLoadQ, kStoreQ}, {{{kMemory, 2}}, 1}}, {{kDot}, {{{kFloat, 2}}, 3, 2}},
      {{kPairwiseAdd, kVectorMultiplyQ, kFloatQ, kConvertQ}, {{{kFloat, 2}}, 2}},
      {{kVectorQ, kDuplicateX}, {{{kInteger, 2}}, 1}}, {{kShiftQ}, {{{kInteger, 2}}, 2}},
      {{kInsertX}, {{{kEither, 2}}, 1}}, {{kToX}, {{{kFloat, 2}}, 1}}, {{kFloatD, kFromX}, {{{kFloat, 1}}, 2}}};
  const int words = (instruction.count + 1) / 2;
  if (is_multiple(instruction.kind)) return {.uses = {{kMemory, words}}, .latency = words + 1, .alone = words};
  if (instruction.kind == kDivide && writes_float(instruction)) return {{{kFloat, 1}}, 16};
  return look_up("M55", table, instruction);
}
}  // namespace m55

// Peak without dot products: a vector unit multiplies 16 bytes in two cycles (smull, smlal: 8 each) and adds the
// pairs. A53 has a unit for both, A72 a unit for each. M7: two 16-bit products a cycle. M55: sixteen 8-bit products in
// two cycles. Windows are those of Arm's guides (A72: 128) and of the measurements.
const Core kCores[] = {
    {"A53", 4, true, 2, 0, 0, little::kPorts, 1, little::a53},
    {"A72", 8, false, 3, 128, 60, a72::kPorts, 0, a72::cost},
    {"A76", 32, false, 4, 128, 110, a76::kPorts, 0, a76::cost},
    {"M7", 2, true, 2, 0, 0, m7::kPorts, 0, m7::cost, m7::extra_delay, decode_thumb},
    {"M55", 8, true, 1, 0, 0, m55::kPorts, 2, m55::cost, nullptr, decode_thumb},
};
}  // namespace

const Core& core_named(const std::string& name) {
  for (const Core& core : kCores)
    if (core.name == name) return core;
  throw std::runtime_error("no core is named " + name);
}
}  // namespace arm_cycles
