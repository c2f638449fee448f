// SPDX-License-Identifier: Apache-2.0
// Repeats a piece of work and tells its median time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {

struct Timing {
  double median_s = 0, fastest_s = 0;
  size_t repetitions = 0;
};

struct Patience {
  double seconds = 1;      // repeat at least this long
  size_t warm_ups = 2;     // not counted
  size_t repetitions = 5;  // at least
};

// Seconds of one call.
template <typename Work>
double time_once(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Times single calls of work(). The calls must be long against the clock, that is some microseconds.
template <typename Work>
Timing time_repeated(const Patience& patience, const Work& work) {
  for (size_t i = 0; i < patience.warm_ups; ++i) work();
  std::vector<double> times;
  for (double total = 0; total < patience.seconds || times.size() < patience.repetitions; total += times.back()) {
    times.push_back(time_once(work));
  }
  std::sort(times.begin(), times.end());
  const size_t half = times.size() / 2;
  const double median = times.size() % 2 == 1 ? times[half] : 0.5 * (times[half - 1] + times[half]);
  return {median, times.front(), times.size()};
}

}  // namespace bench
