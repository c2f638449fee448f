// SPDX-License-Identifier: Apache-2.0
// Sizes from factors, offsets of phases and regions, and overflow.
#include "memory/plan.h"
#include "support/test.h"

namespace goldcrest { namespace {
goldcrest_limits some_limits() {
  return {.max_source_tokens = 7,
      .max_source_bytes = 100,
      .max_target_tokens = 11,
      .beam_size = 3,
      .batch = 2,
      .encoder_rows = 5,
      .threads = 1};
}

uint64_t bytes_of(const goldcrest_limits& limits, const BufferSize& size) {
  Plan plan(limits);
  (void)plan.add("buffer", Phase::kAlways, Region::kMain, size);
  EXPECT_FALSE(plan.overflowed());
  return plan.used(Region::kMain, Phase::kAlways);
}

TEST(Plan, EveryFactorHasItsValue) {
  const goldcrest_limits limits = some_limits();
  const auto with = [&](uint8_t factor) { return bytes_of(limits, {0, 64, {factor, 0, 0, 0}}) / 64; };
  EXPECT_EQ(with(GOLDCREST_FACTOR_NONE), 1u);
  EXPECT_EQ(with(GOLDCREST_FACTOR_SOURCE_TOKENS), 7u);
  EXPECT_EQ(with(GOLDCREST_FACTOR_SOURCE_BYTES), 100u);
  EXPECT_EQ(with(GOLDCREST_FACTOR_TARGET_TOKENS), 11u);
  EXPECT_EQ(with(GOLDCREST_FACTOR_LONGEST), 11u);
  EXPECT_EQ(with(GOLDCREST_FACTOR_BEAM), 3u);
  EXPECT_EQ(with(GOLDCREST_FACTOR_BATCH), 2u);
  EXPECT_EQ(with(GOLDCREST_FACTOR_ENCODER_ROWS), 5u);
  EXPECT_EQ(with(GOLDCREST_FACTOR_BEAM_USED), 1u);
  goldcrest_limits greedy = limits;
  greedy.beam_size = 1;
  greedy.max_source_tokens = 12;
  EXPECT_EQ(bytes_of(greedy, {0, 64, {GOLDCREST_FACTOR_BEAM_USED, 0, 0, 0}}), 0u);
  EXPECT_EQ(bytes_of(greedy, {0, 64, {GOLDCREST_FACTOR_LONGEST, 0, 0, 0}}), 64u * 12);
  goldcrest_limits two = limits;
  two.beam_size = 2;
  EXPECT_EQ(bytes_of(two, {0, 64, {GOLDCREST_FACTOR_BEAM_USED, 0, 0, 0}}), 64u);
}

TEST(Plan, BytesAreTheFormulaRoundedUpTo64) {
  const goldcrest_limits limits = some_limits();
  EXPECT_EQ(bytes_of(limits, {0, 0, {}}), 0u);
  EXPECT_EQ(bytes_of(limits, {1, 0, {}}), 64u);
  EXPECT_EQ(bytes_of(limits, {64, 0, {}}), 64u);
  EXPECT_EQ(bytes_of(limits, {65, 0, {}}), 128u);
  const uint8_t beam = GOLDCREST_FACTOR_BEAM, batch = GOLDCREST_FACTOR_BATCH, target = GOLDCREST_FACTOR_TARGET_TOKENS;
  EXPECT_EQ(bytes_of(limits, {5, 13, {target, beam, batch, beam}}), align_bytes(5 + 13 * 11 * 3 * 2 * 3));
}

TEST(Plan, EachTaskHasABufferOfItsOwn) {
  goldcrest_limits limits = some_limits();
  limits.threads = 5;
  const uint8_t threads = GOLDCREST_FACTOR_THREADS, target = GOLDCREST_FACTOR_TARGET_TOKENS;
  EXPECT_EQ(bytes_of(limits, {1, 0, {threads, 0, 0, 0}}), 5u * 64);
  EXPECT_EQ(bytes_of(limits, {20, 4, {target, threads, 0, 0}}), 5u * 64) << "20 + 4 * 11 = 64";
  EXPECT_EQ(bytes_of(limits, {21, 4, {target, threads, 0, 0}}), 5u * 128);
  Plan plan(limits);
  EXPECT_EQ(plan.add("shared", Phase::kDecode, Region::kMain, {64, 0, {}}).task_stride, 0u);
  const BufferRef ref = plan.add("own", Phase::kDecode, Region::kMain, {129, 0, {threads, 0, 0, 0}});
  EXPECT_EQ(ref.offset, 1u);
  EXPECT_EQ(ref.task_stride, 3u);
  EXPECT_EQ(plan.add("next", Phase::kDecode, Region::kMain, {64, 0, {}}).offset, 1u + 5 * 3);
}

TEST(Plan, PhasesLieOverEachOtherBehindWhatLivesAlways) {
  Plan plan(some_limits());
  const auto add = [&](Phase phase, Region region, uint64_t bytes) {
    const BufferRef ref = plan.add("buffer", phase, region, {bytes, 0, {}});
    EXPECT_EQ(ref.region, region);
    EXPECT_EQ(ref.phase, phase);
    return ref.offset;
  };
  EXPECT_EQ(add(Phase::kAlways, Region::kMain, 100), 0u);
  EXPECT_EQ(add(Phase::kEncode, Region::kMain, 640), 0u);
  EXPECT_EQ(add(Phase::kAlways, Region::kMain, 64), 2u);
  EXPECT_EQ(add(Phase::kDecode, Region::kMain, 64), 0u);
  EXPECT_EQ(add(Phase::kDecode, Region::kScratch, 1024), 0u);
  EXPECT_EQ(add(Phase::kDecode, Region::kMain, 64), 1u);
  EXPECT_EQ(add(Phase::kEncode, Region::kScratch, 128), 0u);
  EXPECT_EQ(add(Phase::kEncode, Region::kScratch, 1), 2u);
  EXPECT_EQ(add(Phase::kText, Region::kMain, 320), 0u);

  EXPECT_EQ(plan.longest_phase(Region::kMain), 640u);
  EXPECT_EQ(plan.longest_phase(Region::kScratch), 1024u);
  EXPECT_EQ(plan.longest_phase(), 128u + 1024u) << "decode: the sum counts, not the largest of each region";
  EXPECT_EQ(plan.part_offset(Region::kMain, Phase::kAlways), 0u);
  for (const Phase phase : {Phase::kText, Phase::kEncode, Phase::kDecode})
    EXPECT_EQ(plan.part_offset(Region::kMain, phase), 192u);
  EXPECT_EQ(plan.part_offset(Region::kScratch, Phase::kEncode), 192u + 640u);
  EXPECT_EQ(plan.part_offset(Region::kScratch, Phase::kDecode), 192u + 128u);
}

TEST(Plan, OfNothingIsNothing) {
  const Plan plan(some_limits());
  EXPECT_EQ(plan.longest_phase(), 0u);
  EXPECT_EQ(plan.longest_phase(Region::kScratch), 0u);
}

// In either region a phase's buffer follows all buffers that always live, and the phase's other buffers.
TEST(Plan, OffsetsCountWhatLivesAlwaysInBothRegions) {
  const auto fill = [](Plan& plan) {
    (void)plan.add("main", Phase::kAlways, Region::kMain, {64, 0, {}});
    (void)plan.add("scratch", Phase::kAlways, Region::kScratch, {128, 0, {}});
    (void)plan.add("first", Phase::kText, Region::kMain, {256, 0, {}});
    (void)plan.add("second", Phase::kText, Region::kMain, {64, 0, {}});
  };
  Plan finished(some_limits()), reported(some_limits());
  fill(finished);
  std::vector<uint64_t> offsets;
  reported.report_to(
      [](void* context, const goldcrest_buffer* buffer) {
        static_cast<std::vector<uint64_t>*>(context)->push_back(buffer->offset_bytes);
      },
      &offsets, finished);
  fill(reported);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 64, 64 + 128, 64 + 128 + 256}));
}

TEST(Plan, ReportsWhatItPlaced) {
  const auto fill = [](Plan& plan) {
    (void)plan.add("first", Phase::kAlways, Region::kMain, {10, 0, {}});
    (void)plan.add(
        "second", Phase::kDecode, Region::kMain, {0, 6, {GOLDCREST_FACTOR_BEAM, GOLDCREST_FACTOR_BATCH, 0, 0}});
    (void)plan.add("third", Phase::kDecode, Region::kScratch, {0, 6, {GOLDCREST_FACTOR_TARGET_TOKENS, 0, 0, 0}});
  };
  Plan finished(some_limits()), reported(some_limits());
  fill(finished);
  std::vector<goldcrest_buffer> seen;
  reported.report_to(
      [](void* context, const goldcrest_buffer* buffer) {
        static_cast<std::vector<goldcrest_buffer>*>(context)->push_back(*buffer);
      },
      &seen, finished);
  fill(reported);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_STREQ(seen[0].name, "first");
  EXPECT_EQ(seen[0].phase, GOLDCREST_PHASE_ALWAYS);
  EXPECT_EQ(seen[0].constant, 10u);
  EXPECT_EQ(seen[1].coefficient, 6u);
  EXPECT_EQ(seen[1].factors[0], GOLDCREST_FACTOR_BEAM);
  EXPECT_EQ(seen[1].factors[1], GOLDCREST_FACTOR_BATCH);
  EXPECT_EQ(seen[1].offset_bytes, 64u);
  EXPECT_EQ(seen[2].scratch, 1);
  EXPECT_EQ(seen[2].bytes, 128u);
  EXPECT_EQ(seen[2].offset_bytes, 128u);
}

TEST(Plan, OverflowIsKeptAndNothingWraps) {
  goldcrest_limits limits = some_limits();
  limits.max_source_tokens = limits.max_target_tokens = limits.batch = limits.beam_size = UINT32_MAX;
  const uint8_t factor = GOLDCREST_FACTOR_BATCH;
  const BufferSize too_large[] = {
      {0, 1, {factor, factor, factor, 0}},        // beyond 64 bits
      {UINT64_MAX, 1, {}},                        // by the constant
      {0, (uint64_t{1} << 40) + 1, {}},           // beyond any arena
      {0, uint64_t{1} << 63, {factor, 0, 0, 0}},  // by the coefficient
  };
  for (const BufferSize& size : too_large) {
    Plan plan(limits);
    (void)plan.add("buffer", Phase::kEncode, Region::kMain, size);
    EXPECT_TRUE(plan.overflowed());
    (void)plan.add("another", Phase::kEncode, Region::kMain, {64, 0, {}});
    EXPECT_TRUE(plan.overflowed());
    EXPECT_LE(plan.longest_phase(), 64u);
  }
}

TEST(Plan, TheLargestBufferIsNoOverflow) {
  Plan plan(some_limits());
  (void)plan.add("buffer", Phase::kEncode, Region::kMain, {uint64_t{UINT32_MAX} * 64, 0, {}});
  EXPECT_FALSE(plan.overflowed());
  EXPECT_EQ(plan.longest_phase(), uint64_t{UINT32_MAX} * 64);
}

// Offsets have 32 bits and count units of 64 bytes: 256 GiB.
TEST(Plan, AnOffsetThatDoesNotFitIsAnOverflow) {
  Plan plan(some_limits());
  const BufferSize quarter = {uint64_t{1} << 36, 0, {}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(plan.overflowed()) << i;
    (void)plan.add("buffer", Phase::kDecode, Region::kMain, quarter);
  }
  EXPECT_TRUE(plan.overflowed());
}

#ifdef __SIZEOF_INT128__  // compilers for 32-bit CPUs have no such type
using Wide = unsigned __int128;

// Computes a buffer's bytes and overflow in 128 bits, which no size here exceeds, and compares with the plan.
void expect_exact(uint64_t constant, uint64_t coefficient, uint32_t batch, uint32_t beam) {
  goldcrest_limits limits = some_limits();
  limits.batch = batch;
  limits.beam_size = beam;
  Plan plan(limits);
  (void)plan.add("buffer", Phase::kText, Region::kMain,
      {constant, coefficient, {GOLDCREST_FACTOR_BATCH, GOLDCREST_FACTOR_BEAM, 0, 0}});
  const Wide exact = Wide{coefficient} * batch * beam + constant, rounded = (exact + 63) / 64 * 64;
  const bool fits = rounded / 64 <= UINT32_MAX;
  ASSERT_EQ(plan.overflowed(), !fits) << constant << " + " << coefficient << " * " << batch << " * " << beam;
  ASSERT_TRUE(!fits || plan.longest_phase() == rounded) << constant << " + " << coefficient << " * " << batch;
}

TEST(Exhaustive, BuffersOfSmallNumbers) {
  for (uint64_t constant = 0; constant <= 130; ++constant) {
    for (uint64_t coefficient = 0; coefficient <= 130; ++coefficient) {
      for (uint32_t factor = 0; factor <= 17; ++factor) {
        expect_exact(constant, coefficient, factor, 1);
        expect_exact(constant, coefficient, factor, factor);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Every power of two, and its neighbours.
TEST(Exhaustive, BuffersAroundPowersOfTwo) {
  std::vector<uint64_t> numbers;
  for (int power = 0; power < 64; ++power)
    for (const uint64_t by : {UINT64_MAX, uint64_t{0}, uint64_t{1}}) numbers.push_back((uint64_t{1} << power) + by);
  for (const uint64_t constant : numbers) {
    for (const uint64_t coefficient : numbers) {
      for (const uint32_t batch : {1u, 3u, 65536u, 1u << 31, UINT32_MAX}) {
        for (const uint32_t beam : {1u, 2u, UINT32_MAX}) expect_exact(constant, coefficient, batch, beam);
        if (HasFatalFailure()) return;
      }
    }
  }
}
#endif

// All dimensions that a file may have, and all numbers of bytes up to 16 million.
TEST(Exhaustive, Roundings) {
  for (uint32_t n = 0; n <= 1u << 24; ++n) {
    ASSERT_EQ(pad16(n), (n / 16 + (n % 16 != 0)) * 16);
    ASSERT_EQ(align_bytes(n), (n / 64 + (n % 64 != 0)) * 64);
  }
}
}}  // namespace goldcrest
