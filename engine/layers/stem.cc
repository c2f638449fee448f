// SPDX-License-Identifier: Apache-2.0
#include "base/exact_floats.h"

#include "layers/stem.h"

#include <string.h>

#include "base/align.h"
#include "kernels/reference/math.h"

namespace goldcrest {

namespace {

constexpr float kToFloat = 1.0f / 32768.0f;
constexpr float kMeasuredUnits = 32768.0f;  // of a value of tanh

// y [n] <- tanh(y) + residual
[[gnu::noinline]] void apply_tanh(float* y, size_t n, const float* residual) {
  for (size_t i = 0; i < n; ++i) y[i] = residual != nullptr ? tanh_float(y[i]) + residual[i] : tanh_float(y[i]);
}

// Takes parts of a scratch, one behind another.
struct Taking {
  uint64_t end;
  // Returns the start of a part.
  [[gnu::cold, gnu::noinline]] uint64_t take(uint64_t bytes) {
    const uint64_t start = end;
    end = align_bytes(end + bytes);
    return start;
  }
};

}  // namespace

[[gnu::cold]] Rows Rows::within(uint32_t n) const {
  const int32_t begin = larger(first, int32_t{0});
  const int32_t end = smaller(first + static_cast<int32_t>(count), static_cast<int32_t>(n));
  return {begin, end > begin ? static_cast<uint32_t>(end - begin) : 0};
}

[[gnu::cold]] ScratchParts parts_of(const FrontendView& view) {
  ScratchParts parts = {};
  Taking taking = {align_bytes(sizeof(Measured))};
  uint64_t widest = 0, fine_floats = 0;
  uint32_t most = 0;
  uint32_t rows = kGroupRows;  // below 2^28, as validate_model checks
  for (uint32_t i = view.n_convolutions; i-- > 0;) {
    const ConvolutionView& convolution = view.convolutions[i];
    const uint32_t k = convolution.linear.k, step = convolution.stride * convolution.width;
    const auto quantized = rows * static_cast<uint32_t>(products_of_rows(convolution.linear.has_remainders()));
    const uint64_t input_bytes = uint64_t{quantized} * (k * bytes_of(convolution.linear.weight_type));
    parts.out_rows[i] = rows;
    const uint64_t floats = static_cast<uint64_t>(rows - 1) * step + k;
    parts.rows[i] = taking.take(sizeof(float) * floats);
    widest = larger(widest, input_bytes);
    most = larger(most, quantized);
    if (convolution.linear.has_remainders())
      fine_floats = larger(fine_floats, larger(uint64_t{k}, uint64_t{16} * (quantized + 1)));
    rows = (rows - 1) * convolution.stride + convolution.kernel;
  }
  parts.inputs = taking.take(widest);
  parts.scales = taking.take(sizeof(float) * uint64_t{most});
  parts.products = taking.take(sizeof(float) * fine_floats);
  parts.fine_floats = fine_floats;
  if constexpr (kHasLogMel) parts.transform = taking.take(view.has_log_mel ? log_mel_scratch_bytes(view.log_mel) : 0);
  parts.end = taking.end;
  return parts;
}

[[gnu::cold]] void Stem::open(const Clip& clip, const Sentence& sentence) {
  clip_ = &clip;
  n_rows_[0] = static_cast<uint32_t>(clip.n);
  if (view_.fixed_window) n_rows_[0] = sentence.n_rows * view_.row_stride;
  for (uint32_t i = 0; i < view_.n_convolutions; ++i) n_rows_[i + 1] = view_.convolutions[i].rows_of(n_rows_[i]);
}

[[gnu::cold]] void Stem::run(Rows rows, float* x) const {
  Rows ranges[kMaxConvolutions];
  const uint32_t n = view_.n_convolutions;
  Rows needed = rows;
  for (uint32_t i = n; i-- > 0;) ranges[i] = needed = inputs_of(i, needed.within(n_rows_[i + 1]));
  load(ranges[0]);
  for (uint32_t i = 0; i < n; ++i) {
    const Rows out = i + 1 < n ? ranges[i + 1] : rows;
    const Rows inside = out.within(n_rows_[i + 1]);
    const size_t width = view_.convolutions[i].linear.n;
    float* y = i + 1 < n ? level(i + 1) : x;
    const size_t before = static_cast<size_t>(inside.first - out.first);
    memset(y, 0, before * width * sizeof(float));
    y += before * width;
    convolve(i, inside, i + 1 < n ? nullptr : positions(inside), y);
    if (i == 0) normalize(y, inside.count);
    memset(y + inside.count * width, 0, (out.count - before - inside.count) * width * sizeof(float));
  }
}

[[gnu::cold]] void Stem::measure_values(Rows rows) const {
  const ConvolutionView& convolution = view_.convolutions[0];
  load(inputs_of(0, rows));
  float* const y = level(1);
  convolve(0, rows, nullptr, y);
  int64_t sum = 0, squares = 0;
  for (uint32_t row = 0; row < rows.count; ++row) {
    for (uint32_t j = 0; j < convolution.n_outputs; ++j) {
      const int32_t q =
          static_cast<int32_t>(round_half_even(y[size_t{row} * convolution.linear.n + j] * kMeasuredUnits));
      sum += q;
      squares += int64_t{q} * q;
    }
  }
  measured().sum += sum;
  measured().squares += squares;
}

[[gnu::cold]] void Stem::measure_frames(Rows frames) const {
  if constexpr (kHasLogMel) {
    const float* const x = level(0);
    for (uint32_t i = 0; i < frames.count; ++i) {
      load_frame(static_cast<uint32_t>(frames.first) + i, level(0));
      for (uint32_t j = 0; j < view_.log_mel.n_mels; ++j) measured().largest = larger(measured().largest, x[j]);
    }
  }
}

[[gnu::cold]] const float* Stem::positions(Rows rows) const {
  const StackView& stack = runtime_.model.encoder;
  if (!stack.positions_used) return nullptr;
  return runtime_.tensor<float>(stack.positions) + static_cast<size_t>(rows.first) * stack.d_model_padded;
}

[[gnu::cold]] Rows Stem::inputs_of(uint32_t i, Rows out) const {
  const ConvolutionView& convolution = view_.convolutions[i];
  return {out.first * static_cast<int32_t>(convolution.stride) - static_cast<int32_t>(convolution.padding),
          (out.count - 1) * convolution.stride + convolution.kernel};
}

[[gnu::cold]] Samples Stem::window() const {
  return {reinterpret_cast<const int16_t*>(static_cast<uintptr_t>(clip_->address)), static_cast<uint32_t>(clip_->n),
          n_rows_[0] * view_.row_samples};
}

[[gnu::cold]] void Stem::load(Rows rows) const {
  const ConvolutionView& convolution = view_.convolutions[0];
  const bool has_features = clip_->has_features != 0, of_frames = view_.has_log_mel && !has_features;
  const bool of_samples = !has_features && !of_frames;
  // The last window is padded to a multiple of 16 samples.
  if (of_samples) rows.count += convolution.linear.k - convolution.kernel;
  const size_t width = convolution.width, channels = view_.channels;
  float* x = level(0);
  memset(x, 0, rows.count * width * sizeof(float));
  const Rows inside = rows.within(of_frames ? n_rows_[0] : static_cast<uint32_t>(clip_->n));
  x += static_cast<size_t>(inside.first - rows.first) * width;
  const size_t first = static_cast<size_t>(inside.first);
  const float* const features = reinterpret_cast<const float*>(static_cast<uintptr_t>(clip_->address));
  const int16_t* const samples = window().samples;
  for (uint32_t i = 0; i < inside.count; ++i, x += width) {
    if (of_samples) {
      *x = static_cast<float>(samples[first + i]) * kToFloat;
    } else if (has_features) {
      memcpy(x, features + (first + i) * channels, channels * sizeof(float));
    } else {
      load_frame(static_cast<uint32_t>(inside.first) + i, x);
      if constexpr (kHasLogMel) scale_log_mel(x, view_.log_mel.n_mels, clip_->largest);
    }
  }
}

[[gnu::cold]] void Stem::load_frame([[maybe_unused]] uint32_t frame, [[maybe_unused]] float* x) const {
  if constexpr (kHasLogMel) LogMel(runtime_, view_.log_mel, scratch_ + parts_.transform).run(window(), frame, x);
}

[[gnu::cold]] void Stem::convolve(uint32_t i, Rows rows, const float* residual, float* y) const {
  const ConvolutionView& convolution = view_.convolutions[i];
  const LinearView& linear = convolution.linear;
  const LinearInputs inputs = {scratch_ + parts_.inputs, reinterpret_cast<float*>(scratch_ + parts_.scales)};
  const bool is_fine = linear.has_remainders() && !runtime_.model.coarse;
  const FineScratch fine = {reinterpret_cast<float*>(scratch_ + parts_.products),
                            static_cast<size_t>(parts_.fine_floats)};
  quantize_one_by_one(runtime_, {level(i), convolution.stride * convolution.width, rows.count, linear.k}, inputs,
                      is_fine && linear.fine_input ? fine.values : nullptr);
  LinearCall call = {&linear, inputs, rows.count, convolution.activation, residual, y, linear.n, false};
  if (convolution.has_tanh) call.residual = nullptr;
  if (is_fine) {
    linear_fine(runtime_, call, fine, 0);
  } else {
    operations(runtime_).linear(runtime_, call);
  }
  if (convolution.has_tanh) apply_tanh(y, size_t{rows.count} * linear.n, residual);
}

[[gnu::cold]] void Stem::normalize(float* y, uint32_t rows) const {
  const ConvolutionView& convolution = view_.convolutions[0];
  const NormView& norm = convolution.whole_norm;
  if (!norm.present()) return;
  const float n = static_cast<float>(uint64_t{n_rows_[1]} * convolution.n_outputs);
  const float mean = static_cast<float>(clip_->sum) * kToFloat / n;
  const float variance = static_cast<float>(clip_->squares) * (kToFloat * kToFloat) / n - mean * mean;
  const float inverse_deviation = 1.0f / sqrt_float((variance > 0.0f ? variance : 0.0f) + norm.epsilon);
  const float* const gamma = runtime_.tensor<float>(norm.gamma);
  const float* const beta = runtime_.tensor<float>(norm.beta);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t j = 0; j < convolution.linear.n; ++j, ++y)
      *y = ((*y - mean) * inverse_deviation) * gamma[j] + beta[j];
  }
}

}  // namespace goldcrest
