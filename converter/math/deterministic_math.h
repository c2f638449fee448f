// SPDX-License-Identifier: Apache-2.0
// exp, log, sin and cos from basic operations, each rounded once, so tables have the same bits on every machine. A
// platform's libm may differ in the last place. Compile without contraction to fused operations.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace goldcrest::converter {
// e^x for |x| <= 700, relative error about 1e-15.
inline double exact_exp(double x) {
  constexpr double kLog2High = 0x1.62e42fefp-1, kLog2Middle = 0x1.473de6afp-34, kLog2Low = 0x1.3c7673007e5edp-69;
  constexpr double kInverseLog2 = 0x1.71547652b82fep+0;
  // The high and the middle part have 33 bits, so their products with k are exact.
  const double k = std::floor(x * kInverseLog2 + 0.5);
  const double r = ((x - k * kLog2High) - k * kLog2Middle) - k * kLog2Low;  // |r| <= log(2) / 2
  double sum = 1;
  for (int n = 18; n >= 1; --n) sum = 1 + r / n * sum;  // Taylor series; r^19 / 19! is below 1e-25
  return std::ldexp(sum, static_cast<int>(k));
}

// The natural logarithm for 1 <= x <= 1e9, error about 1e-15 of the larger of the result and 1.
inline double exact_log(double x) {
  double y = 0;
  for (double rest = x; rest >= 2; rest /= 2) y += 0x1.62e42fefa39efp-1;
  // Halley's method on e^y = x: the error is cubed each time and starts below 0.7.
  for (int i = 0; i < 5; ++i) {
    const double power = exact_exp(y);
    y += 2 * (x - power) / (x + power);
  }
  return y;
}

namespace deterministic_math_detail {
struct Angle {
  int64_t quadrant;
  double remainder;  // |remainder| <= pi / 4
};

inline Angle reduce(double x) {
  constexpr double kHigh = 0x1.921fb544p+0, kMiddle = 0x1.0b4611a6p-34, kLow = 0x1.3198a2e037073p-69;  // pi / 2
  constexpr double kInverse = 0x1.45f306dc9c883p-1;
  const double k = std::floor(x * kInverse + 0.5);
  return {static_cast<int64_t>(k), ((x - k * kHigh) - k * kMiddle) - k * kLow};
}

// Taylor series on |r| <= pi / 4, nested; the first term left out is below 1e-20.
inline double sine_series(double r) {
  double sum = 1;
  for (int n = 18; n >= 2; n -= 2) sum = 1 - r * r / (n * (n + 1)) * sum;
  return r * sum;
}

inline double cosine_series(double r) {
  double sum = 1;
  for (int n = 19; n >= 1; n -= 2) sum = 1 - r * r / (n * (n + 1)) * sum;
  return sum;
}
}  // namespace deterministic_math_detail

// Absolute error about 1e-15 for |x| <= 1e5.
inline double exact_sin(double x) {
  const auto [quadrant, r] = deterministic_math_detail::reduce(x);
  const double value =
      quadrant & 1 ? deterministic_math_detail::cosine_series(r) : deterministic_math_detail::sine_series(r);
  return quadrant & 2 ? -value : value;
}

inline double exact_cos(double x) {
  const auto [quadrant, r] = deterministic_math_detail::reduce(x);
  const double value =
      quadrant & 1 ? deterministic_math_detail::sine_series(r) : deterministic_math_detail::cosine_series(r);
  return (quadrant + 1) & 2 ? -value : value;
}

// Returns cos(2 pi i / n) of every i < n, then the sines: the angles of a Fourier transform.
inline std::vector<float> transform_angles(uint32_t n) {
  std::vector<float> angles(2 * size_t{n});
  for (uint32_t i = 0; i < n; ++i) {
    const double angle = 2 * 3.14159265358979323846 * i / n;
    angles[i] = static_cast<float>(exact_cos(angle));
    angles[n + i] = static_cast<float>(exact_sin(angle));
  }
  return angles;
}
}  // namespace goldcrest::converter
