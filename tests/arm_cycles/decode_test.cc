// SPDX-License-Identifier: Apache-2.0
// objdump's text to kinds and registers.
#include <gtest/gtest.h>

#include <stdexcept>

#include "arm_cycles/instruction.h"

namespace arm_cycles {
namespace {

using Registers = std::vector<int>;

TEST(Decode, ReadsOperandsInTheirOrder) {
  const Instruction add = decode("add", "x1, x2, x3, lsl #2");
  EXPECT_EQ(add.kind, Kind::kAluShift);
  EXPECT_EQ(add.writes, Registers({1}));
  EXPECT_EQ(add.reads, Registers({2, 3}));
  const Instruction zero = decode("mov", "w5, wzr");
  EXPECT_EQ(zero.kind, Kind::kAlu);
  EXPECT_EQ(zero.writes, Registers({5}));
  EXPECT_EQ(zero.reads, Registers());
}

TEST(Decode, KnowsWhoReadsAndWritesTheFlags) {
  EXPECT_EQ(decode("cmp", "x6, x2").writes, Registers({kFlags}));
  EXPECT_EQ(decode("subs", "x6, x6, #0x40").writes, Registers({6, kFlags}));
  EXPECT_EQ(decode("b.hi", "0xe4ac  // b.pmore").reads, Registers({kFlags}));
  EXPECT_EQ(decode("csel", "x8, x8, x11, ls  // ls = plast").reads, Registers({8, 11, kFlags}));
  EXPECT_EQ(decode("fcmp", "s0, #0.0").writes, Registers({kFlags}));
}

TEST(Decode, AccumulatorsAreApart) {
  const Instruction smlal2 = decode("smlal2", "v2.8h, v26.16b, v0.16b");
  EXPECT_EQ(smlal2.kind, Kind::kMultiplyLongAdd);
  EXPECT_EQ(smlal2.accumulator, kVectors + 2);
  EXPECT_EQ(smlal2.reads, Registers({kVectors + 26, kVectors}));
  EXPECT_EQ(decode("sdot", "v4.4s, v0.16b, v1.4b[2]").reads, Registers({kVectors, kVectors + 1}));
  EXPECT_EQ(decode("smull", "v6.8h, v2.8b, v1.8b").accumulator, -1);
}

TEST(Decode, PartsOfARegisterDependOnTheRest) {
  EXPECT_EQ(decode("mov", "v16.d[1], v19.d[0]").reads, Registers({kVectors + 16, kVectors + 19}));
  const Instruction insert = decode("mov", "v3.d[1], x23");
  EXPECT_EQ(insert.kind, Kind::kInsertX);
  EXPECT_EQ(insert.reads, Registers({kVectors + 3, 23}));
  EXPECT_EQ(decode("ld1", "{v5.s}[1], [x4]").reads, Registers({kVectors + 5, 4}));
  EXPECT_EQ(decode("mov", "v5.16b, v6.16b").reads, Registers({kVectors + 6}));
}

TEST(Decode, LoadsWriteWhatStandsBeforeTheAddress) {
  const Instruction pair = decode("ldp", "q3, q2, [x1, #32]");
  EXPECT_EQ(pair.kind, Kind::kLoadPairQ);
  EXPECT_EQ(pair.writes, Registers({kVectors + 3, kVectors + 2}));
  EXPECT_EQ(pair.reads, Registers({1}));
  EXPECT_EQ(pair.written_back, -1);
  const Instruction many = decode("ld1", "{v0.16b-v3.16b}, [x1], #64");
  EXPECT_EQ(many.kind, Kind::kLoadMultipleQ);
  EXPECT_EQ(many.count, 4);
  EXPECT_EQ(many.writes, Registers({kVectors, kVectors + 1, kVectors + 2, kVectors + 3, 1}));
  EXPECT_EQ(many.written_back, 1);
  EXPECT_EQ(decode("ldr", "s1, [x0, x2]").kind, Kind::kLoadD);
  EXPECT_EQ(decode("ldr", "x1, [x0, x2, lsl #3]").reads, Registers({0, 2}));
  EXPECT_EQ(decode("ld1r", "{v0.4s}, [x1]").kind, Kind::kLoadLane);
}

TEST(Decode, StoresWriteNothingButTheirAddress) {
  const Instruction store = decode("stp", "x29, x30, [sp, #-16]!");
  EXPECT_EQ(store.kind, Kind::kStorePairX);
  EXPECT_EQ(store.writes, Registers({31}));
  EXPECT_EQ(store.reads, Registers({29, 30, 31}));
  EXPECT_EQ(decode("str", "q1, [sp, #128]").writes, Registers());
  EXPECT_EQ(decode("st1", "{v0.4s, v1.4s}, [x1]").count, 2);
  EXPECT_EQ(decode("prfm", "pldl1keep, [x1, x3]").kind, Kind::kPrefetch);
}

TEST(Decode, RefusesWhatItDoesNotKnow) {
  try {
    decode("frobnicate", "x0, x1");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "cannot decode frobnicate x0, x1: no kind");
  }
}

}  // namespace
}  // namespace arm_cycles
