// SPDX-License-Identifier: Apache-2.0
// Checks the frontend of an encoder (FORMAT.md, "Speech"). Only builds with frontends have this file.
#include "base/arithmetic.h"
#include "model/frontend_view.h"
#include "model/validate/validator.h"

namespace goldcrest {

namespace {

// Returns whether n is 2^a * 5^b with a >= 1.
[[maybe_unused]] bool is_transform_size(uint32_t n) {
  if (n < 2 || n > kMaxTransform || n % 2 != 0) return false;
  while (n % 2 == 0) n /= 2;
  while (n % 5 == 0) n /= 5;
  return n == 1;
}

bool is_window(const format::Convolution& table, bool fixed_window) {
  const uint32_t kernel = table.kernel(), stride = table.stride(), padding = table.padding();
  return kernel >= 1 && kernel <= kMaxKernel && stride >= 1 && stride <= kernel && padding < kernel &&
         2 * padding < kernel && (!fixed_window || kernel - stride <= 2 * padding);
}

}  // namespace

int Validator::check_convolution(const format::Convolution& table, const ConvolutionInput& input, Subject subject) {
  const auto [name, index] = subject;
  GOLDCREST_REQUIRE_INTACT(is_window(table, input.fixed_window), "convolutions: window", index);
  GOLDCREST_REQUIRE_INTACT(table.channels() == input.channels && table.stride() * input.width % 16 == 0,
                           "convolutions: channels", index);
  const uint32_t k = table.kernel() * input.width;  // at most 2^10 * 2^16
  GOLDCREST_REQUIRE_INTACT(
      k <= kMaxWidth && table.linear() != nullptr && table.linear()->n() >= 1 && table.linear()->n() <= kMaxWidth, name,
      index);
  GOLDCREST_TRY(check_linear(table.linear(), table.linear()->n(), k, subject));
  GOLDCREST_REQUIRE_INTACT(table.activation() <= format::Activation::Tanh, "convolutions.activation", index);
  if (table.whole_norm() == nullptr) return GOLDCREST_OK;
  GOLDCREST_REQUIRE_INTACT(index == 0 && input.may_have_norm && table.activation() == format::Activation::Tanh,
                           "convolutions.whole_norm", index);
  return check_norm(table.whole_norm(), table.linear()->n(), {"convolutions.whole_norm", index});
}

int Validator::check_convolutions(const format::Frontend& table, bool has_log_mel) {
  const auto* convolutions = table.convolutions();
  GOLDCREST_REQUIRE_INTACT(
      convolutions != nullptr && convolutions->size() >= 1 && convolutions->size() <= kMaxConvolutions,
      "frontend.convolutions", -1);
  const bool of_samples = table.input() == format::FrontendInput::Samples && !has_log_mel;
  ConvolutionInput input = {table.channels(), of_samples ? 1 : pad16(table.channels()), table.fixed_window(),
                            !has_log_mel && convolutions->size() > 1};
  uint64_t row_stride = 1, first_stride = 1;
  for (uint32_t i = 0; i < convolutions->size(); ++i) {
    const format::Convolution& convolution = *convolutions->Get(i);
    GOLDCREST_TRY(check_convolution(convolution, input, {"convolutions.linear", static_cast<int32_t>(i)}));
    input.channels = convolution.linear()->n();
    input.width = pad16(input.channels);
    row_stride *= convolution.stride();
    if (i == 0) first_stride = row_stride;
  }
  GOLDCREST_REQUIRE_INTACT(input.channels == model_->encoder()->d_model(), "frontend: d_model", -1);
  uint64_t samples = row_stride;
#ifdef GOLDCREST_LOG_MEL
  if (has_log_mel) samples *= table.log_mel()->hop();
  // The samples that mirror the window's ends are inside the window.
  GOLDCREST_REQUIRE_INTACT(!has_log_mel || table.log_mel()->n_fft() / 2 < samples, "frontend.log_mel", -1);
#endif
  GOLDCREST_REQUIRE_INTACT(samples <= kMaxRowSamples, "frontend: strides", -1);
  // A clip's rows of the first convolution: those of the later strides, and those that complete the first window.
  const uint64_t rows = (uint64_t{model_->encoder()->max_positions()} + kMaxConvolutions * kMaxKernel) * row_stride;
  GOLDCREST_REQUIRE_INTACT(convolutions->Get(0)->whole_norm() == nullptr ||
                               rows / first_stride * convolutions->Get(0)->linear()->n() <= kMaxMeasured,
                           "convolutions.whole_norm", -1);
  return GOLDCREST_OK;
}

int Validator::check_frontend() {
  const format::Frontend* table = model_->encoder()->frontend();
  GOLDCREST_REQUIRE_INTACT(table != nullptr, "encoder.frontend: missing", -1);
  GOLDCREST_REQUIRE_INTACT(model_->encoder()->embedding() == nullptr, "encoder.embedding: not expected", -1);
  GOLDCREST_REQUIRE_INTACT(model_->tokenizer() == nullptr, "tokenizer: not expected", -1);
  GOLDCREST_REQUIRE_INTACT(model_->encoder()->max_positions() <= kMaxPositions, "encoder.positions", -1);
  GOLDCREST_REQUIRE_INTACT(table->input() <= format::FrontendInput::Frames, "frontend.input", -1);
  const bool of_samples = table->input() == format::FrontendInput::Samples;
  const uint32_t rate = table->sample_rate();
  GOLDCREST_REQUIRE_INTACT(of_samples ? rate >= kMinSampleRate && rate <= kMaxSampleRate : rate == 0,
                           "frontend.sample_rate", -1);
  bool has_log_mel = false;
#ifdef GOLDCREST_LOG_MEL
  has_log_mel = table->log_mel() != nullptr;
  GOLDCREST_REQUIRE_INTACT(!has_log_mel || has_feature(model_->features(), kFeatureLogMel), "metadata: feature bits",
                           -1);
  if (has_log_mel) GOLDCREST_TRY(check_log_mel(*table));
#endif
  GOLDCREST_REQUIRE_INTACT(table->channels() >= 1 && table->channels() <= kMaxWidth &&
                               (!of_samples || has_log_mel || table->channels() == 1),
                           "frontend.channels", -1);
  GOLDCREST_TRY(check_convolutions(*table, has_log_mel));
  report_idle_frontend(functions_.idle, file_);
  return GOLDCREST_OK;
}

// A clip of a self-test line has as many rows as the limits allow.
int Validator::check_samples(const format::SelfTestLine& line, int32_t index) {
  const auto* samples = line.samples();
  if (!has_frontend()) {
    GOLDCREST_REQUIRE_INTACT(samples == nullptr, "metadata: feature bits", -1);
    return GOLDCREST_OK;
  }
  const FrontendView view = view_frontend(file_);
  GOLDCREST_REQUIRE_INTACT(samples != nullptr && view.sample_rate != 0 && samples->size() >= 1, "self_test.samples",
                           index);
  const uint64_t rows = view.fixed_window ? 1 : view.rows_of(samples->size());
  GOLDCREST_REQUIRE_INTACT(rows >= 1 && rows <= model_->limits()->max_source_tokens(), "self_test.samples", index);
  return GOLDCREST_OK;
}

#ifdef GOLDCREST_LOG_MEL
int Validator::check_log_mel(const format::Frontend& frontend) {
  const format::LogMel& table = *frontend.log_mel();
  const char* const name = "frontend.log_mel";
  GOLDCREST_REQUIRE_INTACT(frontend.input() == format::FrontendInput::Samples && frontend.fixed_window(), name, -1);
  GOLDCREST_REQUIRE_INTACT(is_transform_size(table.n_fft()), "log_mel.n_fft", -1);
  GOLDCREST_REQUIRE_INTACT(table.hop() >= 1 && table.hop() <= table.n_fft(), "log_mel.hop", -1);
  const uint32_t n_mels = table.n_mels();
  GOLDCREST_REQUIRE_INTACT(n_mels >= 1 && n_mels <= kMaxBands && n_mels == frontend.channels(), "log_mel.n_mels", -1);
  const SectionView& arrays = section(format::SectionKind::Parameters);
  GOLDCREST_REQUIRE_INTACT(
      arrays.holds(table.window(), 4ull * table.n_fft()) && values_good(arrays, table.window(), table.n_fft()),
      "log_mel.window", -1);
  GOLDCREST_REQUIRE_INTACT(
      arrays.holds(table.twiddle(), 8ull * table.n_fft()) && values_good(arrays, table.twiddle(), 2ull * table.n_fft()),
      "log_mel.twiddle", -1);
  GOLDCREST_REQUIRE_INTACT(arrays.holds(table.first(), 4ull * n_mels) && arrays.holds(table.count(), 4ull * n_mels) &&
                               arrays.holds(table.weight(), 4ull * n_mels),
                           "log_mel: bands", -1);
  if (functions_.metadata_only) return GOLDCREST_OK;
  const uint32_t *first = arrays.at<uint32_t>(table.first()), *count = arrays.at<uint32_t>(table.count());
  const uint32_t n_bins = table.n_fft() / 2 + 1;
  uint64_t n_weights = 0;
  for (uint32_t i = 0; i < n_mels; ++i) {
    GOLDCREST_REQUIRE_INTACT(first[i] < n_bins && count[i] >= 1 && count[i] <= n_bins - first[i], "log_mel: bands",
                             static_cast<int32_t>(i));
    n_weights += count[i];
  }
  GOLDCREST_REQUIRE_INTACT(
      arrays.holds(table.weight(), 4 * n_weights) && values_good(arrays, table.weight(), n_weights), "log_mel.weight",
      -1);
  return GOLDCREST_OK;
}
#endif

}  // namespace goldcrest
