// SPDX-License-Identifier: Apache-2.0
#include "host/speech/key_terms.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/speech/phrases.h"
#include "host/text_lines.h"

namespace {
constexpr float kBonus = 2;  // nats; for the second id of a term, and log(i) times as much more for the one after i ids

// Adds the ids of a term, as they stand in texts.
void add_term(const Spelling& it, std::vector<std::vector<int32_t>>* entries) {
  if (it.has_mark) return;
  entries->push_back(it.ids);
  if (!it.ids_without_space.empty()) entries->push_back(it.ids_without_space);
}
}  // namespace

std::string KeyTerms::read(const std::string& path, const goldcrest::Session& session) {
  std::vector<std::vector<int32_t>> entries;
  const std::string problem = read_spellings(path, session, [&](const Spelling& it) { add_term(it, &entries); });
  if (problem.empty()) take(std::move(entries));
  return problem;
}

void KeyTerms::set(const std::vector<std::string>& terms, const goldcrest::Session& session) {
  if (terms == names_) return;
  names_ = terms;
  terms_ = {};
  if (!cutter_) cutter_.emplace(session);
  std::vector<std::vector<int32_t>> entries;
  for (const std::string& term : terms)
    if (!is_blank(term)) visit_spellings(term, *cutter_, session, [&](const Spelling& it) { add_term(it, &entries); });
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
  std::fill(biases_.begin(), biases_.end(), 0.0f);
  for (uint32_t i = 0; i < n; ++i) ids_[2 * i] = 1;  // sequences of one id
  const goldcrest_sequences sequences = {ids_.data(), biases_.data(), 2 * n, n, 0};
  return goldcrest_set_sequences(engine, &sequences);
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
      ids_[2 * n + 1] = static_cast<int32_t>(terms_.edges[edge].token);
      biases_[n++] = kBonus * (1 + std::log(static_cast<float>(depth)));
    }
  }
  std::fill(biases_.begin() + static_cast<std::ptrdiff_t>(n), biases_.end(), 0.0f);
}
