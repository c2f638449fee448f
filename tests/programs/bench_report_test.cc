// SPDX-License-Identifier: Apache-2.0
// The spread of times and the warning about a noisy machine, computed from given times.
#include <gtest/gtest.h>

#include "examples/bench/report.h"

namespace bench {
namespace {

TEST(Spread, IsTheQuartileRangeOverTheMedian) {
  EXPECT_EQ(spread_of({7}), 0);
  EXPECT_EQ(spread_of({0, 0, 0}), 0);
  EXPECT_DOUBLE_EQ(spread_of({1, 3}), 0.5);
  EXPECT_DOUBLE_EQ(spread_of({5, 1, 3, 2, 4}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(spread_of({10, 10, 10, 10, 1000}), 0) << "a disturbed one does not count";
  EXPECT_DOUBLE_EQ(timing_of({1, 3, 2, 4}).spread, 1.5 / 2.5);
}

// A report with one case: encoding takes 10, 10, 10, 14, 14 us, the whole search 100 us each time.
Report one_case() {
  Case measured;
  measured.speed.beam_size = measured.speed.batch = 1;
  measured.speed.encode = timing_of({10e-6, 10e-6, 10e-6, 14e-6, 14e-6});
  measured.speed.run = timing_of({100e-6, 100e-6, 100e-6});
  measured.speed.tokens_per_s = 640000;
  measured.speed.position_s = 1e-6;
  Report report;
  report.kernels = "reference";
  report.cases.push_back(measured);
  return report;
}

TEST(Report, CountsLargeSpreadsInItsLastLine) {
  const std::string text = report_text({}, one_case());
  EXPECT_NE(text.find("encode ms   spread    tokens/s   spread"), std::string::npos) << text;
  EXPECT_NE(text.find("0.010   40.0 %      640000    0.0 %"), std::string::npos) << text;
  const std::string warning =
      "warning: 1 of 2 timings have a spread above 10 %, the largest 40 %: other work disturbs this machine, and such "
      "figures are not to be trusted\n";
  EXPECT_EQ(spread_warning(one_case()), warning);
  EXPECT_TRUE(text.ends_with(warning)) << text;
}

TEST(Report, OfAQuietMachineHasNoWarning) {
  Report report = one_case();
  report.cases[0].speed.encode = timing_of({10e-6, 10.5e-6, 11e-6});
  EXPECT_EQ(spread_warning(report), "");
  EXPECT_EQ(report_text({}, report).find("warning"), std::string::npos);
}

}  // namespace
}  // namespace bench
