// SPDX-License-Identifier: Apache-2.0
// Popović 2015; averaging over the orders that occur and the choice among references follow sacrebleu 2.6.0.
#include "evaluate/metrics_chrf.h"

#include <algorithm>
#include <unordered_map>

#include "evaluate/metrics_text.h"

namespace goldcrest::converter {
namespace {

using Statistics = ChrfScorer::Statistics;
using CharacterCounts = std::unordered_map<std::u32string_view, uint64_t>;

std::u32string without_spaces(std::string_view text) {
  std::u32string characters = decode_utf8(text);
  std::erase_if(characters, is_space);
  return characters;
}

CharacterCounts count_ngrams(std::u32string_view characters, size_t n) {
  CharacterCounts counts;
  for (size_t i = 0; i + n <= characters.size(); ++i) ++counts[characters.substr(i, n)];
  return counts;
}

uint64_t ngrams_in(std::u32string_view characters, size_t n) {
  return characters.size() < n ? 0 : characters.size() - n + 1;
}

Statistics compare(std::u32string_view hypothesis, std::u32string_view reference) {
  Statistics statistics;
  for (size_t n = 1; n <= ChrfScorer::kOrders; ++n) {
    ChrfScorer::Counts& counts = statistics[n - 1];
    counts.reference = ngrams_in(reference, n);
    if (counts.reference == 0) continue;  // hypothesis n-grams count only if the reference has n-grams of this order
    counts.hypothesis = ngrams_in(hypothesis, n);
    const CharacterCounts expected = count_ngrams(reference, n);
    for (const auto& [ngram, count] : count_ngrams(hypothesis, n))
      if (const auto found = expected.find(ngram); found != expected.end())
        counts.matches += std::min(count, found->second);
  }
  return statistics;
}

// Returns the F-score with beta 2 of the averaged precision and recall. The averages run over the orders that both
// sides have.
double f_score(const Statistics& statistics) {
  double precision = 0, recall = 0, orders = 0;
  for (const ChrfScorer::Counts& counts : statistics) {
    if (counts.hypothesis == 0 || counts.reference == 0) continue;
    precision += static_cast<double>(counts.matches) / static_cast<double>(counts.hypothesis);
    recall += static_cast<double>(counts.matches) / static_cast<double>(counts.reference);
    orders += 1;
  }
  if (precision + recall == 0) return 0;
  constexpr double kBetaSquared = 4;
  precision /= orders;
  recall /= orders;
  return 100 * (1 + kBetaSquared) * precision * recall / (kBetaSquared * precision + recall);
}

Statistics best_statistics(std::string_view hypothesis, const std::vector<std::string>& references) {
  const std::u32string characters = without_spaces(hypothesis);
  Statistics best{};
  double best_score = -1;
  for (const std::string& reference : references) {
    const Statistics statistics = compare(characters, without_spaces(reference));
    const double score = f_score(statistics);
    if (score <= best_score) continue;
    best_score = score;
    best = statistics;
  }
  return best;
}

}  // namespace

void ChrfScorer::add(std::string_view hypothesis, const std::vector<std::string>& references) {
  const Statistics statistics = best_statistics(hypothesis, references);
  for (size_t n = 0; n < kOrders; ++n) {
    sum_[n].hypothesis += statistics[n].hypothesis;
    sum_[n].reference += statistics[n].reference;
    sum_[n].matches += statistics[n].matches;
  }
}

double ChrfScorer::score() const { return f_score(sum_); }

double sentence_chrf(std::string_view hypothesis, const std::vector<std::string>& references) {
  return f_score(best_statistics(hypothesis, references));
}

}  // namespace goldcrest::converter
