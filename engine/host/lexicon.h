// SPDX-License-Identifier: Apache-2.0
// A lexicon in the form of goldcrest_lexicon, made of the token ids of its entries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>
#include "goldcrest/decoding.h"

namespace goldcrest {
struct LexiconSpec {
  std::vector<uint32_t> first_edge;
  std::vector<goldcrest_lexicon_edge> edges;

  uint32_t n_nodes() const { return static_cast<uint32_t>(first_edge.size()) - 1; }
  uint32_t edges_of(uint32_t node) const { return first_edge[node + 1] - first_edge[node]; }
  bool has_words() const {
    return std::any_of(edges.begin(), edges.end(),
        [](const goldcrest_lexicon_edge& edge) { return edge.token == GOLDCREST_LEXICON_END && edge.child == 0; });
  }
  // Points into this object.
  goldcrest_lexicon view() const {
    return {first_edge.data(), edges.data(), n_nodes(), static_cast<uint32_t>(edges.size())};
  }
};

// Makes the tree of some entries, at least one, without end ids. Nodes are numbered by depth, so children come after
// parents. Entries may come twice, begin others, or be empty. `words`: a text is
// entries one after another, else it is one entry.
inline LexiconSpec make_lexicon(std::vector<std::vector<int32_t>> entries, bool words) {
  struct Node {
    size_t first, end, depth;  // the entries that share the first `depth` ids
  };
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  std::vector<Node> nodes = {{0, entries.size(), 0}};
  LexiconSpec lexicon;
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Node node = nodes[n];
    lexicon.first_edge.push_back(static_cast<uint32_t>(lexicon.edges.size()));
    const bool ends = entries[node.first].size() == node.depth;  // the shortest entry is the first
    for (size_t first = node.first + (ends ? 1 : 0); first < node.end;) {
      const int32_t token = entries[first][node.depth];
      size_t end = first + 1;
      while (end < node.end && entries[end][node.depth] == token) ++end;
      lexicon.edges.push_back({static_cast<uint32_t>(token), static_cast<uint32_t>(nodes.size())});
      nodes.push_back({first, end, node.depth + 1});
      first = end;
    }
    if (ends) lexicon.edges.push_back({GOLDCREST_LEXICON_END, words ? 0 : GOLDCREST_LEXICON_STOP});
  }
  lexicon.first_edge.push_back(static_cast<uint32_t>(lexicon.edges.size()));
  return lexicon;
}

// Returns a number that the allowed ids of `beam_size` hypotheses never exceed.
inline uint64_t most_allowed(const LexiconSpec& lexicon, uint32_t beam_size, uint64_t n_ends) {
  const uint64_t root = lexicon.edges_of(0) + n_ends;
  std::vector<uint64_t> others;
  for (uint32_t node = 1; node < lexicon.n_nodes(); ++node) others.push_back(lexicon.edges_of(node));
  std::sort(others.begin(), others.end(), std::greater<>());
  others.resize(std::min<size_t>(others.size(), beam_size));
  uint64_t sum = n_ends;
  for (const uint64_t n : others) sum += n;
  return lexicon.has_words() ? root + sum : std::max(root, sum);
}

// Returns limits.max_candidates for a program whose user names none: enough for the lexicon, or as many as are worth
// gathering.
inline uint32_t lexicon_candidates(const LexiconSpec& lexicon, uint32_t beam_size, uint32_t vocab_size) {
  constexpr uint64_t kMostEnds = 16, kMostGathered = 2048;
  return static_cast<uint32_t>(
      std::min({most_allowed(lexicon, beam_size, kMostEnds), kMostGathered, uint64_t{vocab_size}}));
}
}  // namespace goldcrest
