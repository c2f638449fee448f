// SPDX-License-Identifier: Apache-2.0
// Silero's voice detector: the tensors of silero_vad_16k_op15.onnx, which examples/speech/silero_weights.py writes.
#include <algorithm>
#include <cmath>
#include "dialects/dialect.h"
#include "host/printable.h"
#include "math/deterministic_math.h"
#include "model/frontend_view.h"
#include "sources/containers/tensor_source.h"
#include "sources/files/sha256.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr const char* kExpected = "expected what examples/speech/silero_weights.py writes of silero-vad 6.2.3";
constexpr const char* kOtherWeights = "c59271c284ae9c8335d795d60e0bfdb71aaaceec578d9bd9ffc1b8153c319ea1";
constexpr uint32_t kTaps = 3, kFrequencies = kVoiceTransform / 2 + 1;

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path), tensors_(open_tensors(path)) {}

  std::vector<float> run() {
    read_transform();
    // Taps of a kernel that can meet no frame are not stored.
    convolution(0, {kFrequencies, kVoiceBins, 0, 3});
    convolution(1, {128, 128, 0, 3});
    convolution(2, {64, 64, 1, 3});
    convolution(3, {64, 64, 1, 2});
    read_cell();
    const std::vector<float> weights = load("decoder.decoder.2.weight", {1, kVoiceCells, 1});
    put(weights.data(), kVoiceCells);
    voice_.resize(voice_.size() + 15 * size_t{kVoiceCells});  // 15 outputs that nobody reads
    put(load("decoder.decoder.2.bias", {1}).data(), 1);
    voice_.resize(voice_floats());
    return std::move(voice_);
  }
 private:
  struct Taps {
    uint32_t channels, stored;  // a frame's, without and with padding
    uint32_t begin, end;        // the stored taps
  };

  void put(const float* values, size_t n) { voice_.insert(voice_.end(), values, values + n); }

  std::vector<float> load(const std::string& part, const std::vector<uint64_t>& shape) {
    const std::string name = "model." + part;
    if (!tensors_->has(name) || tensors_->shape(name) != shape) {
      const char* const what = tensors_->has(name) ? "has another shape than" : "is missing in";
      throw Error("--voice: {}: '{}' {} Silero's detector; {}", printable(path_.string()), name, what, kExpected);
    }
    return tensors_->load(name).values;
  }

  // The stored basis is a window times cosines, and then times -sines.
  void read_transform() {
    const std::vector<float> basis = load("stft.forward_basis_buffer", {2 * kFrequencies, 1, kVoiceTransform});
    const std::vector<float> angles = transform_angles(kVoiceTransform);
    for (uint32_t row = 0; row < 2 * kFrequencies; ++row) {
      for (uint32_t i = 0; i < kVoiceTransform; ++i) {
        const uint32_t angle = row % kFrequencies * i % kVoiceTransform;
        const float expected = basis[i] * (row < kFrequencies ? angles[angle] : -angles[kVoiceTransform + angle]);
        if (!(std::fabs(basis[size_t{row} * kVoiceTransform + i] - expected) < 1e-5f))
          throw Error("--voice: {}: its transform is not Fourier's; {}", printable(path_.string()), kExpected);
      }
    }
    put(basis.data(), kVoiceTransform);
    put(angles.data(), angles.size());
  }

  // Stores [n, taps, channels] of [n, channels, taps].
  void convolution(uint32_t index, const Taps& taps) {
    const std::string name = "encoder." + std::to_string(index) + ".reparam_conv.";
    const uint32_t n = kVoiceLayers[index].n;
    const std::vector<float> weights = load(name + "weight", {n, taps.channels, kTaps});
    for (uint32_t output = 0; output < n; ++output) {
      for (uint32_t tap = taps.begin; tap < taps.end; ++tap) {
        const size_t row = voice_.size();
        voice_.resize(row + taps.stored);
        const float* const taken = weights.data() + size_t{output} * taps.channels * kTaps + tap;
        for (uint32_t channel = 0; channel < taps.channels; ++channel) voice_[row + channel] = taken[channel * kTaps];
      }
    }
    put(load(name + "bias", {n}).data(), n);
  }

  // A gate's weights of the frame and of `hidden` become one row, and its two biases one.
  void read_cell() {
    constexpr uint32_t kGates = 4 * kVoiceCells;
    std::vector<std::vector<float>> weights, biases;
    for (const std::string side : {"ih", "hh"}) {
      weights.push_back(load("decoder.rnn.weight_" + side, {kGates, kVoiceCells}));
      biases.push_back(load("decoder.rnn.bias_" + side, {kGates}));
    }
    for (uint32_t gate = 0; gate < kGates; ++gate)
      for (const std::vector<float>& of : weights) put(of.data() + size_t{gate} * kVoiceCells, kVoiceCells);
    for (uint32_t gate = 0; gate < kGates; ++gate) voice_.push_back(biases[0][gate] + biases[1][gate]);
  }

  const std::filesystem::path& path_;
  std::unique_ptr<TensorSource> tensors_;
  std::vector<float> voice_;
};
}  // namespace

void add_voice(const std::filesystem::path& path, ModelSpec& spec) {
  if (!spec.encoder.frontend || spec.encoder.frontend->sample_rate != kVoiceSampleRate)
    throw Error("--voice: the detector hears {} samples a second; the model does not take them", kVoiceSampleRate);
  if (!std::filesystem::is_directory(path) && sha256_of_files({path}) == kOtherWeights)
    throw Error("--voice: {}: the package's own file has other weights than the detector that its ONNX files run; {}",
        printable(path.string()), kExpected);
  spec.voice = Reader(path).run();
  if (!spec.attribution.empty()) spec.attribution += "; ";
  spec.attribution += "voice detector: Silero VAD 6, copyright 2020-present Silero Team, MIT License";
}
}  // namespace goldcrest::converter
