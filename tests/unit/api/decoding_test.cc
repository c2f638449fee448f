// SPDX-License-Identifier: Apache-2.0
// The calls of goldcrest/decoding.h: which prefixes and lexicons are refused, and what a search agrees on after every
// step.
#include "goldcrest/decoding.h"
#include "api/engine.h"
#include "decoding/search/hypotheses.h"
#include "host/lexicon.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using Ids = std::vector<int32_t>;

EngineSetup setup_for(uint32_t batch, uint32_t beam_size) {
  return {
      .limits = {
          .max_target_tokens = 9, .beam_size = beam_size, .batch = batch, .n_best = beam_size, .max_prefix_tokens = 6}};
}

// Gives a prefix to sentence 0. Returns the message; nothing if the call succeeds.
std::string refusal(const TestEngine& engine, const Ids& prefix, int expected, int32_t index, uint32_t flags = 0) {
  EXPECT_EQ(goldcrest_set_prefix(engine.get(), 0, prefix.data(), prefix.size(), flags), expected);
  if (expected == GOLDCREST_OK) return "";
  EXPECT_EQ(engine.detail().index, index);
  return engine.detail().message;
}

TEST(SetPrefix, SaysWhatIsWrong) {
  ModelSpec spec = tiny_spec({});
  spec.generation.rules.more_end_ids = {7};
  spec.generation.prompt.forced_ids = {4, 5, 6};
  const FileImage file = tiny_file(spec);
  TestEngine engine(file.span(), setup_for(2, 1));
  const Ids source = {3, 1, 4};
  const std::string too_late = "begin first, and call this before the first step";
  EXPECT_EQ(refusal(engine, {1}, GOLDCREST_ERROR_STATE, -1), too_late);
  ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
  EXPECT_EQ(refusal(engine, {1, 36, -1}, GOLDCREST_ERROR_TOKEN_RANGE, 2), "prefix: id outside the vocabulary");
  EXPECT_EQ(refusal(engine, {1, 37}, GOLDCREST_ERROR_TOKEN_RANGE, 1), "prefix: id outside the vocabulary");
  EXPECT_EQ(refusal(engine, {1, 0}, GOLDCREST_ERROR_ARGUMENT, 1), "prefix: an end id");
  EXPECT_EQ(refusal(engine, {7}, GOLDCREST_ERROR_ARGUMENT, 0), "prefix: an end id");
  EXPECT_EQ(refusal(engine, Ids(7, 1), GOLDCREST_ERROR_TOO_LONG, 6), "prefix: more ids than limits.max_prefix_tokens");
  EXPECT_EQ(refusal(engine, Ids(6, 1), GOLDCREST_ERROR_TOO_LONG, 9, GOLDCREST_PREFIX_BEHIND_PROMPT),
      "prefix: limits.max_target_tokens leaves no position behind it");
  EXPECT_EQ(refusal(engine, {1}, GOLDCREST_ERROR_ARGUMENT, -1, 6), "prefix: unknown flags");
  EXPECT_EQ(refusal(engine, {1}, GOLDCREST_ERROR_ARGUMENT, -1, 8), "prefix: unknown flags");
  EXPECT_EQ(goldcrest_set_prefix(engine.get(), 1, source.data(), 1, 0), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(engine.detail().message, "sentence: no such source");
  EXPECT_EQ(goldcrest_set_prefix(engine.get(), 0, nullptr, 1, 0), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(engine.detail().message, "prefix: null");
  EXPECT_EQ(engine.detail().index, -1);
  EXPECT_EQ(goldcrest_set_prefix(nullptr, 0, source.data(), 1, 0), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(refusal(engine, Ids(5, 36), GOLDCREST_OK, -1, GOLDCREST_PREFIX_BEHIND_PROMPT), "")
      << "suppressed, but kept";
  ASSERT_GE(goldcrest_step(engine.get(), nullptr), 0);
  EXPECT_EQ(refusal(engine, {1}, GOLDCREST_ERROR_STATE, -1), too_late);
  ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  EXPECT_EQ(engine.results(0)[0].tokens, (Ids{4, 5, 6, 36, 36, 36, 36, 36, 0}));
  EXPECT_EQ(refusal(engine, {1}, GOLDCREST_ERROR_STATE, -1), too_late);
}

// A later prefix replaces an earlier one, no ids take it back, and so does the next source.
TEST(SetPrefix, Lasts) {
  const FileImage file = tiny_file(tiny_spec({}));
  TestEngine engine(file.span(), setup_for(1, 1));
  const Ids source = {3, 1, 4}, first = {5, 6}, second = {8};
  const Ids free = engine.run(source).tokens;
  const auto tokens_with = [&](const std::vector<Ids>& prefixes) {
    EXPECT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
    for (const Ids& prefix : prefixes)
      EXPECT_EQ(goldcrest_set_prefix(engine.get(), 0, prefix.data(), prefix.size(), 0), GOLDCREST_OK);
    EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    return engine.results(0)[0].tokens;
  };
  EXPECT_EQ(tokens_with({first})[1], 6);
  EXPECT_EQ(tokens_with({first, second})[0], 8);
  EXPECT_EQ(tokens_with({first, second}), tokens_with({second}));
  EXPECT_EQ(tokens_with({first, {}}), free);
  EXPECT_EQ(engine.run(source).tokens, free);
  goldcrest_result result;
  ASSERT_EQ(goldcrest_get_result(engine.get(), 0, 0, &result), GOLDCREST_OK);
  EXPECT_EQ(result.n_prefix, 0u);
}

TEST(SetPrefix, NeedsItsLimit) {
  ModelSpec spec = tiny_spec({});
  goldcrest_limits limits = {.max_prefix_tokens = 8};
  const FileImage without = tiny_file(spec), with = tiny_file(spec, Layout::kN16K4, limits);
  EngineSetup setup = {.limits = {.batch = 4}};
  const TestEngine none(without.span(), setup), some(with.span(), setup);
  EXPECT_EQ(none.memory().limits.max_prefix_tokens, 0u);
  EXPECT_EQ(some.memory().limits.max_prefix_tokens, 8u);
  EXPECT_EQ(some.memory().arena_bytes - none.memory().arena_bytes, 128u) << "4 * 8 * 4";
  setup.limits.max_target_tokens = 5;
  EXPECT_EQ(TestEngine(with.span(), setup).memory().limits.max_prefix_tokens, 4u) << "the file's is cut";
  const Ids source = {3, 1, 4};
  ASSERT_EQ(goldcrest_begin(none.get(), source.data(), source.size()), 0);
  EXPECT_EQ(refusal(none, {1}, GOLDCREST_ERROR_TOO_LONG, 0), "prefix: more ids than limits.max_prefix_tokens");
  setup.limits.max_prefix_tokens = 1;
  const TestEngine one(without.span(), setup);
  ASSERT_EQ(goldcrest_begin(one.get(), source.data(), source.size()), 0);
  EXPECT_EQ(refusal(one, {6}, GOLDCREST_OK, -1), "");
  ASSERT_EQ(goldcrest_run(one.get()), GOLDCREST_DONE);
  EXPECT_EQ(one.results(0)[0].tokens[0], 6);
}

TEST(CheckLexicon, SaysWhatIsWrong) {
  const LexiconSpec good = make_lexicon({{7, 8}, {9}}, false);
  const goldcrest_lexicon view = good.view();
  goldcrest_detail detail = {nullptr, 0};
  EXPECT_EQ(goldcrest_check_lexicon(&view, 10, &detail), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_check_lexicon(nullptr, 10, &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "lexicon: null");
  EXPECT_EQ(goldcrest_check_lexicon(&view, 9, &detail), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "lexicon: a node");
  EXPECT_EQ(detail.index, 0);
  const LexiconSpec ascending = make_lexicon({{0}, {1}, {2, 3}, {2}}, true);
  const auto refused = [&](const LexiconSpec& of, int32_t node, auto change) {
    LexiconSpec bad = of;
    goldcrest_lexicon of_bad = of.view();
    EXPECT_EQ(goldcrest_check_lexicon(&of_bad, 300, &detail), GOLDCREST_OK);
    change(bad, of_bad);
    if (of_bad.first_edge != nullptr) of_bad.first_edge = bad.first_edge.data();
    if (of_bad.edges != nullptr) of_bad.edges = bad.edges.data();
    EXPECT_EQ(goldcrest_check_lexicon(&of_bad, 300, &detail), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(detail.index, node);
  };
  refused(good, 0, [](LexiconSpec& bad, auto&) { std::swap(bad.edges[0].token, bad.edges[1].token); });
  refused(good, 0, [](LexiconSpec& bad, auto&) { bad.edges[1].token = bad.edges[0].token; });
  refused(good, 0, [](LexiconSpec& bad, auto&) { bad.edges[0].child = 0; });
  refused(good, 0, [](LexiconSpec& bad, auto&) { bad.edges[0].child = 4; });
  refused(good, 0, [](LexiconSpec& bad, auto&) { bad.first_edge[0] = 1; });
  refused(good, 1, [](LexiconSpec& bad, auto&) { bad.first_edge[2] = 2; });  // a node without edges reaches no end
  refused(good, 3, [](LexiconSpec& bad, auto&) { bad.first_edge[4] = 99; });
  refused(good, 3, [](LexiconSpec& bad, auto&) { bad.edges.back().child = 1; });
  refused(ascending, 3, [](LexiconSpec& bad, auto&) { std::swap(bad.edges[5], bad.edges[6]); });  // END comes last
  using View = goldcrest_lexicon;
  refused(good, 3, [](auto&, View& bad) { ++bad.n_edges; });
  refused(good, -1, [](auto&, View& bad) { bad.n_nodes = 0; });
  refused(good, -1, [](auto&, View& bad) { bad.first_edge = nullptr; });
  refused(good, -1, [](auto&, View& bad) { bad.edges = nullptr; });
  constexpr uint32_t kMost = 1u << 26;  // nodes, and edges
  for (const bool beyond : {false, true}) {
    const int32_t node = beyond ? -1 : 0;  // where there are too many, nothing is read
    const uint32_t n = beyond ? kMost + 1 : kMost;
    refused(good, node, [&](LexiconSpec& of, View& bad) { of.first_edge[0] = 1, bad.n_nodes = n; });
    refused(good, node, [&](LexiconSpec& of, View& bad) { of.first_edge[0] = 1, bad.n_edges = n; });
  }
}

// Calls goldcrest_get_agreed for a sentence with memory of exactly the size that it needs.
Ids agreed(const TestEngine& engine, uint32_t sentence) {
  Ids ids(engine.memory().limits.max_target_tokens);
  const int n = goldcrest_get_agreed(engine.get(), sentence, ids.data(), ids.size());
  EXPECT_GE(n, 0);
  ids.resize(static_cast<size_t>(std::max(n, 0)));
  if (n > 0) {
    Ids shorter(ids.size());
    EXPECT_EQ(
        goldcrest_get_agreed(engine.get(), sentence, shorter.data(), shorter.size() - 1), GOLDCREST_ERROR_TRUNCATED);
    EXPECT_EQ(engine.detail().index, -1);
    shorter.back() = ids.back();
    EXPECT_EQ(shorter, ids);
  }
  return ids;
}

bool begins(const Ids& whole, const Ids& part) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// Requires, while no hypothesis of a sentence has finished, that the live ones have just this many tokens in common.
void expect_common(TestEngine& engine, uint32_t sentence, size_t n) {
  if (engine.get()->state != EngineState::kDecoding) return;
  const SentenceView view = sentence_view(engine.get()->buffers, sentence);
  if (view.state->n_finished > 0 || view.state->n_live == 0) return;
  const uint32_t position = engine.get()->step.position;
  const auto have = [&](uint32_t t) {  // the live hypotheses have the same token at position t, from 1
    const int32_t token = view.past_of(0, position).token_at(t);
    for (uint32_t b = 1; b < view.state->n_live; ++b)
      if (view.past_of(b, position).token_at(t) != token) return false;
    return true;
  };
  uint32_t common = 0;
  while (common < position && have(common + 1)) ++common;
  EXPECT_EQ(n, common);
}

// After every step: what was agreed is all that the hypotheses share, and begins every later agreement and the final
// result. Returns the share of tokens that were agreed when half of a sentence's steps were done.
double expect_agreement(TestEngine& engine, const std::vector<Ids>& sources) {
  engine.begin(sources);
  const Ids prefix = {5, 6};
  EXPECT_EQ(goldcrest_set_prefix(engine.get(), 0, prefix.data(), 2, 0), GOLDCREST_OK);
  std::vector<std::vector<Ids>> seen(sources.size());
  for (int status = GOLDCREST_WORKING; status != GOLDCREST_DONE;) {
    for (uint32_t i = 0; i < sources.size(); ++i) {
      seen[i].push_back(agreed(engine, i));
      expect_common(engine, i, seen[i].back().size());
    }
    status = goldcrest_step(engine.get(), nullptr);
    EXPECT_GE(status, 0);
    if (status < 0) return 0;
  }
  double share = 0;
  for (uint32_t i = 0; i < sources.size(); ++i) {
    const Ids result = engine.results(i)[0].tokens;
    EXPECT_EQ(agreed(engine, i), result);
    seen[i].push_back(result);
    size_t done = 0;
    for (size_t step = 0; step + 1 < seen[i].size(); ++step) {
      EXPECT_TRUE(begins(seen[i][step + 1], seen[i][step])) << "sentence " << i << ", step " << step;
      if (seen[i][step].empty()) done = step + 1;
    }
    share +=
        static_cast<double>(seen[i][done + (seen[i].size() - done) / 2].size()) / static_cast<double>(result.size());
  }
  return share / static_cast<double>(sources.size());
}

TEST(Agreement, BeginsEveryLaterOne) {
  Rng rng(3);
  uint32_t n_models = 0;
  for (const uint32_t beam_size : {1u, 2u, 4u, 8u, 16u}) {
    double share = 0;
    uint32_t n = 0;
    for (const auto stopping : {GOLDCREST_STOP_LIKELY, GOLDCREST_STOP_FULL, GOLDCREST_STOP_NEVER}) {
      for (uint32_t seed = 0; seed < 12; ++seed) {
        TinyOptions options = {.seed = 100 * beam_size + ++n_models, .end_bias = static_cast<float>(seed % 4)};
        if (seed % 3 == 2) options.target_vocab_size = 5;  // fewer continuations than beams
        options.target_vocab_size += 3;
        ModelSpec spec = tiny_spec(options);
        spec.generation.rules.early_stopping = stopping;
        spec.generation.length_penalty = seed % 2 == 0 ? 1.0f : 0.2f;
        const FileImage file = tiny_file(spec);
        EngineSetup setup = setup_for(3, beam_size);
        setup.limits.max_target_tokens = 20;
        if (seed % 2 == 1) setup.step_size = GOLDCREST_STEP_LAYER;
        TestEngine engine(file.span(), setup);
        share += expect_agreement(engine, {rng.ids(5, 29), rng.ids(12, 29), rng.ids(1, 29)});
        ++n;
      }
    }
    RecordProperty("beam_" + std::to_string(beam_size), std::to_string(share / n));
    EXPECT_GT(share / n, beam_size == 1 ? 0.3 : 0.05) << beam_size << " beams: the agreement is not always empty";
  }
}

TEST(Agreement, SaysWhatIsWrong) {
  const FileImage file = tiny_file(tiny_spec({}));
  TestEngine engine(file.span(), setup_for(2, 3));
  int32_t ids[9];
  EXPECT_EQ(goldcrest_get_agreed(nullptr, 0, ids, 9), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_get_agreed(engine.get(), 0, ids, 9), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(engine.detail().message, "sentence: no such source");
  EXPECT_EQ(engine.detail().index, -1);
  const Ids source = {3, 1, 4};
  ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
  EXPECT_EQ(goldcrest_get_agreed(engine.get(), 0, nullptr, 1), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_get_agreed(engine.get(), 1, ids, 9), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_get_agreed(engine.get(), 0, nullptr, 0), 0) << "nothing is certain yet";
  ASSERT_GE(goldcrest_step(engine.get(), nullptr), 0);
  EXPECT_EQ(goldcrest_get_agreed(engine.get(), 0, ids, 9), 0);
  // A search that is left unfinished leaves nothing behind.
  const Ids whole = engine.run(source).tokens;
  ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
  for (int i = 0; i < 5; ++i) ASSERT_GE(goldcrest_step(engine.get(), nullptr), 0);
  goldcrest_reset(engine.get());
  EXPECT_EQ(goldcrest_get_agreed(engine.get(), 0, ids, 9), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(engine.run(source).tokens, whole);
}
}}  // namespace goldcrest::test
