// SPDX-License-Identifier: Apache-2.0
// Repeats a piece of work and returns its median time and the spread of the times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {
struct Timing {
  double median_s = 0, fastest_s = 0;
  size_t repetitions = 0;
  double spread = 0;  // quartile range over median
};

struct Patience {
  double seconds = 1;      // repeat at least this long
  size_t warm_ups = 2;     // not counted
  size_t repetitions = 5;  // at least
};

// Adds its own lifetime to `seconds`.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), begin_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begin_;
};

// Returns the seconds of one call.
template <typename Work> double time_once(const Work& work) {
  double seconds = 0;
  {
    const Stopwatch watch(seconds);
    work();
  }
  return seconds;
}

// values: at least one.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// Returns the range of the middle half of the values, divided by their median; 0 if the median is not above 0.
// Quartiles are interpolated as in Hyndman and Fan 1996, definition 7. values: at least one.
inline double spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    const double at = share * static_cast<double>(values.size() - 1);
    const size_t below = static_cast<size_t>(at), above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return quantile(0.5) > 0 ? (quantile(0.75) - quantile(0.25)) / quantile(0.5) : 0;
}

// times: at least one.
inline Timing timing_of(const std::vector<double>& times) {
  return {median(times), *std::min_element(times.begin(), times.end()), times.size(), spread_of(times)};
}

// Returns the result of work() in each counted call.
template <typename Work> auto repeat(const Patience& patience, const Work& work) {
  for (size_t i = 0; i < patience.warm_ups; ++i) work();
  std::vector<decltype(work())> results;
  for (double total = 0; total < patience.seconds || results.size() < patience.repetitions;)
    total += time_once([&] { results.push_back(work()); });
  return results;
}

// Times single calls of work(). A call must take much longer than reading the clock, that is some microseconds.
template <typename Work> Timing time_repeated(const Patience& patience, const Work& work) {
  return timing_of(repeat(patience, [&] { return time_once(work); }));
}

// Returns the median of one quantity of the results.
template <typename Results, typename Quantity> Timing timing_of(const Results& results, const Quantity& quantity) {
  std::vector<double> times;
  for (const auto& result : results) times.push_back(quantity(result));
  return timing_of(times);
}
}  // namespace bench
