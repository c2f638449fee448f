// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"
#include "layers/inputs/stem.h"
#include <string.h>
#include "base/align.h"
#include "kernels/reference/math.h"
#include "kernels/reference/reference.h"

namespace goldcrest {
namespace {
constexpr float kMeasuredUnits = 32768.0f;  // units in a value of tanh

// Takes parts of a scratch, one after another.
struct Taking {
  uint32_t end;  // bytes
  // Returns the start of a part.
  [[gnu::noinline]] uint32_t take(uint32_t floats) {
    const uint32_t start = end;
    end = static_cast<uint32_t>(align_bytes(end + 4 * floats));
    return start;
  }
};
}  // namespace

Rows Rows::within(uint32_t n) const {
  const int32_t begin = larger(first, int32_t{0});
  const int32_t end = smaller(first + static_cast<int32_t>(count), static_cast<int32_t>(n));
  return {begin, end > begin ? static_cast<uint32_t>(end - begin) : 0};
}

ScratchParts parts_of(const FrontendView& view) {
  ScratchParts parts = {};
  static_assert(sizeof(Measured) <= kAlignment);
  Taking taking = {kAlignment};
  uint32_t widest = 0, most = 0;
  uint32_t rows = kGroupRows;  // validate_model bounds them, so that all bytes fit 32 bits (kMaxWindowValues)
  for (uint32_t i = view.n_convolutions; i-- > 0;) {
    const ConvolutionView& convolution = view.convolutions[i];
    const uint32_t k = convolution.linear.k, step = convolution.stride * convolution.width;
    parts.out_rows[i] = rows;
    parts.rows[i] = taking.take((rows - 1) * step + k);
    uint32_t quantized = rows;
    if (convolution.linear.has_remainders()) {
      quantized *= 2;
      parts.fine_floats = larger(parts.fine_floats, larger(k, 16 * (quantized + 1)));
    }
    widest = larger(widest, quantized * k * bytes_of(convolution.linear.weight_type));
    most = larger(most, quantized);
    rows = (rows - 1) * convolution.stride + convolution.kernel;
  }
  parts.inputs = taking.take(widest / 4);
  parts.scales = taking.take(most);
  parts.products = taking.take(parts.fine_floats);
  parts.transform = taking.take(view.has_log_mel ? log_mel_scratch_floats(view.log_mel) : 0);
  parts.end = taking.end;
  return parts;
}

void Stem::count_rows(const Sentence& sentence) {
  level_rows[0] = view.fixed_window ? sentence.n_rows * view.row_stride : static_cast<uint32_t>(clip.n);
  for (uint32_t i = 0; i < view.n_convolutions; ++i) level_rows[i + 1] = view.convolutions[i].rows_of(level_rows[i]);
}

void Stem::run(const Rows& rows, float* x) const {
  Rows ranges[kMaxConvolutions];
  const uint32_t n = view.n_convolutions;
  Rows needed = rows;
  for (uint32_t i = n; i-- > 0;) ranges[i] = needed = inputs_of(i, needed.within(level_rows[i + 1]));
  load(ranges[0]);
  for (uint32_t i = 0; i < n; ++i) {
    const Rows out = i + 1 < n ? ranges[i + 1] : rows;
    const Rows inside = out.within(level_rows[i + 1]);
    const size_t width = view.convolutions[i].linear.n;
    float* y = i + 1 < n ? level(i + 1) : x;
    const size_t before = static_cast<size_t>(inside.first - out.first);
    memset(y, 0, before * width * sizeof(float));
    y += before * width;
    convolve(i, inside, i + 1 < n ? nullptr : positions(inside), y);
    if (i == 0) normalize(y, inside.count);
    memset(y + inside.count * width, 0, (out.count - before - inside.count) * width * sizeof(float));
  }
}

void Stem::measure_values(const Rows& rows) const {
  const ConvolutionView& convolution = view.convolutions[0];
  load(inputs_of(0, rows));
  float* const y = level(1);
  convolve(0, rows, nullptr, y);
  int64_t sum = 0, squares = 0;
  for (size_t i = 0; i < size_t{rows.count} * convolution.linear.n; ++i) {  // outputs of the padding are zeros
    const int32_t q = static_cast<int32_t>(round_half_even(y[i] * kMeasuredUnits));
    sum += q;
    squares += int64_t{q} * q;
  }
  measured().sum += sum;
  measured().squares += squares;
}

const float* Stem::positions(const Rows& rows) const {
  const StackView& stack = runtime.model.encoder;
  if (!stack.positions_used) return nullptr;
  return runtime.tensor<float>(stack.positions) + static_cast<size_t>(rows.first) * stack.d_model_padded;
}

Rows Stem::inputs_of(uint32_t i, const Rows& out) const {
  const ConvolutionView& convolution = view.convolutions[i];
  return {out.first * static_cast<int32_t>(convolution.stride) - static_cast<int32_t>(convolution.padding),
      (out.count - 1) * convolution.stride + convolution.kernel};
}

Samples Stem::window() const {
  return {reinterpret_cast<const int16_t*>(static_cast<uintptr_t>(clip.address)), static_cast<uint32_t>(clip.n),
      level_rows[0] * view.row_samples};
}

void Stem::load(Rows rows) const {
  const ConvolutionView& convolution = view.convolutions[0];
  const bool has_features = clip.has_features != 0, of_frames = view.has_log_mel && !has_features;
  const bool of_samples = !has_features && !of_frames;
  // The last window is padded to a multiple of 16 samples.
  if (of_samples) rows.count += convolution.linear.k - convolution.kernel;
  const size_t width = convolution.width, channels = view.channels;
  float* x = level(0);
  memset(x, 0, rows.count * width * sizeof(float));
  const Rows inside = rows.within(of_frames ? level_rows[0] : static_cast<uint32_t>(clip.n));
  x += static_cast<size_t>(inside.first - rows.first) * width;
  const size_t first = static_cast<size_t>(inside.first);
  const float* const features = reinterpret_cast<const float*>(static_cast<uintptr_t>(clip.address));
  const int16_t* const samples = window().samples;
  for (uint32_t i = 0; i < inside.count; ++i, x += width) {
    if (of_samples) {
      *x = static_cast<float>(samples[first + i]) * kToFloat;
    } else if (has_features) {
      memcpy(x, features + (first + i) * channels, channels * sizeof(float));
    } else {
      float* const spectrum = reinterpret_cast<float*>(scratch + parts.transform);
      LogMel{runtime, view.log_mel, spectrum}.run(window(), static_cast<uint32_t>(inside.first) + i, x);
      for (size_t j = 0; j < channels; ++j) {
        measured().largest = larger(measured().largest, x[j]);
        x[j] = scale_log_mel(x[j], clip.largest);
      }
    }
  }
}

void Stem::convolve(uint32_t i, const Rows& rows, const float* residual, float* y) const {
  const ConvolutionView& convolution = view.convolutions[i];
  const LinearView& linear = convolution.linear;
  const LinearInputs inputs = {scratch + parts.inputs, reinterpret_cast<float*>(scratch + parts.scales)};
  FineScratch fine = {reinterpret_cast<float*>(scratch + parts.products), static_cast<size_t>(parts.fine_floats)};
  if (runtime.model.coarse) fine.values = nullptr;
  quantize_one_by_one(runtime, {level(i), convolution.stride * convolution.width, rows.count, linear.k}, inputs,
      linear.fine_input ? fine.values : nullptr);
  const LinearCall call = {&linear, inputs, rows.count, convolution.activation, residual, y, linear.n, false};
  operations(runtime).linear(runtime, call, fine, 0);
}

void Stem::normalize(float* y, uint32_t rows) const {
  const ConvolutionView& convolution = view.convolutions[0];
  const NormView& norm = convolution.whole_norm;
  if (!norm.present()) return;
  const float n = static_cast<float>(level_rows[1] * convolution.n_outputs);  // below kMaxMeasured
  const float mean = static_cast<float>(clip.sum) * kToFloat / n;
  const float variance = static_cast<float>(clip.squares) * (kToFloat * kToFloat) / n - mean * mean;
  const float inverse_deviation = 1.0f / sqrt_float((variance > 0.0f ? variance : 0.0f) + norm.epsilon);
  const float* const gamma = runtime.tensor<float>(norm.gamma);
  const float* const beta = runtime.tensor<float>(norm.beta);
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t j = 0; j < convolution.linear.n; ++j, ++y)
      *y = ((*y - mean) * inverse_deviation) * gamma[j] + beta[j];
}
}  // namespace goldcrest
