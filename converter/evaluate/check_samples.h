// SPDX-License-Identifier: Apache-2.0
// Samples that a framework wrote (check.h describes the layout), checked against the model's sizes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include "reference/reference.h"
#include "sources/containers/tensor_source.h"
#include "spec/spec.h"

namespace goldcrest::converter {
struct SampleSearch {
  std::string name;        // "greedy", "beam4"
  uint32_t beam_size = 1;  // 1: greedy
  std::vector<int32_t> tokens;
};

struct SampleLine {
  size_t line = 0;
  std::vector<int32_t> source;         // a text's ids
  std::vector<int16_t> samples;        // a clip's samples
  std::vector<float> features;         // rows of features, one after another
  std::vector<SampleSearch> searches;  // by name
  uint32_t max_target_tokens = 0;      // 0: not given

  const SampleSearch* find(const std::string& name) const;  // null: absent
  Source input() const {
    if (!features.empty()) return std::span<const float>(features);
    return samples.empty() ? Source(source) : Source(std::span<const int16_t>(samples));
  }
};

struct Samples {
  std::vector<SampleLine> lines;                // never empty
  std::unique_ptr<TensorSource> logits, trace;  // null: absent
};

// Throws Error that names file and line.
Samples read_samples(const std::filesystem::path& folder, const ModelSpec& spec);
}  // namespace goldcrest::converter
