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

Registers range(int first, int n) {
  Registers numbers;
  for (int i = 0; i < n; ++i) numbers.push_back(first + i);
  return numbers;
}

TEST(DecodeThumb, LoadsOfNeon) {
  const Instruction two = decode_thumb("vld1.8", "{d30-d31}, [r3 :128]!");
  EXPECT_EQ(two.kind, Kind::kLoadQ);
  EXPECT_EQ(two.written_back, 3);
  EXPECT_EQ(two.reads, Registers({3}));
  Registers written = range(kVectors + 60, 4);
  written.push_back(3);
  EXPECT_EQ(two.writes, written);
  const Instruction four = decode_thumb("vld1.8", "{d16-d19}, [r3], r5");
  EXPECT_EQ(four.kind, Kind::kLoadMultipleQ);
  EXPECT_EQ(four.count, 2);
  EXPECT_EQ(four.written_back, 3);
  EXPECT_EQ(four.reads, Registers({5, 3}));
  EXPECT_EQ(decode_thumb("vld1.32", "{d24[]}, [r1]!").kind, Kind::kLoadLane);
  EXPECT_EQ(decode_thumb("vld1.32", "{d24[]-d25[]}, [r1]").writes, range(kVectors + 48, 4));
  EXPECT_EQ(decode_thumb("vst1.32", "{d18-d19}, [r3]!").kind, Kind::kStoreQ);
  EXPECT_EQ(decode_thumb("vldr", "d20, [sp, #24]").kind, Kind::kLoadD);
  EXPECT_EQ(decode_thumb("pld", "[r3, r8]").kind, Kind::kPrefetch);
}

TEST(DecodeThumb, SumsOfNeon) {
  const Instruction product = decode_thumb("vmull.s8", "q11, d18, d16");
  EXPECT_EQ(product.kind, Kind::kMultiplyLong);
  EXPECT_EQ(product.writes, range(kVectors + 44, 4));
  const Instruction sum = decode_thumb("vmlal.s8", "q11, d12, d18");
  EXPECT_EQ(sum.kind, Kind::kMultiplyLongAdd);
  EXPECT_EQ(sum.accumulator, kVectors + 44);
  EXPECT_EQ(sum.reads, Registers({kVectors + 24, kVectors + 25, kVectors + 36, kVectors + 37}));
  const Instruction pairs = decode_thumb("vpadal.s16", "q15, q11");
  EXPECT_EQ(pairs.kind, Kind::kPairwiseAdd);
  EXPECT_EQ(pairs.accumulator, kVectors + 60);
  EXPECT_EQ(decode_thumb("vpadd.i32", "d6, d6, d7").kind, Kind::kVectorD);
  EXPECT_EQ(decode_thumb("vdup.32", "q8, fp").kind, Kind::kDuplicateX);
  EXPECT_EQ(decode_thumb("vmul.f32", "d6, d6, d7").kind, Kind::kFloatD);
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
