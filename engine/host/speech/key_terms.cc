// SPDX-License-Identifier: Apache-2.0
#include "host/speech/key_terms.h"
#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>
#include "host/speech/phrases.h"
#include "host/text_lines.h"
#include "host/wording.h"

namespace {
constexpr size_t kMostLike = 3;  // places in a text
constexpr float kBonus = 2;  // nats; for the second id of a term, and log(i) times as much more for the one after i ids

bool is_letter(char it) { return static_cast<uint8_t>(it) >= 0x80 || std::isalnum(static_cast<uint8_t>(it)) != 0; }

// Returns a text's runs of letters and digits: begin and end.
std::vector<std::pair<size_t, size_t>> words_in(std::string_view text) {
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_letter(text[i])) continue;
    if (i == 0 || !is_letter(text[i - 1])) words.emplace_back(i, i);
    words.back().second = i + 1;
  }
  return words;
}

// Returns a text's letters and digits, in lower case where they are ASCII.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char it : text)
    if (is_letter(it)) letters += static_cast<char>(std::tolower(static_cast<uint8_t>(it)));
  return letters;
}
}  // namespace

std::vector<Likeness> KeyTerms::find_like(const std::string& text) const {
  const auto words = words_in(text);
  std::vector<std::string> parts;
  for (const auto& [begin, end] : words) parts.push_back(letters_of(std::string_view(text).substr(begin, end - begin)));
  std::vector<Likeness> found;
  for (const KeyTerm& term : written_) {
    const std::string wanted = letters_of(term.low), capital = letters_of(term.text);
    const size_t most = words_in(term.low).size() + 2;  // words that one term may have become
    const size_t n = wanted.size(), most_edits = n < 2 ? 0 : (9 * n - 18) / 20;
    for (size_t first = 0; first < words.size(); ++first) {
      std::string letters;
      for (size_t last = first; last < std::min(words.size(), first + most); ++last) {
        letters += parts[last];
        const bool is_capital = letters == capital;
        if (!is_capital && std::max(n, letters.size()) - std::min(n, letters.size()) > most_edits) continue;
        const size_t edits = is_capital ? 0 : goldcrest::edit_distance(letters, wanted);
        if (edits <= most_edits) found.push_back({words[first].first, words[last].second, &term, n, edits});
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
      [](const Likeness& a, const Likeness& b) { return a.edits * b.n_letters < b.edits * a.n_letters; });
  // A part that is spelled as a term stays.
  std::vector<Likeness> like;
  for (const Likeness& it : found) {
    const bool is_spelled = std::any_of(found.begin(), found.end(),
        [&](const Likeness& other) { return other.edits == 0 && other.begin < it.end && it.begin < other.end; });
    if (!is_spelled && like.size() < kMostLike) like.push_back(it);
  }
  return like;
}

// Takes the ids of a term, as they stand in texts.
void KeyTerms::add(const Spelling& it, std::vector<std::vector<int32_t>>* entries) {
  if (it.has_mark) return;
  if (written_.empty() || written_.back().text != it.line) written_.push_back({it.line, it.line});
  written_.back().low = it.text;  // the last of its spellings
  entries->push_back(it.ids);
  if (!it.ids_without_space.empty()) entries->push_back(it.ids_without_space);
}

std::string KeyTerms::read(const std::string& path, const goldcrest::Session& session) {
  std::vector<std::vector<int32_t>> entries;
  const std::string problem = read_spellings(path, session, [&](const Spelling& it) { add(it, &entries); });
  if (problem.empty()) take(std::move(entries));
  return problem;
}

void KeyTerms::set(const std::vector<std::string>& terms, const goldcrest::Session& session) {
  if (terms == names_) return;
  names_ = terms;
  written_.clear();
  terms_ = {};
  std::vector<std::vector<int32_t>> entries;
  for (const std::string& term : terms)
    if (!is_blank(term)) visit_spellings(term, cutter(session), session, [&](const auto& it) { add(it, &entries); });
  if (!entries.empty()) take(std::move(entries));
}

void KeyTerms::take(std::vector<std::vector<int32_t>> entries) {
  terms_ = goldcrest::make_lexicon(std::move(entries), false);
  uint32_t most = 1;  // ids that go on with one term
  for (uint32_t node = 1; node < terms_.n_nodes(); ++node) most = std::max(most, terms_.edges_of(node));
  biases_.resize(size_t{2} * most);
  ids_.resize(2 * biases_.size());
}

int64_t KeyTerms::begin(goldcrest_engine* engine) {
  open_.clear();
  const auto n = static_cast<uint32_t>(biases_.size());
  for (uint32_t i = 0; i < n; ++i) ids_[2 * i] = 1;  // sequences of one id
  const goldcrest_sequences sequences = {ids_.data(), biases_.data(), 2 * n, n, 0};
  const int status = goldcrest_set_sequences(engine, &sequences);
  ids_[0] = 0;  // no term is open
  return status;
}

void KeyTerms::follow(int32_t token) {
  std::vector<std::pair<uint32_t, uint32_t>> next;
  open_.emplace_back(0, 0);
  for (const auto& [node, depth] : open_) {
    for (uint32_t edge = terms_.first_edge[node]; edge < terms_.first_edge[node + 1]; ++edge)
      if (terms_.edges[edge].token == static_cast<uint32_t>(token))
        next.emplace_back(terms_.edges[edge].child, depth + 1);
  }
  open_ = std::move(next);
  size_t n = 0;
  for (const auto& [node, depth] : open_) {
    for (uint32_t edge = terms_.first_edge[node]; edge < terms_.first_edge[node + 1] && n < biases_.size(); ++edge) {
      if (terms_.edges[edge].token == GOLDCREST_LEXICON_END) continue;
      ids_[2 * n] = 1;
      ids_[2 * n + 1] = static_cast<int32_t>(terms_.edges[edge].token);
      biases_[n++] = kBonus * (1 + std::log(static_cast<float>(depth)));
    }
  }
  if (n < biases_.size()) ids_[2 * n] = 0;
}
