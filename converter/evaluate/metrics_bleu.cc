// SPDX-License-Identifier: Apache-2.0
// Papineni et al. 2002; tokenizer, smoothing and the choice of the reference's length follow sacrebleu 2.6.0.
#include "evaluate/metrics_bleu.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "evaluate/metrics_text.h"

namespace goldcrest::converter {
namespace {

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_period_or_comma(char32_t c) { return c == U'.' || c == U','; }

// ASCII punctuation and the space, but not control characters. The characters ' , - . have rules of their own.
bool is_separate(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') ||
         (c >= U':' && c <= U'@') || c == U'/';
}

void replace_all(std::u32string& text, std::u32string_view from, std::u32string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Rewrites each pair of neighbours for which first(a) and second(b) hold. Pairs do not overlap, as in a regular
// expression's global substitution.
template <typename First, typename Second, typename Write>
std::u32string rewrite_pairs(std::u32string_view text, First first, Second second, Write write) {
  std::u32string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      write(text[i], text[i + 1], out);
      ++i;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// Separates punctuation by spaces, with spaces around the line: the rules in mteval-v13a's order.
std::u32string set_apart(std::u32string_view text) {
  std::u32string separated;
  for (const char32_t c : text) {
    if (is_separate(c))
      separated.append({U' ', c, U' '});
    else
      separated.push_back(c);
  }
  const auto not_digit = [](char32_t c) { return !is_digit(c); };
  const auto is_dash = [](char32_t c) { return c == U'-'; };
  const auto after = [](char32_t a, char32_t b, std::u32string& out) { out.append({a, U' ', b, U' '}); };
  const auto before = [](char32_t a, char32_t b, std::u32string& out) { out.append({U' ', a, U' ', b}); };
  separated = rewrite_pairs(separated, not_digit, is_period_or_comma, after);
  separated = rewrite_pairs(separated, is_period_or_comma, not_digit, before);
  return rewrite_pairs(separated, is_digit, is_dash, after);
}

using NgramCounts = std::map<std::u32string_view, uint64_t>;

// Counts the n-grams of single-spaced `line`, which must outlive the counts; n = 1..4 at index n - 1.
template <size_t kOrders>
std::array<NgramCounts, kOrders> count_ngrams(const std::vector<std::u32string_view>& words) {
  std::array<NgramCounts, kOrders> counts;
  for (size_t n = 1; n <= kOrders; ++n) {
    for (size_t i = 0; i + n <= words.size(); ++i) {
      const char32_t* end = words[i + n - 1].data() + words[i + n - 1].size();
      ++counts[n - 1][{words[i].data(), static_cast<size_t>(end - words[i].data())}];
    }
  }
  return counts;
}

uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

}  // namespace

std::u32string tokenize_13a(std::u32string text) {
  while (!text.empty() && is_space(text.back())) text.pop_back();
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");
  const std::u32string separated = set_apart(U" " + text + U" ");
  return join_words(split_words(separated), U" ");
}

void BleuScorer::add(std::string_view hypothesis, const std::vector<std::string>& references) {
  const std::u32string line = tokenize_13a(decode_utf8(hypothesis));
  const std::vector<std::u32string_view> words = split_words(line);
  const std::array<NgramCounts, kOrders> counts = count_ngrams<kOrders>(words);

  std::vector<std::u32string> reference_lines;
  for (const std::string& reference : references) reference_lines.push_back(tokenize_13a(decode_utf8(reference)));
  std::array<NgramCounts, kOrders> most;                    // the largest count of each n-gram in any reference
  std::pair<uint64_t, uint64_t> closest = {UINT64_MAX, 0};  // distance and length; the shorter reference wins a tie
  for (const std::u32string& reference : reference_lines) {
    const std::vector<std::u32string_view> reference_words = split_words(reference);
    closest = std::min(closest, {distance(reference_words.size(), words.size()), reference_words.size()});
    const std::array<NgramCounts, kOrders> reference_counts = count_ngrams<kOrders>(reference_words);
    for (size_t n = 0; n < kOrders; ++n)
      for (const auto& [ngram, count] : reference_counts[n]) most[n][ngram] = std::max(most[n][ngram], count);
  }

  hypothesis_words_ += words.size();
  reference_words_ += closest.second;
  for (size_t n = 0; n < kOrders; ++n) {
    for (const auto& [ngram, count] : counts[n]) {
      totals_[n] += count;
      if (const auto found = most[n].find(ngram); found != most[n].end()) matches_[n] += std::min(count, found->second);
    }
  }
}

double BleuScorer::score() const {
  if (matches_ == decltype(matches_){}) return 0;
  double log_precision = 0, smoothing = 1;
  for (size_t n = 0; n < kOrders; ++n) {
    if (totals_[n] == 0) return 0;  // no hypothesis is this long
    const double total = static_cast<double>(totals_[n]);
    if (matches_[n] == 0) smoothing *= 2;
    log_precision += std::log(matches_[n] == 0 ? 1 / (smoothing * total) : static_cast<double>(matches_[n]) / total);
  }
  const double words = static_cast<double>(hypothesis_words_), expected = static_cast<double>(reference_words_);
  const double brevity_penalty = words < expected ? std::exp(1 - expected / words) : 1;
  return 100 * brevity_penalty * std::exp(log_precision / kOrders);
}

}  // namespace goldcrest::converter
