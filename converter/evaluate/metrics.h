// SPDX-License-Identifier: Apache-2.0
// The metrics of an evaluation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {
// Text for the metrics: code points, and words between white space.

// Converts UTF-8 to code points; each byte outside a valid character becomes U+FFFD.
std::u32string decode_utf8(std::string_view text);

// White space as in Python's str.split, including the non-breaking spaces of French.
bool is_space(char32_t c);

// Returns the words of `text`, which must outlive them.
std::vector<std::u32string_view> split_words(std::u32string_view text);

// Joins the words with `separator`.
std::u32string join_words(const std::vector<std::u32string_view>& words, std::u32string_view separator);

// Corpus BLEU as sacrebleu 2 computes it by default: 13a tokenizer, order 4, exponential smoothing, case-sensitive.

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

// chrF2 as sacrebleu 2 computes it by default: character n-grams of 1..6, white space ignored, no word n-grams.

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

// Edit distance of words (for pronunciations: phonemes) or of characters, and the share of lines that equal a
// reference.

// Returns the fewest insertions, deletions and substitutions (Levenshtein 1966) that turn one sequence into the other.
template <typename T> size_t edit_distance(std::span<const T> a, std::span<const T> b) {
  std::vector<size_t> row(b.size() + 1);  // row[j]: distance from a's first i elements to b's first j
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

class ErrorRateScorer {
 public:
  explicit ErrorRateScorer(bool counts_characters = false) : counts_characters_(counts_characters) {}
  // Adds a line with its nearest reference; the shortest one wins a tie. `references` must not be empty.
  void add(std::string_view hypothesis, const std::vector<std::string>& references);
  // 100 * edits / words (or characters) of the references; may exceed 100. 0 without any.
  double word_error_rate() const;
  // Percentage of lines whose words equal a reference. 0 without lines.
  double exact_match() const;
 private:
  std::vector<std::u32string_view> units_of(std::u32string_view line) const;

  bool counts_characters_;
  uint64_t edits_ = 0, words_ = 0, lines_ = 0, exact_lines_ = 0;
};
}  // namespace goldcrest::converter
