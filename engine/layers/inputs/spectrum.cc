// SPDX-License-Identifier: Apache-2.0
// A real transform of n samples is a complex one of n / 2 points. That is a product of stages of 2 and 5 points, which
// leave the points in order without a permutation.                        Stockham's algorithm: Cochran et al. 1967
#include "base/exact_floats.h"
#include "layers/inputs/spectrum.h"

namespace goldcrest {
namespace {
struct Complex {
  float re, im;
};

Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(float factor, Complex a) { return {factor * a.re, factor * a.im}; }

// e^(-2 pi i k / n_fft) = cosines[k] - i sines[k]
struct Twiddles {
  const float *cosines, *sines;
  uint32_t n_fft;
  // *y <- re + i im, times the twiddle of k.
  void put(Complex* y, float re, float im, uint32_t k) const {
    const float c = cosines[k], s = sines[k];
    *y = {re * c + im * s, im * c - re * s};
  }
};

// The points that become sums together are `apart` from one another, and then `each`.
struct TransformStage {
  Twiddles twiddles;
  size_t apart, each;
};

// x, y: the first of the points.
void run_butterfly_of_2(const TransformStage& stage, const Complex* x, Complex* y, uint32_t turn) {
  const Complex a = x[0], b = x[stage.apart], difference = a - b;
  y[0] = a + b;
  stage.twiddles.put(y + stage.each, difference.re, difference.im, turn);
}

// With t = 2 pi / 5, the sums of k and 5 - k have the same cosines of k t and 2 k t, and opposite sines.
[[gnu::noinline]] void run_butterfly_of_5(const TransformStage& stage, const Complex* x, Complex* y, uint32_t turn) {
  const Twiddles& twiddles = stage.twiddles;
  const size_t apart = stage.apart, each = stage.each;
  const Complex a0 = x[0], outer = x[apart] + x[4 * apart], inner = x[2 * apart] + x[3 * apart];
  const Complex outer_odd = x[apart] - x[4 * apart], inner_odd = x[2 * apart] - x[3 * apart];
  y[0] = a0 + outer + inner;
  for (uint32_t k = 1; k <= 2; ++k) {
    const uint32_t once = k * (twiddles.n_fft / 5), twice = 2 * once;
    const Complex even = a0 + twiddles.cosines[once] * outer + twiddles.cosines[twice] * inner;
    const Complex odd = twiddles.sines[once] * outer_odd + twiddles.sines[twice] * inner_odd;
    twiddles.put(y + k * each, even.re + odd.im, even.im - odd.re, k * turn);
    twiddles.put(y + (5 - k) * each, even.re - odd.im, even.im + odd.re, (5 - k) * turn);
  }
}

// Returns the discrete Fourier transform of the n points at x, which is there or at y. Each stage turns groups of
// `length` points, `each` of them apart, to `radix` groups of a radix-th of the length.
Complex* transform(TransformStage& stage, uint32_t n, Complex* x, Complex* y) {
  for (uint32_t length = n; length > 1;) {
    const uint32_t radix = length % 5 == 0 ? 5 : 2;
    stage.apart = n / radix;
    for (uint32_t i = 0, group = 0; i < stage.apart; ++i) {
      if (i == group + stage.each) group = i;
      Complex* const first = y + i + (radix - 1) * group;
      if (radix == 5) run_butterfly_of_5(stage, x + i, first, 2 * group);
      else run_butterfly_of_2(stage, x + i, first, 2 * group);
    }
    Complex* const free = x;
    x = y, y = free;
    length /= radix, stage.each *= radix;
  }
  return x;
}

// Returns the offset in a window of the sample that mirrors `i`, which is less than a window away.
uint32_t mirrored(int32_t i, uint32_t window) {
  const int32_t last = static_cast<int32_t>(window) - 1;
  const int32_t from_last = last - (i < 0 ? -i : i);
  return static_cast<uint32_t>(last - (from_last < 0 ? -from_last : from_last));
}
}  // namespace

bool Spectrum::load(const Samples& window, int32_t first) const {
  int32_t all = 0;
  for (uint32_t i = 0; i < n_fft; ++i) {
    const uint32_t at = mirrored(first + static_cast<int32_t>(i), window.window);
    const int32_t sample = at < window.n ? window.samples[at] : 0;
    points[i] = static_cast<float>(sample) * kToFloat * weights[i];
    all |= sample;
  }
  return all != 0;
}

// With Z the transform of the points: X[k] = (Z[k] + Z*[m - k]) / 2 - i w^k (Z[k] - Z*[m - k]) / 2, m = n_fft / 2.
void Spectrum::find_power() const {
  TransformStage stage = {{twiddle, twiddle + n_fft, n_fft}, 0, 1};
  const uint32_t m = n_fft / 2;
  Complex* const pairs = reinterpret_cast<Complex*>(points);
  Complex* const z = transform(stage, m, pairs, pairs + m);
  z[m] = z[0];
  float* const power = this->power();
  for (uint32_t k = 0; k <= m; ++k) {
    const Complex a = z[k], b = z[m - k];
    Complex x;
    stage.twiddles.put(&x, a.im + b.im, b.re - a.re, k);
    const float re = 0.5f * (a.re + b.re + x.re), im = 0.5f * (a.im - b.im + x.im);
    power[k] = re * re + im * im;
  }
}
}  // namespace goldcrest
