// SPDX-License-Identifier: Apache-2.0
// The parts of an instruction that decide its time: its kind, and the registers that it reads and writes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace arm_cycles {

// X: general registers; D: 64 bits of a vector register, or a float; Q: all 128.
enum class Kind : uint8_t {
  kNop,
  kAlu,
  kAluShift,  // with a shifted or extended operand
  kMultiply,
  kDivide,
  kBranch,
  kPrefetch,
  kLoadX,
  kLoadPairX,
  kLoadD,
  kLoadPairD,
  kLoadQ,
  kLoadPairQ,
  kLoadLane,       // one lane, or one element for all lanes
  kLoadMultipleD,  // `count` registers
  kLoadMultipleQ,
  kStoreX,
  kStorePairX,
  kStoreD,
  kStorePairD,
  kStoreQ,
  kStorePairQ,
  kMultiplyLong,     // smull, smull2
  kMultiplyLongAdd,  // smlal, smlal2
  kPairwiseAdd,      // sadalp
  kDot,
  kMatrix,  // smmla
  kShiftQ,  // shifts and widening moves
  kVectorQ,
  kVectorD,
  kVectorMultiplyQ,
  kVectorMultiplyD,
  kFloatQ,
  kFloatD,
  kFloatDivideQ,  // square roots, too
  kFloatDivideD,
  kConvertQ,
  kFromX,       // a general register into a vector register
  kInsertX,     // into one lane
  kDuplicateX,  // into all lanes
  kConvertX,    // as a float
  kToX,
  kExtend,         // Cortex-M: sign and zero extension, bit fields and the other operations of the DSP extension
  kLoadMultipleX,  // `count` registers
  kStoreMultiple,
  kLoopEnd,  // le, letp
};
constexpr int kKinds = static_cast<int>(Kind::kLoopEnd) + 1;

const char* name_of(Kind kind);

// Registers by number: 0 to 30 general, 31 the stack pointer, 32 to 63 vectors, 96 the flags. Thumb: 0 to 15 general,
// 32 to 95 the halves of d0 to d31 (the first are s0 to s31), 96 the flags and predicates. Four of these halves in a
// row are a vector.
constexpr int kVectors = 32, kFlags = 96, kRegisters = 97;

struct Instruction {
  Kind kind = Kind::kNop;
  std::vector<int> reads, writes;  // without `accumulator`, which is also written
  int accumulator = -1;            // read and written, as the third operand of a multiply-accumulate; -1: none
  int written_back = -1;           // the address register that it changes; -1: none
  int count = 1;                   // registers of a load or store; Thumb: words; vld1: vectors
};

// Decodes an instruction of AArch64 from objdump's name and operands. Throws std::runtime_error if it does not know it.
Instruction decode(std::string_view name, std::string_view operands);

// The same for Thumb: floating point, DSP and Helium instructions of Cortex-M, and NEON of Cortex-A.
Instruction decode_thumb(std::string_view full_name, std::string_view text);

}  // namespace arm_cycles
