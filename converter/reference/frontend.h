// SPDX-License-Identifier: Apache-2.0
// The stem of a speech model in float32: from samples or rows of features to the rows of the encoder.
#pragma once

#include <functional>
#include <span>
#include <string>
#include "math/ordered_sums.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// Returns the features of a clip: [samples / hop, bands]. The arithmetic is double, so that only the result is rounded.
Rows log_mel(const LogMelSpec& spec, std::span<const float> samples);

// The stem over a clip's samples or over rows of features. `window_rows`: the encoder's positions, to which a frontend
// of fixed window cuts or fills up a clip. `trace` receives the rows of the features and of each convolution; it may be
// empty. Throws Error for a clip that is too short, and for features that are no whole rows.
class Frontend {
 public:
  using Trace = std::function<void(const std::string& name, int layer, const Rows& rows)>;

  Frontend(const FrontendSpec& spec, uint32_t window_rows, Trace trace)
      : spec_(spec), window_rows_(window_rows), trace_(std::move(trace)) {}

  Rows run_samples(std::span<const int16_t> samples) const;
  Rows run_features(std::span<const float> features) const;
 private:
  Rows convolve(Rows x) const;

  const FrontendSpec& spec_;
  const uint32_t window_rows_;
  const Trace trace_;
};
}  // namespace goldcrest::converter
