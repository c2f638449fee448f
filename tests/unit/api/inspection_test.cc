// SPDX-License-Identifier: Apache-2.0
// Inspection: token scores, scores of given targets and alignments are those of a naive forward pass in double. They do
// not change the results, and are the same with every kernel table.
#include "decoding/search/hypotheses.h"
#include "inspected.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Model = InspectedModel;
using Naive = NaiveForward<double>;

double log_prob(const std::vector<double>& logits, int32_t token) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return logits[static_cast<size_t>(token)] - std::log(sum);
}

// Adds in order, as the engine does.
float sum_of(const std::vector<float>& values) {
  float sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

// Compares a result's token scores with the naive pass along it. The last `n_free` tokens were forced.
void expect_naive_scores(
    const ModelSpec& spec, const std::vector<int32_t>& source, const Translation& found, size_t n_free) {
  const Naive::Sequence logits = Naive::logits(spec, source, found.tokens);
  ASSERT_EQ(found.token_log_probs.size(), found.tokens.size());
  for (size_t i = 0; i < found.tokens.size(); ++i) {
    const bool free = i + n_free >= found.tokens.size();
    EXPECT_NEAR(found.token_log_probs[i], free ? 0 : log_prob(logits[i], found.tokens[i]), kCloseInspection)
        << "token " << i;
  }
  EXPECT_EQ(sum_of(found.token_log_probs), found.log_prob);
}

TEST(TokenScores, AreTheForwardPasssAlongEveryHypothesis) {
  for (const Model& model : inspected_models()) {
    Rng rng(91);
    for (const uint32_t beam_size : {1u, 4u}) {
      TestEngine engine(model.float32.span(), inspecting(beam_size, 1));
      for (int i = 0; i < 4; ++i) {
        const std::vector<int32_t> source = random_source(rng, model.spec);
        const std::vector<Translation> all = engine.run(std::span(&source, 1)).at(0);
        for (const Translation& found : all) {
          const bool forced = found.tokens.size() == engine.memory().limits.max_target_tokens;
          expect_naive_scores(model.spec, source, found, forced ? 1 : 0);
        }
      }
    }
  }
}

TEST(TokenScores, ForcedTokensCostNothing) {
  ModelSpec spec = inspected_models()[0].spec;
  spec.generation.forced_first_id = 5;
  const FileImage file = tiny_file(spec);
  for (const uint32_t beam_size : {1u, 3u}) {
    TestEngine engine(file.span(), inspecting(beam_size, 1));
    engine.change_search([](goldcrest_search& search) { search.max_target_tokens = search.min_target_tokens = 4; });
    const Translation found = engine.run(std::vector<int32_t>{3, 1, 2});
    ASSERT_EQ(found.tokens.size(), 4u);
    EXPECT_EQ(found.tokens[0], 5);
    EXPECT_EQ(found.token_log_probs[0], 0.0f);
    EXPECT_LT(found.token_log_probs[1], 0.0f);
    EXPECT_LT(found.token_log_probs[2], 0.0f);
    EXPECT_EQ(found.token_log_probs[3], 0.0f);
    EXPECT_EQ(sum_of(found.token_log_probs), found.log_prob);
  }
}

TEST(TokenScores, AreNullWhereTheLimitsDoNotAsk) {
  EngineSetup setup = {.limits = {.alignment_layers = 1}};
  TestEngine engine(inspected_models()[0].int8.span(), setup);
  EXPECT_TRUE(engine.run(std::vector<int32_t>{3, 1, 2}).token_log_probs.empty());
}

// Inspection changes nothing in a search.
TEST(Inspection, ChangesNoBit) {
  for (const Model& model : inspected_models()) {
    for (const FileImage* file : {&model.int8, &model.float32}) {
      for (const uint32_t beam_size : {1u, 4u}) {
        EngineSetup plain = {.limits = {.beam_size = beam_size, .n_best = beam_size}};
        TestEngine without(file->span(), plain), with(file->span(), inspecting(beam_size, 1));
        EXPECT_LT(without.memory().decode_bytes, with.memory().decode_bytes);
        goldcrest_search search = without.search();
        search.flags = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS;
        without.set_search(search);
        with.set_search(search);
        Rng rng(92);
        for (int i = 0; i < 3; ++i) {
          const std::vector<int32_t> source = random_source(rng, model.spec);
          std::vector<Translation> found = with.run(std::span(&source, 1)).at(0);
          for (Translation& translation : found) {
            EXPECT_FALSE(translation.token_log_probs.empty() || translation.alignments.empty());
            translation.token_log_probs.clear();
            translation.alignments.clear();
          }
          EXPECT_EQ(found, without.run(std::span(&source, 1)).at(0));
        }
      }
    }
  }
}

TEST(Inspection, GivesTheSameBitsWithEveryTable) {
  for (const Model& model : inspected_models()) {
    for (const FileImage* file : {&model.int8, &model.float32}) {
      std::vector<std::vector<Translation>> first;
      Rng rng(93);
      const std::vector<std::vector<int32_t>> sources = {
          random_source(rng, model.spec), random_source(rng, model.spec)};
      for (uint32_t i = 0; const char* kernels = goldcrest_kernels_at(i); ++i) {
        EngineSetup setup = inspecting(3, 2);
        setup.kernels = kernels;
        TestEngine engine(file->span(), setup);
        const auto found = engine.run(sources);
        if (first.empty()) first = found;
        EXPECT_EQ(found, first) << kernels;
      }
    }
  }
}

TEST(Score, IsTheForwardPasssOfAnyTarget) {
  for (const Model& model : inspected_models()) {
    Rng rng(94);
    for (const uint32_t planned_beams : {1u, 4u}) {
      TestEngine engine(model.float32.span(), inspecting(planned_beams, 1));
      const uint32_t longest = engine.memory().limits.max_target_tokens;
      for (int i = 0; i < 5; ++i) {
        // Uses any ids: suppressed ones, an end token in the middle, and none at the end.
        const std::vector<int32_t> source = random_source(rng, model.spec);
        const std::vector<int32_t> target =
            rng.ids(i == 0 ? longest : rng.between(1, longest), engine.info().target_vocab_size);
        const Translation found = engine.score(std::span(&source, 1), std::span(&target, 1)).at(0);
        EXPECT_EQ(found.tokens, target);
        expect_naive_scores(model.spec, source, found, 0);
        EXPECT_FLOAT_EQ(
            found.score, hypothesis_score(engine.search(), found.log_prob, static_cast<uint32_t>(target.size())));
      }
    }
  }
}

// A search's result has the same log-probabilities, logits and alignments as a given target.
TEST(Score, OfASearchsResultIsTheSearchs) {
  for (const Model& model : inspected_models()) {
    for (const FileImage* file : {&model.int8, &model.float32}) {
      TestEngine engine(file->span(), inspecting(4, 1));
      goldcrest_search search = engine.search();
      Rng rng(95);
      for (const uint32_t beam_size : {1u, 4u}) {
        search.beam_size = beam_size;
        search.flags = beam_size == 1 ? GOLDCREST_SEARCH_HASH_LOGITS : 0;
        engine.set_search(search);
        const std::vector<int32_t> source = random_source(rng, model.spec);
        const std::vector<Translation> all = engine.run(std::span(&source, 1)).at(0);
        for (const Translation& found : all) {
          if (found.tokens.size() == engine.memory().limits.max_target_tokens) continue;  // its end was forced
          Translation given = engine.score(std::span(&source, 1), std::span(&found.tokens, 1)).at(0);
          if (beam_size > 1) given.logits_hash = 0;
          EXPECT_EQ(given, found);
        }
      }
    }
  }
}

TEST(Score, DependsNeitherOnTheBatchNorOnTheSlicing) {
  for (const Model& model : inspected_models()) {
    Rng rng(96);
    std::vector<std::vector<int32_t>> sources, targets;
    std::vector<Translation> alone;
    TestEngine single(model.int8.span(), inspecting(1, 1));
    for (int i = 0; i < 9; ++i) {
      sources.push_back(random_source(rng, model.spec));
      targets.push_back(rng.ids(rng.between(1, 12), single.info().target_vocab_size));
      alone.push_back(single.score(std::span(&sources.back(), 1), std::span(&targets.back(), 1)).at(0));
    }
    for (const uint32_t threads : {1u, 3u}) {
      for (const goldcrest_step_size step_size : {GOLDCREST_STEP_POSITION, GOLDCREST_STEP_LAYER}) {
        EngineSetup setup = inspecting(2, 9);
        setup.limits.threads = threads;
        setup.step_size = step_size;
        TestEngine engine(model.int8.span(), setup);
        EXPECT_EQ(engine.score(sources, targets), alone);
        EXPECT_TRUE(engine.memory_intact());
      }
    }
  }
}

// Follows one source along its target: no step reports a chosen token.
TEST(Score, GivesNoTokensOnTheWay) {
  TestEngine engine(inspected_models()[0].int8.span(), inspecting(1, 1));
  const std::vector<int32_t> source = {1, 2, 3}, target = {4, 5, 0};
  ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
  ASSERT_EQ(goldcrest_score(engine.get(), 0, target.data(), target.size()), 0);
  int32_t token = -7;
  int status = GOLDCREST_WORKING;
  while (status == GOLDCREST_WORKING) status = goldcrest_step(engine.get(), &token);
  EXPECT_EQ(status, GOLDCREST_DONE);
  EXPECT_EQ(token, -7);
  // The next source is searched again.
  const Translation searched = engine.run(source);
  TestEngine other(inspected_models()[0].int8.span(), inspecting(1, 1));
  EXPECT_EQ(searched, other.run(source));
}

// Refusals, each with its message.
class Refused : public testing::Test {
 protected:
  void expect(int status, int wanted, const std::string& message, int32_t index = -1) const {
    EXPECT_EQ(status, wanted) << message;
    EXPECT_EQ(engine_.detail().message, message);
    EXPECT_EQ(engine_.detail().index, index) << message;
  }
  int begin() { return goldcrest_begin(engine_.get(), source_.data(), source_.size()); }
  int score(uint32_t sentence, const std::vector<int32_t>& target) {
    return goldcrest_score(engine_.get(), sentence, target.data(), target.size());
  }

  const std::vector<int32_t> source_ = {1, 2, 3};
  TestEngine engine_{inspected_models()[1].int8.span(), inspecting(2, 2)};
};

TEST_F(Refused, Targets) {
  expect(score(0, {1}), GOLDCREST_ERROR_STATE, "score: begin first, and give targets before the first step");
  ASSERT_EQ(begin(), 0);
  expect(score(0, {}), GOLDCREST_ERROR_ARGUMENT, "target: empty");
  expect(goldcrest_score(engine_.get(), 0, nullptr, 3), GOLDCREST_ERROR_ARGUMENT, "target: empty");
  expect(score(1, {1}), GOLDCREST_ERROR_ARGUMENT, "sentence: no such source");
  expect(score(0, std::vector<int32_t>(31, 1)), GOLDCREST_ERROR_TOO_LONG,
      "target: more ids than limits.max_target_tokens", 30);
  expect(score(0, {1, 300}), GOLDCREST_ERROR_TOKEN_RANGE, "target: id outside the vocabulary", 1);
  expect(score(0, {-1}), GOLDCREST_ERROR_TOKEN_RANGE, "target: id outside the vocabulary", 0);
  ASSERT_EQ(goldcrest_add(engine_.get(), source_.data(), source_.size()), 1);
  EXPECT_EQ(score(1, {7, 0}), GOLDCREST_OK);
  expect(goldcrest_run(engine_.get()), GOLDCREST_ERROR_STATE, "score: only some sources of the batch have a target");
  EXPECT_EQ(score(0, {7, 8, 9}), GOLDCREST_OK);
  EXPECT_EQ(score(0, {8, 0}), GOLDCREST_OK) << "replaces the previous one";
  EXPECT_EQ(goldcrest_step(engine_.get(), nullptr), GOLDCREST_WORKING);
  expect(score(0, {8, 0}), GOLDCREST_ERROR_STATE, "score: begin first, and give targets before the first step");
  EXPECT_EQ(goldcrest_run(engine_.get()), GOLDCREST_DONE);
  EXPECT_EQ(engine_.results(0).at(0).tokens, (std::vector<int32_t>{8, 0}));
  EXPECT_EQ(engine_.results(1).at(0).tokens, (std::vector<int32_t>{7, 0}));
  // A new batch has no targets.
  ASSERT_EQ(begin(), 0);
  EXPECT_EQ(goldcrest_run(engine_.get()), GOLDCREST_DONE);
  TestEngine other(inspected_models()[1].int8.span(), inspecting(2, 2));
  EXPECT_EQ(engine_.results(0).at(0), other.run(source_));
}

TEST_F(Refused, Alignments) {
  float weights[40];
  const auto align = [&](goldcrest_alignment wanted, size_t n) {
    return goldcrest_get_alignment(engine_.get(), &wanted, weights, n);
  };
  ASSERT_EQ(begin(), 0);
  expect(align({0, 0, 0, -1, -1}, 40), GOLDCREST_ERROR_STATE, "get_result: not done");
  ASSERT_EQ(goldcrest_run(engine_.get()), GOLDCREST_DONE);
  const int32_t n_tokens = static_cast<int32_t>(engine_.results(0).at(0).tokens.size());
  EXPECT_EQ(goldcrest_get_alignment(engine_.get(), nullptr, weights, 40), GOLDCREST_ERROR_ARGUMENT);
  const goldcrest_alignment good = {0, 0, 0, -1, -1};
  EXPECT_EQ(goldcrest_get_alignment(engine_.get(), &good, nullptr, 40), GOLDCREST_ERROR_ARGUMENT);
  expect(align({1, 0, 0, -1, -1}, 40), GOLDCREST_ERROR_ARGUMENT, "sentence: no such source");
  expect(align({0, 2, 0, -1, -1}, 40), GOLDCREST_ERROR_ARGUMENT, "rank: no such hypothesis", 2);
  expect(align({0, 0, static_cast<uint32_t>(n_tokens), -1, -1}, 40), GOLDCREST_ERROR_ARGUMENT,
      "alignment: no such token", n_tokens);
  for (const int32_t layer : {2, 32, 64, -2, INT32_MIN, INT32_MAX}) {
    expect(align({0, 0, 0, layer, -1}, 40), GOLDCREST_ERROR_ARGUMENT,
        "alignment: a layer that limits.alignment_layers lacks");
  }
  for (const int32_t head : {2, -2, INT32_MIN, INT32_MAX})
    expect(align({0, 0, 0, -1, head}, 40), GOLDCREST_ERROR_ARGUMENT, "alignment: no such head", 2);
  weights[0] = -7;
  expect(align(good, 2), GOLDCREST_ERROR_TRUNCATED, "weights: fewer than the source has ids", 3);
  EXPECT_EQ(weights[0], -7);
  EXPECT_EQ(align(good, 3), 3);
}

TEST(Inspection, IsRefusedWhereTheLimitsDoNotAsk) {
  EngineSetup setup;
  TestEngine engine(inspected_models()[0].int8.span(), setup);
  const int32_t ids[] = {1, 2};
  ASSERT_EQ(goldcrest_begin(engine.get(), ids, 2), 0);
  EXPECT_EQ(goldcrest_score(engine.get(), 0, ids, 2), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_STREQ(engine.detail().message, "score: limits.inspection lacks GOLDCREST_INSPECT_TARGETS");
  ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  float weights[2];
  const goldcrest_alignment wanted = {0, 0, 0, -1, -1};
  EXPECT_EQ(goldcrest_get_alignment(engine.get(), &wanted, weights, 2), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_STREQ(engine.detail().message, "alignment: limits.alignment_layers is 0");
}
}}  // namespace goldcrest::test
