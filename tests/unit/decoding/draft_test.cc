// SPDX-License-Identifier: Apache-2.0
// Drafts: greedy search with a guess of its result gives the bits that it gives without one, in fewer steps.
#include "decoding/search/draft.h"
#include "goldcrest/decoding.h"
#include "support/engine_fixture.h"
#include "support/speech_model.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using Ids = std::vector<int32_t>;

constexpr uint32_t kTokens = 40;

// Feeds a text to a draft. Returns the index of the guess before each of its tokens; -1: none.
Ids guesses(const Ids& draft_ids, const Ids& text) {
  Draft draft = {draft_ids.data(), static_cast<uint32_t>(draft_ids.size()), 0, 0, 0};
  Ids found;
  int32_t last = 0;
  for (const int32_t token : text) {
    found.push_back(draft.next < draft.n ? static_cast<int32_t>(draft.next) : -1);
    follow_token(last, token, &draft);
    last = token;
  }
  return found;
}

TEST(Draft, GoesOnAfterAChangeAnInsertionAndADeletion) {
  const Ids draft = {1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(guesses(draft, {1, 2, 3, 4, 5, 6, 7, 8}), (Ids{0, 1, 2, 3, 4, 5, 6, -1}));
  EXPECT_EQ(guesses(draft, {1, 2, 9, 4, 5}), (Ids{0, 1, 2, 3, 4}));                       // 3 is changed
  EXPECT_EQ(guesses(draft, {1, 2, 9, 3, 4, 5}), (Ids{0, 1, 2, 3, -1, 4}));                // 9 is inserted
  EXPECT_EQ(guesses(draft, {1, 2, 4, 5, 6}), (Ids{0, 1, 2, 3, 5}));                       // 3 is deleted
  EXPECT_EQ(guesses(draft, {9, 9, 4, 9, 9, 5, 6, 7}), (Ids{0, 1, -1, 4, 5, -1, -1, 6}));  // it starts elsewhere
  EXPECT_EQ(guesses({}, {1, 2}), (Ids{-1, -1}));
  EXPECT_EQ(guesses({1, 1, 1, 1}, {1, 2, 1, 1, 3}), (Ids{0, 1, 2, 3, -1}));  // no run before what was followed
}

struct Case {
  FileImage file;
  EngineSetup setup;
  uint32_t flags = 0;  // the search's
  Ids prefix;
};

// Models of text and of sound, with biases by distance, rotary positions, rules, prompts and prefixes.
std::vector<Case> all_cases() {
  std::vector<TinyOptions> shapes = {{}, odd_tiny_options(), deep_tiny_options(), t5_tiny_options(),
      umt5_tiny_options(), gated_tiny_options(), {}, {}};
  std::vector<Case> cases;
  for (uint32_t i = 0; i < shapes.size(); ++i) {
    shapes[i].seed = i + 1;
    shapes[i].end_bias = -1;
    shapes[i].decoder.positions = kTokens;
    ModelSpec spec = tiny_spec(shapes[i]);
    converter::GenerationSpec& generation = spec.generation;
    if (i == 1) generation.rules.no_repeat_ngram = 3;
    if (i == 2) generation.rules.repetition_penalty = 1.3f;
    if (i == 6) generation.prompt = {{4, 9, 30}, {7, 5}, {1, 2, 3}};
    if (i == 4) generation.rules.force_end = false;
    cases.push_back({tiny_file(spec), {}, i % 2 == 1 ? GOLDCREST_SEARCH_SCORES : 0, i == 7 ? Ids{5, 6, 7} : Ids()});
  }
  for (const OpenChoices& options : tiny_speech_options()) cases.push_back({speech_file(options), {}, 0, {}});
  for (uint32_t i = 0; i < cases.size(); ++i) {
    goldcrest_limits& limits = cases[i].setup.limits;
    limits.batch = i % 3 == 0 ? 20 : 1;
    limits.beam_size = i % 3 == 0 ? 1 : 2 + i;
    limits.max_target_tokens = i < shapes.size() ? kTokens : 0;
    limits.inspection = GOLDCREST_INSPECT_TOKEN_SCORES;
    limits.alignment_layers = 1;
    limits.max_prefix_tokens = static_cast<uint32_t>(cases[i].prefix.size());
    cases[i].setup.step_size = GOLDCREST_STEP_LAYER;
  }
  return cases;
}

// The result, and the steps that it took.
struct Outcome {
  Translation result;
  uint32_t n_steps, n_prefix;
};

// Ids or a clip.
struct Source {
  Ids ids;
  Sound sound;
};

Source draw_source(const TestEngine& engine, Rng& rng) {
  const uint32_t n = rng.between(1, 12), vocab_size = engine.info().source_vocab_size;
  if (vocab_size == 0) return {{}, sound_of(engine.info(), rng.below(99), n)};
  return {rng.ids(n, vocab_size), {}};
}

Outcome run(TestEngine& engine, const Case& wanted, const Source& source, const Ids& draft, const Ids& target = {}) {
  engine.change_search([&](goldcrest_search& search) {
    search.beam_size = 1;
    search.flags = wanted.flags;
    search.min_target_tokens = 6;
  });
  EXPECT_EQ(source.ids.empty() ? give(engine.get(), source.sound, true)
                               : goldcrest_begin(engine.get(), source.ids.data(), source.ids.size()),
      0);
  EXPECT_EQ(goldcrest_set_prefix(engine.get(), 0, wanted.prefix.data(), wanted.prefix.size(), 0), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_set_draft(engine.get(), draft.data(), draft.size()), GOLDCREST_OK) << engine.detail().message;
  EXPECT_EQ(target.empty() ? 0 : goldcrest_score(engine.get(), 0, target.data(), target.size()), GOLDCREST_OK);
  Outcome made = {{}, 0, 0};
  int status = GOLDCREST_WORKING;
  for (int32_t token = 0; status == GOLDCREST_WORKING || status == GOLDCREST_TOKEN; ++made.n_steps)
    status = goldcrest_step(engine.get(), &token);
  EXPECT_EQ(status, GOLDCREST_DONE) << engine.detail().message;
  made.result = engine.results(0)[0];
  goldcrest_result result = {};
  EXPECT_EQ(goldcrest_get_result(engine.get(), 0, 0, &result), GOLDCREST_OK);
  made.n_prefix = result.n_prefix;
  return made;
}

// Returns a guess with some ids changed, inserted and deleted.
Ids spoiled(const Ids& ids, Rng& rng, uint32_t one_in) {
  Ids out;
  for (const int32_t id : ids) {
    const uint32_t kind = rng.below(one_in);
    if (kind == 0) out.push_back(static_cast<int32_t>(rng.below(37)));
    if (kind == 1) continue;
    out.push_back(kind == 2 ? static_cast<int32_t>(rng.below(37)) : id);
  }
  return out;
}

TEST(Draft, ChangesNoBitAndSavesSteps) {
  Rng rng(66);
  uint32_t n_without = 0, n_with = 0;
  for (const Case& wanted : all_cases()) {
    TestEngine engine(wanted.file.span(), wanted.setup);
    for (uint32_t i = 0; i < 6; ++i) {
      const Source source = draw_source(engine, rng);
      const Outcome expected = run(engine, wanted, source, {});
      const Ids& tokens = expected.result.tokens;
      const Ids whole(tokens.begin() + std::min<ptrdiff_t>(expected.n_prefix, std::ssize(tokens)), tokens.end());
      const Outcome exact = run(engine, wanted, source, whole);
      EXPECT_EQ(exact.result, expected.result);
      n_without += expected.n_steps;
      n_with += exact.n_steps;
      for (const uint32_t one_in : {3u, 6u, 20u})
        EXPECT_EQ(run(engine, wanted, source, spoiled(whole, rng, one_in)).result, expected.result);
      EXPECT_EQ(run(engine, wanted, source, rng.ids(60, 37)).result, expected.result);
    }
    EXPECT_TRUE(engine.memory_intact());
  }
  EXPECT_LT(3 * n_with, 2 * n_without);
}

// Targets of any ids, with ends anywhere; sequences do not change their scores.
TEST(Draft, OfATargetChangesNoBitAndSavesSteps) {
  Rng rng(64);
  const int32_t ids[] = {1, 5};
  const goldcrest_sequences sequences = {ids, nullptr, 2, 1, 0};
  for (Case& wanted : all_cases()) {
    wanted.setup.limits.inspection |= GOLDCREST_INSPECT_TARGETS;
    TestEngine many(wanted.file.span(), wanted.setup);
    ASSERT_EQ(goldcrest_set_sequences(many.get(), &sequences), GOLDCREST_OK);
    wanted.setup.limits.batch = wanted.setup.limits.beam_size = 1;
    TestEngine one(wanted.file.span(), wanted.setup);
    const uint32_t longest = std::min(one.memory().limits.max_target_tokens, 33u);
    for (uint32_t i = 0; i < 5; ++i) {
      const Source source = draw_source(one, rng);
      const Ids target = rng.ids(i == 0 ? longest : rng.between(2, longest), one.info().target_vocab_size);
      const Outcome expected = run(one, wanted, source, {}, target), found = run(many, wanted, source, {}, target);
      EXPECT_EQ(found.result, expected.result);
      EXPECT_LT(found.n_steps, expected.n_steps);
    }
    EXPECT_TRUE(many.memory_intact());
  }
}

// A caller changes the ids of a sequence between two steps: each id is forbidden to follow itself.
TEST(Draft, IsIgnoredWithSequences) {
  const FileImage file = tiny_file(tiny_spec(TinyOptions()));
  TestEngine engine(file.span(), {.limits = {.beam_size = 5}});
  engine.change_search([](goldcrest_search& search) { search.beam_size = 1; });
  int32_t ids[] = {1, 3};
  const goldcrest_sequences sequences = {ids, nullptr, 2, 1, 0};
  ASSERT_EQ(goldcrest_set_sequences(engine.get(), &sequences), GOLDCREST_OK);
  const auto run = [&](const Ids& draft) {
    const Ids source = {3, 4, 5};
    EXPECT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
    EXPECT_EQ(goldcrest_set_draft(engine.get(), draft.data(), draft.size()), GOLDCREST_OK);
    ids[1] = 3;
    for (int32_t token = 0; goldcrest_step(engine.get(), &token) != GOLDCREST_DONE;) ids[1] = std::max(token, 1);
    return engine.results(0)[0];
  };
  const Translation expected = run({});
  EXPECT_EQ(run(expected.tokens), expected);
}

TEST(Draft, IsIgnoredWhereASearchCannotCheckIt) {
  TinyOptions options = {.decoder = {.n_recurrent = 1}};
  const FileImage recurrent = tiny_file(tiny_spec(options)), plain = tiny_file(tiny_spec(TinyOptions()));
  const Ids source = {3, 4, 5}, draft = {1, 2, 3, 4};
  for (const auto& [file, beam_size, flags] :
      {std::tuple(&recurrent, 1u, 0u), {&plain, 3u, 0u}, {&plain, 1u, unsigned{GOLDCREST_SEARCH_HASH_LOGITS}}}) {
    TestEngine engine(file->span(), {.limits = {.beam_size = 3, .n_best = 3}});
    engine.change_search([&](goldcrest_search& search) {
      search.beam_size = beam_size;
      search.flags = flags;
    });
    const Translation expected = engine.run(source);
    ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
    ASSERT_EQ(goldcrest_set_draft(engine.get(), draft.data(), draft.size()), GOLDCREST_OK);
    ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    EXPECT_EQ(engine.results(0)[0], expected);
  }
}

TEST(Draft, IsRefusedByName) {
  const FileImage file = tiny_file(tiny_spec(TinyOptions()));
  TestEngine engine(file.span(), {.limits = {.beam_size = 2}});
  const auto expect = [](TestEngine& of, const Ids& draft, int status, const std::string& message, int32_t index) {
    EXPECT_EQ(goldcrest_set_draft(of.get(), draft.data(), draft.size()), status);
    EXPECT_EQ(of.detail().message, message);
    EXPECT_EQ(of.detail().index, index);
  };
  expect(engine, {1}, GOLDCREST_ERROR_STATE, "begin first, and call this before the first step", -1);
  const Ids source = {3, 4, 5};
  ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
  expect(engine, {1, 2, 1 << 20}, GOLDCREST_ERROR_TOKEN_RANGE, "draft: id outside the vocabulary", 2);
  expect(engine, {1, -1}, GOLDCREST_ERROR_TOKEN_RANGE, "draft: id outside the vocabulary", 1);
  EXPECT_EQ(goldcrest_set_draft(engine.get(), nullptr, 1), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_set_draft(nullptr, nullptr, 0), GOLDCREST_ERROR_ARGUMENT);
  TestEngine single(file.span(), EngineSetup());
  ASSERT_EQ(goldcrest_begin(single.get(), source.data(), source.size()), 0);
  expect(single, {1}, GOLDCREST_ERROR_ARGUMENT,
      "draft: with limits.batch and limits.beam_size 1 there is no row to check it", -1);
}
}}  // namespace goldcrest::test
