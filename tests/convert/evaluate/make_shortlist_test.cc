// SPDX-License-Identifier: Apache-2.0
// Compares IBM model 1 with its formula and with results by hand, and tests the measurements of a shortlist.
#include "evaluate/make_shortlist.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace goldcrest::converter {
namespace {

using Ids = std::vector<uint32_t>;

ShortlistOptions options_of(uint32_t always, uint32_t best, uint32_t source_ids) {
  ShortlistOptions options;
  options.always = always;
  options.best = best;
  options.source_ids = source_ids;
  return options;
}

Ids list_of(const ShortlistSpec& shortlist, size_t id) {
  return {shortlist.ids.begin() + static_cast<ptrdiff_t>(shortlist.offset[id]),
          shortlist.ids.begin() + static_cast<ptrdiff_t>(shortlist.offset[id + 1])};
}

// Brown et al.'s example of co-occurrence: 1 the, 2 house, 3 book; 11 das, 12 Haus, 13 Buch; 0 ends.
const std::vector<IdPair> kPairs = {{{1, 2, 0}, {11, 12, 0}}, {{1, 3, 0}, {11, 13, 0}}, {{3, 0}, {13, 0}}};

TEST(MakeShortlist, EachSourceIdHasItsMostProbableTranslations) {
  const ShortlistSpec shortlist = make_shortlist(kPairs, options_of(0, 1, 4));
  EXPECT_TRUE(shortlist.always.empty());
  EXPECT_EQ(shortlist.offset, (std::vector<uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(shortlist.ids, (Ids{0, 11, 12, 13}));
  EXPECT_TRUE(shortlist.ngrams.empty());
}

TEST(MakeShortlist, TheMostFrequentIdsAreAlwaysThereAndInNoList) {
  const ShortlistSpec shortlist = make_shortlist(kPairs, options_of(2, 100, 6));
  EXPECT_EQ(shortlist.always, (Ids{0, 11})) << "the first of equal ones";
  EXPECT_EQ(list_of(shortlist, 1), (Ids{12, 13}));
  EXPECT_EQ(list_of(shortlist, 2), (Ids{12}));
  EXPECT_TRUE(list_of(shortlist, 4).empty());
  EXPECT_TRUE(list_of(shortlist, 5).empty());
  EXPECT_EQ(make_shortlist(kPairs, options_of(50, 0, 6)).always, (Ids{0, 11, 12, 13}));
}

TEST(MakeShortlist, WhatIsNeverChosenIsNotListed) {
  ShortlistOptions options = options_of(1, 2, 4);
  options.never = {0, 13};
  const ShortlistSpec shortlist = make_shortlist(kPairs, options);
  EXPECT_EQ(shortlist.always, (Ids{11}));
  EXPECT_TRUE(std::ranges::count(shortlist.ids, 13u) == 0 && std::ranges::count(shortlist.ids, 0u) == 0);
}

TEST(MakeShortlist, SaysHowFarItIs) {
  ShortlistOptions options = options_of(1, 1, 4);
  std::vector<size_t> done;
  options.progress = [&](size_t n, size_t total) {
    done.push_back(n);
    EXPECT_EQ(total, 15u);
  };
  (void)make_shortlist(kPairs, options);
  ASSERT_EQ(done.size(), 15u);
  EXPECT_EQ(done.back(), 15u);
}

std::vector<IdPair> random_pairs(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<IdPair> pairs(60);
  for (IdPair& pair : pairs) {
    for (size_t n = 1 + random() % 8; n > 0; --n) pair.source.push_back(static_cast<int32_t>(random() % 20));
    for (size_t n = 1 + random() % 8; n > 0; --n) pair.target.push_back(static_cast<int32_t>(random() % 30));
  }
  return pairs;
}

// t(e|f) by the paper's equations 14 and 17, five times, from the uniform distribution.
std::map<std::pair<int32_t, int32_t>, double> naive_model_1(const std::vector<IdPair>& pairs) {
  std::map<std::pair<int32_t, int32_t>, double> t;
  for (const IdPair& pair : pairs) {
    for (const int32_t f : pair.source)
      for (const int32_t e : pair.target) t[{f, e}] = 1.0 / 30;
  }
  for (int pass = 0; pass < 5; ++pass) {
    std::map<std::pair<int32_t, int32_t>, double> counts;
    std::map<int32_t, double> sums;
    for (const IdPair& pair : pairs) {
      for (const int32_t e : pair.target) {
        double all = 0;
        for (const int32_t f : pair.source) all += t[{f, e}];
        for (const int32_t f : pair.source) {
          counts[{f, e}] += t[{f, e}] / all;
          sums[f] += t[{f, e}] / all;
        }
      }
    }
    for (auto& [key, value] : t) value = counts[key] / sums[key.first];
  }
  return t;
}

TEST(MakeShortlist, IsModelOnesFormula) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    const std::vector<IdPair> pairs = random_pairs(seed);
    const auto t = naive_model_1(pairs);
    const ShortlistSpec shortlist = make_shortlist(pairs, options_of(0, 4, 20));
    for (int32_t f = 0; f < 20; ++f) {
      const Ids list = list_of(shortlist, static_cast<size_t>(f));
      double least_listed = 1, largest_other = 0;
      for (const auto& [key, value] : t) {
        if (key.first != f) continue;
        const bool listed = std::ranges::count(list, static_cast<uint32_t>(key.second)) == 1;
        (listed ? least_listed : largest_other) =
            listed ? std::min(least_listed, value) : std::max(largest_other, value);
      }
      EXPECT_GE(least_listed, largest_other - 1e-12) << "source id " << f;
      EXPECT_LE(list.size(), 4u);
    }
  }
}

TEST(Coverage, CountsIdsLinesAndCandidates) {
  const ShortlistSpec shortlist = make_shortlist(kPairs, options_of(1, 1, 4));
  const std::vector<IdPair> held_out = {{{2, 0}, {12, 0}}, {{3, 2, 0}, {12, 13, 14, 0}}};
  const ShortlistCoverage coverage = measure_coverage(shortlist, held_out, Ids{0});
  EXPECT_EQ(coverage.lines, 2u);
  EXPECT_EQ(coverage.whole_lines, 1u);
  EXPECT_EQ(coverage.target_ids, 6u);
  EXPECT_EQ(coverage.covered_ids, 5u);
  EXPECT_EQ(coverage.candidates, 2u + 3u);
  EXPECT_EQ(coverage.most_candidates, 3u);
}

}  // namespace
}  // namespace goldcrest::converter
