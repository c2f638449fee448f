// SPDX-License-Identifier: Apache-2.0
// Sources that are searched among all outputs although the file has a shortlist, the gathering in steps, and the
// self-test.
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using converter::SelfTestLine;

constexpr uint32_t kScoresAndHash = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS;

ModelSpec shortlist_spec() {
  ModelSpec spec = tiny_spec(deep_tiny_options());
  add_shortlist(21, spec);
  return spec;
}

const FileImage& shortlist_file() {
  static const FileImage image = tiny_file(shortlist_spec());
  return image;
}

const FileImage& plain_file() {
  static const FileImage image = tiny_file(tiny_spec(deep_tiny_options()));
  return image;
}

std::vector<std::vector<int32_t>> some_sources() {
  Rng rng(22);
  std::vector<std::vector<int32_t>> sources;
  for (const uint32_t length : {2u, 5u, 9u, 30u}) sources.push_back(rng.ids(length, 50));
  return sources;
}

std::vector<std::vector<Translation>> results(
    const FileImage& file, uint32_t max_candidates, uint32_t beam_size, uint32_t flags) {
  EngineSetup setup = {
      .limits = {.beam_size = beam_size, .batch = 4, .n_best = beam_size, .max_candidates = max_candidates}};
  TestEngine engine(file.span(), setup);
  engine.change_search([&](goldcrest_search& search) { search.flags = kScoresAndHash | flags; });
  return engine.run(some_sources());
}

TEST(Shortlist, CanBeTurnedOff) {
  for (const uint32_t beam_size : {1u, 3u}) {
    const auto plain = results(plain_file(), 0, beam_size, 0);
    EXPECT_NE(results(shortlist_file(), 0, beam_size, 0), plain);
    EXPECT_EQ(results(shortlist_file(), GOLDCREST_NO_SHORTLIST, beam_size, 0), plain) << "by the limits";
    EXPECT_EQ(results(shortlist_file(), 0, beam_size, GOLDCREST_SEARCH_ALL_OUTPUTS), plain) << "by the search";
    EXPECT_EQ(results(plain_file(), 50, beam_size, GOLDCREST_SEARCH_ALL_OUTPUTS), plain)
        << "in a file without a shortlist";
  }
}

// Sources with too many candidates, one after the other and in a batch.
TEST(Shortlist, ASourceWithTooManyCandidatesHasAllOutputs) {
  const auto sources = some_sources();
  std::vector<uint32_t> counts;
  {
    TestEngine engine(shortlist_file().span(), {.limits = {.batch = 4}});
    (void)engine.run(sources);
    for (uint32_t i = 0; i < sources.size(); ++i) {
      goldcrest_result result = {};
      ASSERT_EQ(goldcrest_get_result(engine.get(), i, 0, &result), GOLDCREST_OK);
      counts.push_back(result.n_outputs);
    }
  }
  ASSERT_LT(counts[0], counts[3]);
  const auto plain = results(plain_file(), 0, 1, 0), listed = results(shortlist_file(), 0, 1, 0);
  for (const uint32_t limit : counts) {
    for (const uint32_t max_candidates : {limit, limit - 1}) {
      const auto found = results(shortlist_file(), max_candidates, 1, 0);
      for (size_t i = 0; i < sources.size(); ++i) {
        EXPECT_EQ(found[i], counts[i] <= max_candidates ? listed[i] : plain[i])
            << "source " << i << " of " << counts[i];
      }
    }
  }
}

// Scoring a target uses the whole vocabulary, even if its ids are not candidates.
TEST(Shortlist, ScoresAreAmongAllOutputs) {
  const auto sources = some_sources();
  std::vector<std::vector<int32_t>> targets;
  Rng rng(23);
  for (size_t i = 0; i < sources.size(); ++i) targets.push_back(rng.ids(7, 300));
  const auto scores = [&](const FileImage& file) {
    EngineSetup setup = {
        .limits = {.batch = 4, .inspection = GOLDCREST_INSPECT_TARGETS | GOLDCREST_INSPECT_TOKEN_SCORES}};
    TestEngine engine(file.span(), setup);
    return engine.score(sources, targets);
  };
  EXPECT_EQ(scores(shortlist_file()), scores(plain_file()));
}

// Each sentence is gathered in a step of its own, before the first target position.
TEST(Shortlist, GathersOneSentenceAStep) {
  const auto count_steps = [](const FileImage& file, uint32_t n_sources) {
    TestEngine engine(file.span(), {.limits = {.batch = 3}});
    engine.change_search([](goldcrest_search& search) { search.min_target_tokens = search.max_target_tokens = 5; });
    engine.begin(std::vector<std::vector<int32_t>>(n_sources, {1, 2, 3}));
    int steps = 1;
    while (goldcrest_step(engine.get(), nullptr) != GOLDCREST_DONE) ++steps;
    return steps;
  };
  EXPECT_EQ(count_steps(shortlist_file(), 1), count_steps(plain_file(), 1) + 1);
  EXPECT_EQ(count_steps(shortlist_file(), 3), count_steps(plain_file(), 3) + 3);
}

// Computes the engine's results for some sources, as the converter stores them: among candidates, and among all.
std::vector<SelfTestLine> self_test_lines() {
  std::vector<SelfTestLine> lines;
  const FileImage& file = shortlist_file();
  TestEngine engine(file.span(), {});
  for (const uint32_t flags : {0u, GOLDCREST_SEARCH_ALL_OUTPUTS}) {
    engine.change_search([&](goldcrest_search& search) { search.flags = GOLDCREST_SEARCH_HASH_LOGITS | flags; });
    for (const std::vector<int32_t>& source : some_sources()) {
      const Translation found = engine.run(source);
      lines.push_back(
          {{source.begin(), source.end()}, {found.tokens.begin(), found.tokens.end()}, found.logits_hash, flags == 0});
    }
  }
  return lines;
}

int self_test(const std::vector<SelfTestLine>& lines, uint32_t max_candidates, goldcrest_detail* detail) {
  const FileImage file = converter::assemble(converter::build_payload(shortlist_spec(), {}), lines);
  TestEngine engine(file.span(), {.limits = {.max_candidates = max_candidates}});
  return goldcrest_self_test(engine.get(), detail);
}

TEST(Shortlist, TheSelfTestRunsBothKindsOfLines) {
  const std::vector<SelfTestLine> lines = self_test_lines();
  goldcrest_detail detail = {};
  EXPECT_EQ(self_test(lines, 0, &detail), GOLDCREST_OK) << detail.index;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::vector<SelfTestLine> wrong = lines;
    wrong[i].shortlist = !wrong[i].shortlist;
    EXPECT_EQ(self_test(wrong, 0, &detail), GOLDCREST_ERROR_SELF_TEST);
    EXPECT_EQ(detail.index, static_cast<int32_t>(i));
  }
}

// Lines that need more candidates than the memory holds.
TEST(Shortlist, TheSelfTestLeavesOutWhatDoesNotFit) {
  std::vector<SelfTestLine> lines = self_test_lines();
  goldcrest_detail detail = {};
  lines[0].hash ^= 1;
  EXPECT_EQ(self_test(lines, 0, &detail), GOLDCREST_ERROR_SELF_TEST);
  EXPECT_EQ(self_test(lines, 10, &detail), GOLDCREST_OK);
  EXPECT_EQ(self_test(lines, GOLDCREST_NO_SHORTLIST, &detail), GOLDCREST_OK);
  lines.resize(4);
  EXPECT_EQ(self_test(lines, GOLDCREST_NO_SHORTLIST, &detail), GOLDCREST_ERROR_TOO_LONG);
}
}}  // namespace goldcrest::test
