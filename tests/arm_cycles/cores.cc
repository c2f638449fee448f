// SPDX-License-Identifier: Apache-2.0
// What instructions take on each core. Latencies and throughputs are those that programs measured on silicon:
//   [1] ocxtal/insn_bench_aarch64, commit 5145ffc: Cortex-A53 (Raspberry Pi 3), A72 (LX2160A), Neoverse N1 (Altra)
// (a division takes what a square root was measured to),
// and what shares a cycle in order is what others found or published:
//   [2] Tencent/ncnn, docs/developer-guide/arm-a53-a55-dual-issue.md
//   [3] slothy-optimizer/slothy, commit ede5131, targets/aarch64/cortex_a55.py (after Arm's optimization guide, version
//   3)
#include <stdexcept>

#include "arm_cycles/core.h"

namespace arm_cycles {
namespace {

// Cores in order. A vector operation on 128 bits takes both halves of the vector unit, one on 64 bits either.
namespace little {
constexpr uint32_t kMemory = 1, kHalf0 = 2, kHalf1 = 4, kEitherHalf = 6, kMultiplier = 8, kBranch = 16;
constexpr int kPorts = 5;

std::vector<Use> both_halves(int cycles) { return {{kHalf0, cycles}, {kHalf1, cycles}}; }

// What A53 and A55 have in common. A load of 128 bits issues alone and takes two cycles [2].
Cost cost(const Instruction& instruction) {
  const int count = instruction.count;
  switch (instruction.kind) {
    case Kind::kNop:
    case Kind::kAlu:
      return {{}, 1};
    case Kind::kAluShift:
      return {{}, 2};
    case Kind::kMultiply:
      return {{{kMultiplier, 2}}, 4};
    case Kind::kDivide:
      return {{{kMultiplier, 8}}, 12};
    case Kind::kBranch:
      return {{{kBranch, 1}}, 1};
    case Kind::kPrefetch:
    case Kind::kStoreX:
    case Kind::kStoreD:
    case Kind::kStoreQ:
    case Kind::kStorePairX:
      return {{{kMemory, 1}}, 1};
    case Kind::kStorePairD:
    case Kind::kStorePairQ:
      return {{{kMemory, 2}}, 1};
    case Kind::kLoadX:
      return {{{kMemory, 1}}, 3};
    case Kind::kLoadPairX:
      return {{{kMemory, 2}}, 4};
    case Kind::kLoadD:
      return {{{kMemory, 1}, {kEitherHalf, 1}}, 4};
    case Kind::kLoadLane:
      return {{{kMemory, 1}, {kEitherHalf, 1}}, 5};
    case Kind::kLoadQ:
    case Kind::kLoadPairD:
      return {.uses = {{kMemory, 2}}, .latency = 5, .alone = 2};
    case Kind::kLoadPairQ:
      return {.uses = {{kMemory, 4}}, .latency = 6, .alone = 4};
    case Kind::kLoadMultipleD:
      return {.uses = {{kMemory, count}}, .latency = 4 + count, .alone = count};
    case Kind::kLoadMultipleQ:
      return {.uses = {{kMemory, 2 * count}}, .latency = 3 + 2 * count, .alone = 2 * count};
    case Kind::kMultiplyLong:
    case Kind::kMultiplyLongAdd:
    case Kind::kDot:
    case Kind::kVectorMultiplyQ:
      return {both_halves(1), 4, 1};
    case Kind::kPairwiseAdd:
      return {both_halves(2), 4};
    case Kind::kShiftQ:
    case Kind::kVectorQ:
      return {both_halves(1), 2};
    case Kind::kFloatQ:
    case Kind::kConvertQ:
      return {both_halves(1), 4};
    case Kind::kFloatDivideQ:
      return {both_halves(9), 12};
    case Kind::kFloatDivideD:
      return {{{kEitherHalf, 9}}, 12};
    case Kind::kVectorMultiplyD:
    case Kind::kFloatD:
    case Kind::kConvertX:
      return {{{kEitherHalf, 1}}, 4};
    case Kind::kVectorD:
    case Kind::kFromX:
    case Kind::kInsertX:
      return {{{kEitherHalf, 1}}, 2};
    case Kind::kDuplicateX:
      return {both_halves(1), 2};
    case Kind::kToX:
      return {{{kEitherHalf, 1}}, 3};
    default:
      break;
  }
  throw std::runtime_error(std::string("no cost for ") + name_of(instruction.kind));
}

Cost a53(const Instruction& instruction) {
  if (instruction.kind == Kind::kDot) throw std::runtime_error("Cortex-A53 has no sdot");
  return cost(instruction);
}

// A load of 64 bits and a move from a general register share a cycle with an operation on 128 bits [2], if that comes
// first [3]. sadalp every cycle [3].
Cost a55(const Instruction& instruction) {
  Cost cost = little::cost(instruction);
  switch (instruction.kind) {
    case Kind::kLoadD:
      return {{{kMemory, 1}}, 3};
    case Kind::kLoadLane:
      return {{{kMemory, 1}}, 4};
    case Kind::kLoadQ:
      cost.latency = 4;
      break;
    case Kind::kInsertX:
    case Kind::kFromX:
      cost.uses.clear();
      break;
    case Kind::kPairwiseAdd:
      cost.uses = both_halves(1);
      break;
    case Kind::kVectorQ:
    case Kind::kDuplicateX:
      cost.latency = 3;
      break;
    default:
      break;
  }
  cost.first_slot = cost.uses.size() == 2;
  return cost;
}
}  // namespace little

// Cortex-A72: one load and one store a cycle, two vector units, of which the first multiplies and the second shifts and
// adds pairs. Operations on 128 bits that either unit takes run at 1.5 a cycle, those on 64 at 2 [1], and three slots
// are what a cycle has: so a result of 128 bits takes two of them.
namespace a72 {
constexpr uint32_t kLoad = 1, kStore = 2, kVector0 = 4, kVector1 = 8, kVector = 12, kAlu = 0x30, kMultiplier = 0x40,
                   kBranch = 0x80;
constexpr int kPorts = 8;

Cost cost_without_address(const Instruction& instruction) {
  const int count = instruction.count;
  switch (instruction.kind) {
    case Kind::kNop:
      return {{}, 1};
    case Kind::kAlu:
      return {{{kAlu, 1}}, 1};
    case Kind::kAluShift:
      return {{{kMultiplier, 1}}, 2};
    case Kind::kMultiply:
      return {{{kMultiplier, 3}}, 5};
    case Kind::kDivide:
      return {{{kMultiplier, 8}}, 12};
    case Kind::kBranch:
      return {{{kBranch, 1}}, 1};
    case Kind::kPrefetch:
      return {{{kLoad, 1}}, 1};
    case Kind::kLoadX:
      return {{{kLoad, 1}}, 4};
    case Kind::kLoadPairX:
      return {.uses = {{kLoad, 1}}, .latency = 4, .slots = 2};
    case Kind::kLoadD:
      return {{{kLoad, 1}}, 5};
    case Kind::kLoadQ:
    case Kind::kLoadPairD:
      return {.uses = {{kLoad, 1}}, .latency = 5, .slots = 2};
    case Kind::kLoadPairQ:
      return {.uses = {{kLoad, 2}}, .latency = 6, .slots = 4};
    case Kind::kLoadLane:
      return {.uses = {{kLoad, 1}, {kVector, 1}}, .latency = 8, .slots = 3};
    case Kind::kLoadMultipleD:
      return {.uses = {{kLoad, count}}, .latency = 5 + count, .slots = count};
    case Kind::kLoadMultipleQ:
      return {.uses = {{kLoad, count}}, .latency = 5 + count, .slots = 2 * count};
    case Kind::kStoreX:
    case Kind::kStoreD:
      return {{{kStore, 1}}, 1};
    case Kind::kStorePairX:
    case Kind::kStoreQ:
    case Kind::kStorePairD:
      return {.uses = {{kStore, 2}}, .latency = 1, .slots = 2};
    case Kind::kStorePairQ:
      return {.uses = {{kStore, 4}}, .latency = 1, .slots = 4};
    case Kind::kMultiplyLong:
    case Kind::kMultiplyLongAdd:
      return {.uses = {{kVector0, 1}}, .latency = 4, .accumulate_latency = 1, .slots = 2};
    case Kind::kPairwiseAdd:
      return {.uses = {{kVector1, 1}}, .latency = 4, .accumulate_latency = 1, .slots = 2};
    case Kind::kShiftQ:
      return {.uses = {{kVector1, 1}}, .latency = 3, .slots = 2};
    case Kind::kVectorQ:
      return {.uses = {{kVector, 1}}, .latency = 3, .slots = 2};
    case Kind::kVectorD:
      return {{{kVector, 1}}, 3};
    case Kind::kVectorMultiplyQ:
      return {.uses = {{kVector0, 2}}, .latency = 4, .accumulate_latency = 2, .slots = 2};
    case Kind::kVectorMultiplyD:
      return {.uses = {{kVector0, 1}}, .latency = 4, .accumulate_latency = 1};
    case Kind::kFloatQ:
      return {.uses = {{kVector0, 1}, {kVector1, 1}}, .latency = 4, .slots = 2};
    case Kind::kFloatDivideQ:
      return {.uses = {{kVector0, 30}}, .latency = 30, .slots = 2};
    case Kind::kFloatDivideD:
      return {{{kVector0, 8}}, 17};
    case Kind::kConvertQ:
      return {.uses = {{kVector0, 2}}, .latency = 3, .slots = 2};
    case Kind::kFloatD:
      return {{{kVector, 1}}, 4};
    case Kind::kFromX:
    case Kind::kInsertX:
    case Kind::kDuplicateX:
    case Kind::kConvertX:
      return {.uses = {{kLoad, 1}, {kVector, 1}}, .latency = 8, .slots = 2};
    case Kind::kToX:
      return {{{kLoad, 1}}, 7};
    default:
      break;
  }
  throw std::runtime_error(std::string("Cortex-A72 has no ") + name_of(instruction.kind));
}

Cost cost(const Instruction& instruction) {
  Cost cost = cost_without_address(instruction);
  if (instruction.written_back >= 0) {
    cost.uses.push_back({kAlu, 1});
    ++cost.slots;
  }
  return cost;
}
}  // namespace a72

// Cortex-A76, of which Neoverse N1 is the server's form: two loads, two stores and two vector operations a cycle.
namespace a76 {
constexpr uint32_t kLoad = 3, kVector0 = 4, kVector1 = 8, kVector = 12, kMultiplier = 0x10, kAlu = 0x70, kBranch = 0x80,
                   kStore = 0x300;
constexpr int kPorts = 10;

Cost cost_without_address(const Instruction& instruction) {
  const int count = instruction.count;
  switch (instruction.kind) {
    case Kind::kNop:
      return {{}, 1};
    case Kind::kAlu:
      return {{{kAlu, 1}}, 1};
    case Kind::kAluShift:  // a cycle for small shifts to the left, two for others
      return {{{kAlu, 1}}, 2};
    case Kind::kMultiply:
      return {{{kMultiplier, 3}}, 4};
    case Kind::kDivide:
      return {{{kMultiplier, 8}}, 12};
    case Kind::kBranch:
      return {{{kBranch, 1}}, 1};
    case Kind::kPrefetch:
      return {{{kLoad, 1}}, 1};
    case Kind::kLoadX:
      return {{{kLoad, 1}}, 4};
    case Kind::kLoadPairX:
      return {.uses = {{kLoad, 1}, {kLoad, 1}}, .latency = 4};
    case Kind::kLoadD:
    case Kind::kLoadQ:
      return {{{kLoad, 1}}, 5};
    case Kind::kLoadPairD:
    case Kind::kLoadPairQ:
      return {.uses = {{kLoad, 1}, {kLoad, 1}}, .latency = 7};
    case Kind::kLoadLane:
      return {.uses = {{kLoad, 1}, {kVector, 1}}, .latency = 7};
    case Kind::kLoadMultipleD:
    case Kind::kLoadMultipleQ:
      return {.uses = {{1, (count + 1) / 2}, {2, (count + 1) / 2}}, .latency = 4 + count};
    case Kind::kStoreX:
    case Kind::kStoreD:
    case Kind::kStoreQ:
      return {{{kStore, 1}}, 1};
    case Kind::kStorePairX:
    case Kind::kStorePairD:
    case Kind::kStorePairQ:
      return {{{kStore, 1}, {kStore, 1}}, 1};
    case Kind::kMultiplyLong:
    case Kind::kMultiplyLongAdd:
      return {{{kVector0, 1}}, 4, 1};
    case Kind::kPairwiseAdd:
      return {{{kVector1, 1}}, 4, 1};
    case Kind::kDot:
      return {{{kVector, 1}}, 3, 1};
    case Kind::kShiftQ:
      return {{{kVector1, 1}}, 2};
    case Kind::kVectorQ:
    case Kind::kVectorD:
      return {{{kVector, 1}}, 2};
    case Kind::kVectorMultiplyQ:
      return {{{kVector0, 2}}, 5, 2};
    case Kind::kVectorMultiplyD:
      return {{{kVector0, 1}}, 4, 1};
    case Kind::kFloatQ:
    case Kind::kFloatD:
      return {{{kVector, 1}}, 3};
    case Kind::kFloatDivideQ:
      return {{{kVector0, 7}}, 9};
    case Kind::kFloatDivideD:
      return {{{kVector0, 2}}, 9};
    case Kind::kConvertQ:
      return {{{kVector0, 2}}, 4};
    case Kind::kFromX:
    case Kind::kInsertX:
    case Kind::kDuplicateX:
      return {{{kMultiplier, 1}}, 3};
    case Kind::kConvertX:
      return {{{kMultiplier, 1}}, 6};
    case Kind::kToX:
      return {{{kVector1, 1}}, 2};
    default:
      break;
  }
  throw std::runtime_error(std::string("Cortex-A76 has no ") + name_of(instruction.kind));
}

Cost cost(const Instruction& instruction) {
  Cost cost = cost_without_address(instruction);
  if (instruction.written_back >= 0) cost.uses.push_back({kAlu, 1});
  return cost;
}
}  // namespace a76

// Without dot products a vector unit that multiplies 16 bytes in two cycles (smull, smlal: 8 each) and adds the pairs:
// A53 has one unit for all of it, A72 one for each. Windows are those of Arm's guides (A72: 128) and of the
// measurements.
const Core kCores[] = {
    {"A53", 4, true, 2, 0, 0, little::kPorts, 1, little::a53},
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
