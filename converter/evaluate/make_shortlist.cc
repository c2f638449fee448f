// SPDX-License-Identifier: Apache-2.0
// Sums are added in the order of the pairs, in doubles and without the mathematical library.
#include "evaluate/make_shortlist.h"
#include <algorithm>
#include <numeric>
#include <utility>

namespace goldcrest::converter {
namespace {
constexpr int kPasses = 5;  // expectation and maximization, this many times

// A set of numbers; it holds up to about twice as many before it removes duplicates.
class GrowingSet {
 public:
  void insert(const std::vector<uint32_t>& ids) {
    ids_.insert(ids_.end(), ids.begin(), ids.end());
    if (ids_.size() > most_) compact();
  }
  std::vector<uint32_t> take() {
    compact();
    return std::move(ids_);
  }
 private:
  void compact() {
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
    most_ = std::max<size_t>(256, 2 * ids_.size());
  }

  std::vector<uint32_t> ids_;
  size_t most_ = 256;
};

std::vector<uint32_t> distinct(const std::vector<int32_t>& ids) {
  std::vector<uint32_t> result(ids.begin(), ids.end());
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

// The probability of each target id given a source id, for ids that occur in the same pair.
class TranslationTable {
 public:
  TranslationTable(std::span<const IdPair> pairs, uint32_t source_ids) : offset_(size_t{source_ids} + 1) {
    std::vector<GrowingSet> beside(source_ids);
    for (const IdPair& pair : pairs) {
      const std::vector<uint32_t> targets = distinct(pair.target);
      for (const uint32_t id : distinct(pair.source)) beside[id].insert(targets);
    }
    for (uint32_t id = 0; id < source_ids; ++id) {
      const std::vector<uint32_t> targets = beside[id].take();
      target_.insert(target_.end(), targets.begin(), targets.end());
      offset_[id + 1] = target_.size();
    }
    probability_.assign(target_.size(), 1.0);  // equal for all; the first pass normalizes
    expected_.assign(target_.size(), 0.0);
  }

  // For each target id of the pair, adds the share of each source id to its expected count.
  void expect(const IdPair& pair) {
    for (const int32_t target : pair.target) {
      places_.clear();
      double sum = 0;
      for (const int32_t source : pair.source) {
        places_.push_back(place_of(static_cast<uint32_t>(source), static_cast<uint32_t>(target)));
        sum += probability_[places_.back()];
      }
      for (const size_t place : places_) expected_[place] += probability_[place] / sum;
    }
  }

  // Turns the expected counts into probabilities.
  void maximize() {
    for (size_t id = 0; id + 1 < offset_.size(); ++id) {
      double sum = 0;
      for (size_t i = offset_[id]; i < offset_[id + 1]; ++i) sum += expected_[i];
      for (size_t i = offset_[id]; i < offset_[id + 1]; ++i) probability_[i] = expected_[i] / sum;
    }
    std::fill(expected_.begin(), expected_.end(), 0.0);
  }

  // Returns the ids with the largest probabilities, at most `most`, in ascending order.
  std::vector<uint32_t> best_of(uint32_t source, size_t most) const {
    std::vector<size_t> places(offset_[source + 1] - offset_[source]);
    std::iota(places.begin(), places.end(), offset_[source]);
    const size_t n = std::min(most, places.size());
    std::partial_sort(
        places.begin(), places.begin() + static_cast<ptrdiff_t>(n), places.end(), [this](size_t a, size_t b) {
          return probability_[a] != probability_[b] ? probability_[a] > probability_[b] : a < b;
        });
    std::vector<uint32_t> ids;
    for (size_t i = 0; i < n; ++i) ids.push_back(target_[places[i]]);
    std::sort(ids.begin(), ids.end());
    return ids;
  }
 private:
  size_t place_of(uint32_t source, uint32_t target) const {
    const auto begin = target_.begin() + static_cast<ptrdiff_t>(offset_[source]);
    const auto end = target_.begin() + static_cast<ptrdiff_t>(offset_[source + 1]);
    return static_cast<size_t>(std::lower_bound(begin, end, target) - target_.begin());
  }

  std::vector<size_t> offset_;    // [source ids + 1]
  std::vector<uint32_t> target_;  // ascending in each list
  std::vector<double> probability_, expected_;
  std::vector<size_t> places_;  // reused for each target id
};

// Returns the ids that occur most often, at most `most`, in ascending order.
std::vector<uint32_t> most_frequent(std::span<const IdPair> pairs, size_t most) {
  std::vector<uint64_t> counts;
  for (const IdPair& pair : pairs) {
    for (const int32_t id : pair.target) {
      counts.resize(std::max(counts.size(), static_cast<size_t>(id) + 1));
      ++counts[static_cast<size_t>(id)];
    }
  }
  std::vector<uint32_t> ids;
  for (uint32_t id = 0; id < counts.size(); ++id)
    if (counts[id] > 0) ids.push_back(id);
  std::stable_sort(ids.begin(), ids.end(), [&](uint32_t a, uint32_t b) { return counts[a] > counts[b]; });
  ids.resize(std::min(most, ids.size()));
  std::sort(ids.begin(), ids.end());
  return ids;
}
}  // namespace

ShortlistSpec make_shortlist(std::span<const IdPair> pairs, const ShortlistOptions& options) {
  std::vector<IdPair> listed(pairs.begin(), pairs.end());
  for (IdPair& pair : listed) {
    std::erase_if(pair.target,
        [&](int32_t id) { return std::ranges::find(options.never, static_cast<uint32_t>(id)) != options.never.end(); });
  }
  TranslationTable table(listed, options.source_ids);
  for (size_t done = 0, pass = 0; pass < kPasses; ++pass) {
    for (const IdPair& pair : listed) {
      table.expect(pair);
      if (options.progress) options.progress(++done, listed.size() * kPasses);
    }
    table.maximize();
  }
  ShortlistSpec shortlist;
  shortlist.always = most_frequent(listed, options.always);
  shortlist.offset = {0};
  for (uint32_t id = 0; id < options.source_ids; ++id) {
    for (const uint32_t target : table.best_of(id, options.best))
      if (!std::ranges::binary_search(shortlist.always, target)) shortlist.ids.push_back(target);
    shortlist.offset.push_back(shortlist.ids.size());
  }
  return shortlist;
}

ShortlistCoverage measure_coverage(
    const ShortlistSpec& shortlist, std::span<const IdPair> pairs, std::span<const uint32_t> end_ids) {
  ShortlistCoverage coverage;
  for (const IdPair& pair : pairs) {
    const std::vector<uint32_t> candidates = candidates_of(shortlist, pair.source, end_ids);
    const auto covered = std::ranges::count_if(
        pair.target, [&](int32_t id) { return std::ranges::binary_search(candidates, static_cast<uint32_t>(id)); });
    ++coverage.lines;
    coverage.whole_lines += static_cast<size_t>(covered) == pair.target.size() ? 1 : 0;
    coverage.target_ids += pair.target.size();
    coverage.covered_ids += static_cast<uint64_t>(covered);
    coverage.candidates += candidates.size();
    coverage.most_candidates = std::max<uint64_t>(coverage.most_candidates, candidates.size());
  }
  return coverage;
}
}  // namespace goldcrest::converter
