// SPDX-License-Identifier: Apache-2.0
// Sampling: what a draw keeps and how often it takes each token, what samples depend on, and settings that are refused.
#include "decoding/search/sampling.h"
#include "base/hash.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using Ids = std::vector<int32_t>;

constexpr uint32_t kMost = 12;  // target tokens
constexpr goldcrest_sampling kPlain = {7, 1.0f, 20, 1.0f, 0.0f, 0, 0};

// The probabilities of sorted logits by transformers' rules, in double; empty entries after the kept ones.
std::vector<double> expected_probabilities(const goldcrest_sampling& sampling, const std::vector<float>& values) {
  std::vector<double> p;
  double sum = 0, kept = 0;
  for (const float value : values) p.push_back(std::exp((double{value} - double{values[0]}) / sampling.temperature));
  for (const double weight : p) sum += weight;
  double before = 0;
  size_t n = 0;
  for (; n < p.size() && (n == 0 || (before < double{sampling.top_p} * sum && p[n] >= double{sampling.min_p})); ++n)
    before += p[n];
  p.resize(n);
  for (const double weight : p) kept += weight;
  for (double& weight : p) weight /= kept;
  return p;
}

std::vector<float> sorted_values(Rng& rng, uint32_t n, float largest) {
  std::vector<float> values(n);
  for (float& value : values) value = largest * rng.uniform();
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

TEST(Sampling, KeepsWhatTheRulesKeep) {
  Rng rng(1);
  for (uint32_t i = 0; i < 1000; ++i) {
    std::vector<float> values = sorted_values(rng, rng.between(1, 256), 4);
    goldcrest_sampling sampling = kPlain;
    sampling.temperature = std::exp2(static_cast<float>(rng.below(5)) - 2.0f);
    if (i % 3 != 0) sampling.top_p = static_cast<float>(rng.between(1, 99)) / 100.0f;
    if (i % 2 != 0) sampling.min_p = static_cast<float>(rng.between(0, 99)) / 300.0f;
    if (i % 7 == 0) values.assign(values.size(), 1.5f), sampling.top_p = 0.5f, sampling.min_p = 1.0f;  // at the bounds
    const std::vector<double> expected = expected_probabilities(sampling, values);
    const KeptTokens kept = keep_tokens(sampling, values.data(), static_cast<uint32_t>(values.size()));
    ASSERT_EQ(kept.n, expected.size());
    for (uint32_t j = 0; j < kept.n; ++j)
      ASSERT_NEAR(double{token_weight(sampling, values.data(), j)} / double{kept.sum}, expected[j], 1e-6);
  }
}

// tests/peers/sampling_rows.py wrote the file, from transformers' logits processors.
TEST(Sampling, KeepsWhatTransformersKeeps) {
  std::ifstream file(GOLDCREST_SOURCE_DIR "/tests/data/sampling_rows.tsv");
  uint64_t seed = 0;
  uint32_t n = 0, n_rows = 0, n_kept = 0;
  goldcrest_sampling row = kPlain;
  double first = 0, middle = 0, last = 0;
  while (file >> seed >> n >> row.temperature >> row.top_k >> row.top_p >> row.min_p >> n_kept >> first >> middle >>
         last) {
    Rng rng(seed);
    std::vector<float> values = sorted_values(rng, n, 6);
    values.resize(std::min(n, row.top_k));
    const KeptTokens kept = keep_tokens(row, values.data(), static_cast<uint32_t>(values.size()));
    ASSERT_EQ(kept.n, n_kept) << "row " << seed;
    const auto probability = [&](uint32_t i) { return double{token_weight(row, values.data(), i)} / double{kept.sum}; };
    ASSERT_NEAR(probability(0), first, 1e-6) << "row " << seed;
    ASSERT_NEAR(probability(n_kept / 2), middle, 1e-6) << "row " << seed;
    ASSERT_NEAR(probability(n_kept - 1), last, 1e-6) << "row " << seed;
    ++n_rows;
  }
  EXPECT_EQ(n_rows, 1000u);
}

TEST(Sampling, HasPhiloxsRandomBits) {
  EXPECT_EQ(random_bits(0, {0, 0, 0}), 0x6627e8d5u >> 8) << "Random123, kat_vectors: philox4x32 10";
  EXPECT_NE(random_bits(0, {1, 0, 0}), random_bits(0, {0, 1, 0}));
  EXPECT_NE(random_bits(uint64_t{1} << 32, {0, 0, 0}), random_bits(0, {0, 0, 0}));
}

// With 9 degrees of freedom chi-square exceeds 27.88 once in 1,000 tries.
TEST(Sampling, DrawsAsOftenAsTheProbabilitiesSay) {
  const std::vector<float> values = {2.0f, 1.9f, 1.5f, 1.5f, 1.0f, 0.7f, 0.5f, 0.0f, -0.5f, -1.0f, -9.0f, -9.5f};
  goldcrest_sampling sampling = kPlain;
  sampling.temperature = 1.25f;
  sampling.min_p = 0.05f;  // leaves ten
  const std::vector<double> expected = expected_probabilities(sampling, values);
  ASSERT_EQ(expected.size(), 10u);
  for (const uint64_t seed : {uint64_t{1}, uint64_t{2}, UINT64_MAX}) {
    sampling.seed = seed;
    std::vector<double> found(values.size());
    for (uint32_t i = 0; i < 20000; ++i) {
      const DrawPlace place = {i % 10, i / 10 % 4, i / 40};
      found[draw_token(sampling, values.data(), static_cast<uint32_t>(values.size()), place)] += 1;
    }
    double chi_square = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      const double mean = 20000 * expected[i];
      chi_square += (found[i] - mean) * (found[i] - mean) / mean;
    }
    EXPECT_LT(chi_square, 27.88) << "seed " << seed;
    EXPECT_EQ(found[10] + found[11], 0);
  }
}

// The bits of these two streams are 0 and 2^23: the sum of the first weight is 0.5, and must exceed the share.
TEST(Sampling, TakesTheBestOfInfiniteOrEqualValues) {
  const std::vector<float> values = {HUGE_VALF, HUGE_VALF, 1.0f}, equal = {1.0f, 1.0f};
  EXPECT_EQ(draw_token(kPlain, equal.data(), 2, {0, 0, 13619867}), 0u);
  EXPECT_EQ(draw_token(kPlain, equal.data(), 2, {0, 0, 39747300}), 1u);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(draw_token(kPlain, values.data(), 3, {i, 0, 0}), 0u);
}

FileImage sampled_file() {
  return tiny_file(tiny_spec({.decoder = {.positions = kMost}, .target_vocab_size = 300, .end_bias = 1}));
}

EngineSetup setup_of_samples(uint32_t batch, uint32_t n_samples) {
  return {
      .limits = {
          .max_target_tokens = kMost, .beam_size = n_samples, .batch = batch, .n_best = n_samples, .max_sampled = 20}};
}

void set_sampling(TestEngine& engine, const goldcrest_sampling& sampling) {
  engine.change_search([](goldcrest_search& search) {
    search.beam_size = 1;
    search.flags = GOLDCREST_SEARCH_SCORES;
  });
  ASSERT_EQ(goldcrest_set_sampling(engine.get(), &sampling), GOLDCREST_OK) << engine.detail().message;
}

std::vector<Ids> some_sources(uint32_t n) {
  Rng rng(5);
  std::vector<Ids> sources;
  for (uint32_t i = 0; i < n; ++i) sources.push_back(rng.ids(rng.between(1, 9), 29));
  return sources;
}

// Runs sources with these streams. Returns [source][sample].
std::vector<std::vector<Translation>> run(TestEngine& engine, const std::vector<Ids>& sources, const Ids& streams) {
  engine.begin(sources);
  for (uint32_t i = 0; i < sources.size(); ++i)
    EXPECT_EQ(goldcrest_set_stream(engine.get(), i, static_cast<uint32_t>(streams[i])), GOLDCREST_OK);
  return engine.finish(sources.size());
}

TEST(Sampling, OfOneTokenIsGreedySearch) {
  const FileImage file = sampled_file();
  TestEngine greedy(file.span(), setup_of_samples(3, 1)), sampled(file.span(), setup_of_samples(3, 1));
  greedy.change_search([](goldcrest_search& search) { search.flags = GOLDCREST_SEARCH_SCORES; });
  goldcrest_sampling sampling = kPlain;
  sampling.top_k = 1;
  set_sampling(sampled, sampling);
  const std::vector<Ids> sources = some_sources(3);
  const auto expected = greedy.run(sources);
  EXPECT_EQ(sampled.run(sources), expected);
  sampling.top_k = 20;
  set_sampling(sampled, sampling);
  EXPECT_NE(sampled.run(sources), expected);
  ASSERT_EQ(goldcrest_set_sampling(sampled.get(), nullptr), GOLDCREST_OK);
  EXPECT_EQ(sampled.run(sources), expected) << "off again";
}

// The same samples one source at a time, in a batch of any order, one at a time, in small steps, in other memory, with
// every table.
TEST(Sampling, DependsOnSeedStreamAndNumberOnly) {
  const FileImage file = sampled_file();
  const std::vector<Ids> sources = some_sources(5);
  const Ids streams = {4, 0, 17, -1, 2};
  TestEngine all(file.span(), setup_of_samples(5, 4));
  goldcrest_sampling sampling = kPlain;
  sampling.n_samples = 4;
  sampling.top_p = 0.95f;
  set_sampling(all, sampling);
  const auto expected = run(all, sources, streams);
  uint64_t hash = kHashStart;
  for (const auto& of_source : expected) {
    ASSERT_EQ(of_source.size(), 4u);
    EXPECT_NE(of_source[0].tokens, of_source[1].tokens);
    for (const Translation& sample : of_source)
      for (const int32_t id : sample.tokens) hash = hash * 1099511628211u + static_cast<uint32_t>(id);
  }
  EXPECT_EQ(hash, 17897747062203003696u) << "on every machine";
  std::vector<Ids> shuffled(sources.rbegin(), sources.rend());
  auto other = run(all, shuffled, Ids(streams.rbegin(), streams.rend()));
  std::reverse(other.begin(), other.end());
  EXPECT_EQ(other, expected);
  for (uint32_t t = 0; goldcrest_kernels_at(t) != nullptr; ++t) {
    EngineSetup setup = setup_of_samples(1, 1);
    setup.kernels = goldcrest_kernels_at(t);
    setup.step_size = t % 2 == 0 ? GOLDCREST_STEP_LAYER : GOLDCREST_STEP_POSITION;
    setup.limits.threads = 1 + t % 3;
    setup.fill = static_cast<uint8_t>(0x55 + t);
    setup.two_regions = t % 2 == 1;
    TestEngine one(file.span(), setup);
    goldcrest_sampling single = sampling;
    single.n_samples = 0;
    for (uint32_t i = 0; i < sources.size(); ++i) {
      for (single.first_sample = 0; single.first_sample < 4; ++single.first_sample) {
        set_sampling(one, single);
        EXPECT_EQ(run(one, {sources[i]}, {streams[i]})[0][0], expected[i][single.first_sample]) << setup.kernels;
      }
    }
    EXPECT_TRUE(one.memory_intact());
  }
}

TEST(Sampling, AgreesOnTheFirstSample) {
  const FileImage file = sampled_file();
  TestEngine engine(file.span(), setup_of_samples(1, 8));
  goldcrest_sampling sampling = kPlain;
  sampling.n_samples = 8;
  const Ids source = {3, 1, 4};
  for (sampling.seed = 0; sampling.seed < 20; ++sampling.seed) {
    set_sampling(engine, sampling);
    ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
    std::vector<Ids> agreed;
    int status = GOLDCREST_WORKING;
    while (status != GOLDCREST_DONE) {
      status = goldcrest_step(engine.get(), nullptr);
      ASSERT_GE(status, 0);
      Ids ids(kMost);
      const int n = goldcrest_get_agreed(engine.get(), 0, ids.data(), ids.size());
      ASSERT_GE(n, 0);
      ids.resize(static_cast<size_t>(n));
      agreed.push_back(ids);
    }
    const Ids tokens = engine.results(0)[0].tokens;
    EXPECT_EQ(agreed.back(), tokens);
    for (const Ids& ids : agreed) EXPECT_TRUE(std::equal(ids.begin(), ids.end(), tokens.begin()));
  }
}

// After each source's prefix: the best tokens, and after each of them what greedy search finds.
TEST(Alternatives, BeginWithTheBestTokens) {
  const FileImage file = sampled_file();
  const std::vector<Ids> sources = some_sources(4);
  EngineSetup setup = setup_of_samples(4, 4);
  setup.limits.max_prefix_tokens = 6;
  TestEngine all(file.span(), setup), greedy(file.span(), setup);
  goldcrest_search search = all.search();
  search.beam_size = 1;
  search.flags = GOLDCREST_SEARCH_SCORES;
  all.set_search(search);
  greedy.set_search(search);
  const auto run_behind = [&](TestEngine& engine, const std::vector<Ids>& prefixes) {
    engine.begin(sources);
    for (uint32_t i = 0; i < sources.size(); ++i)
      EXPECT_EQ(goldcrest_set_prefix(engine.get(), i, prefixes[i].data(), prefixes[i].size(), 0), GOLDCREST_OK);
    return engine.finish(sources.size());
  };
  const std::vector<Ids> prefixes = {{}, {7}, {7, 9, 11}, {3, 3, 3, 3, 3}};
  const auto best = run_behind(greedy, prefixes);
  ASSERT_EQ(goldcrest_set_alternatives(all.get(), 4, 0), GOLDCREST_OK) << all.detail().message;
  const auto found = run_behind(all, prefixes);
  for (size_t i = 0; i < sources.size(); ++i) ASSERT_EQ(found[i].size(), 4u);
  std::vector<std::vector<double>> firsts(sources.size());
  for (size_t rank = 0; rank < 4; ++rank) {
    std::vector<Ids> longer = prefixes;
    for (size_t i = 0; i < sources.size(); ++i) longer[i].push_back(found[i][rank].tokens[prefixes[i].size()]);
    const auto behind = run_behind(greedy, longer);
    for (size_t i = 0; i < sources.size(); ++i) {
      const double first = double{found[i][rank].log_prob} - double{behind[i][0].log_prob};
      EXPECT_EQ(found[i][rank].tokens, behind[i][0].tokens);
      EXPECT_NEAR(found[i][rank].score, first + double{behind[i][0].score}, 1e-5);
      if (rank > 0) {
        EXPECT_LE(first, firsts[i].back());
      }
      firsts[i].push_back(first);
    }
  }
  for (size_t i = 0; i < sources.size(); ++i)  // an alternative is no end
    EXPECT_TRUE(best[i][0].tokens.size() == prefixes[i].size() + 1 || found[i][0].tokens == best[i][0].tokens);
  const float least = static_cast<float>(std::exp(firsts[1][2] - 1e-4));
  ASSERT_EQ(goldcrest_set_alternatives(all.get(), 4, least), GOLDCREST_OK);
  const auto likely = run_behind(all, prefixes);
  EXPECT_EQ(likely[1].size(), 3u);
  for (size_t i = 0; i < sources.size(); ++i)
    EXPECT_TRUE(std::equal(likely[i].begin(), likely[i].end(), found[i].begin()));
  EXPECT_EQ(goldcrest_set_alternatives(all.get(), 5, 0), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_set_alternatives(all.get(), 2, 1.5f), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(all.detail().index, 3);
  EXPECT_EQ(run_behind(all, prefixes), likely) << "errors change nothing";
  ASSERT_EQ(goldcrest_set_alternatives(all.get(), 0, 0), GOLDCREST_OK);
  EXPECT_EQ(run_behind(all, prefixes), best);
}

TEST(Sampling, TellsItsMemory) {
  const FileImage file = sampled_file();
  EngineSetup setup = setup_of_samples(3, 2);
  setup.limits.threads = 2;
  const goldcrest_memory with = TestEngine(file.span(), setup).memory();
  setup.limits.max_sampled = 0;
  const TestEngine none(file.span(), setup);
  EXPECT_EQ(with.fixed_bytes - none.memory().fixed_bytes, 64u) << "8 * 6, rounded up to 64";
  EXPECT_EQ(with.decode_bytes - none.memory().decode_bytes, 2u * 960) << "8 * 20 * 6 a task";
  EXPECT_EQ(goldcrest_set_sampling(none.get(), &kPlain), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_STREQ(none.detail().message, "sampling: limits.max_sampled is 0");
  EXPECT_EQ(goldcrest_set_stream(none.get(), 0, 1), GOLDCREST_ERROR_UNSUPPORTED);
  setup.limits.max_sampled = 257;
  goldcrest_detail detail = {"", -1};
  goldcrest_memory memory;
  EXPECT_EQ(
      goldcrest_plan_memory(file.span().data(), file.span().size(), &setup.limits, &memory, nullptr, nullptr, &detail),
      GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(detail.message, "limits.max_sampled: above 256");
}

TEST(Sampling, SaysWhatIsWrong) {
  const FileImage file = sampled_file();
  EngineSetup setup = setup_of_samples(1, 2);
  setup.limits.inspection = GOLDCREST_INSPECT_TARGETS;
  TestEngine engine(file.span(), setup);
  const Ids source = {3, 1, 4};
  goldcrest_sampling good = kPlain;
  good.n_samples = 2;
  EXPECT_EQ(goldcrest_set_sampling(engine.get(), &good), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(engine.detail().message, "sampling: search.beam_size is not 1");
  set_sampling(engine, good);
  const auto expected = run(engine, {source}, {0});
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  const auto refuse = [&](auto field, int32_t index, auto values) {
    for (const auto value : values) {
      goldcrest_sampling bad = good;
      bad.seed = 99;
      bad.*field = value;
      EXPECT_EQ(goldcrest_set_sampling(engine.get(), &bad), GOLDCREST_ERROR_ARGUMENT);
      EXPECT_STREQ(engine.detail().message,
          "sampling: temperature, top_k, top_p, min_p or n_samples (index 0 to 4) is outside its range");
      EXPECT_EQ(engine.detail().index, index);
    }
  };
  refuse(&goldcrest_sampling::temperature, 0, std::vector<float>{0, -1, 0.0009f, 1025, nan, infinite});
  refuse(&goldcrest_sampling::top_k, 1, std::vector<uint32_t>{0, 21, UINT32_MAX});
  refuse(&goldcrest_sampling::top_p, 2, std::vector<float>{0, -1, 1.001f, nan});
  refuse(&goldcrest_sampling::min_p, 3, std::vector<float>{-0.1f, 1.001f, nan});
  refuse(&goldcrest_sampling::n_samples, 4, std::vector<uint32_t>{3, UINT32_MAX});
  const goldcrest_search beams = engine.search();
  for (const goldcrest_search* search : {&beams, static_cast<const goldcrest_search*>(nullptr)}) {
    EXPECT_EQ(goldcrest_set_search(engine.get(), search), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_STREQ(engine.detail().message, "sampling: search.beam_size is not 1");
  }
  EXPECT_EQ(goldcrest_set_sampling(nullptr, &good), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_set_stream(nullptr, 0, 0), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(run(engine, {source}, {0}), expected) << "errors change nothing";
  EXPECT_EQ(goldcrest_set_stream(engine.get(), 0, 0), GOLDCREST_ERROR_STATE);
  ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
  EXPECT_EQ(goldcrest_set_stream(engine.get(), 1, 0), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_score(engine.get(), 0, source.data(), 3), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(engine.detail().message, "score: sampling is set");
  ASSERT_EQ(goldcrest_set_sampling(engine.get(), nullptr), GOLDCREST_OK);
  ASSERT_EQ(goldcrest_score(engine.get(), 0, source.data(), 3), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_set_sampling(engine.get(), &good), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(engine.detail().message, "sampling: a stored source has a target");
  ASSERT_GE(goldcrest_step(engine.get(), nullptr), 0);
  EXPECT_EQ(goldcrest_set_sampling(engine.get(), &good), GOLDCREST_ERROR_STATE);
}
}}  // namespace goldcrest::test
