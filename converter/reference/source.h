// SPDX-License-Identifier: Apache-2.0
// The input of an encoder, by reference.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace goldcrest::converter {

// Token ids of a text, samples of a clip, or rows of features one after another. Only one of them has values.
struct Source {
  std::span<const int32_t> ids;
  std::span<const int16_t> samples;
  std::span<const float> features;

  Source(std::span<const int32_t> of) : ids(of) {}      // NOLINT(google-explicit-constructor): any of these
  Source(const std::vector<int32_t>& of) : ids(of) {}   // NOLINT(google-explicit-constructor)
  Source(std::span<const int16_t> of) : samples(of) {}  // NOLINT(google-explicit-constructor)
  Source(std::span<const float> of) : features(of) {}   // NOLINT(google-explicit-constructor)
};

// The same with its values.
struct OwnedSource {
  std::vector<int32_t> ids;
  std::vector<int16_t> samples;

  OwnedSource(std::vector<int32_t> of) : ids(std::move(of)) {}      // NOLINT(google-explicit-constructor): either
  OwnedSource(std::vector<int16_t> of) : samples(std::move(of)) {}  // NOLINT(google-explicit-constructor)
  Source view() const { return samples.empty() ? Source(ids) : Source(std::span<const int16_t>(samples)); }
};

}  // namespace goldcrest::converter
