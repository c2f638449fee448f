// SPDX-License-Identifier: Apache-2.0
// Small speech models with seeded random weights: the files of tiny_model.h with a frontend in place of the encoder's
// embedding.
#pragma once

#include <cstdint>
#include <vector>
#include "converter/file/write.h"
#include "model_generated.h"

namespace goldcrest::test {
using converter::FileImage;

struct TinyConvolution {
  uint32_t n, kernel, stride, padding;
  format::Activation activation;
  bool whole_norm, fine_input;
};

struct OpenChoices {
  uint64_t seed = 1;
  std::vector<TinyConvolution> convolutions;
  format::FrontendInput input = format::FrontendInput::Samples;
  uint32_t channels = 1;
  bool fixed_window = false;
  uint32_t n_fft = 0, hop = 0;  // 0: no log-mel
  uint32_t half = 0;            // both stacks' rotary; 0: none
  bool fine_layers = false;
  uint32_t encoder_positions = 24;
  std::vector<float> voice = {};     // a detector
  std::vector<uint32_t> image = {};  // Frontend.image
  converter::Weights weights = converter::Weights::kInt8;
  Layout layout = Layout::kN16K4;
};

// Moonshine in small: samples, tanh, a norm over the clip, fine inputs, rotary positions.
OpenChoices tiny_moonshine();
// Whisper in small: a log-mel, padded convolutions, a fixed window.
OpenChoices tiny_whisper();
// Feature rows, odd widths, clips of their own lengths.
OpenChoices tiny_frames();
// Patches of images, in colours or in grey, with rows before them.
OpenChoices tiny_images(bool cubic = true, uint32_t colours = 3);

// The first with kernels as large as Moonshine's own, so that work is split over tasks.
OpenChoices wide_moonshine();

// The first four.
std::vector<OpenChoices> tiny_speech_options();

FileImage speech_file(const OpenChoices& options);

// The bands of Whisper's features: triangles of area 1 between n_mels + 2 frequencies that are equally far apart on
// Slaney's mel scale. [n_mels, n_fft / 2 + 1]
std::vector<std::vector<double>> slaney_bands(uint32_t n_mels, uint32_t n_fft, double sample_rate);

// A clip as a model takes it: samples, or feature rows.
struct Sound {
  std::vector<int16_t> samples;
  std::vector<float> features;
  size_t n = 0;
};

// Returns a clip with this many encoder rows, and some more samples than these need.
Sound sound_of(const goldcrest_info& info, uint64_t seed, uint32_t rows);

// Begins with a clip, or adds it.
int give(goldcrest_engine* engine, const Sound& sound, bool fresh);

// n samples of a seeded sound: two tones that fade, and noise.
std::vector<int16_t> tiny_clip(uint64_t seed, size_t n);
}  // namespace goldcrest::test
