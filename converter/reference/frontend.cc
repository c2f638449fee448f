// SPDX-License-Identifier: Apache-2.0
// Moonshine's stem (transformers/models/moonshine/modeling_moonshine.py) and Whisper's
// (transformers/models/whisper/{modeling,feature_extraction}_whisper.py at v5.23) are cases of it.
#include "reference/frontend.h"
#include <algorithm>
#include <cmath>
#include <vector>
#include "math/deterministic_math.h"
#include "reference/operations.h"
#include "spec/error.h"
#include "spec/frontend_rows.h"

namespace goldcrest::converter {
namespace {
constexpr double kPi = 3.14159265358979323846;

// The clip mirrored by n samples at either end; an end sample is not repeated.
std::vector<double> mirrored(std::span<const float> samples, size_t n) {
  const size_t length = samples.size();
  if (length <= n) throw Error("a clip has {} samples; its features need at least {}", length, n + 1);
  std::vector<double> out(length + 2 * n);
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t at = i < n ? n - i : i - n;
    out[i] = double{samples[at < length ? at : 2 * (length - 1) - at]};
  }
  return out;
}

// The power of a real Fourier transform, straight from its definition. Samples that share a cosine are added first.
class Power {
 public:
  explicit Power(const LogMelSpec& spec) : window_(spec.window), n_(spec.n_fft), bins_(spec.n_fft / 2 + 1) {
    for (size_t t = 0; t <= n_ / 2; ++t) {
      for (size_t k = 0; k < bins_; ++k) {
        const double angle = 2 * kPi * static_cast<double>(t * k % n_) / static_cast<double>(n_);
        cosine_.push_back(exact_cos(angle));
        sine_.push_back(exact_sin(angle));
      }
    }
  }

  // frame: [n_fft]; returns [n_fft / 2 + 1].
  std::vector<double> of(const double* frame) const {
    std::vector<double> real(bins_), imaginary(bins_);
    for (size_t t = 0; t <= n_ / 2; ++t) {
      const size_t other = n_ - t;
      const bool is_single = t == 0 || other == t;
      const double a = frame[t] * double{window_[t]}, b = is_single ? 0 : frame[other] * double{window_[other]};
      const double *const cosine = &cosine_[t * bins_], *const sine = &sine_[t * bins_];
      for (size_t k = 0; k < bins_; ++k) real[k] += (a + b) * cosine[k];
      for (size_t k = 0; k < bins_; ++k) imaginary[k] += (a - b) * sine[k];
    }
    for (size_t k = 0; k < bins_; ++k) real[k] = real[k] * real[k] + imaginary[k] * imaginary[k];
    return real;
  }
 private:
  const std::vector<float>& window_;
  size_t n_, bins_;
  std::vector<double> cosine_, sine_;  // [n_fft / 2 + 1, bins]
};

double log10_of(double x) {  // x >= 1e-10
  constexpr double kLog10 = 2.30258509299404568402;
  return exact_log(x * 1e10) / kLog10 - 10;
}

// (x - mean) / sqrt(variance + epsilon) * gamma + beta, with the mean and variance of all values.
void whole_norm(const NormSpec& norm, Rows& x) {
  double sum = 0, squares = 0;
  const auto n = static_cast<double>(x.size());
  for (Eigen::Index i = 0; i < x.size(); ++i) sum += double{x.data()[i]};
  const double mean = sum / n;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const double difference = double{x.data()[i]} - mean;
    squares += difference * difference;
  }
  const double deviation = std::sqrt(squares / n + double{norm.epsilon});
  for (Eigen::Index row = 0; row < x.rows(); ++row) {
    for (Eigen::Index c = 0; c < x.cols(); ++c) {
      const auto value = static_cast<float>((double{x(row, c)} - mean) / deviation);
      x(row, c) = value * norm.gamma[static_cast<size_t>(c)] + norm.beta[static_cast<size_t>(c)];
    }
  }
}

// Row i: the rows of window i, one after another.
Rows windows_of(const ConvolutionSpec& convolution, const Rows& x) {
  const Eigen::Index kernel = index(convolution.kernel), width = x.cols();
  Rows windows = Rows::Zero(index(count_windows(convolution, static_cast<size_t>(x.rows()))), kernel * width);
  for (Eigen::Index i = 0; i < windows.rows(); ++i) {
    const Eigen::Index first = i * index(convolution.stride) - index(convolution.padding);
    for (Eigen::Index t = std::max<Eigen::Index>(0, -first); t < kernel && first + t < x.rows(); ++t)
      windows.row(i).segment(t * width, width) = x.row(first + t);
  }
  return windows;
}

Rows rows_of(std::span<const float> values, uint32_t width) {
  return Eigen::Map<const Rows>(values.data(), index(values.size() / width), index(width));
}
}  // namespace

Rows log_mel(const LogMelSpec& spec, std::span<const float> samples) {
  const std::vector<double> padded = mirrored(samples, spec.n_fft / 2);
  const size_t frames = samples.size() / spec.hop, bins = spec.n_fft / 2 + 1;
  const Power power(spec);
  std::vector<double> values;
  double largest = -10;
  for (size_t frame = 0; frame < frames; ++frame) {
    const std::vector<double> of_frame = power.of(&padded[frame * spec.hop]);
    for (uint32_t band = 0; band < spec.filters.rows; ++band) {
      double sum = 0;
      for (size_t k = 0; k < bins; ++k) sum += double{spec.filters.row(band)[k]} * of_frame[k];
      values.push_back(log10_of(std::max(sum, 1e-10)));
      largest = std::max(largest, values.back());
    }
  }
  Rows out(index(frames), index(spec.filters.rows));
  for (size_t i = 0; i < values.size(); ++i)
    out.data()[i] = static_cast<float>((std::max(values[i], largest - 8) + 4) / 4);
  return out;
}

Rows Frontend::run_samples(std::span<const int16_t> samples) const {
  if (spec_.input != FrontendInput::kSamples) throw Error("the model takes rows of features; found samples");
  std::vector<float> clip(samples.size());
  for (size_t i = 0; i < clip.size(); ++i) clip[i] = static_cast<float>(samples[i]) / 32768.0f;
  if (spec_.fixed_window) clip.resize(window_input_rows(spec_, window_rows_) * samples_a_row(spec_));
  return convolve(spec_.log_mel ? log_mel(*spec_.log_mel, clip) : rows_of(clip, 1));
}

Rows Frontend::run_features(std::span<const float> features) const {
  if (features.size() % spec_.channels != 0)
    throw Error("found {} features; expected rows of {}", features.size(), spec_.channels);
  const size_t rows = features.size() / spec_.channels;
  if (spec_.fixed_window && rows != window_input_rows(spec_, window_rows_)) {
    throw Error(
        "found {} rows of features; expected {}, the model's window", rows, window_input_rows(spec_, window_rows_));
  }
  return convolve(rows_of(features, spec_.channels));
}

Rows Frontend::convolve(Rows x) const {
  if (spec_.log_mel && trace_) trace_("encoder.features", -1, x);
  if (count_frontend_rows(spec_, static_cast<size_t>(x.rows())) == 0) {
    throw Error("the clip is too short: the model makes no row of {} {}", x.rows(),
        spec_.channels == 1 ? "samples" : "rows of features");
  }
  for (size_t i = 0; i < spec_.convolutions.size(); ++i) {
    const ConvolutionSpec& convolution = spec_.convolutions[i];
    x = linear(convolution.linear, windows_of(convolution, x)).unaryExpr([&](float v) {
      return activate(convolution.activation, v);
    });
    if (convolution.whole_norm) whole_norm(*convolution.whole_norm, x);
    if (trace_) trace_("encoder.convolutions", static_cast<int>(i), x);
  }
  return x;
}
}  // namespace goldcrest::converter
