// SPDX-License-Identifier: Apache-2.0
// Searches restricted to a lexicon: they must equal the naive search over the texts of its entries. Gathered and masked
// outputs give the same bits.
#include "host/lexicon.h"
#include "naive_search.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Entry = std::vector<int32_t>;
using Entries = std::vector<Entry>;

constexpr uint32_t kOutputs = 300;

ModelSpec lexicon_spec(uint64_t seed, uint32_t target_vocab_size = kOutputs) {
  TinyOptions options = deep_tiny_options();
  options.seed = seed;
  options.target_vocab_size = target_vocab_size;
  return tiny_spec(options);
}

// Entries that share prefixes and begin others, of ids from 1 to n_ids.
Entries random_entries(uint32_t n, uint32_t n_ids, Rng& rng) {
  Entries entries;
  while (entries.size() < n) {
    Entry entry;
    if (!entries.empty() && rng.below(2) == 1) {
      entry = entries[rng.below(static_cast<uint32_t>(entries.size()))];
      entry.resize(rng.below(static_cast<uint32_t>(entry.size()) + 1));
    }
    for (uint32_t more = 1 + rng.below(3); more > 0; --more)
      entry.push_back(static_cast<int32_t>(1 + rng.below(n_ids)));
    if (entry.size() < 9) entries.push_back(entry);
  }
  return entries;
}

bool begins(const Entry& entry, const Entry& text) {
  return text.size() <= entry.size() && std::equal(text.begin(), text.end(), entry.begin());
}

// Looks at every entry. With `words`, the rest of the text after the words that are over is what counts.
std::vector<uint32_t> naive_allowed(
    const Entries& entries, bool words, const Entry& text, const converter::GenerationSpec& generation) {
  const auto continues = [&](const Entry& begun) {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return begins(entry, begun); });
  };
  Entry word;
  for (const int32_t token : text) {
    Entry longer = word;
    longer.push_back(token);
    word = words && !continues(longer) ? Entry{token} : longer;
  }
  std::set<uint32_t> allowed;
  bool is_over = false;
  for (const Entry& entry : entries) {
    if (!begins(entry, word)) continue;
    if (entry.size() > word.size()) allowed.insert(static_cast<uint32_t>(entry[word.size()]));
    else is_over = true;
  }
  if (is_over) {
    allowed.insert(generation.end_id);
    allowed.insert(generation.rules.more_end_ids.begin(), generation.rules.more_end_ids.end());
  }
  for (const Entry& entry : entries)
    if (is_over && words && !entry.empty()) allowed.insert(static_cast<uint32_t>(entry[0]));
  return {allowed.begin(), allowed.end()};
}

goldcrest_search lexicon_search(uint32_t beam_size) {
  return {.beam_size = beam_size, .max_target_tokens = 12, .length_penalty = 0.8f, .flags = GOLDCREST_SEARCH_SCORES};
}

struct LexiconCase {
  ModelSpec spec;
  Entries entries;
  bool words;
};

EngineSetup lexicon_setup(const goldcrest_search& search, uint32_t max_candidates) {
  return {.limits = {.max_target_tokens = search.max_target_tokens,
              .beam_size = search.beam_size,
              .n_best = search.beam_size,
              .max_candidates = max_candidates,
              .lexicon = 1}};
}

std::vector<Translation> lexicon_results(const LexiconCase& of, const goldcrest_search& search,
    const std::vector<int32_t>& source, uint32_t max_candidates) {
  const FileImage file = tiny_file(of.spec);
  TestEngine engine(file.span(), lexicon_setup(search, max_candidates));
  engine.set_search(search);
  const LexiconSpec lexicon = make_lexicon(of.entries, of.words);
  const goldcrest_lexicon view = lexicon.view();
  EXPECT_EQ(goldcrest_set_lexicon(engine.get(), &view), GOLDCREST_OK);
  std::vector<Translation> results = engine.run(std::span(&source, 1)).at(0);
  EXPECT_TRUE(engine.memory_intact());
  return results;
}

std::vector<int32_t> lexicon_source(Rng& rng) { return rng.ids(rng.between(2, 7), 29); }

void expect_naive_lexicon(const LexiconCase& of, uint32_t beam_size, Rng& rng) {
  const std::vector<int32_t> source = lexicon_source(rng);
  const goldcrest_search search = lexicon_search(beam_size);
  const std::vector<Translation> found = lexicon_results(of, search, source, 40);
  const auto allow = [&](NaiveOptions& options) {
    options.allowed = [&](const Entry& prefix) {
      return naive_allowed(of.entries, of.words, prefix, of.spec.generation);
    };
  };
  const std::vector<NaiveHypothesis> expected = naive_results(of.spec, search, source, allow);
  for (const uint32_t max_candidates : {GOLDCREST_NO_SHORTLIST, 7u, 300u})
    EXPECT_EQ(lexicon_results(of, search, source, max_candidates), found) << max_candidates << " candidates";
  if (expected.empty() || std::isinf(expected[0].log_prob)) return;  // rules leave nothing: the text ends early
  expect_same(found, expected, 5e-5);
}

TEST(Lexicon, SearchesAreTheNaiveOnesOverItsTexts) {
  Rng rng(3);
  for (uint64_t round = 0; round < 24; ++round) {
    const bool words = round % 2 == 1;
    const uint32_t n_entries = round % 3 == 0 ? 1 : round % 3 == 1 ? 12 : 150, beam_size = 1 + rng.below(5);
    const LexiconCase of = {lexicon_spec(round), random_entries(n_entries, words ? 200 : 40, rng), words};
    SCOPED_TRACE(testing::Message() << "round " << round << ", beam size " << beam_size);
    expect_naive_lexicon(of, beam_size, rng);
    if (HasFailure()) return;
  }
}

// Rules, suppressed ids and more ends. With a repetition penalty, beams compute all outputs.
TEST(Lexicon, RulesLookAtWhatItAllows) {
  Rng rng(4);
  for (uint64_t round = 0; round < 24; ++round) {
    LexiconCase of = {lexicon_spec(40 + round), random_entries(60, 30, rng), round % 2 == 1};
    converter::RulesSpec& rules = of.spec.generation.rules;
    rules.force_end = rng.below(2) == 1;
    rules.no_repeat_ngram = rng.below(3);
    if (rng.below(2) == 1) rules.repetition_penalty = 1.0f + 0.25f * rng.uniform();
    if (rng.below(2) == 1) {
      rules.more_end_ids = {33, 250};
      rules.biases[rng.below(2) == 1 ? 33 : 250] = 4;
    }
    for (uint32_t id = 3; id < 30; id += 1 + rng.below(9)) rules.biases[id] = 3 * rng.uniform();
    for (uint32_t id = 5; id < 30; id += 1 + rng.below(12)) of.spec.generation.suppressed_ids.push_back(id);
    SCOPED_TRACE(testing::Message() << "round " << round);
    expect_naive_lexicon(of, 1 + rng.below(4), rng);
    if (HasFailure()) return;
  }
}

const FileImage& lexicon_file() {
  static const FileImage image = [] {
    ModelSpec spec = lexicon_spec(7);
    Rng rng(8);
    spec.lexicon = make_lexicon(random_entries(80, 60, rng), false);
    return tiny_file(spec);
  }();
  return image;
}

std::vector<std::vector<int32_t>> lexicon_sources() {
  Rng rng(5);
  std::vector<std::vector<int32_t>> sources;
  for (int i = 0; i < 5; ++i) sources.push_back(lexicon_source(rng));
  return sources;
}

// The file's lexicon holds without a call. Results depend neither on the batch, the threads, the size of steps nor on
// what the memory held.
TEST(Lexicon, OfAFileGivesTheSameBitsHoweverItRuns) {
  const std::vector<std::vector<int32_t>> sources = lexicon_sources();
  for (const uint32_t beam_size : {1u, 4u}) {
    std::vector<std::vector<Translation>> expected;
    for (uint32_t way = 0; way < 16; ++way) {
      EngineSetup setup = {
          .limits = {.beam_size = beam_size, .batch = 5, .n_best = beam_size, .threads = (way & 1) != 0 ? 3u : 1u},
          .step_size = (way & 2) != 0 ? GOLDCREST_STEP_LAYER : GOLDCREST_STEP_POSITION,
          .two_regions = (way & 2) != 0,
          .fill = static_cast<uint8_t>((way & 4) != 0 ? 0xFF : 0)};
      if ((way & 8) != 0) setup.limits.max_candidates = GOLDCREST_NO_SHORTLIST;
      TestEngine engine(lexicon_file().span(), setup);
      engine.change_search([](goldcrest_search& search) { search.flags = GOLDCREST_SEARCH_SCORES; });
      std::vector<std::vector<Translation>> found = engine.run(sources);
      if (way == 0) expected = found;
      EXPECT_EQ(found, expected) << "way " << way;
      for (size_t i = 0; i < sources.size(); ++i)
        EXPECT_EQ(engine.run(std::span(&sources[i], 1)).at(0), expected[i]) << "way " << way << ", sentence " << i;
      EXPECT_TRUE(engine.memory_intact());
    }
  }
}

// Null is the file's own again; a lexicon without nodes is none. Given targets and the self-test know of none.
TEST(Lexicon, CanBeReplacedAndTurnedOff) {
  const std::vector<int32_t> source = {4, 5, 6};
  TestEngine engine(lexicon_file().span(), {.limits = {.beam_size = 1, .inspection = GOLDCREST_INSPECT_TARGETS}});
  const std::vector<int32_t> of_file = engine.run(source).tokens;
  const goldcrest_lexicon none = {};
  ASSERT_EQ(goldcrest_set_lexicon(engine.get(), &none), GOLDCREST_OK);
  const std::vector<int32_t> free = engine.run(source).tokens;
  EXPECT_NE(free, of_file);
  const Translation scored_free = engine.score(std::span(&source, 1), std::span(&free, 1)).at(0);
  ASSERT_EQ(goldcrest_set_lexicon(engine.get(), nullptr), GOLDCREST_OK);
  EXPECT_EQ(engine.score(std::span(&source, 1), std::span(&free, 1)).at(0), scored_free);
  EXPECT_EQ(engine.run(source).tokens, of_file);
  const LexiconSpec other = make_lexicon({{7, 8}}, false);
  const goldcrest_lexicon view = other.view();
  ASSERT_EQ(goldcrest_set_lexicon(engine.get(), &view), GOLDCREST_OK);
  EXPECT_EQ(engine.run(source).tokens, (std::vector<int32_t>{7, 8, 0}));
  EXPECT_EQ(goldcrest_self_test(engine.get(), nullptr), GOLDCREST_ERROR_TOO_LONG);  // the file has no line
  EXPECT_EQ(engine.run(source).tokens, (std::vector<int32_t>{7, 8, 0}));
}

// A prefix begins an entry, the file's forced first id stands before it.
TEST(Lexicon, GoesOnBehindAPrefixAndAForcedId) {
  ModelSpec spec = lexicon_spec(9);
  for (const bool forced : {false, true}) {
    if (forced) spec.generation.forced_first_id = 250;
    const FileImage file = tiny_file(spec);
    for (const uint32_t beam_size : {1u, 3u}) {
      goldcrest_search search = lexicon_search(beam_size);
      EngineSetup setup = lexicon_setup(search, 40);
      setup.limits.max_prefix_tokens = 3;
      TestEngine engine(file.span(), setup);
      engine.set_search(search);
      const LexiconSpec lexicon = make_lexicon({{7, 8, 9}, {11}, {12, 13}}, false);
      const goldcrest_lexicon view = lexicon.view();
      ASSERT_EQ(goldcrest_set_lexicon(engine.get(), &view), GOLDCREST_OK);
      const auto with_prefix = [&](const std::vector<int32_t>& prefix) {
        const int32_t source[] = {4, 5, 6};
        EXPECT_EQ(goldcrest_begin(engine.get(), source, 3), 0);
        EXPECT_EQ(goldcrest_set_prefix(engine.get(), 0, prefix.data(), prefix.size(), GOLDCREST_PREFIX_BEHIND_PROMPT),
            GOLDCREST_OK);
        EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
        std::vector<int32_t> tokens = engine.results(0).at(0).tokens;
        if (forced) {
          EXPECT_EQ(tokens.at(0), 250);
          tokens.erase(tokens.begin());
        }
        return tokens;
      };
      EXPECT_EQ(with_prefix({7, 8}), (std::vector<int32_t>{7, 8, 9, 0}));
      EXPECT_EQ(with_prefix({12}), (std::vector<int32_t>{12, 13, 0}));
      EXPECT_EQ(with_prefix({13}), (std::vector<int32_t>{13, 0}));  // begins no entry: nothing is allowed
    }
  }
}

TEST(Lexicon, EndsWhereSuppressionLeavesNothing) {
  ModelSpec spec = lexicon_spec(10);
  spec.generation.suppressed_ids.push_back(8);
  const FileImage file = tiny_file(spec);
  for (const uint32_t beam_size : {1u, 3u}) {
    const goldcrest_search search = lexicon_search(beam_size);
    const std::vector<Translation> results = lexicon_results({spec, {{7, 8, 9}}, false}, search, {4, 5, 6}, 40);
    EXPECT_EQ(results.at(0).tokens, (std::vector<int32_t>{7, 0}));
  }
}

// Wrong arguments, and calls at the wrong time, change nothing.
TEST(Lexicon, RefusesWhatDoesNotFit) {
  const LexiconSpec good = make_lexicon({{7, 8}, {9}}, false);
  goldcrest_lexicon view = good.view();
  const FileImage file = tiny_file(lexicon_spec(7));
  EngineSetup setup;
  TestEngine without(file.span(), setup);
  EXPECT_EQ(goldcrest_set_lexicon(without.get(), &view), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_STREQ(without.detail().message, "lexicon: limits.lexicon is 0");
  EXPECT_EQ(without.detail().index, -1);
  EXPECT_EQ(goldcrest_set_lexicon(nullptr, &view), GOLDCREST_ERROR_ARGUMENT);
  setup.limits.lexicon = 1;
  setup.limits.beam_size = 1;
  TestEngine engine(file.span(), setup);
  ASSERT_EQ(goldcrest_set_lexicon(engine.get(), &view), GOLDCREST_OK);
  view.n_edges = 2;
  EXPECT_EQ(goldcrest_set_lexicon(engine.get(), &view), GOLDCREST_ERROR_ARGUMENT);
  const int32_t source[] = {4, 5, 6};
  EXPECT_EQ(goldcrest_begin(engine.get(), source, 3), 0);
  EXPECT_EQ(goldcrest_step(engine.get(), nullptr), GOLDCREST_WORKING);
  EXPECT_EQ(goldcrest_set_lexicon(engine.get(), nullptr), GOLDCREST_ERROR_STATE);
  EXPECT_STREQ(engine.detail().message, "set_lexicon: a search is under way");
  EXPECT_EQ(engine.detail().index, -1);
  EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  const std::vector<int32_t> tokens = engine.results(0).at(0).tokens;
  EXPECT_TRUE(tokens == (std::vector<int32_t>{7, 8, 0}) || tokens == (std::vector<int32_t>{9, 0}));
}

// The arrays end on unmapped pages. Whatever they hold while a search runs, nothing outside of them is read and every
// token is an id.
TEST(Lexicon, MayChangeWhileItIsUsed) {
  Rng rng(6);
  const FileImage file = tiny_file(lexicon_spec(7));
  const LexiconSpec good = make_lexicon(random_entries(30, 20, rng), true);
  GuardedBuffer<uint32_t> first_edge(good.first_edge.size());
  GuardedBuffer<goldcrest_lexicon_edge> edges(good.edges.size());
  for (uint32_t round = 0; round < 200; ++round) {
    std::copy(good.first_edge.begin(), good.first_edge.end(), first_edge.get());
    std::copy(good.edges.begin(), good.edges.end(), edges.get());
    EngineSetup setup = lexicon_setup(lexicon_search(1 + round % 3), round % 2 == 0 ? 16 : GOLDCREST_NO_SHORTLIST);
    TestEngine engine(file.span(), setup);
    const goldcrest_lexicon view = {
        first_edge.get(), edges.get(), good.n_nodes(), static_cast<uint32_t>(good.edges.size())};
    ASSERT_EQ(goldcrest_set_lexicon(engine.get(), &view), GOLDCREST_OK);
    const int32_t source[] = {4, 5, 6};
    ASSERT_EQ(goldcrest_begin(engine.get(), source, 3), 0);
    int status = GOLDCREST_WORKING;
    while (status >= 0 && status != GOLDCREST_DONE) {
      status = goldcrest_step(engine.get(), nullptr);
      const uint32_t values[] = {rng.below(400), UINT32_MAX - rng.below(3), view.n_nodes, view.n_edges, kOutputs};
      const uint32_t value = values[rng.below(5)];
      first_edge[rng.below(static_cast<uint32_t>(first_edge.size()))] = value;
      auto& edge = edges[rng.below(static_cast<uint32_t>(edges.size()))];
      (rng.below(2) == 0 ? edge.token : edge.child) = value;
    }
    ASSERT_EQ(status, GOLDCREST_DONE);
    const std::vector<int32_t> tokens = engine.results(0).at(0).tokens;
    for (const int32_t token : tokens) ASSERT_LT(static_cast<uint32_t>(token), kOutputs);
    ASSERT_TRUE(engine.memory_intact());
  }
}
}}  // namespace goldcrest::test
