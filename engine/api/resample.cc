// SPDX-License-Identifier: Apache-2.0
// Resampling by a polyphase filter: each output is the sum of the inputs around its place, weighted by a sinc under a
// Kaiser window (J. O. Smith, Digital Audio Resampling, 2002). The sinc ends at 0.96 of half the lower rate, as sox's
// `rate -h` does, so it keeps images and aliases out too.
#include "base/exact_floats.h"
#include "goldcrest/resample.h"
#include <string.h>

namespace {
constexpr int kZeros = 48;      // zeros of the sinc on each side of its middle
constexpr int kPerZero = 64;    // values of the table between two zeros
constexpr int kPlaceBits = 20;  // bits that place a sample between two values
constexpr uint32_t kEnd = uint32_t{kZeros * kPerZero} << kPlaceBits;

// The modified Bessel function of order 0, of twice the root of `square`.
constexpr double bessel(double square) {
  double term = 1, sum = 1;
  for (int i = 1; i < 25; ++i) sum += term *= square / (i * i);
  return sum;
}

struct FilterTable {
  int16_t value[kZeros * kPerZero + 1];  // 1.0 is 2^14
};

// The compiler computes the table. Basic operations round alike everywhere, so its values are the same.
constexpr FilterTable make_filter_table() {
  constexpr double kSquare = 3.0 * 3.0;                                        // half Kaiser's beta, squared: 63 dB
  constexpr double kSine = 0.04906767432741802, kCosine = 0.9987954562051724;  // sine and cosine of pi / kPerZero
  FilterTable table = {};
  table.value[0] = 1 << 14;
  double sine = kSine, cosine = kCosine;  // sine and cosine of i times that angle
  for (int i = 1; i < kZeros * kPerZero; ++i) {
    const double x = static_cast<double>(i) / kPerZero, along = x / kZeros;
    const double window = bessel(kSquare * (1 - along * along)) / bessel(kSquare);
    const double value = sine / (3.14159265358979323846 * x) * window * (1 << 14);
    table.value[i] = static_cast<int16_t>(value < 0 ? value - 0.5 : value + 0.5);
    const double next = sine * kCosine + cosine * kSine;
    cosine = cosine * kCosine - sine * kSine;
    sine = next;
  }
  return table;
}

constexpr FilterTable kFilter = make_filter_table();

// Adds the inputs of one side: the first is at ring index `at` and `place` of the filter. Each next one is `stride` (1;
// backwards: the ring's size - 1) further in the ring and `step` further in the filter.
int64_t filter_side(const goldcrest_resampler& r, uint32_t at, uint32_t stride, uint32_t place, uint32_t step) {
  const uint32_t size = 2 * r.side;
  int64_t sum = 0;
  for (; place < kEnd; place += step) {
    const int16_t* values = kFilter.value + (place >> kPlaceBits);
    const int32_t between = static_cast<int32_t>((place >> (kPlaceBits - 16)) & 0xFFFF);
    sum += static_cast<int64_t>(r.taps[at]) * (values[0] * 65536 + (values[1] - values[0]) * between);
    at = at + stride < size ? at + stride : at + stride - size;
  }
  return sum;
}

int16_t filter_sample(const goldcrest_resampler& r) {
  const uint32_t size = 2 * r.side;
  const uint64_t one = (uint64_t{kPerZero} << kPlaceBits) * r.zeros_hz;  // from an input to the next, times in_hz
  const uint32_t step = static_cast<uint32_t>((one + r.in_hz - 1) / r.in_hz);
  const uint32_t before = static_cast<uint32_t>(one * r.fraction / (uint64_t{r.in_hz} * r.out_hz));
  const uint32_t middle = (r.newest + r.side) % size;  // the last input that is not after the output
  const int64_t sum =
      filter_side(r, middle, size - 1, before, step) + filter_side(r, (middle + 1) % size, 1, step - before, step);
  const int64_t rounded = ((sum >> 14) * r.zeros_hz / r.in_hz + (1 << 15)) >> 16;
  return static_cast<int16_t>(rounded > INT16_MAX ? INT16_MAX : rounded < INT16_MIN ? INT16_MIN : rounded);
}
}  // namespace

int goldcrest_resample_begin(goldcrest_resampler* resampler, uint32_t in_hz, uint32_t out_hz) {
  const auto is_rate = [](uint32_t hz) { return hz >= 8000 && hz <= 192000; };
  if (resampler == nullptr || !is_rate(in_hz) || !is_rate(out_hz) || in_hz > 12 * out_hz)
    return GOLDCREST_ERROR_ARGUMENT;
  memset(resampler, 0, sizeof(*resampler));
  resampler->in_hz = in_hz;
  resampler->out_hz = out_hz;
  const uint32_t lower = in_hz < out_hz ? in_hz : out_hz;
  const uint32_t zeros_hz = in_hz == out_hz ? in_hz : lower * 24 / 25;
  resampler->zeros_hz = zeros_hz;
  resampler->side = (kZeros * in_hz + zeros_hz - 1) / zeros_hz;  // inputs before an output that it reads, and after it
  resampler->waits = resampler->side + 1;                        // inputs before the next output can be computed
  resampler->silence = resampler->side;                          // zeros after the end
  return GOLDCREST_OK;
}

size_t goldcrest_resample(goldcrest_resampler* r, const int16_t* samples, size_t* n, int16_t* out, size_t most_out) {
  const size_t n_in = samples != nullptr ? *n : r->silence;
  size_t n_read = 0, n_out = 0;
  while (n_out < most_out) {
    for (; r->waits > 0 && n_read < n_in; --r->waits) {
      r->newest = (r->newest + 1) % (2 * r->side);
      r->taps[r->newest] = samples != nullptr ? samples[n_read] : int16_t{0};
      ++n_read;
    }
    if (r->waits > 0) break;
    out[n_out++] = filter_sample(*r);
    r->fraction += r->in_hz;
    r->waits = r->fraction / r->out_hz;
    r->fraction %= r->out_hz;
  }
  if (samples != nullptr) *n = n_read;
  if (samples == nullptr) r->silence -= static_cast<uint32_t>(n_read);
  return n_out;
}
