// SPDX-License-Identifier: Apache-2.0
// Files with rules of the search: none without the feature bit, none beyond its bounds.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/build_options.h"
#include "hostile_file.h"

namespace goldcrest {
namespace {

using format::ModelT;
using test::Mutation;
using test::remade;
using test::smallest_file;
using test::try_file;
using test::Verdict;

TEST(HostileRules, NeedTheirFeature) {
  const std::vector<Mutation> rules = {[](ModelT& m) { m.generation->renormalize = true; },
                                       [](ModelT& m) { m.generation->early_stopping = 2; },
                                       [](ModelT& m) { m.generation->more_end_ids = {3}; },
                                       [](ModelT& m) { m.generation->no_repeat_ngram = 3; },
                                       [](ModelT& m) { m.generation->repetition_penalty = 1.5f; },
                                       [](ModelT& m) { m.generation->force_end = false; },
                                       [](ModelT& m) { m.generation->length_penalty_kind = 1; },
                                       [](ModelT& m) { m.generation->max_extra_tokens = 50; },
                                       [](ModelT& m) { m.generation->max_length_factor = 2.5f; },
                                       [](ModelT& m) {
                                         m.generation->biased_ids = {1, 4};
                                         m.generation->biases = {-2, 3};
                                       }};
  for (const Mutation& rule : rules) {
    const Verdict without = try_file(remade(smallest_file(), rule));
    EXPECT_EQ(without.status, GOLDCREST_ERROR_MODEL_CORRUPT);
    EXPECT_EQ(without.detail, "metadata: feature bits");
    const Verdict with = try_file(remade(smallest_file(), [&](ModelT& m) {
      rule(m);
      m.features |= kFeatureRules;
    }));
    EXPECT_EQ(with.status, GOLDCREST_OK) << with.detail;
  }
}

TEST(HostileRules, HaveBounds) {
  const auto refused = [](const std::string& message, const Mutation& mutate) {
    const Verdict verdict = try_file(remade(smallest_file(), [&](ModelT& m) {
      mutate(m);
      m.features |= kFeatureRules;
    }));
    EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT);
    EXPECT_EQ(verdict.detail, message);
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  refused("generation.early_stopping", [](ModelT& m) { m.generation->early_stopping = 3; });
  refused("generation.length_penalty_kind", [](ModelT& m) { m.generation->length_penalty_kind = 2; });
  for (const float bad : {0.0f, -1.0f, 1025.0f, nan})
    refused("generation.repetition_penalty", [&](ModelT& m) { m.generation->repetition_penalty = bad; });
  for (const float bad : {-1.0f, 0.0001f, 1025.0f, nan})
    refused("generation.max_length_factor", [&](ModelT& m) { m.generation->max_length_factor = bad; });
  refused("generation.more_end_ids", [](ModelT& m) { m.generation->more_end_ids = {7}; });
  refused("generation.more_end_ids", [](ModelT& m) { m.generation->more_end_ids.assign(16, 1); });
  refused("generation.biased_ids", [](ModelT& m) { m.generation->biased_ids = {7}; });
  refused("generation.biases", [](ModelT& m) { m.generation->biased_ids = {6}; });
  refused("generation.biases", [](ModelT& m) { m.generation->biases = {1}; });
  for (const std::vector<uint32_t>& bad : {std::vector<uint32_t>{4, 1}, {4, 4}, {1, 4, 2}}) {
    refused("generation.biased_ids: ascending", [&](ModelT& m) {
      m.generation->biased_ids = bad;
      m.generation->biases.assign(bad.size(), 1);
    });
  }
  for (const float bad : {-65537.0f, 65537.0f, nan}) {
    refused("generation.biases", [&](ModelT& m) {
      m.generation->biased_ids = {6};
      m.generation->biases = {bad};
    });
  }
}

}  // namespace
}  // namespace goldcrest
