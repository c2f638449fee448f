// SPDX-License-Identifier: Apache-2.0
// A real transform of n samples is a complex one of n / 2 points. That is a product of stages of 2 and 5 points, which
// leave the points in order without a permutation.                        Stockham's algorithm: Cochran et al. 1967
#include "base/exact_floats.h"

#include "layers/log_mel.h"

#include "base/align.h"
#include "base/arithmetic.h"
#include "kernels/reference/reference.h"

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
  Complex times(Complex a, uint32_t k) const { return a * at(k); }
};

Twiddles twiddles_of(const Runtime& runtime, const LogMelView& view) {
  const float* const cosines = runtime.tensor<float>(view.twiddle);
  return {cosines, cosines + view.n_fft, view.n_fft};
}

// x, y: the first of a butterfly's points, which are `apart` and `each` from one another.
struct Butterfly {
  const Complex* x;
  Complex* y;
  size_t apart, each;
};

void run_butterfly_of_2(const Butterfly& points, const Twiddles& twiddles, uint32_t turn) {
  const Complex a = points.x[0], b = points.x[points.apart];
  points.y[0] = a + b;
  points.y[points.each] = twiddles.times(a - b, turn);
}

[[gnu::noinline]] void run_butterfly_of_5(const Butterfly& points, const Twiddles& twiddles, uint32_t turn) {
  const Complex once = twiddles.at(twiddles.n_fft / 5), twice = twiddles.at(2 * (twiddles.n_fft / 5));
  const float c[] = {once.re, twice.re, once.re}, s[] = {-once.im, -twice.im, once.im};
  const Complex* const x = points.x;
  const size_t apart = points.apart, each = points.each;
  const Complex a0 = x[0], outer = x[apart] + x[4 * apart], inner = x[2 * apart] + x[3 * apart];
  const Complex outer_odd = x[apart] - x[4 * apart], inner_odd = x[2 * apart] - x[3 * apart];
  points.y[0] = a0 + outer + inner;
  for (uint32_t k = 1; k <= 2; ++k) {
    const Complex even = a0 + c[k - 1] * outer + c[k] * inner;
    const Complex odd = times_minus_i(s[k - 1] * outer_odd + s[k] * inner_odd);
    points.y[k * each] = twiddles.times(even + odd, k * turn);
    points.y[(5 - k) * each] = twiddles.times(even - odd, (5 - k) * turn);
  }
}

void run_stage(const Stage& stage, uint32_t radix, const Twiddles& twiddles) {
  const size_t each = stage.each, apart = stage.length / radix * each;
  const uint32_t step = twiddles.n_fft / stage.length;
  Butterfly points = {stage.x, stage.y, apart, each};
  for (uint32_t turn = 0; points.x < stage.x + apart; turn += step, points.y += (radix - 1) * each) {
    for (size_t i = 0; i < each; ++i, ++points.x, ++points.y) {
      if (radix == 5) {
        run_butterfly_of_5(points, twiddles, turn);
      } else {
        run_butterfly_of_2(points, twiddles, turn);
      }
    }
  }
}

// Returns the offset in a window of the sample that mirrors `i`, which is less than a window away.
uint32_t mirrored(int32_t i, uint32_t window) {
  const int32_t last = static_cast<int32_t>(window) - 1;
  return static_cast<uint32_t>(i < 0 ? -i : i > last ? 2 * last - i : i);
}

}  // namespace

bool LogMel::load(const Samples& window, uint32_t frame) const {
  const float* const weight = runtime_.tensor<float>(view_.window);
  const int32_t first = static_cast<int32_t>(frame * view_.hop - view_.n_fft / 2);
  int32_t all = 0;
  for (uint32_t i = 0; i < view_.n_fft; ++i) {
    const uint32_t at = mirrored(first + static_cast<int32_t>(i), window.window);
    const int32_t sample = at < window.n ? window.samples[at] : 0;
    points_[i] = static_cast<float>(sample) * kToFloat * weight[i];
    all |= sample;
  }
  return all != 0;
}

const float* LogMel::transform() const {
  const Twiddles twiddles = twiddles_of(runtime_, view_);
  Complex* const points = reinterpret_cast<Complex*>(points_);
  Stage stage = {points, points + view_.n_fft / 2, view_.n_fft / 2, 1};
  while (stage.length > 1) {
    const uint32_t radix = stage.length % 5 == 0 ? 5 : 2;
    run_stage(stage, radix, twiddles);
    Complex* const free = const_cast<Complex*>(stage.x);
    stage = {stage.y, free, stage.length / radix, stage.each * radix};
  }
  return reinterpret_cast<const float*>(stage.x);
}

// With Z the transform of the points: X[k] = (Z[k] + Z*[m - k]) / 2 - i w^k (Z[k] - Z*[m - k]) / 2, m = n_fft / 2.
void LogMel::find_power(const float* points) const {
  const Complex* const z = reinterpret_cast<const Complex*>(points);
  const Twiddles twiddles = twiddles_of(runtime_, view_);
  const uint32_t m = view_.n_fft / 2;
  for (uint32_t k = 0; k <= m; ++k) {
    const Complex a = z[k < m ? k : 0], turned = z[k > 0 ? m - k : 0], b = {turned.re, -turned.im};
    const Complex x = 0.5f * (a + b) + 0.5f * twiddles.times(times_minus_i(a - b), k);
    power()[k] = x.re * x.re + x.im * x.im;
  }
}

void LogMel::run(const Samples& window, uint32_t frame, float* features) const {
  const bool is_silent = !load(window, frame);
  if (!is_silent) find_power(transform());
  const float* weight = runtime_.tensor<float>(view_.weight);
  const uint32_t* const first = runtime_.tensor<uint32_t>(view_.first);
  const uint32_t* const count = runtime_.tensor<uint32_t>(view_.count);
  for (uint32_t band = 0; band < view_.n_mels; ++band) {
    float sum = 0.0f;
    const uint32_t n = is_silent ? 0 : count[band];
    for (uint32_t i = 0; i < n; ++i) sum += *weight++ * power()[first[band] + i];
    features[band] = logarithm(sum > 1e-10f ? sum : 1e-10f) * kToLog10;
  }
}

[[gnu::cold]] uint32_t log_mel_scratch_floats(const LogMelView& view) { return 2 * view.n_fft + view.n_fft / 2 + 1; }

// A sample takes part in at most 9 stages; a band has at most all bins, and a logarithm takes some 20.
[[gnu::cold]] uint64_t log_mel_macs(const LogMelView& view) {
  return 64 * uint64_t{view.n_fft} + uint64_t{view.n_mels} * (view.n_fft / 2 + 20);
}

void scale_log_mel(float* features, uint32_t n, float largest) {
  const float least = largest - 8.0f;
  for (uint32_t i = 0; i < n; ++i) features[i] = (larger(features[i], least) + 4.0f) * 0.25f;
}

}  // namespace goldcrest
