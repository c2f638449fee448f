// SPDX-License-Identifier: Apache-2.0
// Edit distance of words (for pronunciations: phonemes), and the share of lines that equal a reference.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// Returns the fewest insertions, deletions and substitutions (Levenshtein 1966) that turn one sequence into the other.
template <typename T>
size_t edit_distance(std::span<const T> a, std::span<const T> b) {
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
  // Adds a line with its nearest reference; the shortest one wins a tie. `references` must not be empty.
  void add(std::string_view hypothesis, const std::vector<std::string>& references);
  // 100 * edits / words of the references; may exceed 100. 0 without words.
  double word_error_rate() const;
  // Percentage of lines whose words equal a reference. 0 without lines.
  double exact_match() const;

 private:
  uint64_t edits_ = 0, words_ = 0, lines_ = 0, exact_lines_ = 0;
};

}  // namespace goldcrest::converter
