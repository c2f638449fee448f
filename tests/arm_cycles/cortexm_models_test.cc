// SPDX-License-Identifier: Apache-2.0
// Compares the models of Cortex-M with published measurements on silicon, [1] jnk0le/random, doc/cortex_m7.md at
// 0b9c602 (STM32H743), and with another model, [2] llvm-mca of LLVM 19.1.7.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "arm_cycles/cortexm_turn.h"

namespace arm_cycles {
namespace {

TEST(CortexM7, PairsAsMeasured) {  // [1]
  EXPECT_EQ(cycles_a_turn("M7", {"add.w r1, r2, r3", "eor.w r4, r5, r6"}), 1);
  EXPECT_EQ(cycles_a_turn("M7", {"ldr r1, [r7]", "ldr r2, [r7, #4]"}), 1);
  EXPECT_EQ(cycles_a_turn("M7", {"ldr r1, [r7]", "str r2, [r7, #4]"}), 1);
  EXPECT_EQ(cycles_a_turn("M7", {"str r1, [r7]", "str r2, [r7, #4]"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"smlad r1, r5, r6, r1", "smlad r2, r5, r6, r2"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"smlad r1, r5, r6, r1", "str r2, [r7]"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"smlad r1, r5, r6, r1", "ldr r2, [r7]"}), 1);
  EXPECT_EQ(cycles_a_turn("M7", {"sxtb16 r1, r5", "sxtb16 r2, r6"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"sxtb16 r1, r5", "smlad r2, r6, r7, r2"}), 1);
  EXPECT_EQ(cycles_a_turn("M7", {"sxtb16 r1, r5", "add.w r2, r6, r7, lsl #2"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"vadd.f32 s0, s1, s2", "add r1, r2"}), 1);
  EXPECT_EQ(cycles_a_turn("M7", {"vadd.f32 s0, s1, s2", "vmul.f32 s3, s4, s5"}), 2);
}

TEST(CortexM7, ExtensionsAreTheFirstOfTheirCycle) {  // [1]
  EXPECT_EQ(cycles_a_turn("M7", {"sxtb16 r3, r4", "add r5, r6", "add r7, r2", "sxtb16 r1, r2"}), 3);
}

TEST(CortexM7, MultiplesMoveTwoWordsACycleAlone) {  // [1]
  EXPECT_EQ(cycles_a_turn("M7", {"ldrd r1, r2, [r7]", "add r5, r6"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"ldmia.w r7!, {r1, r2, r3, r4}", "add r5, r6"}), 3);
  EXPECT_EQ(cycles_a_turn("M7", {"stmia.w r7!, {r1, r2, r3}"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"vldmia r7!, {s10-s17}"}), 4);
}

TEST(CortexM7, LatenciesAsMeasured) {  // [1]
  EXPECT_EQ(cycles_a_turn("M7", {"smlad r1, r5, r6, r1"}), 1);
  EXPECT_EQ(cycles_a_turn("M7", {"smlad r1, r1, r6, r2"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"mul r1, r1, r2"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"ldr r1, [r7]", "add r7, r1"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"ldr r1, [r7]", "mul r7, r1, r2"}), 4);
  EXPECT_EQ(cycles_a_turn("M7", {"add r1, r2", "add.w r1, r2, r1, ror #3"}), 3);
  EXPECT_EQ(cycles_a_turn("M7", {"vadd.f32 s0, s0, s1"}), 3);
}

// One row by four outputs, before and after its instructions were interleaved; [2] gives 17 and 11 cycles.
TEST(CortexM7, SixteenProducts) {
  EXPECT_EQ(cycles_a_turn(
                "M7", {"ldrd r8, lr, [r4], #8", "ldrd r7, r9, [r5], #8", "sxtb16 sl, r7", "sxtb16 fp, r9",
                       "sxtb16 r7, r7, ror #8", "sxtb16 r9, r9, ror #8", "smlad r0, sl, r8, r0", "smlad r1, fp, r8, r1",
                       "smlad r0, r7, lr, r0", "smlad r1, r9, lr, r1", "ldrd r7, r9, [r5], #56", "sxtb16 sl, r7",
                       "sxtb16 fp, r9", "sxtb16 r7, r7, ror #8", "sxtb16 r9, r9, ror #8", "smlad r2, sl, r8, r2",
                       "smlad r3, fp, r8, r3", "smlad r2, r7, lr, r2", "smlad r3, r9, lr, r3"}),
            19);
  EXPECT_EQ(
      cycles_a_turn("M7", {"sxtb16 sl, r2", "smlad r7, r5, r1, r7", "ldrd r0, r1, [r8], #8", "ldrd r4, r5, [r9], #56",
                           "sxtb16 r2, r2, ror #8", "smlad r6, sl, r0, r6", "sxtb16 sl, r3", "smlad r6, r2, r1, r6",
                           "sxtb16 r3, r3, ror #8", "smlad fp, sl, r0, fp", "sxtb16 sl, r4", "smlad fp, r3, r1, fp",
                           "ldrd r2, r3, [r9], #8", "sxtb16 r4, r4, ror #8", "smlad ip, sl, r0, ip", "sxtb16 sl, r5",
                           "smlad ip, r4, r1, ip", "sxtb16 r5, r5, ror #8", "smlad r7, sl, r0, r7"}),
      11);
}

// A vector instruction takes two cycles of its unit, and another unit may begin in the second. For one row by four
// outputs [2] gives 10 cycles, too.
TEST(CortexM55, UnitsOverlap) {
  EXPECT_EQ(cycles_a_turn("M55", {"vldrb.u8 q0, [r0], #16"}), 2);
  EXPECT_EQ(cycles_a_turn("M55", {"vldrb.u8 q0, [r0], #16", "vmlava.s8 r2, q1, q2"}), 2);
  EXPECT_EQ(cycles_a_turn("M55", {"vmlava.s8 r2, q1, q2", "vmlava.s8 r4, q1, q2"}), 4);
  EXPECT_EQ(cycles_a_turn("M55", {"vldrb.u8 q0, [r0], #16", "vadd.i32 q3, q1, q2", "vmul.f32 q4, q5, q6"}), 3);
  EXPECT_EQ(cycles_a_turn("M55", {"add r0, r1", "add r2, r3"}), 2);
  EXPECT_EQ(cycles_a_turn("M55", {"add r0, r1", "le lr, 10"}), 1);
  EXPECT_EQ(cycles_a_turn("M55", {"vldrb.u8 q0, [r0], #16", "vldrb.u8 q1, [r1], #64", "vmlava.s8 r2, q0, q1",
                                  "vldrb.u8 q2, [r1, #-48]", "vmlava.s8 r4, q0, q2", "vldrb.u8 q1, [r1, #-32]",
                                  "vmlava.s8 r6, q0, q1", "vldrb.u8 q2, [r1, #-16]", "vmlava.s8 r8, q0, q2"}),
            10);
}

TEST(CortexM, UnknownInstructionsAreRefused) {
  EXPECT_THROW(cycles_a_turn("M55", {"frobnicate r0, r1"}), std::runtime_error);
  EXPECT_THROW(cycles_a_turn("M7", {"vldrb.u8 q0, [r0]"}), std::runtime_error);
}

}  // namespace
}  // namespace arm_cycles
