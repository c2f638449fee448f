// SPDX-License-Identifier: Apache-2.0
#include "key_terms.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "phrases.h"

namespace {

constexpr float kBonus = 2;  // nats; for the second id of a term, and log(i) times as much more for the one after i ids

}  // namespace

std::string KeyTerms::read(const std::string& path, const goldcrest::Session& session) {
  std::vector<std::vector<int32_t>> entries;
  const std::string problem = read_spellings(path, session, [&](const Spelling& it) {
    if (it.has_mark) return;
    entries.push_back(it.ids);
    if (!it.ids_without_space.empty()) entries.push_back(it.ids_without_space);
  });
  if (problem.empty()) terms_ = goldcrest::make_lexicon(std::move(entries), false);
  return problem;
}

int64_t KeyTerms::begin(goldcrest_engine* engine) {
  open_.clear();
  biases_.fill(0);
  for (uint32_t i = 0; i < kMost; ++i) ids_[2 * i] = 1;  // sequences of one id
  const goldcrest_sequences sequences = {ids_.data(), biases_.data(), 2 * kMost, kMost, 0};
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
  uint32_t n = 0;
  for (const auto& [node, depth] : open_) {
    for (uint32_t edge = terms_.first_edge[node]; edge < terms_.first_edge[node + 1] && n < kMost; ++edge) {
      if (terms_.edges[edge].token == GOLDCREST_LEXICON_END) continue;
      ids_[2 * n + 1] = static_cast<int32_t>(terms_.edges[edge].token);
      biases_[n++] = kBonus * (1 + std::log(static_cast<float>(depth)));
    }
  }
  for (; n < kMost; ++n) biases_[n] = 0;
}
