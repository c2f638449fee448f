// SPDX-License-Identifier: Apache-2.0
#include "unit/api/linear_work.h"
#include "support/test.h"

namespace goldcrest::test {
namespace {
constexpr uint64_t kFixed = 5000;
constexpr double kTolerance = 1.1;

double ratio(uint64_t a, uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); }
}  // namespace

void expect_linear(const StatedWork& stated, const std::function<Cost(uint32_t size)>& cost) {
  SCOPED_TRACE(stated.call);
  Cost before;
  for (const uint32_t size : {1u, 2u, 4u}) {
    const Cost now = cost(size);
    std::printf("%-40s %10llu instructions, %9llu of work, %.2f each\n", stated.call.c_str(),
        static_cast<unsigned long long>(now.instructions), static_cast<unsigned long long>(now.work),
        ratio(now.instructions, now.work));
    EXPECT_LE(now.instructions, kFixed + stated.instructions_each * now.work);
    EXPECT_GE(now.work, before.work);
    if (size > 1) {
      EXPECT_LE(ratio(now.instructions, before.instructions), kTolerance * ratio(now.work, before.work));
    }
    before = now;
  }
}
}  // namespace goldcrest::test
