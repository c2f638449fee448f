// SPDX-License-Identifier: Apache-2.0
#include "file/frontend_section.h"
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>
#include "file/activation.h"
#include "file/format.h"
#include "math/deterministic_math.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Returns the array's offset in units.
uint32_t append_floats(const std::string& name, const std::vector<float>& values, SectionWriter& section) {
  std::vector<float> checked(pad16(static_cast<uint32_t>(values.size())));
  copy_floats(values, Placement::in_order(static_cast<uint32_t>(values.size())), name, checked.data());
  return section.append(checked);
}

std::unique_ptr<format::ConvolutionT> write_convolution(
    const std::string& name, const ConvolutionSpec& convolution, const FrontendParts& parts) {
  auto out = std::make_unique<format::ConvolutionT>();
  const uint32_t channels = convolution.channels;
  out->linear = parts.linear(convolution.linear, {convolution.kernel, channels, channels == 1 ? 1 : pad16(channels)});
  out->channels = channels;
  out->kernel = convolution.kernel;
  out->stride = convolution.stride;
  out->padding = convolution.padding;
  out->activation = stored_activation(convolution.activation);
  if (convolution.whole_norm) out->whole_norm = parts.norm(name + ".whole_norm", *convolution.whole_norm);
  return out;
}

// The bins of a band from its first weight that is not 0 to its last. A band of zeros keeps bin 0.
struct Band {
  uint32_t first, count;
};
Band band_of(const float* weights, uint32_t bins) {
  const auto is_weight = [](float weight) { return weight != 0; };
  const float *const end = weights + bins, *const first = std::find_if(weights, end, is_weight);
  if (first == end) return {0, 1};
  const float* last = end - 1;
  while (!is_weight(*last)) --last;
  return {static_cast<uint32_t>(first - weights), static_cast<uint32_t>(last - first) + 1};
}

std::unique_ptr<format::LogMelT> write_log_mel(const LogMelSpec& log_mel, SectionWriter& parameters) {
  auto out = std::make_unique<format::LogMelT>();
  out->n_fft = log_mel.n_fft;
  out->hop = log_mel.hop;
  out->n_mels = log_mel.filters.rows;
  std::vector<float> weights;
  std::vector<uint32_t> first, count;
  for (uint32_t i = 0; i < out->n_mels; ++i) {
    const float* const row = log_mel.filters.row(i);
    const Band band = band_of(row, log_mel.filters.columns);
    first.push_back(band.first);
    count.push_back(band.count);
    weights.insert(weights.end(), row + band.first, row + band.first + band.count);
  }
  out->window = append_floats("the window of log-mel features", log_mel.window, parameters);
  out->twiddle = append_floats("the angles of log-mel features", transform_angles(log_mel.n_fft), parameters);
  out->first = parameters.append(first);
  out->count = parameters.append(count);
  out->weight = append_floats("the bands of log-mel features", weights, parameters);
  return out;
}
}  // namespace

std::unique_ptr<format::FrontendT> write_frontend(const FrontendSpec& frontend, const FrontendParts& parts) {
  auto out = std::make_unique<format::FrontendT>();
  const bool has_samples = frontend.input == FrontendInput::kSamples;
  out->input = has_samples ? format::FrontendInput::Samples : format::FrontendInput::Frames;
  out->sample_rate = has_samples ? frontend.sample_rate : 0;
  out->channels = frontend.channels;
  out->fixed_window = frontend.fixed_window;
  for (size_t i = 0; i < frontend.convolutions.size(); ++i) {
    const std::string name = format_text("encoder.frontend.convolutions.{}", i);
    out->convolutions.push_back(write_convolution(name, frontend.convolutions[i], parts));
  }
  if (frontend.image) {
    const ImageSpec& image = *frontend.image;
    out->image = {image.height, image.width, image.resized_height, image.resized_width, image.patch_height,
        image.patch_width, image.cubic ? 1u : 0u};
    for (const float* numbers : {image.scale, image.offset})
      for (size_t i = 0; i < 3; ++i) out->image.push_back(std::bit_cast<uint32_t>(numbers[i]));
  }
  if (frontend.log_mel) out->log_mel = write_log_mel(*frontend.log_mel, parts.parameters);
  return out;
}

std::unique_ptr<format::RotaryT> write_rotary(
    const std::string& name, const RotarySpec& rotary, SectionWriter& positions) {
  auto out = std::make_unique<format::RotaryT>();
  out->table = append_floats(name, rotary.table.values.get(), positions);
  out->half = rotary.half;
  return out;
}
}  // namespace goldcrest::converter
