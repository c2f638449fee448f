// SPDX-License-Identifier: Apache-2.0
// A real transform of n samples is a complex one of n / 2 points. That is a product of stages of 2 and 5 points, which
// leave the points in order without a permutation.                        Stockham's algorithm: Cochran et al. 1967
#include "layers/log_mel.h"

#include "base/align.h"
#include "base/arithmetic.h"
#include "kernels/reference/math.h"

namespace goldcrest {

namespace {

constexpr float kToFloat = 1.0f / 32768.0f;
constexpr float kToLog10 = 0.434294482f;  // 1 / ln 10

struct Complex {
  float re, im;
};

Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
Complex operator*(Complex a, Complex b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
Complex operator*(float factor, Complex a) { return {factor * a.re, factor * a.im}; }
Complex times_minus_i(Complex a) { return {a.im, -a.re}; }

// One stage: `length` points, `each` of them apart, become `radix` sums of a radix-th of the length.
struct Stage {
  const Complex* x;
  Complex* y;
  uint32_t length, each;  // their product is the number of points
};

// e^(-2 pi i k / n_fft)
struct Twiddles {
  const float *cosines, *sines;
  uint32_t n_fft;
  Complex at(uint32_t k) const { return {cosines[k], -sines[k]}; }
};

[[gnu::cold]] void run_stage_of_2(const Stage& stage, const Twiddles& twiddles) {
  const uint32_t half = stage.length / 2, step = twiddles.n_fft / stage.length, each = stage.each;
  for (uint32_t p = 0; p < half; ++p) {
    const Complex w = twiddles.at(p * step);
    for (uint32_t q = 0; q < each; ++q) {
      const Complex a = stage.x[q + each * p], b = stage.x[q + each * (p + half)];
      stage.y[q + each * (2 * p)] = a + b;
      stage.y[q + each * (2 * p + 1)] = (a - b) * w;
    }
  }
}

[[gnu::cold]] void run_stage_of_5(const Stage& stage, const Twiddles& twiddles) {
  const uint32_t fifth = stage.length / 5, step = twiddles.n_fft / stage.length, each = stage.each;
  const uint32_t turn = twiddles.n_fft / 5;
  const float c1 = twiddles.cosines[turn], c2 = twiddles.cosines[2 * turn];
  const float s1 = twiddles.sines[turn], s2 = twiddles.sines[2 * turn];
  for (uint32_t p = 0; p < fifth; ++p) {
    for (uint32_t q = 0; q < each; ++q) {
      const Complex* const x = stage.x + q + each * p;
      const size_t apart = size_t{each} * fifth;
      const Complex a0 = x[0], outer = x[apart] + x[4 * apart], inner = x[2 * apart] + x[3 * apart];
      const Complex outer_odd = x[apart] - x[4 * apart], inner_odd = x[2 * apart] - x[3 * apart];
      const Complex even1 = a0 + c1 * outer + c2 * inner, even2 = a0 + c2 * outer + c1 * inner;
      const Complex odd1 = times_minus_i(s1 * outer_odd + s2 * inner_odd);
      const Complex odd2 = times_minus_i(s2 * outer_odd - s1 * inner_odd);
      Complex* const y = stage.y + q + size_t{each} * 5 * p;
      y[0] = a0 + outer + inner;
      y[each] = (even1 + odd1) * twiddles.at(p * step);
      y[2 * each] = (even2 + odd2) * twiddles.at(2 * p * step);
      y[3 * each] = (even2 - odd2) * twiddles.at(3 * p * step);
      y[4 * each] = (even1 - odd1) * twiddles.at(4 * p * step);
    }
  }
}

// Returns the offset in a window of the sample that mirrors `i`, which is less than a window away.
uint64_t mirrored(int64_t i, uint64_t window) {
  const int64_t last = static_cast<int64_t>(window) - 1;
  return static_cast<uint64_t>(i < 0 ? -i : i > last ? 2 * last - i : i);
}

}  // namespace

[[gnu::cold]] LogMel::LogMel(const Runtime& runtime, const LogMelView& view, uint8_t* scratch)
    : view_(view),
      window_(runtime.tensor<float>(view.window)),
      cosines_(runtime.tensor<float>(view.twiddle)),
      sines_(cosines_ + view.n_fft),
      weight_(runtime.tensor<float>(view.weight)),
      first_(runtime.tensor<uint32_t>(view.first)),
      count_(runtime.tensor<uint32_t>(view.count)),
      points_(reinterpret_cast<float*>(scratch)),
      other_(points_ + view.n_fft),
      power_(other_ + view.n_fft) {}

[[gnu::cold]] void LogMel::load(const Samples& window, uint64_t frame) const {
  const int64_t first = static_cast<int64_t>(frame * view_.hop) - view_.n_fft / 2;
  for (uint32_t i = 0; i < view_.n_fft; ++i) {
    const uint64_t at = mirrored(first + i, window.window);
    points_[i] = at < window.n ? static_cast<float>(window.samples[at]) * kToFloat * window_[i] : 0.0f;
  }
}

[[gnu::cold]] const float* LogMel::transform() const {
  const Twiddles twiddles = {cosines_, sines_, view_.n_fft};
  Stage stage = {reinterpret_cast<const Complex*>(points_), reinterpret_cast<Complex*>(other_), view_.n_fft / 2, 1};
  while (stage.length > 1) {
    const uint32_t radix = stage.length % 5 == 0 ? 5 : 2;
    radix == 5 ? run_stage_of_5(stage, twiddles) : run_stage_of_2(stage, twiddles);
    Complex* const free = const_cast<Complex*>(stage.x);
    stage = {stage.y, free, stage.length / radix, stage.each * radix};
  }
  return reinterpret_cast<const float*>(stage.x);
}

// With Z the transform of the points: X[k] = (Z[k] + Z*[m - k]) / 2 - i w^k (Z[k] - Z*[m - k]) / 2, m = n_fft / 2.
[[gnu::cold]] void LogMel::find_power(const float* points) const {
  const Complex* const z = reinterpret_cast<const Complex*>(points);
  const Twiddles twiddles = {cosines_, sines_, view_.n_fft};
  const uint32_t m = view_.n_fft / 2;
  for (uint32_t k = 0; k <= m; ++k) {
    const Complex a = z[k % m], b = {z[(m - k) % m].re, -z[(m - k) % m].im};
    const Complex x = 0.5f * (a + b) + 0.5f * (twiddles.at(k) * times_minus_i(a - b));
    power_[k] = x.re * x.re + x.im * x.im;
  }
}

[[gnu::cold]] void LogMel::run(const Samples& window, uint64_t frame, float* features) const {
  load(window, frame);
  find_power(transform());
  const float* weight = weight_;
  for (uint32_t band = 0; band < view_.n_mels; ++band) {
    float sum = 0.0f;
    for (uint32_t i = 0; i < count_[band]; ++i) sum += *weight++ * power_[first_[band] + i];
    features[band] = log_float(sum > 1e-10f ? sum : 1e-10f) * kToLog10;
  }
}

uint64_t log_mel_scratch_bytes(const LogMelView& view) {
  return align_bytes(sizeof(float) * (2 * uint64_t{view.n_fft} + view.n_fft / 2 + 1));
}

// A sample takes part in at most 9 stages; a band has at most all bins, and a logarithm takes some 20.
uint64_t log_mel_macs(const LogMelView& view) {
  return 64 * uint64_t{view.n_fft} + uint64_t{view.n_mels} * (view.n_fft / 2 + 20);
}

void scale_log_mel(float* features, uint32_t n, float largest) {
  const float least = largest - 8.0f;
  for (uint32_t i = 0; i < n; ++i) features[i] = (larger(features[i], least) + 4.0f) * 0.25f;
}

}  // namespace goldcrest
