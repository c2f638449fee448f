// SPDX-License-Identifier: Apache-2.0
// Models of cores. An instruction is its kind and the registers that it reads and writes; a core has the cost of each
// kind. The models assume that every access hits the first cache, that every branch is predicted, and that a store
// never delays a load. An instruction occupies ports for some cycles. Its result is ready after its latency, and
// earlier for an accumulator of the same kind. An in-order core issues the instructions that fit into a cycle and waits
// for the first that does not. An out-of-order core takes `width` slots a cycle into its window and issues whatever is
// ready, the oldest first.
#pragma once

#include <iosfwd>
#include "support/standard.h"

namespace arm_cycles {
// X: general registers; D: 64 bits of a vector register, or a float; Q: all 128. AluShift has a shifted or extended
// operand. LoadLane loads one lane, or one element for all lanes; LoadMultiple `count` registers. MultiplyLong is
// smull, MultiplyLongAdd smlal, PairwiseAdd sadalp, LoopEnd le and letp. ShiftQ widens, too; FloatDivide takes square
// roots, too. InsertX moves a general register into one lane, DuplicateX into all, ConvertX as a float. Extend:
// Cortex-M's sign and zero extension, bit fields and the other operations of the DSP extension.
#define GOLDCREST_KINDS(kind)                                                                                         \
  kind(Nop) kind(Alu) kind(AluShift) kind(Multiply) kind(Divide) kind(Branch) kind(Prefetch) kind(LoadX)              \
      kind(LoadPairX) kind(LoadD) kind(LoadPairD) kind(LoadQ) kind(LoadPairQ) kind(LoadLane) kind(LoadMultipleD)      \
          kind(LoadMultipleQ) kind(StoreX) kind(StorePairX) kind(StoreD) kind(StorePairD) kind(StoreQ)                \
              kind(StorePairQ) kind(MultiplyLong) kind(MultiplyLongAdd) kind(PairwiseAdd) kind(Dot) kind(ShiftQ)      \
                  kind(VectorQ) kind(VectorD) kind(VectorMultiplyQ) kind(VectorMultiplyD) kind(FloatQ) kind(FloatD)   \
                      kind(FloatDivideQ) kind(FloatDivideD) kind(ConvertQ) kind(FromX) kind(InsertX) kind(DuplicateX) \
                          kind(ConvertX) kind(ToX) kind(Extend) kind(LoadMultipleX) kind(StoreMultiple) kind(LoopEnd)
#define GOLDCREST_KIND(name) k##name,
enum class Kind : uint8_t { GOLDCREST_KINDS(GOLDCREST_KIND) };
#undef GOLDCREST_KIND

// Registers by number: 0 to 30 general, 31 the stack pointer, 32 to 63 vectors, 96 the flags. Thumb: 0 to 15 general,
// 32 to 95 the halves of d0 to d31 (the first are s0 to s31), 96 the flags and predicates. Four of these halves in a
// row are a vector.
constexpr int kVectors = 32, kFlags = 96, kRegisters = 97;

struct Instruction {
  Kind kind = Kind::kNop;
  std::vector<int> reads, writes;  // without `accumulator`, which is also written
  int accumulator = -1;            // read and written, as the third operand of a multiply-accumulate; -1: none
  int written_back = -1;           // the address register that it changes; -1: none
  int count = 1;                   // registers of a load or store; Thumb: words
};

// Returns whether `name` is in the list.
inline bool any_of(std::string_view name, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Decodes an instruction of AArch64 from objdump's name and operands. Throws std::runtime_error if it does not know it.
Instruction decode(std::string_view name, std::string_view operands);

// The same for Thumb: floating point, DSP and Helium instructions of Cortex-M.
Instruction decode_thumb(std::string_view full_name, std::string_view text);

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

// Takes A53, A72, A76 (for Neoverse N1 too), M7, M55. Throws std::runtime_error for another name.
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

int64_t cycles_of(const Trace& trace, const Core& core);

using Decoder = decltype(Core::decoder);

// The files that tracer.c writes: PREFIX.blocks, PREFIX.runs, and PREFIX.listing, objdump's text of PREFIX.code. Throws
// std::runtime_error.
class TraceFile {
 public:
  TraceFile(const std::string& prefix, Decoder decode);

  size_t sections() const { return begins_.size(); }
  // Calls visit(words, section) for each section's line in PREFIX.names; it reads the words that it knows. Throws
  // std::runtime_error if it cannot read them, or if the numbers of lines and sections differ.
  void for_sections(const std::function<void(std::istream& words, size_t section)>& visit) const;
  // The blocks of a section in order. Sections with equal blocks ran the same instructions.
  std::u32string_view blocks(size_t section) const;
  Trace trace(size_t section) const;
 private:
  struct Block {
    uint64_t address, offset, n;  // address in memory; offset in PREFIX.code; instructions
  };
  struct Line {
    std::string name, operands;
  };

  std::vector<Line> lines_of(const Block& block) const;
  bool follows(char32_t block, char32_t next) const;

  std::string prefix_;
  Decoder decode_;
  std::vector<Block> blocks_;
  std::u32string runs_;
  std::vector<size_t> begins_;  // where each section begins in runs_, after its mark
  std::map<uint64_t, Line> listing_;
};
}  // namespace arm_cycles
