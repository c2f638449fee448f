// SPDX-License-Identifier: Apache-2.0
// objdump's text of Thumb code to kinds and registers.
#include <gtest/gtest.h>

#include <stdexcept>

#include "arm_cycles/instruction.h"

namespace arm_cycles {
namespace {

using Registers = std::vector<int>;

TEST(DecodeThumb, ListsAndPairs) {
  const Instruction many = decode_thumb("ldmia.w", "r0!, {r8, r9, sl, fp}");
  EXPECT_EQ(many.kind, Kind::kLoadMultipleX);
  EXPECT_EQ(many.count, 4);
  EXPECT_EQ(many.writes, Registers({8, 9, 10, 11, 0}));
  EXPECT_EQ(many.written_back, 0);
  const Instruction pair = decode_thumb("ldrd", "r4, r5, [r1], #8");
  EXPECT_EQ(pair.kind, Kind::kLoadPairX);
  EXPECT_EQ(pair.writes, Registers({4, 5, 1}));
  EXPECT_EQ(decode_thumb("push", "{r3, lr}").reads, Registers({13, 3, 14}));
  EXPECT_EQ(decode_thumb("vldmia", "r3!, {s10-s12}").writes, Registers({42, 43, 44, 3}));
  EXPECT_EQ(decode_thumb("vstmia", "r3!, {s0-s1}").kind, Kind::kStoreMultiple);
}

TEST(DecodeThumb, AccumulatorsAreApart) {
  const Instruction smlad = decode_thumb("smlad", "r1, r7, fp, r1");
  EXPECT_EQ(smlad.kind, Kind::kMultiply);
  EXPECT_EQ(smlad.accumulator, 1);
  EXPECT_EQ(smlad.reads, Registers({7, 11}));
  EXPECT_EQ(decode_thumb("mla", "r1, r2, r3, r4").accumulator, -1);
  const Instruction sums = decode_thumb("vmlava.s8", "r4, q0, q2");
  EXPECT_EQ(sums.kind, Kind::kDot);
  EXPECT_EQ(sums.accumulator, 4);
  EXPECT_EQ(sums.reads, Registers({32, 33, 34, 35, 40, 41, 42, 43}));
}

TEST(DecodeThumb, ConditionsReadFlagsAndKeepResults) {
  EXPECT_EQ(decode_thumb("cmp.w", "r0, #4").writes, Registers({kFlags}));
  EXPECT_EQ(decode_thumb("subs", "r0, #1").writes, Registers({0, kFlags}));
  EXPECT_EQ(decode_thumb("bne.n", "0x1c").reads, Registers({kFlags}));
  EXPECT_EQ(decode_thumb("ldrne.w", "lr, [r6, #64]!").reads, Registers({6, kFlags, 14, 6}));
  EXPECT_EQ(decode_thumb("muls", "r1, r2").kind, Kind::kMultiply);
  EXPECT_EQ(decode_thumb("itt", "ne").kind, Kind::kNop);
}

TEST(DecodeThumb, VectorsAndFloats) {
  EXPECT_EQ(decode_thumb("vldrb.u8", "q2, [r1, #-48]").kind, Kind::kLoadQ);
  EXPECT_EQ(decode_thumb("vstrw.32", "q0, [r5, #0]").kind, Kind::kStoreQ);
  EXPECT_EQ(decode_thumb("vmov", "q5[2], q5[0], r2, r6").kind, Kind::kInsertX);
  EXPECT_EQ(decode_thumb("vmul.f32", "q2, q2, r9").kind, Kind::kFloatQ);
  EXPECT_EQ(decode_thumb("vmul.f32", "s9, s8, s10").kind, Kind::kFloatD);
  EXPECT_EQ(decode_thumb("vcvt.f32.s32", "q3, q5").kind, Kind::kConvertQ);
  EXPECT_EQ(decode_thumb("vaddva.s8", "r2, q0").accumulator, 2);
  EXPECT_EQ(decode_thumb("le", "lr, 0x10").kind, Kind::kLoopEnd);
}

TEST(DecodeThumb, RefusesWhatItDoesNotKnow) {
  try {
    decode_thumb("frobnicate", "r0, r1");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "cannot decode frobnicate r0, r1: no kind");
  }
}

}  // namespace
}  // namespace arm_cycles
