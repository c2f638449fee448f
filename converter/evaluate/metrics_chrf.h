// SPDX-License-Identifier: Apache-2.0
// chrF2 as sacrebleu 2 computes it by default: character n-grams of 1..6, white space ignored, no word n-grams.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

class ChrfScorer {
 public:
  // Adds a segment with the reference that scores best by itself. `references` must not be empty.
  void add(std::string_view hypothesis, const std::vector<std::string>& references);
  // 0..100; 0 without segments.
  double score() const;

  struct Counts {
    uint64_t hypothesis = 0, reference = 0, matches = 0;
  };
  static constexpr size_t kOrders = 6;
  using Statistics = std::array<Counts, kOrders>;  // n-grams of 1..6 characters

 private:
  Statistics sum_{};
};

// chrF2 of one segment.
double sentence_chrf(std::string_view hypothesis, const std::vector<std::string>& references);

}  // namespace goldcrest::converter
