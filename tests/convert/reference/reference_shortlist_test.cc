// SPDX-License-Identifier: Apache-2.0
// The reference's searches among candidates: the choice of candidates, and that no other id is chosen or counts in the
// soft-max.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/reference_search.h"
#include "spec/shortlist.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

using Ids = std::vector<uint32_t>;

const std::vector<int32_t> kSource = {3, 18, 7};

ModelSpec listed_spec(uint64_t seed) {
  ModelSpec spec = test::random_spec(seed);
  ShortlistSpec shortlist;
  shortlist.always = {2};
  for (uint32_t id = 0; id <= 19; ++id) shortlist.offset.push_back(2 * uint64_t{id});
  for (uint32_t id = 0; id < 19; ++id) shortlist.ids.insert(shortlist.ids.end(), {id, id + 17});
  shortlist.ngrams = {{{3, 18}, {9, 10}}, {{3, 18, 7}, {11}}, {{7, 3}, {12}}, {{18, 7}, {13}}};
  spec.shortlist = shortlist;
  return spec;
}

TEST(Candidates, OfIdsNgramsAndEnds) {
  const ModelSpec spec = listed_spec(1);
  const auto of = [&](const std::vector<int32_t>& source) { return candidates_of(*spec.shortlist, source, Ids{0}); };
  EXPECT_EQ(of({}), (Ids{0, 2}));
  EXPECT_EQ(of({3}), (Ids{0, 2, 3, 20}));
  EXPECT_EQ(of({3, 18}), (Ids{0, 2, 3, 9, 10, 18, 20, 35}));
  EXPECT_EQ(of(kSource), (Ids{0, 2, 3, 7, 9, 10, 11, 13, 18, 20, 24, 35}));
  EXPECT_EQ(of({18, 3}), (Ids{0, 2, 3, 18, 20, 35}));
  EXPECT_EQ(candidates_of(*spec.shortlist, std::vector<int32_t>{3}, Ids{30, 0}), (Ids{0, 2, 3, 20, 30}));
}

// Same as a search in which every other id has a logit too low to be chosen.
TEST(ReferenceShortlist, OtherIdsAreOutOfReach) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const ModelSpec spec = listed_spec(seed);
    ModelSpec plain = spec;
    plain.shortlist.reset();
    plain.projection.bias.assign(37, -1e6f);
    for (const uint32_t id : candidates_of(*spec.shortlist, kSource, Ids{0})) {
      plain.projection.bias[id] = spec.projection.bias[id];
    }
    for (const uint32_t beam_size : {1u, 3u}) {
      SearchOptions options = default_search(spec);
      EXPECT_EQ(options.max_candidates, 37u);
      options.beam_size = beam_size;
      const Hypothesis found = search(Reference(spec), kSource, options)[0];
      const Hypothesis expected = search(Reference(plain), kSource, options)[0];
      EXPECT_EQ(found.tokens, expected.tokens) << "seed " << seed;
      EXPECT_NEAR(found.log_prob, expected.log_prob, 1e-9);
      options.max_candidates = 11;  // there are 12 candidates
      ModelSpec whole = spec;
      whole.shortlist.reset();
      EXPECT_EQ(search(Reference(spec), kSource, options)[0].tokens,
                search(Reference(whole), kSource, options)[0].tokens);
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
