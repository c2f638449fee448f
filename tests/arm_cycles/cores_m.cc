// SPDX-License-Identifier: Apache-2.0
// The costs of instructions on Cortex-M7 and M55.
//   [1] jnk0le/random, "pipeline cycle test", doc/cortex_m7.md at 0b9c602: programs that ran on an STM32H743
//   [2] LLVM, llvm/lib/Target/ARM: ARMScheduleM7.td at 6a55533, ARMScheduleM55.td at 2f206a0 (both by Arm)
//   [3] slothy-optimizer/slothy, commit ede5131, targets/arm_v81m/cortex_m55r1.py
#include <algorithm>
#include <stdexcept>

#include "arm_cycles/core.h"

namespace arm_cycles {
namespace {

[[noreturn]] void refuse(const char* core, Kind kind) {
  throw std::runtime_error(std::string(core) + " has no " + name_of(kind));
}

bool writes_float(const Instruction& instruction) {
  return !instruction.writes.empty() && instruction.writes[0] >= kVectors && instruction.writes[0] < kFlags;
}

// M7 issues two instructions a cycle, in order. One of them may multiply, store or compute with floats. One may use the
// shifter; it must be the first if it extends or belongs to the DSP extension. Loads and stores of several registers
// move two words a cycle and share no cycle [1, 2]. The two banks of memory, which two loads of a cycle must not
// share, are not modelled.
namespace m7 {
constexpr uint32_t kMultiplier = 1, kShifter = 2, kLoad = 0xc, kStore = 0x10, kFloat = 0x20, kBranch = 0x40;
constexpr int kPorts = 7;

Cost alone(int cycles, int latency) { return {.uses = {}, .latency = latency, .alone = cycles}; }

Cost cost(const Instruction& instruction) {
  const int words = (instruction.count + 1) / 2;
  switch (instruction.kind) {
    case Kind::kNop:
    case Kind::kAlu:
      return {{}, 1};
    case Kind::kAluShift:
      return {{{kShifter, 1}}, 1};
    case Kind::kExtend:
      return {.uses = {{kShifter, 1}}, .latency = 1, .first_slot = true};
    case Kind::kMultiply:
      return {{{kMultiplier, 1}}, 2, 1};
    case Kind::kDivide:
      return writes_float(instruction) ? Cost{{{kFloat, 16}}, 16} : alone(7, 7);
    case Kind::kBranch:
      return {{{kBranch, 1}}, 1};
    case Kind::kLoadX:
      return {{{kLoad, 1}}, 1};
    case Kind::kLoadD:
      return {{{kLoad, 1}}, 2};
    case Kind::kLoadPairX:
      return alone(1, 1);
    case Kind::kLoadMultipleX:
      return alone(words, 1);
    case Kind::kLoadMultipleD:
      return alone(words, 2);
    case Kind::kStoreX:
    case Kind::kStoreD:
      return {{{kStore, 1}, {kMultiplier, 1}}, 1};
    case Kind::kStorePairX:
      return alone(1, 1);
    case Kind::kStoreMultiple:
      return alone(words, 1);
    case Kind::kFloatD:
    case Kind::kFromX:
      return {{{kFloat, 1}}, 3};
    case Kind::kToX:
      return {{{kFloat, 1}}, 2};
    default:
      refuse("Cortex-M7", instruction.kind);
  }
}

// A shift, extension or multiplication needs a loaded word a cycle earlier. A shift or extension needs any result a
// cycle earlier, and an address needs a loaded or extended one a cycle earlier [1]. A load of several registers
// delivers the later words later. A float can be stored as soon as it is ready [1].
int extra_delay(const Instruction& from, const Instruction& to, int reg) {
  const bool shifts = to.kind == Kind::kExtend || to.kind == Kind::kAluShift;
  const bool loads = to.kind == Kind::kLoadX || to.kind == Kind::kLoadPairX || to.kind == Kind::kLoadMultipleX;
  switch (from.kind) {
    case Kind::kLoadX:
    case Kind::kLoadPairX:
    case Kind::kLoadMultipleX:
    case Kind::kLoadMultipleD: {
      const auto at = std::find(from.writes.begin(), from.writes.end(), reg) - from.writes.begin();
      return static_cast<int>(at) / 2 + (shifts || loads || to.kind == Kind::kMultiply ? 1 : 0);
    }
    case Kind::kExtend:
      return shifts || loads ? 1 : 0;
    case Kind::kAlu:
    case Kind::kAluShift:
    case Kind::kMultiply:
      return shifts ? 1 : 0;
    case Kind::kFloatD:
      return to.kind == Kind::kStoreD || to.kind == Kind::kStoreMultiple ? -2 : 0;
    default:
      return 0;
  }
}
}  // namespace m7

// M55 issues one instruction a cycle, in order. A vector instruction takes two cycles of its unit, and the next may
// begin a cycle later in another unit [2, 3]. There are three units: loads and stores; integers; floats with all
// products. A loop that ends in `le` costs nothing but its first turn. Other taken branches leave two cycles empty.
namespace m55 {
constexpr uint32_t kMemory = 1, kInteger = 2, kFloat = 4, kEither = 6;
constexpr int kPorts = 3;

Cost cost(const Instruction& instruction) {
  const int words = (instruction.count + 1) / 2;
  switch (instruction.kind) {
    case Kind::kNop:
    case Kind::kAlu:
    case Kind::kBranch:
      return {{}, 1};
    case Kind::kAluShift:
    case Kind::kExtend:
    case Kind::kMultiply:
      return {{}, 2};
    case Kind::kDivide:
      return writes_float(instruction) ? Cost{{{kFloat, 1}}, 16} : Cost{.uses = {}, .latency = 8, .alone = 8};
    case Kind::kLoopEnd:
      return {.uses = {}, .slots = 0};
    case Kind::kLoadX:
    case Kind::kLoadD:
    case Kind::kLoadPairX:
      return {{{kMemory, 1}}, 2};
    case Kind::kStoreX:
    case Kind::kStoreD:
    case Kind::kStorePairX:
      return {{{kMemory, 1}}, 1};
    case Kind::kLoadMultipleX:
    case Kind::kLoadMultipleD:
    case Kind::kStoreMultiple:
      return {.uses = {{kMemory, words}}, .latency = words + 1, .alone = words};
    case Kind::kLoadQ:
    case Kind::kStoreQ:
      return {{{kMemory, 2}}, 1};
    case Kind::kDot:
      return {{{kFloat, 2}}, 3, 2};
    case Kind::kPairwiseAdd:
    case Kind::kVectorMultiplyQ:
    case Kind::kFloatQ:
    case Kind::kConvertQ:
      return {{{kFloat, 2}}, 2};
    case Kind::kVectorQ:
    case Kind::kDuplicateX:
      return {{{kInteger, 2}}, 1};
    case Kind::kShiftQ:
      return {{{kInteger, 2}}, 2};
    case Kind::kInsertX:
      return {{{kEither, 2}}, 1};
    case Kind::kToX:
      return {{{kFloat, 2}}, 1};
    case Kind::kFloatD:
    case Kind::kFromX:
      return {{{kFloat, 1}}, 2};
    default:
      refuse("Cortex-M55", instruction.kind);
  }
}
}  // namespace m55

}  // namespace

// Two 16-bit products a cycle; sixteen 8-bit products in two cycles.
const Core kCortexM7 = {"M7", 2, true, 2, 0, 0, m7::kPorts, 0, m7::cost, m7::extra_delay, decode_thumb};
const Core kCortexM55 = {"M55", 8, true, 1, 0, 0, m55::kPorts, 2, m55::cost, nullptr, decode_thumb};

}  // namespace arm_cycles
