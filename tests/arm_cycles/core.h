// SPDX-License-Identifier: Apache-2.0
// Models of cores: the cost of each kind of instruction, and the cycles that a trace takes at these costs.
//
// The models assume that every access hits the first cache, that every branch is predicted, and that a store never
// delays a load. An instruction occupies ports for some cycles. Its result is ready after its latency, and earlier for
// an accumulator of the same kind. An in-order core issues the instructions that fit into a cycle and waits for the
// first that does not. An out-of-order core takes `width` slots a cycle into its window and issues whatever is ready,
// the oldest first.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "arm_cycles/instruction.h"

namespace arm_cycles {

// Occupies one of these ports for this number of cycles.
struct Use {
  uint32_t ports;
  int cycles;
};

struct Cost {
  std::vector<Use> uses;
  int latency = 1;
  int accumulate_latency = 0;  // from an accumulator to the next instruction of the same kind; 0: `latency`
  int slots = 1;               // out of order: slots of a cycle's `width`; in order, 0: it takes no time
  int alone = 0;               // in order: cycles in which nothing else issues; 0: it shares its cycle
  bool first_slot = false;     // in order: it must be the first of its cycle
};

struct Core {
  std::string name;
  int peak;  // int8 multiply-accumulates a cycle that its vector units allow
  bool in_order;
  int width;              // slots a cycle
  int window, scheduler;  // out of order: instructions in flight, and how many of them may wait
  int ports;
  int taken_branch;  // in order: cycles without an issue after a taken branch
  std::function<Cost(const Instruction&)> cost;
  // Returns the cycles beyond `latency` until `to` can read the register that `from` wrote; null: none.
  int (*extra_delay)(const Instruction& from, const Instruction& to, int reg) = nullptr;
  Instruction (*decoder)(std::string_view name, std::string_view operands) = decode;
};

extern const Core kCortexM7, kCortexM55;

// Takes A7, A53 (A53-32: its 32-bit state), A55, A72, A76 (for Neoverse N1 too), M7, M55. Throws std::runtime_error
// for another name.
const Core& core_named(const std::string& name);

// The instructions that ran: each of them once, and the order in which they ran; an instruction can run many times.
struct Trace {
  struct Step {
    uint32_t instruction;
    bool jumped;  // the next instruction is not the one that follows in memory
  };
  std::vector<Instruction> instructions;
  std::vector<Step> steps;
};

// A changed figure of a core's model; shows whether a result depends on it.
struct Change {
  Kind kind = Kind::kNop;
  int latency = 0;  // added to the latency of this kind, which stays at least 1
  int width = 0;    // added to the core's width
};

int64_t cycles_of(const Trace& trace, const Core& core, const Change& change);

}  // namespace arm_cycles
