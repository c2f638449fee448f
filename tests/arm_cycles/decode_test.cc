// SPDX-License-Identifier: Apache-2.0
// objdump's text to kinds and registers.
#include "arm_cycles/core.h"
#include "support/test.h"

namespace arm_cycles { namespace {
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
  EXPECT_EQ(decode("crc32cx", "w0, w0, x5").kind, Kind::kMultiply);
  EXPECT_EQ(decode("dc", "zva, x3").kind, Kind::kStorePairQ);
  EXPECT_EQ(decode("dc", "zva, x3").reads, Registers({3}));
}

std::string refusal(Decoder decoder, const char* name, const char* operands) {
  try {
    decoder(name, operands);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Decode, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refusal(decode, "frobnicate", "x0, x1"), "cannot decode frobnicate x0, x1: no kind");
  EXPECT_EQ(refusal(decode_thumb, "frobnicate", "r0, r1"), "cannot decode frobnicate r0, r1: no kind");
  EXPECT_EQ(refusal(decode_thumb, "ldmia", "r0!"), "cannot decode ldmia r0!: an operand is missing");
}

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

// Reads files of tracer.c that are written by hand.

template <typename T> void write(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

// Writes two blocks, two instructions at address 100 and one at 108, and a third that never runs and does not decode.
std::string write_trace(const std::string& folder, const std::vector<uint32_t>& runs) {
  std::string prefix = folder + "/t";
  write<uint64_t>(prefix + ".blocks", {100, 0, 2, 108, 8, 1, 500, 12, 1});
  write<uint32_t>(prefix + ".runs", runs);
  std::ofstream(prefix + ".listing") << "\nt.code:     file format binary\n\n0000000000000000 <.data>:\n"
                                     << "       0:\tadd\tx1, x1, x2\n       4:\tldr\tq0, [x1]\n       8:\tnop\n"
                                     << "       c:\tfrobnicate\tx0\n";
  return prefix;
}

TEST(Trace, SectionsOfBlocksInTheirOrder) {
  const goldcrest::test::TemporaryFolder folder;
  const std::string prefix = write_trace(folder.path().string(), {0xffffffff, 0, 1, 0, 0xffffffff, 1});
  const TraceFile file(prefix, decode);
  ASSERT_EQ(file.sections(), 2u);
  const Trace first = file.trace(0);
  const auto& steps = first.steps;
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(first.instructions.size(), 3u);
  EXPECT_EQ(first.instructions[1].kind, Kind::kLoadQ);
  EXPECT_EQ(steps[3].instruction, steps[0].instruction);
  EXPECT_FALSE(steps[1].jumped);  // 108 follows 104
  EXPECT_TRUE(steps[2].jumped);   // back to 100
  EXPECT_EQ(file.trace(1).steps.size(), 1u);
  EXPECT_EQ(file.blocks(1), std::u32string_view(U"\1"));
}

TEST(Trace, LinesOfSections) {
  const goldcrest::test::TemporaryFolder folder;
  const std::string prefix = write_trace(folder.path().string(), {0xffffffff, 0, 0xffffffff, 1});
  const TraceFile file(prefix, decode);
  const auto numbers = [&](const char* lines) {
    std::ofstream(prefix + ".names") << lines;
    std::vector<int> found(2);
    try {
      file.for_sections([&](std::istream& words, size_t section) { words >> found[section]; });
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), prefix + ".names: does not fit the trace");
      found.clear();
    }
    return found;
  };
  EXPECT_EQ(numbers("5\n7 more\n"), std::vector<int>({5, 7}));
  for (const char* lines : {"5\n", "5\n7\n8\n", "5\nseven\n"}) EXPECT_TRUE(numbers(lines).empty()) << lines;
}

TEST(Trace, DamagedFilesAreRefused) {
  const goldcrest::test::TemporaryFolder folder;
  EXPECT_THROW(TraceFile(write_trace(folder.path().string(), {0}), decode), std::runtime_error);
  EXPECT_THROW(TraceFile(write_trace(folder.path().string(), {0xffffffff, 3}), decode), std::runtime_error);
  EXPECT_THROW(TraceFile(write_trace(folder.path().string(), {0xffffffff, 2}), decode).trace(0), std::runtime_error);
  EXPECT_THROW(TraceFile(folder / "none", decode), std::runtime_error);
}
}}  // namespace arm_cycles
