// SPDX-License-Identifier: Apache-2.0
// Triangles of equal area whose corners are evenly spaced on Slaney's scale (Slaney 1998, Auditory Toolbox: linear to 1
// kHz, then 27 steps to a factor of 6.4); transformers/audio_utils.py at v5.23, mel_filter_bank, has the same.
#include "dialects/speech/mel_filters.h"

#include <algorithm>
#include <vector>

#include "math/deterministic_math.h"

namespace goldcrest::converter {
namespace {

constexpr uint32_t kFrame = 400, kHop = 160;
constexpr double kRate = 16000, kPi = 3.14159265358979323846;
constexpr double kKneeHertz = 1000, kHertzAMel = 200.0 / 3, kKneeMels = kKneeHertz / kHertzAMel;

double mels_a_factor() { return 27 / exact_log(6.4); }

double mel_of(double hertz) {
  return hertz < kKneeHertz ? hertz / kHertzAMel : kKneeMels + exact_log(hertz / kKneeHertz) * mels_a_factor();
}

double hertz_of(double mel) {
  return mel < kKneeMels ? mel * kHertzAMel : kKneeHertz * exact_exp((mel - kKneeMels) / mels_a_factor());
}

}  // namespace

LogMelSpec whisper_log_mel(uint32_t bands) {
  constexpr uint32_t kBins = kFrame / 2 + 1;
  LogMelSpec spec;
  spec.n_fft = kFrame;
  spec.hop = kHop;
  for (uint32_t i = 0; i < kFrame; ++i)
    spec.window.push_back(static_cast<float>(0.5 - 0.5 * exact_cos(2 * kPi * i / kFrame)));
  std::vector<double> corners;
  for (uint32_t i = 0; i < bands + 2; ++i) corners.push_back(hertz_of(mel_of(kRate / 2) * i / (bands + 1)));
  std::vector<float> weights;
  for (uint32_t band = 0; band < bands; ++band) {
    const double low = corners[band], middle = corners[band + 1], high = corners[band + 2];
    for (uint32_t bin = 0; bin < kBins; ++bin) {
      const double hertz = bin * kRate / kFrame;
      const double height = std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
      weights.push_back(static_cast<float>(std::max(0.0, height) * 2 / (high - low)));
    }
  }
  spec.filters = {"mel bands", bands, kBins, std::move(weights)};
  return spec;
}

}  // namespace goldcrest::converter
