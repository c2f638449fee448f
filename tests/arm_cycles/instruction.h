// SPDX-License-Identifier: Apache-2.0
// An instruction as far as time goes: its kind, and the registers that it reads and writes.
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
// 32 to 95 the halves of d0 to d31 (s0 to s31 are the first), of which four in a row are a vector, 96 the flags and
// predicates.
constexpr int kVectors = 32, kFlags = 96, kRegisters = 97;

struct Instruction {
  Kind kind = Kind::kNop;
  std::vector<int> reads, writes;  // without `accumulator`, but for its being written
  int accumulator = -1;            // read and written, as the third operand of a multiply-accumulate; -1: none
  int written_back = -1;           // the address register that it changes; -1: none
  int count = 1;                   // registers of a load or store of several; Thumb: words, of vld1: vectors
};

// An instruction of AArch64 as objdump prints it: its name and its operands. Throws std::runtime_error for one it does
// not know.
Instruction decode(std::string_view name, std::string_view operands);

// The same for Thumb with the floating-point instructions, the DSP and Helium ones of Cortex-M, and NEON of Cortex-A.
Instruction decode_thumb(std::string_view full_name, std::string_view text);

}  // namespace arm_cycles
