// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/inputs/log_mel.h"
#include "base/arithmetic.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {
constexpr float kToLog10 = 0.434294482f;  // 1 / ln 10
}  // namespace

void LogMel::run(const Samples& window, uint32_t frame, float* features) const {
  const Spectrum spectrum = {
      view.n_fft, runtime.tensor<float>(view.window), runtime.tensor<float>(view.twiddle), scratch};
  const bool is_silent = !spectrum.load(window, static_cast<int32_t>(frame * view.hop - view.n_fft / 2));
  if (!is_silent) spectrum.find_power();
  const float* weight = runtime.tensor<float>(view.weight);
  const uint32_t* const first = runtime.tensor<uint32_t>(view.first);
  const uint32_t* const count = runtime.tensor<uint32_t>(view.count);
  const float* const power = spectrum.power();
  for (uint32_t band = 0, n_bands = view.n_mels; band < n_bands; ++band) {
    float sum = 0.0f;
    const float* bin = power + first[band];
    for (uint32_t n = is_silent ? 0 : count[band]; n > 0; --n) sum += *weight++ * *bin++;
    features[band] = logarithm(larger(sum, 1e-10f)) * kToLog10;
  }
}

// A sample takes part in at most 9 stages; a band has at most all bins, and a logarithm takes some 20.
uint32_t log_mel_macs(const LogMelView& view) { return 64 * view.n_fft + view.n_mels * (view.n_fft / 2 + 20); }
}  // namespace goldcrest
