// SPDX-License-Identifier: Apache-2.0
// Compares the models with published measurements on silicon; [n] are the sources of cores.cc. [1] has the latency of a
// chain and the throughput of independent instructions, [2] and [3] which instructions share a cycle.
#include "arm_cycles/core.h"
#include "support/test.h"

namespace arm_cycles { namespace {
// Cycles of one turn, without the beginning and the end of the program.
double cycles_a_turn(const std::string& core, const std::vector<std::string>& turn) {
  const auto decoder = core_named(core).decoder;
  const auto cycles = [&](int turns) {
    Trace trace;
    for (const std::string& line : turn) {
      const size_t space = line.find(' ');
      trace.instructions.push_back(
          decoder(line.substr(0, space), space == std::string::npos ? "" : line.substr(space)));
    }
    for (int i = 0; i < turns; ++i)
      for (uint32_t step = 0; step < turn.size(); ++step) trace.steps.push_back({step, false});
    return static_cast<double>(cycles_of(trace, core_named(core)));
  };
  constexpr int kFew = 100, kMany = 400;
  return (cycles(kMany) - cycles(kFew)) / (kMany - kFew);
}

double latency(const std::string& core, const std::string& instruction) { return cycles_a_turn(core, {instruction}); }

// Takes an instruction whose text has & for a destination's number, so that instructions of a turn do not wait for
// each other.
double throughput(const std::string& core, const std::string& instruction) {
  std::vector<std::string> turn;
  for (int destination = 8; destination < 24; ++destination) {
    std::string text;
    for (const char c : instruction) text += c == '&' ? std::to_string(destination) : std::string(1, c);
    turn.push_back(text);
  }
  return 16 / cycles_a_turn(core, turn);
}

// Takes "INSTRUCTION = FIGURE; ...". Cores in order are exact.
void expect_figures(double (*figure)(const std::string&, const std::string&), const char* core, const char* text) {
  std::istringstream all(text);
  for (std::string one; std::getline(all >> std::ws, one, ';');) {
    const size_t sign = one.find(" = ");
    const double tolerance = figure == throughput && !core_named(core).in_order ? 0.01 : 0;
    EXPECT_NEAR(figure(core, one.substr(0, sign)), std::stod(one.substr(sign + 3)), tolerance) << core << ": " << one;
  }
}

TEST(CortexA53, LatenciesAsMeasured) {  // [1] results/raspberry-pi-3_cortex-a53.md
  expect_figures(latency, "A53",
      "add x1, x1, x2 = 1; add x1, x2, x1, lsl #2 = 2; mul x1, x1, x2 = 4; ldr x1, [x1] = 3; smlal v0.8h, v1.8b, v2.8b "
      "= 1; smlal v0.8h, v0.8b, v2.8b = 4; sadalp v0.4s, v1.8h = 4; add v0.4s, v0.4s, v1.4s = 2; fadd v0.4s, v0.4s, "
      "v1.4s = 4; fcmgt v0.4s, v0.4s, v1.4s = 2; fsqrt s0, s0 = 12");
}

TEST(CortexA53, ThroughputsAsMeasured) {
  expect_figures(throughput, "A53",
      "add x&, x1, x2 = 2; mul x&, x1, x2 = 0.5; ldr x&, [x1] = 1; ldp x&, x7, [x1] = 0.5; ldr q&, [x1] = 0.5; ld1 "
      "{v0.16b-v3.16b}, [x1] = 0.125; ld1r {v&.4s}, [x1] = 1; smull v&.8h, v1.8b, v2.8b = 1; smlal2 v&.8h, v1.16b, "
      "v2.16b = 1; sadalp v&.4s, v1.8h = 0.5; fadd v&.4s, v1.4s, v2.4s = 1; fadd s&, s1, s2 = 2; str q0, [x1] = 1");
}

// [2]: a 128-bit vector load costs two cycles, a 64-bit one costs one, a load into a general register costs none.
TEST(CortexA53, PairsAsPublished) {
  const std::vector<std::string> products = {"fmla v8.4s, v16.4s, v24.s[0]", "fmla v9.4s, v16.4s, v24.s[1]",
      "fmla v10.4s, v16.4s, v24.s[2]", "fmla v11.4s, v16.4s, v24.s[3]"};
  const auto more = [&](const std::vector<std::string>& others) {
    std::vector<std::string> turn;
    for (size_t i = 0; i < products.size(); ++i) {
      turn.push_back(products[i]);
      if (i < others.size()) turn.push_back(others[i]);
    }
    return cycles_a_turn("A53", turn) - static_cast<double>(products.size());
  };
  EXPECT_EQ(more({"ldr q0, [x0]"}), 2);
  EXPECT_EQ(more({"ldr d0, [x0]"}), 1);
  EXPECT_EQ(more({"ldr x23, [x0]"}), 0);
  EXPECT_EQ(more({"add x0, x0, #16"}), 0);
  EXPECT_EQ(cycles_a_turn("A53", {"ldr d0, [x0]", "ins v1.d[1], x23", "ldr d2, [x0]", "ins v3.d[1], x23"}), 2);
}

TEST(CortexA72, AsMeasured) {  // [1] results/nxp_lx2160a_a72.md
  expect_figures(latency, "A72",
      "ldr x1, [x1] = 4; mul x1, x1, x2 = 5; smlal v0.8h, v1.8b, v2.8b = 1; smlal v0.8h, v0.8b, v2.8b = 4; add v0.4s, "
      "v0.4s, v1.4s = 3; fadd v0.4s, v0.4s, v1.4s = 4; fsqrt s0, s0 = 17");
  expect_figures(throughput, "A72",
      "fcmge v&.4s, v1.4s, v2.4s = 1.5; add x&, x1, x2 = 2; add v&.4s, v1.4s, v2.4s = 1.5; fadd v&.4s, v1.4s, v2.4s = "
      "1; fadd s&, s1, s2 = 2; smull v&.8h, v1.8b, v2.8b = 1; sadalp v&.4s, v1.8h = 1; sxtl v&.8h, v1.8b = 1; ldr q&, "
      "[x1] = 1; ldp q&, q7, [x1] = 0.5; str q0, [x1] = 0.5");
}

TEST(CortexA76, AsMeasuredOnNeoverseN1) {  // [1] results/gcp_ampere_altra.md
  expect_figures(latency, "A76",
      "ldr x1, [x1] = 4; sdot v0.4s, v0.16b, v2.16b = 3; add v0.4s, v0.4s, v1.4s = 2; smlal v0.8h, v0.8b, v2.8b = 4; "
      "fsqrt v0.4s, v0.4s = 9");
  expect_figures(throughput, "A76",
      "fsqrt v&.4s, v1.4s = 0.14286; add x&, x1, x2 = 3; sdot v&.4s, v1.16b, v2.4b[0] = 2; smull v&.8h, v1.8b, v2.8b = "
      "1; sadalp v&.4s, v1.8h = 1; ldr q&, [x1] = 2; ldp q&, q7, [x1] = 1; mul v&.4s, v1.4s, v2.4s = 0.5");
}

TEST(Core, UnknownNamesAndInstructionsAreRefused) {
  for (const auto& [core, message] : std::vector<std::pair<const char*, std::string>>{
           {"A1", "no core is named A1"}, {"A53", "Cortex-A53 has no Dot"}}) {
    try {
      latency(core, "sdot v0.4s, v1.16b, v2.16b");
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), message);
    }
  }
}

TEST(CortexM7, PairsAsMeasured) {  // [3]
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

TEST(CortexM7, ExtensionsAreTheFirstOfTheirCycle) {  // [3]
  EXPECT_EQ(cycles_a_turn("M7", {"sxtb16 r3, r4", "add r5, r6", "add r7, r2", "sxtb16 r1, r2"}), 3);
}

TEST(CortexM7, MultiplesMoveTwoWordsACycleAlone) {  // [3]
  EXPECT_EQ(cycles_a_turn("M7", {"ldrd r1, r2, [r7]", "add r5, r6"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"ldmia.w r7!, {r1, r2, r3, r4}", "add r5, r6"}), 3);
  EXPECT_EQ(cycles_a_turn("M7", {"stmia.w r7!, {r1, r2, r3}"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"vldmia r7!, {s10-s17}"}), 4);
}

TEST(CortexM7, LatenciesAsMeasured) {  // [3]
  EXPECT_EQ(cycles_a_turn("M7", {"smlad r1, r5, r6, r1"}), 1);
  EXPECT_EQ(cycles_a_turn("M7", {"smlad r1, r1, r6, r2"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"mul r1, r1, r2"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"ldr r1, [r7]", "add r7, r1"}), 2);
  EXPECT_EQ(cycles_a_turn("M7", {"ldr r1, [r7]", "mul r7, r1, r2"}), 4);
  EXPECT_EQ(cycles_a_turn("M7", {"add r1, r2", "add.w r1, r2, r1, ror #3"}), 3);
  EXPECT_EQ(cycles_a_turn("M7", {"vadd.f32 s0, s0, s1"}), 3);
}

// One row by four outputs, before and after its instructions were interleaved; llvm-mca of LLVM 19.1.7 gives 17 and 11
// cycles.
TEST(CortexM7, SixteenProducts) {
  EXPECT_EQ(cycles_a_turn("M7",
                {"ldrd r8, lr, [r4], #8", "ldrd r7, r9, [r5], #8", "sxtb16 sl, r7", "sxtb16 fp, r9",
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
// outputs llvm-mca of LLVM 19.1.7 gives 10 cycles, too.
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
}}  // namespace arm_cycles
