// SPDX-License-Identifier: Apache-2.0
// Searches among a source's candidates: the choice of candidates; gathered logits, with the bits of the whole
// vocabulary's; and the search, which must equal the naive one over only these ids.
#include "host/lexicon.h"
#include "naive_search.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
constexpr uint32_t kSourceVocabulary = 50;

ModelSpec listed_spec(uint64_t seed, uint32_t target_vocab_size = 300) {
  TinyOptions options = deep_tiny_options();
  options.seed = seed;
  options.target_vocab_size = target_vocab_size;
  ModelSpec spec = tiny_spec(options);
  add_shortlist(seed, spec);
  return spec;
}

// Looks for every list's ids in the source.
std::vector<uint32_t> naive_candidates(const ModelSpec& spec, const std::vector<int32_t>& source) {
  const converter::ShortlistSpec& shortlist = *spec.shortlist;
  std::set<uint32_t> ids(shortlist.always.begin(), shortlist.always.end());
  ids.insert(spec.generation.end_id);
  ids.insert(spec.generation.rules.more_end_ids.begin(), spec.generation.rules.more_end_ids.end());
  for (const int32_t id : source) {
    const auto i = static_cast<size_t>(id);
    for (uint64_t at = shortlist.offset[i]; at < shortlist.offset[i + 1]; ++at) ids.insert(shortlist.ids[at]);
  }
  for (const auto& [ngram, list] : shortlist.ngrams) {
    const std::vector<int32_t> wanted(ngram.begin(), ngram.end());
    if (std::search(source.begin(), source.end(), wanted.begin(), wanted.end()) != source.end())
      ids.insert(list.begin(), list.end());
  }
  return {ids.begin(), ids.end()};
}

// A source with the pairs and triples that have lists, and with other ids between them.
std::vector<int32_t> source_with_ngrams(const ModelSpec& spec, Rng& rng) {
  std::vector<int32_t> source;
  for (int i = 0; i < 3; ++i) {
    const auto& ngrams = spec.shortlist->ngrams;
    const auto& ngram = ngrams[rng.below(static_cast<uint32_t>(ngrams.size()))].ngram;
    source.insert(source.end(), ngram.begin(), ngram.end());
    if (rng.below(2) == 0) source.push_back(static_cast<int32_t>(rng.below(kSourceVocabulary)));
  }
  return source;
}

uint32_t outputs_of(const TestEngine& engine) {
  goldcrest_result result = {};
  EXPECT_EQ(goldcrest_get_result(engine.get(), 0, 0, &result), GOLDCREST_OK);
  return result.n_outputs;
}

struct Stored {
  Layout layout;
  converter::Weights weights;
};

// Feeds both engines the same tokens up to the first difference. Until then the gathered logits have the same bits, in
// the order of the ids.
void expect_same_logits(const ModelSpec& spec, const FileImage& file, const char* kernels, Rng& rng) {
  TracedRows listed, whole;
  EngineSetup setup = logits_setup(&listed);
  setup.kernels = kernels;
  TestEngine among_candidates(file.span(), setup);
  setup.trace_context = &whole;
  setup.limits.max_candidates = GOLDCREST_NO_SHORTLIST;
  TestEngine among_all(file.span(), setup);
  const std::vector<int32_t> source = source_with_ngrams(spec, rng);
  const std::vector<uint32_t> ids = naive_candidates(spec, source);
  const std::vector<int32_t> a = among_candidates.run(source).tokens, b = among_all.run(source).tokens;
  EXPECT_EQ(outputs_of(among_candidates), ids.size());
  EXPECT_EQ(outputs_of(among_all), spec.projection.weight->rows);
  const auto same = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  for (size_t position = 0; position < std::min({same + 1, listed.size(), whole.size()}); ++position) {
    ASSERT_EQ(listed[position].size(), ids.size());
    for (size_t i = 0; i < ids.size(); ++i)
      ASSERT_EQ(listed[position][i], whole[position][ids[i]]) << "position " << position << ", id " << ids[i];
  }
  EXPECT_TRUE(among_candidates.memory_intact());
}

TEST(Shortlist, GatheredLogitsHaveTheSameBits) {
  const Stored stored[] = {{Layout::kN16K4, converter::Weights::kInt8}, {Layout::kN4K16, converter::Weights::kInt8},
      {Layout::kN16K4, converter::Weights::kFloat32}};
  for (const auto& [layout, weights] : stored) {
    Rng rng(7);
    for (const uint32_t vocab_size : {300u, 1500u}) {
      const ModelSpec spec = listed_spec(4, vocab_size);
      const FileImage file = tiny_file(spec, layout, {}, weights);
      for (uint32_t i = 0; goldcrest_kernels_at(i) != nullptr; ++i) {
        SCOPED_TRACE(testing::Message() << goldcrest_kernels_at(i) << ", vocabulary " << vocab_size);
        for (int round = 0; round < 3; ++round) expect_same_logits(spec, file, goldcrest_kernels_at(i), rng);
        if (HasFailure()) return;
      }
    }
  }
}

// Ids of more than 16 bits.
TEST(Shortlist, OfALargeVocabulary) {
  const ModelSpec spec = listed_spec(6, 70000);
  const FileImage file = tiny_file(spec, Layout::kN16K4, {.max_candidates = 40000});
  Rng rng(8);
  expect_same_logits(spec, file, nullptr, rng);
}

void expect_naive(const ModelSpec& spec, uint32_t beam_size, Rng& rng) {
  const std::vector<int32_t> source = source_with_ngrams(spec, rng);
  const goldcrest_search search = {
      .beam_size = beam_size, .max_target_tokens = 12, .length_penalty = 0.8f, .flags = GOLDCREST_SEARCH_SCORES};
  const auto among_candidates = [&](NaiveOptions& options) { options.candidates = naive_candidates(spec, source); };
  expect_same(engine_results(spec, search, source), naive_results(spec, search, source, among_candidates), 5e-5);
}

TEST(Shortlist, SearchesAreTheNaiveOnesAmongCandidates) {
  Rng rng(9);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    for (const uint32_t beam_size : {1u, 2u, 5u}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", beam size " << beam_size);
      expect_naive(listed_spec(seed), beam_size, rng);
      if (HasFailure()) return;
    }
  }
}

// Biased and suppressed ids, ends and repeated ids, which are candidates or not.
TEST(Shortlist, RulesLookAtCandidates) {
  Rng rng(10);
  for (int round = 0; round < 10; ++round) {
    ModelSpec spec = listed_spec(20 + static_cast<uint64_t>(round));
    converter::RulesSpec& rules = spec.generation.rules;
    rules.renormalize = rng.below(2) == 1;
    rules.force_end = rng.below(2) == 1;
    if (rng.below(2) == 1) rules.more_end_ids = {7, 130};
    rules.no_repeat_ngram = rng.below(3);
    if (rng.below(2) == 1) rules.repetition_penalty = 1.0f + 0.25f * rng.uniform();
    for (uint32_t id = 3; id < 300; id += 1 + rng.below(40)) rules.biases[id] = 3 * rng.uniform();
    for (uint32_t id = 5; id < 250; id += 1 + rng.below(20)) spec.generation.suppressed_ids.push_back(id);
    const uint32_t beam_size = 1 + rng.below(4);
    SCOPED_TRACE(testing::Message() << "round " << round << ", beam size " << beam_size);
    expect_naive(spec, beam_size, rng);
    if (HasFailure()) return;
  }
}

TEST(Shortlist, TheEndIsAlwaysACandidate) {
  ModelSpec spec = listed_spec(11);
  spec.shortlist = {{}, std::vector<uint64_t>(kSourceVocabulary + 1), {}, {}};
  const FileImage file = tiny_file(spec);
  TestEngine engine(file.span(), {});
  EXPECT_EQ(engine.run({4, 5, 6}).tokens, (std::vector<int32_t>{0}));
  EXPECT_EQ(outputs_of(engine), 1u);
}

// A forced id need not be a candidate.
TEST(Shortlist, AForcedIdIsForced) {
  ModelSpec spec = listed_spec(12);
  Rng rng(12);
  const std::vector<int32_t> source = source_with_ngrams(spec, rng);
  const std::vector<uint32_t> ids = naive_candidates(spec, source);
  uint32_t forced = 1;
  while (std::binary_search(ids.begin(), ids.end(), forced)) ++forced;
  spec.generation.forced_first_id = forced;
  for (const uint32_t beam_size : {1u, 3u}) {
    goldcrest_search search = {.beam_size = beam_size, .max_target_tokens = 9};
    const std::vector<int32_t> tokens = engine_results(spec, search, source).at(0).tokens;
    EXPECT_EQ(tokens[0], static_cast<int32_t>(forced));
    for (size_t i = 1; i < tokens.size(); ++i)
      EXPECT_TRUE(std::binary_search(ids.begin(), ids.end(), static_cast<uint32_t>(tokens[i])));
  }
}

using Entries = std::vector<std::vector<int32_t>>;

// Returns five samples, or at most five alternatives, of a lexicon's texts with a sequence that is suppressed: its
// length, then its ids. Computes all outputs if `masks`, else only the allowed ones.
std::vector<Translation> draw_entries(
    const Entries& entries, const std::vector<int32_t>& suppressed, bool draws, bool masks, float min_p) {
  TinyOptions options = deep_tiny_options();
  options.target_vocab_size = 300;
  const FileImage file = tiny_file(tiny_spec(options));
  EngineSetup setup = {.limits = {.max_target_tokens = 8,
                           .beam_size = 5,
                           .n_best = 5,
                           .max_candidates = masks ? GOLDCREST_NO_SHORTLIST : 20,
                           .max_sampled = 5,
                           .lexicon = 1}};
  TestEngine engine(file.span(), setup);
  engine.change_search([](goldcrest_search& search) {
    search.beam_size = 1;
    search.flags = GOLDCREST_SEARCH_SCORES;
  });
  const LexiconSpec lexicon = make_lexicon(entries, false);
  const goldcrest_lexicon view = lexicon.view();
  EXPECT_EQ(goldcrest_set_lexicon(engine.get(), &view), GOLDCREST_OK);
  const auto n_ids = static_cast<uint32_t>(suppressed.size());
  const goldcrest_sequences sequences = {suppressed.data(), nullptr, n_ids, 1, 0};
  EXPECT_EQ(goldcrest_set_sequences(engine.get(), &sequences), GOLDCREST_OK);
  const goldcrest_sampling sampling = {11, 4, 5, 1, min_p, 5, 0};
  EXPECT_EQ(
      draws ? goldcrest_set_sampling(engine.get(), &sampling) : goldcrest_set_alternatives(engine.get(), 5, min_p),
      GOLDCREST_OK);
  const std::vector<int32_t> source = {4, 5, 6};
  std::vector<Translation> found = engine.run(std::span(&source, 1)).at(0);
  EXPECT_TRUE(engine.memory_intact());
  return found;
}

// Draws and alternatives choose among a lexicon's texts without those that a sequence suppresses, and have the same
// bits whether only the allowed outputs are computed or all.
TEST(LexiconOutputs, HoldForDrawsAndAlternatives) {
  const Entries entries = {{7, 8}, {7, 9}, {10}, {11, 12, 13}, {14, 15}};
  for (const bool draws : {true, false}) {
    std::vector<Translation> found = draw_entries(entries, {2, 7, 9}, draws, false, 0);
    EXPECT_EQ(found, draw_entries(entries, {2, 7, 9}, draws, true, 0));
    ASSERT_EQ(found.size(), draws ? 5u : 4u) << "four different ids begin texts";
    std::set<std::vector<int32_t>> texts;
    for (Translation& result : found) {
      ASSERT_EQ(result.tokens.back(), 0);
      result.tokens.pop_back();
      EXPECT_EQ(std::count(entries.begin(), entries.end(), result.tokens), 1);
      EXPECT_NE(result.tokens, entries[1]);
      EXPECT_LE(result.log_prob, 0.0f);
      texts.insert(result.tokens);
    }
    EXPECT_GE(texts.size(), draws ? 1u : 4u);
  }
}

TEST(LexiconOutputs, EndWhereSuppressionLeavesNothing) {
  for (const bool draws : {true, false}) {
    for (const bool masks : {true, false}) {
      for (const int32_t suppressed : {7, 8}) {
        const std::vector<Translation> found = draw_entries({{7, 8}}, {1, suppressed}, draws, masks, 0);
        ASSERT_EQ(found.size(), draws ? 5u : 1u);
        const std::vector<int32_t> expected = suppressed == 7 ? std::vector{0} : std::vector{7, 0};
        for (const Translation& result : found) EXPECT_EQ(result.tokens, expected);
      }
    }
  }
}

TEST(LexiconOutputs, AreTheBestIfOthersAreTooUnlikely) {
  const std::vector<Translation> best = draw_entries({{7, 8}, {10}, {11}}, {1, 299}, false, false, 1);
  ASSERT_EQ(best.size(), 1u);
  const std::vector<Translation> drawn = draw_entries({{7, 8}, {10}, {11}}, {1, 299}, true, false, 1);
  ASSERT_EQ(drawn.size(), 5u);
  for (const Translation& result : drawn) EXPECT_EQ(result.tokens, best[0].tokens);
}

// With one more than limits.max_candidates, all outputs are computed.
TEST(LexiconOutputs, AreGatheredUpToTheLimit) {
  TinyOptions options = deep_tiny_options();
  options.target_vocab_size = 300;
  const FileImage file = tiny_file(tiny_spec(options));
  for (const int32_t n : {16, 17}) {
    TracedRows traced;
    EngineSetup setup = logits_setup(&traced);
    setup.limits.beam_size = setup.limits.lexicon = 1;
    setup.limits.max_candidates = 16;
    TestEngine engine(file.span(), setup);
    Entries entries;
    for (int32_t id = 1; id <= n; ++id) entries.push_back({id});
    const LexiconSpec lexicon = make_lexicon(entries, false);
    const goldcrest_lexicon view = lexicon.view();
    ASSERT_EQ(goldcrest_set_lexicon(engine.get(), &view), GOLDCREST_OK);
    engine.run(std::vector<int32_t>{4, 5, 6});
    EXPECT_EQ(traced.at(0).size(), n == 16 ? 16u : 300u);
  }
}
}}  // namespace goldcrest::test
