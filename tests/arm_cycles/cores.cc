// SPDX-License-Identifier: Apache-2.0
// The costs of instructions on each core. Latencies and throughputs are those that programs measured on silicon:
//   [1] ocxtal/insn_bench_aarch64, commit 5145ffc: Cortex-A53 (Raspberry Pi 3), A72 (LX2160A), Neoverse N1 (Altra)
// A division has the measured cost of a square root. Which instructions share a cycle on in-order cores was found or
// published by others:
//   [2] Tencent/ncnn, docs/developer-guide/arm-a53-a55-dual-issue.md
//   [3] slothy-optimizer/slothy, commit ede5131, targets/aarch64/cortex_a55.py (after Arm's optimization guide, v3)
// For Cortex-A7, which [1] leaves out:
//   [4] hardwarebug.org, 2014-05-15, "Cortex-A7 instruction cycle timings": integer instructions, measured
//   [5] wlog.flatlib.jp, 2014-02-14: floats on a MediaTek MT8389, measured
//   [6] GCC, gcc/config/arm/cortex-a7.md (contributed by Arm)
#include <algorithm>
#include <stdexcept>

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
  throw std::runtime_error(std::string("Cortex-") + core + " has no " + name_of(instruction.kind));
}

// Cores in order. A vector operation on 128 bits takes both halves of the vector unit, one on 64 bits takes either
// half.
namespace little {
constexpr uint32_t kMemory = 1, kHalf0 = 2, kHalf1 = 4, kEitherHalf = 6, kMultiplier = 8, kBranchUnit = 16;
constexpr int kPorts = 5;

std::vector<Use> both_halves(int cycles) { return {{kHalf0, cycles}, {kHalf1, cycles}}; }

// No other instruction issues with a load of 128 bits, which takes two cycles [2].
const Table& a53_table() {
  static const Table table = {{{kNop, kAlu}, {{}, 1}},
                              {{kAluShift, kExtend}, {{}, 2}},
                              {{kMultiply}, {{{kMultiplier, 2}}, 4}},
                              {{kDivide}, {{{kMultiplier, 8}}, 12}},
                              {{kBranch}, {{{kBranchUnit, 1}}, 1}},
                              {{kPrefetch, kStoreX, kStoreD, kStoreQ, kStorePairX}, {{{kMemory, 1}}, 1}},
                              {{kStorePairD, kStorePairQ}, {{{kMemory, 2}}, 1}},
                              {{kLoadX}, {{{kMemory, 1}}, 3}},
                              {{kLoadPairX}, {{{kMemory, 2}}, 4}},
                              {{kLoadD}, {{{kMemory, 1}, {kEitherHalf, 1}}, 4}},
                              {{kLoadLane}, {{{kMemory, 1}, {kEitherHalf, 1}}, 5}},
                              {{kLoadQ, kLoadPairD}, {.uses = {{kMemory, 2}}, .latency = 5, .alone = 2}},
                              {{kLoadPairQ}, {.uses = {{kMemory, 4}}, .latency = 6, .alone = 4}},
                              {{kLoadMultipleD}, {.uses = {{kMemory, 1}}, .latency = 5, .alone = 1}},
                              {{kLoadMultipleQ}, {.uses = {{kMemory, 2}}, .latency = 5, .alone = 2}},
                              {{kMultiplyLong, kMultiplyLongAdd, kVectorMultiplyQ}, {both_halves(1), 4, 1}},
                              {{kPairwiseAdd}, {both_halves(2), 4}},
                              {{kShiftQ, kVectorQ, kDuplicateX}, {both_halves(1), 2}},
                              {{kFloatQ, kConvertQ}, {both_halves(1), 4}},
                              {{kFloatDivideQ}, {both_halves(9), 12}},
                              {{kFloatDivideD}, {{{kEitherHalf, 9}}, 12}},
                              {{kVectorMultiplyD, kFloatD, kConvertX}, {{{kEitherHalf, 1}}, 4}},
                              {{kVectorD, kFromX, kInsertX}, {{{kEitherHalf, 1}}, 2}},
                              {{kToX}, {{{kEitherHalf, 1}}, 3}}};
  return table;
}

Cost a53(const Instruction& instruction) {
  const Kind kind = instruction.kind;
  if (kind == kLoadMultipleX || kind == kStoreMultiple) {  // Thumb: two words a cycle
    const int cycles = (instruction.count + 1) / 2;
    return {.uses = {{kMemory, cycles}}, .latency = 3 + cycles, .alone = cycles};
  }
  return look_up("A53", a53_table(), instruction);
}

// A load of 64 bits, or a move from a general register, shares a cycle with an operation on 128 bits [2]. It must come
// first [3]. sadalp issues every cycle [3].
Cost a55(const Instruction& instruction) {
  static const Table differences = {{{kLoadD}, {{{kMemory, 1}}, 3}},
                                    {{kLoadLane}, {{{kMemory, 1}}, 4}},
                                    {{kLoadQ}, {.uses = {{kMemory, 2}}, .latency = 4, .alone = 2}},
                                    {{kInsertX, kFromX}, {{}, 2}},
                                    {{kDot}, {both_halves(1), 4, 1}},
                                    {{kPairwiseAdd}, {both_halves(1), 4}},
                                    {{kVectorQ, kDuplicateX}, {both_halves(1), 3}}};
  static const Table all = [] {
    Table table = differences;
    table.insert(table.end(), a53_table().begin(), a53_table().end());
    return table;
  }();
  Cost cost = look_up("A55", all, instruction);
  cost.first_slot = cost.uses.size() == 2;
  return cost;
}
}  // namespace little

// Cortex-A7 issues two instructions a cycle. The second must be a branch or read at most one register [4, 6].
// Instructions of NEON and VFP share no cycle [6]. NEON computes 64 bits of integers a cycle, or one 32-bit float [5].
namespace a7 {
constexpr uint32_t kUnit = 1, kBranchUnit = 2, kDivider = 4;
constexpr int kPorts = 3;

Cost alone(int cycles, int latency) { return {.uses = {{kUnit, cycles}}, .latency = latency, .alone = cycles}; }

Cost cost(const Instruction& instruction) {
  static const Table table = {
      {{kNop, kAlu}, {{}, 1}},
      {{kAluShift}, {.uses = {}, .latency = 1, .first_slot = true}},
      {{kExtend}, {.uses = {}, .latency = 2, .first_slot = true}},
      {{kMultiply}, {.uses = {{kUnit, 1}}, .latency = 3, .accumulate_latency = 1, .alone = 1}},
      {{kDivide}, alone(5, 7)},
      {{kBranch}, {{{kBranchUnit, 1}}, 1}},
      {{kLoadX, kStoreX, kPrefetch}, {.uses = {{kUnit, 1}}, .latency = 2, .first_slot = true}},
      {{kLoadPairX, kStorePairX, kStoreD}, alone(1, 2)},
      {{kLoadD, kLoadLane}, alone(1, 4)},
      {{kStoreQ}, alone(2, 1)},
      {{kLoadQ}, alone(2, 4)},
      {{kLoadMultipleQ}, alone(2, 4)},
      {{kMultiplyLong, kMultiplyLongAdd, kPairwiseAdd, kShiftQ, kVectorQ, kDuplicateX}, alone(2, 4)},
      {{kVectorMultiplyQ}, alone(4, 4)},
      {{kVectorD, kVectorMultiplyD, kFromX, kInsertX}, alone(1, 4)},
      {{kFloatQ, kConvertQ}, alone(4, 4)},
      {{kFloatD}, alone(1, 4)},
      {{kFloatDivideD}, {.uses = {{kDivider, 14}}, .latency = 16, .alone = 1}},
      {{kToX}, alone(1, 2)}};
  const Kind kind = instruction.kind;
  if (kind == kLoadMultipleX || kind == kLoadMultipleD || kind == kStoreMultiple) {  // two words a cycle
    const int cycles = (instruction.count + 1) / 2;
    return alone(cycles, 1 + cycles);
  }
  Cost cost = look_up("A7", table, instruction);
  if (kind == kAlu) cost.first_slot = instruction.reads.size() > 1;
  if (kind == kFloatD && instruction.writes.size() == 2) return alone(2, 4);  // two floats
  return cost;
}
}  // namespace a7

// Cortex-A72: a load and a store a cycle, and two vector units. The first unit multiplies; the second shifts and adds
// pairs. Operations that either unit takes run at 1.5 a cycle on 128 bits and at 2 on 64 bits [1]. A cycle has three
// slots, so a 128-bit result takes two of them.
namespace a72 {
constexpr uint32_t kLoad = 1, kStore = 2, kVector0 = 4, kVector1 = 8, kVector = 12, kAlus = 0x30, kMultiplier = 0x40,
                   kBranchUnit = 0x80;
constexpr int kPorts = 8;

Cost cost(const Instruction& instruction) {
  static const Table table = {
      {{kNop}, {{}, 1}},
      {{kAlu}, {{{kAlus, 1}}, 1}},
      {{kAluShift}, {{{kMultiplier, 1}}, 2}},
      {{kMultiply}, {{{kMultiplier, 3}}, 5}},
      {{kDivide}, {{{kMultiplier, 8}}, 12}},
      {{kBranch}, {{{kBranchUnit, 1}}, 1}},
      {{kPrefetch}, {{{kLoad, 1}}, 1}},
      {{kLoadX}, {{{kLoad, 1}}, 4}},
      {{kLoadPairX}, {.uses = {{kLoad, 1}}, .latency = 4, .slots = 2}},
      {{kLoadD}, {{{kLoad, 1}}, 5}},
      {{kLoadQ, kLoadPairD}, {.uses = {{kLoad, 1}}, .latency = 5, .slots = 2}},
      {{kLoadPairQ}, {.uses = {{kLoad, 2}}, .latency = 6, .slots = 4}},
      {{kLoadLane}, {.uses = {{kLoad, 1}, {kVector, 1}}, .latency = 8, .slots = 3}},
      {{kLoadMultipleD}, {.uses = {{kLoad, 1}}, .latency = 6, .slots = 1}},
      {{kLoadMultipleQ}, {.uses = {{kLoad, 1}}, .latency = 6, .slots = 2}},
      {{kStoreX, kStoreD}, {{{kStore, 1}}, 1}},
      {{kStorePairX, kStoreQ, kStorePairD}, {.uses = {{kStore, 2}}, .latency = 1, .slots = 2}},
      {{kStorePairQ}, {.uses = {{kStore, 4}}, .latency = 1, .slots = 4}},
      {{kMultiplyLong, kMultiplyLongAdd}, {.uses = {{kVector0, 1}}, .latency = 4, .accumulate_latency = 1, .slots = 2}},
      {{kPairwiseAdd}, {.uses = {{kVector1, 1}}, .latency = 4, .accumulate_latency = 1, .slots = 2}},
      {{kShiftQ}, {.uses = {{kVector1, 1}}, .latency = 3, .slots = 2}},
      {{kVectorQ}, {.uses = {{kVector, 1}}, .latency = 3, .slots = 2}},
      {{kVectorD}, {{{kVector, 1}}, 3}},
      {{kVectorMultiplyQ}, {.uses = {{kVector0, 2}}, .latency = 4, .accumulate_latency = 2, .slots = 2}},
      {{kVectorMultiplyD}, {.uses = {{kVector0, 1}}, .latency = 4, .accumulate_latency = 1}},
      {{kFloatQ}, {.uses = {{kVector0, 1}, {kVector1, 1}}, .latency = 4, .slots = 2}},
      {{kFloatDivideQ}, {.uses = {{kVector0, 30}}, .latency = 30, .slots = 2}},
      {{kFloatDivideD}, {{{kVector0, 8}}, 17}},
      {{kConvertQ}, {.uses = {{kVector0, 2}}, .latency = 3, .slots = 2}},
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
  static const Table table = {{{kNop}, {{}, 1}},
                              {{kAlu}, {{{kAlus, 1}}, 1}},
                              {{kAluShift}, {{{kAlus, 1}}, 2}},  // small left shifts: one cycle
                              {{kMultiply}, {{{kMultiplier, 3}}, 4}},
                              {{kDivide}, {{{kMultiplier, 8}}, 12}},
                              {{kBranch}, {{{kBranchUnit, 1}}, 1}},
                              {{kPrefetch}, {{{kLoad, 1}}, 1}},
                              {{kLoadX}, {{{kLoad, 1}}, 4}},
                              {{kLoadPairX}, {{{kLoad, 1}, {kLoad, 1}}, 4}},
                              {{kLoadD, kLoadQ}, {{{kLoad, 1}}, 5}},
                              {{kLoadPairD, kLoadPairQ}, {{{kLoad, 1}, {kLoad, 1}}, 7}},
                              {{kLoadLane}, {{{kLoad, 1}, {kVector, 1}}, 7}},
                              {{kStoreX, kStoreD, kStoreQ}, {{{kStore, 1}}, 1}},
                              {{kStorePairX, kStorePairD, kStorePairQ}, {{{kStore, 1}, {kStore, 1}}, 1}},
                              {{kMultiplyLong, kMultiplyLongAdd}, {{{kVector0, 1}}, 4, 1}},
                              {{kPairwiseAdd}, {{{kVector1, 1}}, 4, 1}},
                              {{kDot}, {{{kVector, 1}}, 3, 1}},
                              {{kShiftQ}, {{{kVector1, 1}}, 2}},
                              {{kVectorQ, kVectorD}, {{{kVector, 1}}, 2}},
                              {{kVectorMultiplyQ}, {{{kVector0, 2}}, 5, 2}},
                              {{kVectorMultiplyD}, {{{kVector0, 1}}, 4, 1}},
                              {{kFloatQ, kFloatD}, {{{kVector, 1}}, 3}},
                              {{kFloatDivideQ}, {{{kVector0, 7}}, 9}},
                              {{kFloatDivideD}, {{{kVector0, 2}}, 9}},
                              {{kConvertQ}, {{{kVector0, 2}}, 4}},
                              {{kFromX, kInsertX, kDuplicateX}, {{{kMultiplier, 1}}, 3}},
                              {{kConvertX}, {{{kMultiplier, 1}}, 6}},
                              {{kToX}, {{{kVector1, 1}}, 2}}};
  const bool multiple = instruction.kind == kLoadMultipleD || instruction.kind == kLoadMultipleQ;
  const int half = (instruction.count + 1) / 2;
  Cost cost = multiple ? Cost{{{1, half}, {2, half}}, 4 + instruction.count} : look_up("A76", table, instruction);
  if (instruction.written_back >= 0) cost.uses.push_back({kAlus, 1});
  return cost;
}
}  // namespace a76

// Peak without dot products: a vector unit multiplies 16 bytes in two cycles (smull, smlal: 8 each) and adds the
// pairs. A53 has a unit for both, A72 a unit for each. A7 takes two cycles for each of the three. Windows are those
// of Arm's guides (A72: 128) and of the measurements.
const Core kCores[] = {
    {"A7", 4, true, 2, 0, 0, a7::kPorts, 1, a7::cost, nullptr, decode_thumb},
    {"A53", 4, true, 2, 0, 0, little::kPorts, 1, little::a53},
    {"A53-32", 4, true, 2, 0, 0, little::kPorts, 1, little::a53, nullptr, decode_thumb},
    {"A55", 16, true, 2, 0, 0, little::kPorts, 1, little::a55},
    {"A72", 8, false, 3, 128, 60, a72::kPorts, 0, a72::cost},
    {"A76", 32, false, 4, 128, 110, a76::kPorts, 0, a76::cost},
};

}  // namespace

const Core& core_named(const std::string& name) {
  for (const Core& core : kCores) {
    if (core.name == name) return core;
  }
  for (const Core* core : {&kCortexM7, &kCortexM55}) {
    if (core->name == name) return *core;
  }
  throw std::runtime_error("no core is named " + name);
}

}  // namespace arm_cycles
