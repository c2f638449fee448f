// SPDX-License-Identifier: Apache-2.0
// Files with a prompt: none without the feature bit, none beyond its bounds.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/bounds.h"
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

// The file's target has 7 ids, of which 0 ends a text; its self-test targets have two ids, its limits three.
void refused(const Mutation& mutate) {
  const Verdict verdict = try_file(remade(smallest_file(), [&](ModelT& m) {
    mutate(m);
    m.features |= kFeaturePrompt;
  }));
  EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_EQ(verdict.detail, "generation: prompt");
}

TEST(HostilePrompt, NeedsItsFeature) {
  const std::vector<Mutation> fields = {
      [](ModelT& m) {
        m.generation->first_choices = {1, 3, 5};
      },
      [](ModelT& m) { m.generation->forced_ids = {4}; },
      [](ModelT& m) {
        m.generation->first_suppressed_ids = {0, 6, 6};
      },
      [](ModelT& m) { m.limits->max_prefix_tokens = 1; },
      [](ModelT& m) { m.limits->max_prefix_tokens = m.limits->max_target_tokens - 1; }};
  for (const Mutation& field : fields) {
    const Verdict without = try_file(remade(smallest_file(), field));
    EXPECT_EQ(without.status, GOLDCREST_ERROR_MODEL_CORRUPT);
    EXPECT_EQ(without.detail, "metadata: feature bits");
    for (const uint32_t more : {0u, kFeatureRules}) {
      const Verdict with = try_file(remade(smallest_file(), [&](ModelT& m) {
        field(m);
        m.features |= kFeaturePrompt | more;
      }));
      EXPECT_EQ(with.status, GOLDCREST_OK) << with.detail;
    }
  }
}

TEST(HostilePrompt, HasBounds) {
  for (const uint32_t bad : {0u, 7u, UINT32_MAX}) {
    refused([&](ModelT& m) { m.generation->first_choices = {bad}; });
    refused([&](ModelT& m) { m.generation->forced_ids = {bad}; });
  }
  refused([](ModelT& m) { m.generation->first_suppressed_ids = {7}; });
  refused([](ModelT& m) { m.generation->first_suppressed_ids.assign(kMaxPositions + 1, 1); });
  for (const std::vector<uint32_t>& bad : {std::vector<uint32_t>{4, 1}, {4, 4}, {1, 4, 2}})
    refused([&](ModelT& m) { m.generation->first_choices = bad; });
  for (const bool chosen : {false, true}) {
    refused([&](ModelT& m) {
      (chosen ? m.generation->first_choices : m.generation->forced_ids) = {3};
      m.generation->forced_first_id = 4;
    });
  }
  refused([](ModelT& m) { m.generation->forced_ids.assign(m.limits->max_target_tokens, 1); });
  refused([](ModelT& m) {
    m.generation->first_choices = {2};
    m.generation->forced_ids.assign(m.limits->max_target_tokens - 1, 1);
  });
  refused([](ModelT& m) { m.limits->max_prefix_tokens = m.limits->max_target_tokens; });
  refused([](ModelT& m) { m.generation->forced_ids = {1, 1}; });
  refused([](ModelT& m) {
    m.features |= kFeatureRules;
    m.generation->more_end_ids = {5};
    m.generation->forced_ids = {5};
  });
}

}  // namespace
}  // namespace goldcrest
