// SPDX-License-Identifier: Apache-2.0
// Corpus BLEU as sacrebleu 2 computes it by default: 13a tokenizer, order 4, exponential smoothing, case-sensitive.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

class BleuScorer {
 public:
  // Adds a segment. `references` must not be empty.
  void add(std::string_view hypothesis, const std::vector<std::string>& references);
  // 0..100; 0 without segments.
  double score() const;

 private:
  static constexpr size_t kOrders = 4;
  uint64_t hypothesis_words_ = 0, reference_words_ = 0;
  std::array<uint64_t, kOrders> matches_{}, totals_{};  // n-grams of 1..4 words
};

// Returns the 13a tokens, separated by one space (mteval-v13a.pl, as in sacrebleu/tokenizers/tokenizer_13a.py).
std::u32string tokenize_13a(std::u32string text);

}  // namespace goldcrest::converter
