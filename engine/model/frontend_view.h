// SPDX-License-Identifier: Apache-2.0
// The view of a frontend, which makes encoder rows from samples or feature rows. An input row is a sample, a frame of
// the log-mel, or a feature row of the caller.
#pragma once

#include "model/model_view.h"

namespace goldcrest {
constexpr uint32_t kMaxConvolutions = 4;
constexpr uint32_t kGroupRows = 4;  // encoder rows that a task computes at a time

struct ConvolutionView {
  LinearView linear;        // [n, kernel * width]
  NormView whole_norm;      // over all rows and channels of a clip
  uint32_t n_outputs;       // not padded
  uint32_t width;           // values of an input row: 1 for samples, else padded channels
  uint32_t kernel, stride;  // input rows
  uint32_t padding;         // input rows; 2 * padding < kernel
  Activation activation;    // kNone with images; only here it may be kTanh

  // Returns the output rows of this many input rows; at least 1 for frontends' own numbers of rows.
  uint32_t rows_of(uint32_t n_inputs) const { return (n_inputs + 2 * padding - kernel) / stride + 1; }
};

// Arrays are offsets in units, as in all views.
struct LogMelView {
  uint32_t n_fft, hop, n_mels;
  uint32_t window;        // float [n_fft]
  uint32_t twiddle;       // float [2, n_fft]: cos, then sin
  uint32_t first, count;  // uint32 [n_mels]: the bins of each band
  uint32_t weight;        // float, band by band
};

// The numbers of Frontend.image, by which an image becomes feature rows (FORMAT.md, "Images").
struct ImageView {
  uint32_t height, width;                  // the pixels that become patches
  uint32_t resized_height, resized_width;  // the resized image, whose middle they are
  uint32_t patch_height, patch_width;
  uint32_t cubic;             // 1: resizes by cubic curves; 0: linearly
  float scale[3], offset[3];  // by colour: a value is pixel * scale + offset

  uint32_t patches() const { return (height / patch_height) * (width / patch_width); }
};

struct FrontendView {
  ConvolutionView convolutions[kMaxConvolutions];
  uint32_t n_convolutions;
  uint32_t sample_rate;  // 0: takes no samples
  uint32_t channels;     // in an input row, not padded
  uint32_t first_row;    // input rows that the first encoder row needs
  uint32_t row_stride;   // input rows from one encoder row to the next
  uint32_t row_samples;  // samples of an input row: the log-mel's hop, else 1
  bool fixed_window;
  bool has_log_mel;
  LogMelView log_mel;

  // Returns the encoder rows of a clip, if clips have their own lengths.
  size_t rows_of(size_t n_inputs) const { return n_inputs < first_row ? 0 : (n_inputs - first_row) / row_stride + 1; }
  // Returns whether a first pass over the clip measures something.
  bool measures() const { return has_log_mel || convolutions[0].whole_norm.present(); }
};

// A convolution over three frames, as a product of windows: k has only the frames that can hold something.
struct VoiceLayer {
  uint32_t rows, n, k;  // output rows, outputs, inputs
};
constexpr uint32_t kVoiceTransform = 256, kVoiceHop = 128, kVoiceFrames = 4, kVoiceBins = 144;  // 129 bins, padded
constexpr uint32_t kVoiceCells = 128, kVoiceSampleRate = 16000;
constexpr VoiceLayer kVoiceLayers[] = {
    {4, 128, 3 * kVoiceBins},               // frames t - 1, t, t + 1 of every t
    {2, 64, 3 * 128},                       // for every second t
    {1, 64, 2 * 64},                        // frames 0 and 1: there is none before them
    {1, 128, 64},                           // the frame itself: it has no neighbours
    {1, 4 * kVoiceCells, 2 * kVoiceCells},  // input, forget, candidate and output gates of the row and of `hidden`
    {1, 16, kVoiceCells},                   // the answer, and 15 rows of zeros
};

// In a file the window of a frame comes first, then cosines and sines [2 * kVoiceTransform]; then of each layer the
// weights [n, k] and the biases [n].
constexpr uint32_t voice_floats() {
  uint32_t floats = 3 * kVoiceTransform;
  for (const VoiceLayer& layer : kVoiceLayers) floats += layer.n * (layer.k + 1);
  return floats;
}

// Returns the detector's weights, or 0 if the file has none.
uint32_t view_voice(const void* model);

// Returns a field of 32 bits of a table of the schema, 0 if it is absent. The schema's own accessors are inlined, which
// takes twice the flash of a call.
uint32_t number_of(const void* table, uint32_t field);

// Returns the most ids of a text for each encoder row of its clip; infinite: any. For builds without rules.
float view_length_factor(const void* model);

// Returns null if the model takes no images, and for numbers that are not as many as an ImageView has.
const ImageView* view_image(const void* model);

// Returns the decoder's layer before its final norm, of which n is 0 if there is none.
LinearView view_head(const void* model);

// Trusts the file, whose features must have kFeatureFrontend. Only in builds with frontends.
FrontendView view_frontend(const void* model);
}  // namespace goldcrest
