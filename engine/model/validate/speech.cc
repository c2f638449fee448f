// SPDX-License-Identifier: Apache-2.0
// Checks the frontend of an encoder (FORMAT.md, "Speech"). Only builds with frontends have this file.
#include "base/exact_floats.h"
#include "base/arithmetic.h"
#include "model/frontend_view.h"
#include "model/validate/validator.h"

namespace goldcrest {
namespace {
// Returns whether n is 2^a * 5^b with a >= 1 and at most 2^10: a divisor of 2^10 * 5^4, since 5^5 is larger.
bool is_transform_size(uint32_t n) {
  static_assert(kMaxTransform == 1024);
  return n - 1 < kMaxTransform && n % 2 == 0 && 640000 % n == 0;
}

bool is_window(const ConvolutionView& view, bool fixed_window) {
  const uint32_t kernel = view.kernel, stride = view.stride, padding = view.padding;
  return kernel <= kMaxKernel && stride >= 1 && stride <= kernel && padding < kernel && 2 * padding < kernel &&
         (!fixed_window || kernel - stride <= 2 * padding);
}
}  // namespace

// Views of the frontend and its convolutions only copy fields, so they may have any values here.
int Validator::check_convolution(const format::Convolution& table, const ConvolutionView& view, Subject subject) {
  const int32_t index = subject.index;
  const uint32_t n = view.n_outputs, k = view.kernel * view.width;  // k: at most 2^10 * 2^16
  if (view.stride * view.width % 16 != 0) return refuse({"convolutions: channels", index});
  if (k > kMaxWidth || n - 1 >= kMaxWidth) return refuse(subject);
  GOLDCREST_TRY(check_linear(table.linear(), n, k, subject));
  const bool is_image = has_feature(features_, kFeatureImage);
  if (table.activation() > (is_image ? format::Activation::None : format::Activation::Tanh))
    return refuse({"convolutions.activation", index});
  const format::Norm* norm = table.whole_norm();
  if (norm == nullptr) return GOLDCREST_OK;
  const Subject of_norm = {"convolutions.whole_norm", index};
  if (index != 0 || view.activation != Activation::kTanh) return refuse(of_norm);
  return check_norm(norm, n, of_norm.name, index);
}

int Validator::check_convolutions(const format::Frontend& table, const FrontendView& view) {
  uint32_t windows = kGroupRows;  // windows of a convolution, for that many encoder rows
  for (uint32_t i = view.n_convolutions; i-- > 0;) {
    const ConvolutionView& of = view.convolutions[i];
    if (!is_window(of, view.fixed_window)) return refuse({"convolutions: window", static_cast<int32_t>(i)});
    if (uint64_t{windows} * (of.kernel * of.width) > kMaxWindowValues) return refuse({"frontend: strides", -1});
    windows = (windows - 1) * of.stride + of.kernel;
  }
  uint32_t channels = view.channels;
  uint32_t samples = view.row_samples;  // samples of an encoder row
  for (uint32_t i = 0; i < view.n_convolutions; ++i) {
    const format::Convolution& convolution = *table.convolutions()->at(i);
    const ConvolutionView& of = view.convolutions[i];
    const int32_t index = static_cast<int32_t>(i);
    if (number_of(&convolution, format::Convolution::VT_CHANNELS) != channels)
      return refuse({"convolutions: channels", index});
    GOLDCREST_TRY(check_convolution(convolution, of, {"convolutions.linear", index}));
    channels = of.n_outputs;
    samples *= of.stride;
    if (samples > kMaxRowSamples) return refuse({"frontend: strides", -1});
  }
  const format::Stack& encoder = *model_->encoder();
  if (channels != number_of(&encoder, format::Stack::VT_D_MODEL)) return refuse({"frontend: d_model", -1});
  // The samples that mirror the window's ends are inside the window.
  if (view.log_mel.n_fft / 2 >= samples) return refuse({"frontend.log_mel", -1});
  const uint32_t most = encoder.max_positions();
  if (uint64_t{most} * samples > kMaxClip) return refuse({"frontend: strides", -1});
  const ConvolutionView& first = view.convolutions[0];
  if (!first.whole_norm.present()) return GOLDCREST_OK;
  // A clip's rows of the first convolution: those of the later strides, and those that complete the first window.
  const uint32_t rows = (most + kMaxConvolutions * kMaxKernel) * (samples / first.stride);  // below 2^31
  const bool is_good = !view.has_log_mel && view.n_convolutions > 1 && uint64_t{rows} * first.n_outputs <= kMaxMeasured;
  return is_good ? GOLDCREST_OK : refuse({"convolutions.whole_norm", 0});
}

int Validator::check_frontend() {
  const format::Stack& encoder = *model_->encoder();
  const format::Frontend* table = encoder.frontend();
  if (table == nullptr) return refuse({"encoder.frontend: missing", -1});
  if (encoder.embedding() != nullptr || model_->tokenizer() != nullptr)
    return refuse({"encoder.frontend: with an embedding or a tokenizer", -1});
  if (encoder.max_positions() > kMaxPositions) return refuse({"encoder.positions", -1});
  if (table->input() > format::FrontendInput::Frames) return refuse({"frontend.input", -1});
  const auto* const convolutions = table->convolutions();
  const uint32_t n = convolutions != nullptr ? convolutions->size() : 0;
  if (n - 1 >= kMaxConvolutions) return refuse({"frontend.convolutions", -1});
  for (uint32_t i = 0; i < n; ++i)
    if (convolutions->at(i)->linear() == nullptr) return refuse({"convolutions.linear", static_cast<int32_t>(i)});
  const FrontendView view = view_frontend(file_);
  const bool of_samples = table->input() == format::FrontendInput::Samples;
  if (of_samples ? view.sample_rate - kMinSampleRate > kMaxSampleRate - kMinSampleRate : view.sample_rate != 0)
    return refuse({"frontend.sample_rate", -1});
  if (view.has_log_mel) GOLDCREST_TRY(check_log_mel(*table, view));
  if (view.channels - 1 >= (of_samples && !view.has_log_mel ? 1 : kMaxWidth)) return refuse({"frontend.channels", -1});
  GOLDCREST_TRY(check_convolutions(*table, view));
  if (has_feature(features_, kFeatureImage)) GOLDCREST_TRY(check_image(view));
  report_idle_frontend(functions_.idle, file_);
  return GOLDCREST_OK;
}

// Each patch is a row of the only convolution, and each row before the patches has a position.
int Validator::check_image(const FrontendView& view) {
  const ImageView* const image = view_image(file_);
  const Subject subject = {"frontend.image", -1};
  if (image == nullptr || view.sample_rate != 0 || !view.fixed_window) return refuse(subject);
  if (view.n_convolutions != 1 || view.convolutions[0].kernel != 1) return refuse(subject);
  const auto is_side = [](uint32_t whole, uint32_t part, uint32_t patch) {
    return whole <= kMaxImageSide && part - 1 < whole && patch - 1 < part && part % patch == 0;
  };
  if (!is_side(image->resized_height, image->height, image->patch_height)) return refuse(subject);
  if (!is_side(image->resized_width, image->width, image->patch_width)) return refuse(subject);
  const uint32_t colour = image->patch_height * image->patch_width;  // at most 2^24
  const bool is_good = (view.channels == colour || view.channels == 3 * colour) && image->cubic <= 1 &&
                       image->patches() <= model_->encoder()->max_positions() && values_in_range(image->scale, 6);
  return is_good ? GOLDCREST_OK : refuse(subject);
}

// The detector needs a frontend that takes its samples.
int Validator::check_voice() {
  const bool is_good = has_frontend() && view_frontend(file_).sample_rate == kVoiceSampleRate && model_->voice() != 0 &&
                       floats_good(section(format::SectionKind::Parameters), model_->voice(), voice_floats());
  return is_good ? GOLDCREST_OK : refuse({"voice", -1});
}

// A clip of a self-test line has as many rows as the limits allow.
int Validator::check_samples(const format::SelfTestLine& line, int32_t index) {
  const auto* samples = line.samples();
  const FrontendView view = view_frontend(file_);
  const uint32_t n = samples != nullptr && view.sample_rate != 0 ? samples->size() : 0;
  const size_t rows = view.fixed_window ? smaller<uint32_t>(n, 1) : view.rows_of(n);
  return rows - 1 < model_->limits()->max_source_tokens() ? GOLDCREST_OK : refuse({"self_test.samples", index});
}

int Validator::check_log_mel(const format::Frontend& frontend, const FrontendView& view) {
  int32_t band = -1;
  const bool is_right_place = frontend.input() == format::FrontendInput::Samples && view.fixed_window;
  const char* const wrong = !is_right_place                        ? "frontend.log_mel"
                            : view.log_mel.n_mels != view.channels ? "log_mel.n_mels"
                                                                   : wrong_of_log_mel(view.log_mel, &band);
  return wrong == nullptr ? GOLDCREST_OK : refuse({wrong, band});
}

const char* Validator::wrong_of_log_mel(const LogMelView& view, int32_t* band) {
  const uint32_t n_fft = view.n_fft, n_mels = view.n_mels;
  if (!is_transform_size(n_fft)) return "log_mel.n_fft";
  if (view.hop - 1 >= n_fft) return "log_mel.hop";
  if (n_mels - 1 >= kMaxBands) return "log_mel.n_mels";
  const SectionView& arrays = section(format::SectionKind::Parameters);
  const uint32_t start = static_cast<uint32_t>(static_cast<size_t>(arrays.start - file_) / size_t{kAlignment});
  if (!floats_good(arrays, view.window - start, n_fft)) return "log_mel.window";
  if (!floats_good(arrays, view.twiddle - start, 2 * n_fft)) return "log_mel.twiddle";
  if (!arrays.holds(view.first - start, 4 * n_mels) || !arrays.holds(view.count - start, 4 * n_mels))
    return "log_mel: bands";
  uint32_t n_weights = n_mels;  // at least; at most 2^8 * 2^10
  if (!functions_.metadata_only) {
    const uint32_t* const first = arrays.at<uint32_t>(view.first - start);
    const uint32_t* const count = arrays.at<uint32_t>(view.count - start);
    const uint32_t n_bins = n_fft / 2 + 1;
    n_weights = 0;
    for (uint32_t i = 0; i < n_mels; ++i) {
      if (first[i] >= n_bins || count[i] - 1 >= n_bins - first[i]) {
        *band = static_cast<int32_t>(i);
        return "log_mel: bands";
      }
      n_weights += count[i];
    }
  }
  return floats_good(arrays, view.weight - start, n_weights) ? nullptr : "log_mel.weight";
}
}  // namespace goldcrest
