// SPDX-License-Identifier: Apache-2.0
// Strict UTF-8 and Unicode white space, without a library.
#include "evaluate/metrics.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

namespace goldcrest::converter {
namespace {
// Returns the bytes of the valid character at text[at], or 0 if there is none, and sets its code point.
size_t decode_one(std::string_view text, size_t at, char32_t& c) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<uint8_t>(text[at + i]); };
  const uint32_t first = byte(0);
  if (first < 0x80) {
    c = first;
    return 1;
  }
  const size_t n = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() - at < n) return 0;
  uint32_t code = first & (0x7Fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kSmallest[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[n] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
  c = code;
  return n;
}
}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    char32_t c = 0xFFFD;
    const size_t n = decode_one(text, at, c);
    out.push_back(n == 0 ? char32_t{0xFFFD} : c);
    at += n == 0 ? 1 : n;
  }
  return out;
}

// True for the characters for which Python's str.isspace is true (Unicode 15, bidirectional type WS, B or S, or
// category Zs).
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::vector<std::u32string_view> split_words(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::u32string join_words(const std::vector<std::u32string_view>& words, std::u32string_view separator) {
  std::u32string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += separator;
    out += words[i];
  }
  return out;
}

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
  for (const char32_t c : text)
    if (is_separate(c)) separated.append({U' ', c, U' '});
    else separated.push_back(c);
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
template <size_t kOrders> std::array<NgramCounts, kOrders> count_ngrams(const std::vector<std::u32string_view>& words) {
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

namespace {
using Words = std::span<const std::u32string_view>;

double percentage(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}
}  // namespace

std::vector<std::u32string_view> ErrorRateScorer::units_of(std::u32string_view line) const {
  if (!counts_characters_) return split_words(line);
  std::vector<std::u32string_view> characters;
  for (size_t i = 0; i < line.size(); ++i) characters.push_back(line.substr(i, 1));
  return characters;
}

void ErrorRateScorer::add(std::string_view hypothesis, const std::vector<std::string>& references) {
  const std::u32string line = decode_utf8(hypothesis);
  const std::vector<std::u32string_view> words = units_of(line);
  std::pair<size_t, size_t> nearest = {std::numeric_limits<size_t>::max(), 0};  // edits and words
  for (const std::string& reference : references) {
    const std::u32string expected_line = decode_utf8(reference);
    const std::vector<std::u32string_view> expected = units_of(expected_line);
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
