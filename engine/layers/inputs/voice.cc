// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/inputs/voice.h"
#include <string.h>
#include "base/align.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"
#include "layers/inputs/spectrum.h"
#include "model/frontend_view.h"

namespace goldcrest {
namespace {
constexpr uint32_t kPast = 64;  // samples of the call before
constexpr uint32_t kWindows = kVoiceFrames * kVoiceLayers[0].k, kResults = spectrum_floats(kVoiceTransform) + 13;
static_assert(kWindows + kResults <= sizeof(goldcrest_voice::scratch) / sizeof(float) - 16);
static_assert(4 * kVoiceCells <= kResults && kVoiceLayers[0].rows * kVoiceLayers[0].n <= kResults);
constexpr float kLeastPower = 0x1p-60f;  // below it rounding differs where numbers without a full mantissa are zeros

// The work on the samples of a call.
class Detection {
 public:
  explicit Detection(goldcrest_voice& voice)
      : voice_(voice),
        kernels_(*static_cast<const Kernels*>(voice.kernels)),
        weights_(static_cast<const float*>(voice.weights)),
        windows_(
            reinterpret_cast<float*>(static_cast<uintptr_t>(align_bytes(reinterpret_cast<uintptr_t>(voice.scratch))))),
        results_(windows_ + kWindows) {}

  float run() {
    load_magnitudes();
    multiply(Activation::kRelu);
    // Frames 0 and 1 of the first window are frame -1, which is zeros, and frame 0.
    constexpr uint32_t kWidth = kVoiceLayers[0].n;
    memset(windows_, 0, kWidth * sizeof(float));
    memcpy(windows_ + kWidth, results_, 2 * kWidth * sizeof(float));
    memcpy(windows_ + 3 * kWidth, results_ + kWidth, 3 * kWidth * sizeof(float));
    multiply(Activation::kRelu);
    keep(kVoiceLayers[2].k);
    multiply(Activation::kRelu);
    keep(kVoiceLayers[3].k);
    multiply(Activation::kRelu);
    keep(kVoiceCells);
    memcpy(windows_ + kVoiceCells, voice_.hidden, sizeof voice_.hidden);
    multiply(Activation::kNone);
    run_cell();
    multiply(Activation::kNone);
    return sigmoid(results_[0]);
  }
 private:
  // e^-|x| is the only part that is not a few instructions; it is shared.
  static float sigmoid(float x) {
    const float e = exponential(x < 0.0f ? x : -x);
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
  }

  // Frame t is in the windows of frames t - 1, t and t + 1.
  void load_magnitudes() {
    const Spectrum spectrum = {kVoiceTransform, weights_, weights_ + kVoiceTransform, results_};
    weights_ += 3 * kVoiceTransform;
    const Samples sound = {voice_.sound, kPast + GOLDCREST_VOICE_SAMPLES, kPast + GOLDCREST_VOICE_SAMPLES};
    memset(windows_, 0, kWindows * sizeof(float));
    for (uint32_t t = 0; t < kVoiceFrames; ++t) {
      if (!spectrum.load(sound, static_cast<int32_t>(t * kVoiceHop))) continue;
      spectrum.find_power();
      float* const magnitudes = spectrum.power();
      for (uint32_t i = 0; i <= kVoiceTransform / 2; ++i)
        magnitudes[i] = magnitudes[i] < kLeastPower ? 0.0f : sqrt_float(magnitudes[i]);
      for (uint32_t window = t > 0 ? t - 1 : 0; window <= t + 1 && window < kVoiceFrames; ++window) {
        memcpy(windows_ + (window * 3 + t + 1 - window) * kVoiceBins, magnitudes,
            (kVoiceTransform / 2 + 1) * sizeof(float));
      }
    }
  }

  void keep(uint32_t n) { memcpy(windows_, results_, n * sizeof(float)); }

  // results_ <- activation(the next layer of windows_).
  void multiply(Activation activation) {
    const VoiceLayer& layer = *layer_++;
    const QuantizeRowsArgs<float> inputs = {windows_, windows_, nullptr, layer.k, layer.k, 0, layer.rows, layer.k};
    const float* const bias = weights_ + layer.n * layer.k;
    const LinearArgs<float> args = {windows_, nullptr, weights_, nullptr, bias, nullptr, nullptr, results_, layer.n,
        layer.rows, layer.n, layer.k, Layout::kRowMajor, activation, kernels_.backend};
    if constexpr (kHasFloat32) {
      kernels_.float32->quantize_rows(inputs);
      kernels_.float32->linear(args);
    } else {
      reference_quantize_floats(inputs);
      reference_linear_floats(args);
    }
    weights_ = bias + layer.n;
  }

  // windows_ <- what the cells show of themselves, if it is positive.                Hochreiter, Schmidhuber 1997
  void run_cell() {
    for (uint32_t i = 0; i < kVoiceCells; ++i) {
      const float* const gate = results_ + i;
      const float input = sigmoid(gate[0]), forget = sigmoid(gate[kVoiceCells]);
      const float candidate = tanh_by(exponential, gate[2 * kVoiceCells]);
      const float cell = forget * voice_.cell[i] + input * candidate;
      const float magnitude = cell < 0.0f ? -cell : cell;
      voice_.cell[i] = magnitude >= kSmallestCell ? cell : 0.0f;
      voice_.hidden[i] = sigmoid(gate[3 * kVoiceCells]) * tanh_by(exponential, voice_.cell[i]);
      windows_[i] = voice_.hidden[i] > 0.0f ? voice_.hidden[i] : 0.0f;
    }
  }

  goldcrest_voice& voice_;
  const Kernels& kernels_;
  const float* weights_;  // weights of the part that comes next
  const VoiceLayer* layer_ = kVoiceLayers;
  float *windows_, *results_;
};
}  // namespace

float detect_voice(goldcrest_voice& voice, const int16_t* samples) {
  memcpy(voice.sound, voice.sound + GOLDCREST_VOICE_SAMPLES, kPast * sizeof(int16_t));
  memcpy(voice.sound + kPast, samples, GOLDCREST_VOICE_SAMPLES * sizeof(int16_t));
  return Detection(voice).run();
}
}  // namespace goldcrest
