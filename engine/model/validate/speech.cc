// SPDX-License-Identifier: Apache-2.0
// Checks the frontend of an encoder (FORMAT.md, "Speech"). Only builds with frontends have this file.
#include "base/exact_floats.h"

#include "base/arithmetic.h"
#include "model/frontend_view.h"
#include "model/validate/validator.h"

namespace goldcrest {

namespace {

// Returns whether n is 2^a * 5^b with a >= 1.
[[maybe_unused, gnu::cold]] bool is_transform_size(uint32_t n) {
  if (n < 2 || n > kMaxTransform || n % 2 != 0) return false;
  while (n % 2 == 0) n /= 2;
  while (n % 5 == 0) n /= 5;
  return n == 1;
}

[[gnu::cold, gnu::noinline]] bool is_window(const format::Convolution& table, bool fixed_window) {
  const uint32_t kernel = number_of(&table, format::Convolution::VT_KERNEL);
  const uint32_t stride = number_of(&table, format::Convolution::VT_STRIDE);
  const uint32_t padding = number_of(&table, format::Convolution::VT_PADDING);
  return kernel >= 1 && kernel <= kMaxKernel && stride >= 1 && stride <= kernel && padding < kernel &&
         2 * padding < kernel && (!fixed_window || kernel - stride <= 2 * padding);
}

}  // namespace

int Validator::check_convolution(const format::Convolution& table, const ConvolutionInput& input, Subject subject) {
  const int32_t index = subject.index;
  if (!is_window(table, input.fixed_window)) return refuse({"convolutions: window", index});
  const uint32_t stride = number_of(&table, format::Convolution::VT_STRIDE);
  if (number_of(&table, format::Convolution::VT_CHANNELS) != input.channels || stride * input.width % 16 != 0)
    return refuse({"convolutions: channels", index});
  const uint32_t k = number_of(&table, format::Convolution::VT_KERNEL) * input.width;  // at most 2^10 * 2^16
  const format::Linear* linear = table.linear();
  const uint32_t n = linear != nullptr ? number_of(linear, format::Linear::VT_N) : 0;
  if (k > kMaxWidth || n < 1 || n > kMaxWidth) return refuse(subject);
  GOLDCREST_TRY(check_linear(linear, n, k, subject));
  const format::Activation activation = table.activation();
  if (activation > format::Activation::Tanh) return refuse({"convolutions.activation", index});
  const format::Norm* norm = table.whole_norm();
  if (norm == nullptr) return GOLDCREST_OK;
  const Subject of_norm = {"convolutions.whole_norm", index};
  if (index != 0 || !input.may_have_norm || activation != format::Activation::Tanh) return refuse(of_norm);
  return check_norm(norm, n, of_norm);
}

int Validator::check_convolutions(const format::Frontend& table, bool has_log_mel) {
  const auto* convolutions = table.convolutions();
  const uint32_t n = convolutions != nullptr ? convolutions->size() : 0;
  if (n < 1 || n > kMaxConvolutions) return refuse({"frontend.convolutions", -1});
  const bool of_samples = table.input() == format::FrontendInput::Samples && !has_log_mel;
  const uint32_t channels = number_of(&table, format::Frontend::VT_CHANNELS);
  ConvolutionInput input = {channels, of_samples ? 1 : pad16(channels), table.fixed_window(), !has_log_mel && n > 1};
  uint32_t samples = 1, later_strides = 1;  // of an encoder row; later: without the first convolution's
#ifdef GOLDCREST_LOG_MEL
  if (has_log_mel) samples = number_of(table.log_mel(), format::LogMel::VT_HOP);
#endif
  uint32_t measured_width = 0;
  for (uint32_t i = 0; i < n; ++i) {
    const format::Convolution& convolution = *convolutions->at(i);
    GOLDCREST_TRY(check_convolution(convolution, input, {"convolutions.linear", static_cast<int32_t>(i)}));
    input.channels = number_of(convolution.linear(), format::Linear::VT_N);
    input.width = pad16(input.channels);
    const uint32_t stride = number_of(&convolution, format::Convolution::VT_STRIDE);
    samples *= stride;
    if (samples > kMaxRowSamples) return refuse({"frontend: strides", -1});
    if (i > 0) {
      later_strides *= stride;
    } else if (convolution.whole_norm() != nullptr) {
      measured_width = input.channels;
    }
  }
  const format::Stack& encoder = *model_->encoder();
  if (input.channels != number_of(&encoder, format::Stack::VT_D_MODEL)) return refuse({"frontend: d_model", -1});
#ifdef GOLDCREST_LOG_MEL
  // The samples that mirror the window's ends are inside the window.
  if (has_log_mel && number_of(table.log_mel(), format::LogMel::VT_N_FFT) / 2 >= samples)
    return refuse({"frontend.log_mel", -1});
#endif
  if (uint64_t{encoder.max_positions()} * samples > kMaxClip) return refuse({"frontend: strides", -1});
  // A clip's rows of the first convolution: those of the later strides, and those that complete the first window.
  const uint32_t rows = (encoder.max_positions() + kMaxConvolutions * kMaxKernel) * later_strides;  // below 2^31
  return uint64_t{rows} * measured_width <= kMaxMeasured ? GOLDCREST_OK : refuse({"convolutions.whole_norm", -1});
}

int Validator::check_frontend() {
  const format::Stack& encoder = *model_->encoder();
  const format::Frontend* table = encoder.frontend();
  if (table == nullptr) return refuse({"encoder.frontend: missing", -1});
  if (encoder.embedding() != nullptr) return refuse({"encoder.embedding: not expected", -1});
  if (model_->tokenizer() != nullptr) return refuse({"tokenizer: not expected", -1});
  if (encoder.max_positions() > kMaxPositions) return refuse({"encoder.positions", -1});
  if (table->input() > format::FrontendInput::Frames) return refuse({"frontend.input", -1});
  const bool of_samples = table->input() == format::FrontendInput::Samples;
  const uint32_t rate = number_of(table, format::Frontend::VT_SAMPLE_RATE);
  const uint32_t channels = number_of(table, format::Frontend::VT_CHANNELS);
  if (of_samples ? rate < kMinSampleRate || rate > kMaxSampleRate : rate != 0)
    return refuse({"frontend.sample_rate", -1});
  bool has_log_mel = false;
#ifdef GOLDCREST_LOG_MEL
  has_log_mel = table->log_mel() != nullptr;
  if (has_log_mel) {
    if (!has_feature(model_->features(), kFeatureLogMel)) return refuse({"metadata: feature bits", -1});
    GOLDCREST_TRY(check_log_mel(*table));
  }
#endif
  const uint32_t most = of_samples && !has_log_mel ? 1 : kMaxWidth;
  if (channels < 1 || channels > most) return refuse({"frontend.channels", -1});
  GOLDCREST_TRY(check_convolutions(*table, has_log_mel));
  report_idle_frontend(functions_.idle, file_);
  return GOLDCREST_OK;
}

// A clip of a self-test line has as many rows as the limits allow.
int Validator::check_samples(const format::SelfTestLine& line, int32_t index) {
  const auto* samples = line.samples();
  if (!has_frontend()) return samples == nullptr ? GOLDCREST_OK : refuse({"metadata: feature bits", -1});
  const FrontendView view = view_frontend(file_);
  uint64_t rows = 0;
  if (samples != nullptr && view.sample_rate != 0 && samples->size() >= 1)
    rows = view.fixed_window ? 1 : view.rows_of(samples->size());
  return rows >= 1 && rows <= model_->limits()->max_source_tokens() ? GOLDCREST_OK
                                                                    : refuse({"self_test.samples", index});
}

#ifdef GOLDCREST_LOG_MEL
int Validator::check_log_mel(const format::Frontend& frontend) {
  const format::LogMel& table = *frontend.log_mel();
  if (frontend.input() != format::FrontendInput::Samples || !frontend.fixed_window())
    return refuse({"frontend.log_mel", -1});
  using Table = format::LogMel;
  const auto number = [&table](uint32_t field) { return number_of(&table, field); };
  const uint32_t n_fft = number(Table::VT_N_FFT), hop = number(Table::VT_HOP), n_mels = number(Table::VT_N_MELS);
  if (!is_transform_size(n_fft)) return refuse({"log_mel.n_fft", -1});
  if (hop < 1 || hop > n_fft) return refuse({"log_mel.hop", -1});
  if (n_mels < 1 || n_mels > kMaxBands || n_mels != number_of(&frontend, format::Frontend::VT_CHANNELS))
    return refuse({"log_mel.n_mels", -1});
  const SectionView& arrays = section(format::SectionKind::Parameters);
  if (!floats_good(arrays, number(Table::VT_WINDOW), n_fft)) return refuse({"log_mel.window", -1});
  if (!floats_good(arrays, number(Table::VT_TWIDDLE), 2 * n_fft)) return refuse({"log_mel.twiddle", -1});
  const uint32_t weights = number(Table::VT_WEIGHT);
  for (uint32_t field = Table::VT_FIRST; field <= Table::VT_WEIGHT; field += 2) {
    if (!arrays.holds(number(field), 4 * n_mels)) return refuse({"log_mel: bands", -1});
  }
  if (functions_.metadata_only) return GOLDCREST_OK;
  const uint32_t* const first = arrays.at<uint32_t>(number(Table::VT_FIRST));
  const uint32_t* const count = arrays.at<uint32_t>(number(Table::VT_COUNT));
  const uint32_t n_bins = n_fft / 2 + 1;
  uint32_t n_weights = 0;  // at most 2^8 * 2^10
  for (uint32_t i = 0; i < n_mels; ++i) {
    if (first[i] >= n_bins || count[i] < 1 || count[i] > n_bins - first[i])
      return refuse({"log_mel: bands", static_cast<int32_t>(i)});
    n_weights += count[i];
  }
  return floats_good(arrays, weights, n_weights) ? GOLDCREST_OK : refuse({"log_mel.weight", -1});
}
#endif

}  // namespace goldcrest
