// SPDX-License-Identifier: Apache-2.0
// Shortlists that no file can hold, each with its message, and the limit that comes with a shortlist.
#include <gtest/gtest.h>

#include <functional>

#include "base/build_options.h"
#include "file/build.h"
#include "file/metadata.h"
#include "model_generated.h"
#include "spec/validate_spec.h"
#include "support/expect_error.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

// 19 source ids, 37 target ids.
ModelSpec listed_spec() {
  ModelSpec spec = test::random_spec(1);
  ShortlistSpec shortlist;
  shortlist.always = {2, 36};
  shortlist.offset.assign(20, 3);
  shortlist.offset[0] = 0;
  shortlist.ids = {1, 4, 5};
  shortlist.ngrams = {{{0, 1}, {7}}, {{0, 1, 2}, {}}, {{3, 3}, {8, 9}}};
  spec.shortlist = shortlist;
  return spec;
}

TEST(ValidateShortlist, SaysWhatIsWrong) {
  const std::pair<const char*, std::function<void(ShortlistSpec&)>> cases[] = {
      {"shortlist: the list of every sentence has the target id 37; expected 0 to 36",
       [](ShortlistSpec& s) { s.always[1] = 37; }},
      {"shortlist: the list of every sentence: 2 follows 2; expected ascending ids",
       [](ShortlistSpec& s) { s.always[1] = 2; }},
      {"shortlist: has 19 offsets; expected one for each of 19 source ids, and the end",
       [](ShortlistSpec& s) { s.offset.pop_back(); }},
      {"shortlist: its offsets do not ascend from 0 to 3", [](ShortlistSpec& s) { s.offset[3] = 2; }},
      {"shortlist: its offsets do not ascend from 0 to 3", [](ShortlistSpec& s) { s.offset[0] = 1; }},
      {"shortlist: its offsets do not ascend from 0 to 3", [](ShortlistSpec& s) { s.offset[19] = 4; }},
      {"shortlist: the list of the source id 0: 1 follows 4; expected ascending ids",
       [](ShortlistSpec& s) { std::swap(s.ids[0], s.ids[1]); }},
      {"shortlist: the list of the source id 0 has the target id 40; expected 0 to 36",
       [](ShortlistSpec& s) { s.ids[2] = 40; }},
      {"shortlist: an n-gram has 1 ids; expected 2 to 16", [](ShortlistSpec& s) { s.ngrams[0].ngram = {0}; }},
      {"shortlist: an n-gram has 17 ids; expected 2 to 16", [](ShortlistSpec& s) { s.ngrams[2].ngram.resize(17); }},
      {"shortlist: an n-gram has the source id 19; expected 0 to 18",
       [](ShortlistSpec& s) { s.ngrams[0].ngram[0] = 19; }},
      {"shortlist: its n-grams do not ascend; expected each once, in order",
       [](ShortlistSpec& s) {
         s.ngrams[1].ngram = {0, 1};
       }},
      {"shortlist: the list of an n-gram: 8 follows 8; expected ascending ids",
       [](ShortlistSpec& s) { s.ngrams[2].ids[1] = 8; }},
  };
  EXPECT_NO_THROW(validate_spec(listed_spec()));
  for (const auto& [message, damage] : cases) {
    ModelSpec spec = listed_spec();
    damage(*spec.shortlist);
    test::expect_error([&] { validate_spec(spec); }, {message});
  }
}

TEST(ValidateShortlist, TheLimitOfCandidates) {
  goldcrest_limits limits = {};
  EXPECT_EQ(resolve_limits(listed_spec(), limits).max_candidates, 37u);
  EXPECT_EQ(resolve_limits(test::random_spec(1), limits).max_candidates, 0u);
  limits.max_candidates = 20;
  EXPECT_EQ(resolve_limits(listed_spec(), limits).max_candidates, 20u);
  test::expect_error([&] { resolve_limits(test::random_spec(1), limits); },
                     {"--max-candidates is 20, but the model has no shortlist; leave it out"});
  limits.max_candidates = 38;
  test::expect_error([&] { resolve_limits(listed_spec(), limits); },
                     {"--max-candidates is 38; expected 1 to 37, the target's vocabulary"});
}

TEST(ValidateShortlist, TheFileSaysThatItHasOne) {
  EXPECT_EQ(build_payload(test::random_spec(1), {}).metadata->features, 0u);
  const Payload payload = build_payload(listed_spec(), {});
  EXPECT_EQ(payload.metadata->features, kFeatureShortlist);
  EXPECT_EQ(payload.metadata->limits->max_candidates, 37u);
  EXPECT_EQ(payload.metadata->shortlist->n_ids, 6u);
  EXPECT_EQ(payload.metadata->shortlist->max_ngram, 3u);
}

}  // namespace
}  // namespace goldcrest::converter
