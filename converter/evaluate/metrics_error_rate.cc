// SPDX-License-Identifier: Apache-2.0
// Words are separated by white space; case and punctuation count.
#include "evaluate/metrics_error_rate.h"

#include <limits>
#include <utility>

#include "evaluate/metrics_text.h"

namespace goldcrest::converter {
namespace {

using Words = std::span<const std::u32string_view>;

double percentage(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void ErrorRateScorer::add(std::string_view hypothesis, const std::vector<std::string>& references) {
  const std::u32string line = decode_utf8(hypothesis);
  const std::vector<std::u32string_view> words = split_words(line);
  std::pair<size_t, size_t> nearest = {std::numeric_limits<size_t>::max(), 0};  // edits and words
  for (const std::string& reference : references) {
    const std::u32string expected_line = decode_utf8(reference);
    const std::vector<std::u32string_view> expected = split_words(expected_line);
    nearest = std::min(nearest, {edit_distance(Words(words), Words(expected)), expected.size()});
  }
  edits_ += nearest.first;
  words_ += nearest.second;
  ++lines_;
  if (nearest.first == 0) ++exact_lines_;
}

double ErrorRateScorer::word_error_rate() const { return percentage(edits_, words_); }

double ErrorRateScorer::exact_match() const { return percentage(exact_lines_, lines_); }

}  // namespace goldcrest::converter
