// SPDX-License-Identifier: Apache-2.0
// The two kinds of cores, step by step.
#include "arm_cycles/core.h"

namespace arm_cycles {
namespace {
// A core and the costs of a trace's instructions on it.
struct Machine {
  Machine(const Trace& trace, const Core& of) : core(of), instructions(trace.instructions) {
    for (const Instruction& instruction : trace.instructions) {
      costs.push_back(core.cost(instruction));
      Cost& cost = costs.back();
      if (cost.accumulate_latency == 0) cost.accumulate_latency = cost.latency;
      cost.accumulate_latency = std::min(cost.accumulate_latency, cost.latency);
    }
  }

  // Returns the cycles from the issue of `producer` until `consumer` can read `reg`, as its accumulator or otherwise.
  int delay(uint32_t producer, uint32_t consumer, int reg, bool accumulated) const {
    const Instruction& from = instructions[producer];
    const Instruction& to = instructions[consumer];
    if (from.written_back == reg) return 1;
    const bool long_sum = from.kind == Kind::kMultiplyLong && to.kind == Kind::kMultiplyLongAdd;
    const bool same_sum = from.kind == to.kind && from.accumulator == reg;
    const bool early = accumulated && (same_sum || long_sum);
    const int extra = core.extra_delay != nullptr ? core.extra_delay(from, to, reg) : 0;
    return early ? costs[producer].accumulate_latency : costs[producer].latency + extra;
  }

  const Core& core;
  const std::vector<Instruction>& instructions;
  std::vector<Cost> costs;
};

// The cycle in which each port is free again.
class Ports {
 public:
  explicit Ports(int n) : free_at_(static_cast<size_t>(n), 0) {}

  // Takes all ports that `uses` needs in this cycle, or none. Ports that fewer kinds need have higher numbers and are
  // taken first.
  bool take(const std::vector<Use>& uses, int64_t cycle) {
    taken_.clear();
    for (const Use& use : uses) {
      size_t port = free_at_.size();
      while (port-- > 0)
        if ((use.ports >> port & 1) != 0 && free_at_[port] <= cycle) break;
      if (port == static_cast<size_t>(-1)) {
        for (const auto& [other, before] : taken_) free_at_[other] = before;
        return false;
      }
      taken_.emplace_back(port, free_at_[port]);
      free_at_[port] = cycle + use.cycles;
    }
    return true;
  }
 private:
  std::vector<int64_t> free_at_;
  std::vector<std::pair<size_t, int64_t>> taken_;
};

int64_t in_order(const Machine& machine, const std::vector<Trace::Step>& steps) {
  struct Written {
    int64_t at = -1000;  // the cycle in which its writer issued
    uint32_t by = 0;
  };
  std::array<Written, kRegisters> written;
  Ports ports(machine.core.ports);
  int64_t cycle = 0, end = 0;
  int used = 0;  // slots of this cycle
  const auto next_cycle = [&](int64_t at) {
    cycle = at;
    used = 0;
  };
  for (const Trace::Step& step : steps) {
    const Instruction& instruction = machine.instructions[step.instruction];
    const Cost& cost = machine.costs[step.instruction];
    if (cost.slots == 0) continue;
    int64_t ready = cycle;
    const auto wait_for = [&](int reg, bool accumulated) {
      const Written& source = written[static_cast<size_t>(reg)];
      if (source.at < 0) return;
      ready = std::max(ready, source.at + machine.delay(source.by, step.instruction, reg, accumulated));
    };
    for (const int reg : instruction.reads) wait_for(reg, false);
    if (instruction.accumulator >= 0) wait_for(instruction.accumulator, true);
    if (ready > cycle) next_cycle(ready);
    if (used == machine.core.width || (used > 0 && (cost.alone > 0 || cost.first_slot))) next_cycle(cycle + 1);
    // Two instructions of one cycle never write the same register.
    for (const int reg : instruction.writes)
      if (written[static_cast<size_t>(reg)].at == cycle) next_cycle(cycle + 1);
    while (!ports.take(cost.uses, cycle)) next_cycle(cycle + 1);
    for (const int reg : instruction.writes) written[static_cast<size_t>(reg)] = {cycle, step.instruction};
    end = cycle + std::max(1, cost.alone);
    ++used;
    if (cost.alone > 0) next_cycle(cycle + cost.alone);
    if (step.jumped) next_cycle(end + machine.core.taken_branch);
  }
  return end;
}

class OutOfOrder {
 public:
  OutOfOrder(const Machine& machine, const std::vector<Trace::Step>& steps)
      : machine_(machine),
        steps_(steps),
        window_(static_cast<size_t>(machine.core.window)),
        in_flight_(window_),
        ports_(machine.core.ports) {
    writer_.fill(-1);
  }

  int64_t run() {
    int64_t cycle = 0;
    int slots = 0;  // negative if an instruction took more slots than a cycle has
    for (; head_ < steps_.size(); ++cycle) {
      retire(cycle);
      issue(cycle);
      slots = dispatch(std::min(0, slots) + machine_.core.width);
    }
    return cycle;
  }
 private:
  struct Source {
    size_t writer;
    int delay;
  };
  struct Entry {
    std::vector<Source> sources;  // registers not ready yet, until `ready` is known
    int64_t ready, issued;        // cycles; -1: not yet
  };

  const Cost& cost(size_t i) const { return machine_.costs[steps_[i].instruction]; }
  Entry& entry(size_t i) { return in_flight_[i % window_]; }

  void retire(int64_t cycle) {
    constexpr int kRetired = 8;
    for (int n = 0; n < kRetired && head_ < next_; ++n, ++head_) {
      const int64_t issued = entry(head_).issued;
      if (issued < 0 || issued + cost(head_).latency > cycle) break;
    }
  }

  bool ready(Entry& waiting, int64_t cycle) {
    if (waiting.ready < 0) {
      int64_t ready = 0;
      for (const Source& source : waiting.sources) {
        if (source.writer < head_) continue;  // the writer has retired
        const int64_t issued = entry(source.writer).issued;
        if (issued < 0) return false;
        ready = std::max(ready, issued + source.delay);
      }
      waiting.ready = ready;
    }
    return waiting.ready <= cycle;
  }

  void issue(int64_t cycle) {
    size_t kept = 0;
    for (const size_t i : waiting_)
      if (ready(entry(i), cycle) && ports_.take(cost(i).uses, cycle)) entry(i).issued = cycle;
      else waiting_[kept++] = i;
    waiting_.resize(kept);
  }

  void enter(size_t i) {
    const uint32_t index = steps_[i].instruction;
    const Instruction& instruction = machine_.instructions[index];
    Entry& entered = entry(i);
    entered.sources.clear();
    entered.ready = entered.issued = -1;
    const auto depends_on = [&](int reg, bool accumulated) {
      const int64_t writer = writer_[static_cast<size_t>(reg)];
      if (writer < static_cast<int64_t>(head_)) return;
      const auto source = static_cast<size_t>(writer);
      entered.sources.push_back({source, machine_.delay(steps_[source].instruction, index, reg, accumulated)});
    };
    for (const int reg : instruction.reads) depends_on(reg, false);
    if (instruction.accumulator >= 0) depends_on(instruction.accumulator, true);
    for (const int reg : instruction.writes) writer_[static_cast<size_t>(reg)] = static_cast<int64_t>(i);
    waiting_.push_back(i);
  }

  // Returns the number of slots left.
  int dispatch(int slots) {
    while (next_ < steps_.size() && slots > 0 && next_ - head_ < window_ &&
           waiting_.size() < static_cast<size_t>(machine_.core.scheduler)) {
      slots -= cost(next_).slots;
      enter(next_);
      if (steps_[next_++].jumped) return std::min(0, slots);
    }
    return slots;
  }

  const Machine& machine_;
  const std::vector<Trace::Step>& steps_;
  size_t window_;
  std::vector<Entry> in_flight_;              // instructions in [head_, next_), by their number modulo the window
  std::array<int64_t, kRegisters> writer_{};  // the last writer of each register; -1: none
  Ports ports_;
  std::vector<size_t> waiting_;  // dispatched, not issued, the oldest first
  size_t head_ = 0, next_ = 0;   // the oldest that has not retired; the next to dispatch
};
}  // namespace

int64_t cycles_of(const Trace& trace, const Core& core) {
  const Machine machine(trace, core);
  if (core.in_order) return in_order(machine, trace.steps);
  return OutOfOrder(machine, trace.steps).run();
}
}  // namespace arm_cycles
