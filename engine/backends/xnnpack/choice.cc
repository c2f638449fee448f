// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "backends/xnnpack/choice.h"
#include <time.h>

namespace goldcrest {
namespace {
constexpr uint32_t kTrialRows[kRowClasses] = {1, 4, 16, kMaxTrialRows};
constexpr int kRounds = 5;
constexpr double kRoundSeconds = 20e-6;   // each kernel runs this long, at least one call
constexpr double kLeastAdvantage = 0.95;  // a gain below 5 % may be noise and is not worth the exact bits

double now_s() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Call> double seconds_of(const Call& call, int calls) {
  const double start = now_s();
  for (int i = 0; i < calls; ++i) call();
  return (now_s() - start) / calls;
}

// Returns whether `a` is faster than `b`. Compares the best of kRounds alternating rounds, after a call of each that
// fills the caches.
template <typename CallA, typename CallB> bool is_faster(const CallA& a, const CallB& b) {
  a();
  const double once_s = seconds_of(b, 1);
  const int calls = once_s < kRoundSeconds ? 1 + static_cast<int>(kRoundSeconds / (once_s + 1e-9)) : 1;
  double best_a = 1e9, best_b = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double of_a = seconds_of(a, calls), of_b = seconds_of(b, calls);
    if (of_a < best_a) best_a = of_a;
    if (of_b < best_b) best_b = of_b;
  }
  return best_a < kLeastAdvantage * best_b;
}

template <typename Element>
uint32_t faster_classes(
    const TypedKernels<Element>& table, const TypedKernels<Element>& native, const LinearArgs<Element>& args) {
  uint32_t classes = 0;
  for (uint32_t c = 0; c < kRowClasses; ++c) {
    LinearArgs<Element> trial = args;
    if (trial.rows > kTrialRows[c]) trial.rows = kTrialRows[c];
    if (row_class(trial.rows) != c) continue;  // the engine never has this many rows
    if (is_faster([&] { table.linear(trial); }, [&] { native.linear(trial); })) classes |= 1u << c;
  }
  return classes;
}
}  // namespace

uint32_t faster_row_classes(
    const TypedKernels<int8_t>& table, const TypedKernels<int8_t>& native, const LinearArgs<int8_t>& args) {
  return faster_classes(table, native, args);
}

uint32_t faster_row_classes(
    const TypedKernels<float>& table, const TypedKernels<float>& native, const LinearArgs<float>& args) {
  return faster_classes(table, native, args);
}
}  // namespace goldcrest
