// SPDX-License-Identifier: Apache-2.0
// Models of cores: what each kind of instruction takes, and how many cycles a trace takes then.
//
// Every access hits the first cache, every branch is predicted, and a store never delays a load. An instruction takes
// ports for some cycles; its result is there after its latency, for the same kind's accumulator earlier. A core in
// order issues what fits into a cycle and waits for the first that does not; one out of order takes `width` slots a
// cycle into its window and issues whatever is ready, the oldest first.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "arm_cycles/instruction.h"

namespace arm_cycles {

// One of these ports, for so many cycles.
struct Use {
  uint32_t ports;
  int cycles;
};

struct Cost {
  std::vector<Use> uses;
  int latency = 1;
  int accumulate_latency = 0;  // from the accumulator to the next of the same kind; 0: `latency`
  int slots = 1;               // out of order: of a cycle's `width`; in order, 0: it takes no time
  int alone = 0;               // in order: so many cycles in which nothing else issues; 0: it shares its cycle
  bool first_slot = false;     // in order: only as the first of its cycle
};

struct Core {
  std::string name;
  int peak;  // multiply-accumulates of int8 a cycle that its vector units allow
  bool in_order;
  int width;              // slots a cycle
  int window, scheduler;  // out of order: instructions in flight, and those of them that wait
  int ports;
  int taken_branch;  // in order: cycles in which nothing issues behind one
  std::function<Cost(const Instruction&)> cost;
  // Cycles beyond `latency` until `to` can read what `from` wrote to a register; null: none.
  int (*extra_delay)(const Instruction& from, const Instruction& to, int reg) = nullptr;
  Instruction (*decoder)(std::string_view name, std::string_view operands) = decode;
};

extern const Core kCortexM7, kCortexM55;

// Cortex-A7, A53 (A53-32: in its 32-bit state), A55, A72, A76 (and Neoverse N1), M7, M55. Throws std::runtime_error for
// another name.
const Core& core_named(const std::string& name);

// What ran: each instruction once, and the order, in which an entry may stand often.
struct Trace {
  struct Step {
    uint32_t instruction;
    bool jumped;  // what follows does not follow it in memory
  };
  std::vector<Instruction> instructions;
  std::vector<Step> steps;
};

// A change of a core, to see whether a result depends on one figure of the model.
struct Change {
  Kind kind = Kind::kNop;
  int latency = 0;  // added to kind's, which stays at least 1
  int width = 0;    // added to the core's
};

int64_t cycles_of(const Trace& trace, const Core& core, const Change& change);

}  // namespace arm_cycles
