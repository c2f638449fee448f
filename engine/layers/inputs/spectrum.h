// SPDX-License-Identifier: Apache-2.0
// The power of each frequency in a frame of samples, in plain floats and in one order, so that every machine computes
// the same bits.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace goldcrest {
constexpr float kToFloat = 1.0f / 32768.0f;  // samples become numbers below 1

// A window of samples: those of a clip, then zeros.
struct Samples {
  const int16_t* samples;  // [n]
  uint32_t n, window;      // n <= window
};

struct Spectrum {
  uint32_t n_fft;        // 2^a * 5^b with a >= 1
  const float* weights;  // [n_fft], of the samples of a frame
  const float* twiddle;  // [2 * n_fft], cos(2 pi i / n_fft) of every i < n_fft, then sin
  float* points;         // scratch [spectrum_floats]: [n_fft / 2, 2] twice and [1, 2], then the power

  // points <- the weighted samples from `first` on, two to a complex point; the window's ends mirror. Returns false if
  // all are 0, as at the end of a short clip.
  bool load(const Samples& window, int32_t first) const;
  // power() <- the power of each bin of the discrete Fourier transform of the points.
  void find_power() const;

  float* power() const { return points + 2 * (size_t{n_fft} + 1); }  // [n_fft / 2 + 1]
};

constexpr uint32_t spectrum_floats(uint32_t n_fft) { return 2 * n_fft + n_fft / 2 + 3; }
}  // namespace goldcrest
