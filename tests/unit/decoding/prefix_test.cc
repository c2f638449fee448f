// SPDX-License-Identifier: Apache-2.0
// Prefixes and prompts: the engine with float32 weights against the converter's reference in double, the positions that
// need no output layer, and choices that must not change a bit.
#include "converter/reference/reference_search.h"
#include "goldcrest/decoding.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using converter::Matrix;
using Ids = std::vector<int32_t>;
using Translations = std::vector<std::vector<Translation>>;

constexpr uint32_t kPositions = 12;  // the target's

// A source and the prefix of its results.
struct Line {
  Ids source, prefix;
  uint32_t flags;
};

// Stores the lines, runs, and returns [sentence][rank].
Translations run(TestEngine& engine, std::span<const Line> lines) {
  std::vector<Ids> sources;
  for (const Line& line : lines) sources.push_back(line.source);
  engine.begin(sources);
  for (uint32_t i = 0; i < lines.size(); ++i) {
    const Ids& prefix = lines[i].prefix;
    EXPECT_EQ(goldcrest_set_prefix(engine.get(), i, prefix.data(), prefix.size(), lines[i].flags), GOLDCREST_OK);
  }
  return engine.finish(lines.size());
}

EngineSetup setup_for(uint32_t batch, uint32_t beam_size) {
  return {.limits = {.max_target_tokens = kPositions,
              .beam_size = beam_size,
              .batch = batch,
              .n_best = beam_size,
              .max_prefix_tokens = kPositions - 1}};
}

// Prefixes of 0, 1, 5 and all but one of the positions, in turn, for as many sentences.
std::vector<Line> mixed_lines(Rng& rng, const ModelSpec& spec, uint32_t n, uint32_t flags) {
  const uint32_t n_prompt = (flags & GOLDCREST_PREFIX_BEHIND_PROMPT) == 0 ? 0
                            : spec.generation.forced_first_id             ? 1
                                                              : static_cast<uint32_t>(spec.generation.prompt.size());
  const uint32_t lengths[] = {0, 1, 5, kPositions - 1 - n_prompt};
  std::vector<Line> lines;
  for (uint32_t i = 0; i < n; ++i) {
    Ids prefix = rng.ids(lengths[i % 4], spec.projection.weight->rows - 1);
    for (int32_t& id : prefix) id += id == 0 ? 1 : 0;  // 0 is the end
    lines.push_back({rng.ids(rng.between(1, 12), spec.encoder.embedding->rows), prefix, flags});
  }
  return lines;
}

std::vector<ModelSpec> some_specs() {
  std::vector<ModelSpec> specs;
  for (const uint64_t seed : {1, 2, 3}) {
    TinyOptions options = {
        .seed = seed, .decoder = {.positions = kPositions}, .target_vocab_size = seed == 3 ? 300u : 37u, .end_bias = 1};
    specs.push_back(tiny_spec(options));
  }
  ModelSpec prompted = specs[0];
  prompted.generation.prompt = {{4, 9, 30}, {7, 5}, {1, 2, 3}};
  specs.push_back(prompted);
  prompted.generation.prompt.first_choices.clear();
  specs.push_back(prompted);
  ModelSpec forced = specs[1];
  forced.generation.forced_first_id = 6;
  specs.push_back(forced);
  forced.generation.forced_first_id = 0;
  forced.generation.end_id = 36;
  specs.push_back(forced);
  ModelSpec ruled = specs[2];
  ruled.generation.rules.no_repeat_ngram = 2;
  ruled.generation.rules.repetition_penalty = 1.2f;
  ruled.generation.rules.max_extra_tokens = 4;
  ruled.generation.rules.early_stopping = GOLDCREST_STOP_NEVER;
  ruled.generation.prompt = {{}, {11}, {}};
  specs.push_back(ruled);
  ruled.generation.rules.force_end = false;
  ruled.generation.rules.renormalize = true;
  ruled.generation.rules.length_penalty_kind = GOLDCREST_LENGTH_WU;
  specs.push_back(ruled);
  return specs;
}

void expect_reference(const converter::Reference& reference, const goldcrest_search& search, const Line& line,
    const std::vector<Translation>& found) {
  converter::SearchOptions options = converter::default_search(reference.spec());
  options.beam_size = options.n_best = search.beam_size;
  options.min_target_tokens = search.min_target_tokens;
  options.max_target_tokens = search.max_target_tokens;
  options.length_penalty = search.length_penalty;
  options.prefix = line.prefix;
  options.prefix_in_lengths = (line.flags & GOLDCREST_PREFIX_IN_LENGTHS) != 0;
  options.prefix_behind_prompt = (line.flags & GOLDCREST_PREFIX_BEHIND_PROMPT) != 0;
  const std::vector<converter::Hypothesis> expected = converter::search(reference, line.source, options);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t rank = 0; rank < found.size(); ++rank) {
    EXPECT_EQ(found[rank].tokens, expected[rank].tokens) << "rank " << rank;
    EXPECT_NEAR(found[rank].log_prob, expected[rank].log_prob, 1e-3);
    EXPECT_NEAR(found[rank].score, expected[rank].score, 1e-3);
  }
}

TEST(Prefix, GivesTheReferencesResults) {
  Rng rng(1);
  for (const ModelSpec& spec : some_specs()) {
    const FileImage file = tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32);
    const converter::Reference reference(spec);
    for (const uint32_t beam_size : {1u, 4u}) {
      for (const uint32_t flags : {0u, 1u, 2u, 3u}) {
        TestEngine engine(file.span(), setup_for(8, beam_size));
        goldcrest_search search = engine.search();
        search.flags = GOLDCREST_SEARCH_SCORES;
        search.length_penalty = 0.8f;
        search.min_target_tokens = 3;
        search.max_target_tokens = flags == 3 ? 4 : kPositions;
        engine.set_search(search);
        const std::vector<Line> lines = mixed_lines(rng, spec, 8, flags);
        const Translations found = run(engine, lines);
        for (size_t i = 0; i < lines.size(); ++i) {
          SCOPED_TRACE(testing::Message() << "beam size " << beam_size << ", flags " << flags << ", sentence " << i);
          expect_reference(reference, search, lines[i], found[i]);
        }
      }
    }
  }
}

// A model whose layers are large enough to be split among tasks.
ModelSpec wide_spec() {
  TinyOptions options = {.encoder = {80, 272, 5, 16, 1, 40},
      .decoder = {256, 1040, 8, 32, 1, kPositions},
      .target_vocab_size = 2100,
      .end_bias = 0};
  return tiny_spec(options);
}

// As a single sentence, in a batch, with any step size, number of threads and fill of the memory.
TEST(Prefix, SameBits) {
  Rng rng(2);
  std::vector<ModelSpec> specs = some_specs();
  specs.push_back(wide_spec());
  for (const ModelSpec& spec : specs) {
    const FileImage file = tiny_file(spec);
    for (const uint32_t beam_size : {1u, 4u}) {
      const std::vector<Line> lines = mixed_lines(rng, spec, 8, rng.below(4));
      Translations alone;
      for (const uint32_t variant : {0u, 1u, 2u, 3u}) {
        EngineSetup setup = setup_for(variant == 0 ? 1 : 8, beam_size);
        setup.fill = variant == 1 ? 0xff : 0xaa;
        setup.limits.inspection = GOLDCREST_INSPECT_TOKEN_SCORES;
        setup.limits.alignment_layers = GOLDCREST_ALL_LAYERS;
        setup.limits.threads = variant == 2 ? 3 : 1;
        setup.two_regions = variant == 2;
        if (variant == 3) setup.step_size = GOLDCREST_STEP_LAYER;
        TestEngine engine(file.span(), setup);
        engine.change_search(
            [](goldcrest_search& search) { search.flags = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS; });
        Translations found;
        if (variant == 0) {
          for (const Line& line : lines) found.push_back(run(engine, {&line, 1})[0]);
          alone = found;
        } else {
          found = run(engine, lines);
        }
        EXPECT_EQ(found, alone) << "beam size " << beam_size << ", variant " << variant;
        EXPECT_TRUE(engine.memory_intact());
      }
    }
  }
}

// A prefix that greedy search would choose itself changes no id, and no bit of a logit.
TEST(Prefix, OfTheModelsOwnChoiceChangesNoLogit) {
  for (const ModelSpec& spec : some_specs()) {
    if (spec.generation.rules != converter::RulesSpec{} || spec.generation.prompt.size() > 0) continue;
    const FileImage file = tiny_file(spec);
    TestEngine engine(file.span(), setup_for(1, 1));
    engine.change_search([](goldcrest_search& search) { search.flags = GOLDCREST_SEARCH_HASH_LOGITS; });
    const Ids source = {3, 1, 4, 1, 5};
    const Translation free = engine.run(source);
    for (size_t n = 1; n < free.tokens.size(); ++n) {
      const Line line = {source, {free.tokens.begin(), free.tokens.begin() + static_cast<ptrdiff_t>(n)}, 0};
      const Translation found = run(engine, {&line, 1})[0][0];
      EXPECT_EQ(found.tokens, free.tokens);
      EXPECT_EQ(found.logits_hash, free.logits_hash);
    }
  }
}

// The file's prompt gives the bits of the same prefix from the caller, and a caller's prefix takes the prompt's place.
TEST(Prefix, IsWhatAPromptIs) {
  ModelSpec plain = some_specs()[0], prompted = plain;
  prompted.generation.prompt.forced_ids = {7, 5, 21};
  const FileImage plain_file = tiny_file(plain), prompted_file = tiny_file(prompted);
  for (const uint32_t beam_size : {1u, 4u}) {
    TestEngine with_prefix(plain_file.span(), setup_for(1, beam_size));
    TestEngine with_prompt(prompted_file.span(), setup_for(1, beam_size));
    EXPECT_EQ(with_prefix.info().prompt_tokens, 0u);
    EXPECT_EQ(with_prompt.info().prompt_tokens, 3u);
    const Line prefixed = {{3, 1, 4}, {7, 5, 21}, 0}, given = {{3, 1, 4}, {}, 0};
    const auto by_caller = run(with_prefix, {&prefixed, 1});
    goldcrest_result result;
    ASSERT_EQ(goldcrest_get_result(with_prefix.get(), 0, 0, &result), GOLDCREST_OK);
    EXPECT_EQ(result.n_prefix, 3u);
    EXPECT_EQ(run(with_prompt, {&given, 1}), by_caller);
    ASSERT_EQ(goldcrest_get_result(with_prompt.get(), 0, 0, &result), GOLDCREST_OK);
    EXPECT_EQ(result.n_prefix, 3u);
    const Line other = {{3, 1, 4}, {9, 9}, 0}, behind = {{3, 1, 4}, {9, 9}, GOLDCREST_PREFIX_BEHIND_PROMPT},
               both = {{3, 1, 4}, {7, 5, 21, 9, 9}, 0};
    EXPECT_EQ(run(with_prompt, {&other, 1}), run(with_prefix, {&other, 1}));
    EXPECT_EQ(run(with_prompt, {&behind, 1}), run(with_prefix, {&both, 1}));
  }
}

// The first id is fed where the start token is: the file's own changes nothing, another is that of another file.
TEST(Prefix, MayReplaceTheStart) {
  ModelSpec other = some_specs()[0];
  other.generation.decoder_start_id = 11;
  const FileImage file = test::tiny_file(some_specs()[0]), other_file = test::tiny_file(other);
  for (const uint32_t beam_size : {1u, 4u}) {
    EngineSetup setup = setup_for(1, beam_size);
    setup.limits.inspection = GOLDCREST_INSPECT_TARGETS;
    TestEngine engine(file.span(), setup), other_engine(other_file.span(), setup);
    const int32_t start = engine.info().decoder_start_id;
    const Line plain = {{3, 1, 4}, {9, 8}, 0};
    const auto replaced = [](int32_t by) { return Line{{3, 1, 4}, {by, 9, 8}, GOLDCREST_PREFIX_REPLACES_START}; };
    const Line own = replaced(start), others = replaced(11);
    const auto expected = run(other_engine, {&plain, 1});
    EXPECT_EQ(run(engine, {&own, 1}), run(engine, {&plain, 1}));
    EXPECT_NE(run(engine, {&plain, 1}), expected);
    EXPECT_EQ(run(engine, {&others, 1}), expected);
    goldcrest_result result;
    ASSERT_EQ(goldcrest_get_result(engine.get(), 0, 0, &result), GOLDCREST_OK);
    EXPECT_EQ(result.n_prefix, 2u) << "without the start";
    // A score goes on with the same start; the next source has the file's.
    const Ids target = {9, 8, 0};
    float log_prob[2] = {};
    for (TestEngine* of : {&engine, &other_engine}) {
      ASSERT_EQ(goldcrest_search_again(of->get()), GOLDCREST_OK);
      ASSERT_EQ(goldcrest_score(of->get(), 0, target.data(), target.size()), GOLDCREST_OK);
      ASSERT_EQ(goldcrest_run(of->get()), GOLDCREST_DONE);
      ASSERT_EQ(goldcrest_get_result(of->get(), 0, 0, &result), GOLDCREST_OK);
      log_prob[of == &engine] = result.log_prob;
    }
    EXPECT_EQ(log_prob[0], log_prob[1]);
    EXPECT_EQ(run(engine, {&plain, 1}), run(engine, {&own, 1}));
  }
}

// A given target is scored from its first token on, whatever the file's prompt is.
TEST(Prefix, NoneOfAGivenTarget) {
  ModelSpec prompted = some_specs()[0];
  prompted.generation.prompt.forced_ids = {7, 5, 21};
  const FileImage file = tiny_file(prompted);
  EngineSetup setup = setup_for(1, 1);
  setup.limits.inspection = GOLDCREST_INSPECT_TARGETS;
  TestEngine engine(file.span(), setup);
  const Ids source = {3, 1, 4}, target = {9, 8, 0};
  EXPECT_EQ(engine.score(std::span(&source, 1), std::span(&target, 1)).at(0).tokens, target);
  goldcrest_result result;
  ASSERT_EQ(goldcrest_get_result(engine.get(), 0, 0, &result), GOLDCREST_OK);
  EXPECT_EQ(result.n_prefix, 0u);
}

// The rows for which logits were computed, and the logits of row 0.
struct Traced {
  std::vector<uint32_t> rows;
  std::vector<float> first;
};

EngineSetup traced_setup(uint32_t beam_size, Traced* traced) {
  EngineSetup setup = setup_for(1, beam_size);
  setup.trace_context = traced;
  setup.trace = [](void* context, const char* name, int32_t, uint32_t row, const float* values, uint32_t count) {
    if (std::string_view(name) != "logits") return;
    Traced& to = *static_cast<Traced*>(context);
    if (to.rows.empty() || to.rows.back() != row) to.rows.push_back(row);
    if (row == 0) to.first.insert(to.first.end(), values, values + count);
  };
  return setup;
}

TEST(Prefix, NeedsNoOutputLayer) {
  const FileImage file = tiny_file(some_specs()[0]);
  for (const bool hashed : {false, true}) {
    Traced traced;
    TestEngine engine(file.span(), traced_setup(1, &traced));
    engine.change_search([&](goldcrest_search& search) { search.flags = hashed ? GOLDCREST_SEARCH_HASH_LOGITS : 0; });
    const Line line = {{3, 1, 4}, {9, 9, 5, 7}, 0};
    run(engine, {&line, 1});
    ASSERT_FALSE(traced.rows.empty());
    EXPECT_EQ(traced.rows[0], hashed ? 0u : 4u);
  }
}

TEST(Prompt, BeginsWithTheBestFirstChoice) {
  for (const uint32_t beam_size : {1u, 4u}) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      ModelSpec spec = some_specs()[seed % 3];
      Rng rng(seed);
      std::vector<uint32_t>& choices = spec.generation.prompt.first_choices;
      for (uint32_t id = 1 + rng.below(9); id < 36; id += 1 + rng.below(9)) choices.push_back(id);
      spec.generation.suppressed_ids = {choices[0]};  // a choice all the same
      spec.generation.prompt.forced_ids = {5};
      const FileImage file = tiny_file(spec);
      Traced traced;
      TestEngine engine(file.span(), traced_setup(beam_size, &traced));
      const Line line = {rng.ids(6, 29), {}, 0};
      const std::vector<Translation> found = run(engine, {&line, 1})[0];
      const auto best = std::ranges::max_element(choices, {}, [&](uint32_t id) { return traced.first[id]; });
      for (const Translation& hypothesis : found) {
        EXPECT_EQ(hypothesis.tokens[0], static_cast<int32_t>(*best));
        EXPECT_EQ(hypothesis.tokens[1], 5);
      }
    }
  }
}

// As in every search: of equal logits, the smaller id.
TEST(Prompt, BeginsWithTheFirstOfEqualChoices) {
  ModelSpec spec = some_specs()[0];
  spec.generation.prompt.first_choices = {5, 9, 14, 20};
  Matrix weight = *spec.projection.weight;
  const float* const row = spec.projection.weight->row(9);
  for (const uint32_t id : {9, 14, 20}) {
    std::ranges::copy_n(row, weight.columns, weight.values.edit().begin() + id * weight.columns);
    spec.projection.bias[id] = 50;  // better than the other choice
  }
  spec.projection.weight = std::make_shared<const Matrix>(std::move(weight));
  const FileImage file = tiny_file(spec);
  for (const uint32_t beam_size : {1u, 4u}) {
    TestEngine engine(file.span(), setup_for(1, beam_size));
    const Line line = {{3, 1, 4}, {}, 0};
    const Translations found = run(engine, {&line, 1});
    for (const Translation& hypothesis : found[0]) EXPECT_EQ(hypothesis.tokens.at(0), 9);
  }
}

// Right after the prompt, whether it is the file's or the caller's; later they are free.
TEST(Prompt, FirstSuppressedIds) {
  ModelSpec spec = some_specs()[0];
  spec.generation.end_id = 36;
  spec.generation.suppressed_ids.clear();
  spec.projection.bias[8] = 50;  // always the best
  spec.generation.prompt.first_suppressed_ids = {8, 36};
  const FileImage file = tiny_file(spec);
  for (const uint32_t beam_size : {1u, 4u}) {
    TestEngine engine(file.span(), setup_for(3, beam_size));
    const Line lines[] = {{{3, 1, 4}, {}, 0}, {{3, 1, 4}, {2}, 0}, {{3, 1, 4}, {2, 8, 8}, 0}};
    const Translations found = run(engine, lines);
    for (size_t i = 0; i < 3; ++i) {
      const size_t n = lines[i].prefix.size();
      EXPECT_NE(found[i][0].tokens[n], 8);
      EXPECT_NE(found[i][0].tokens[n], 36);
      EXPECT_EQ(found[i][0].tokens[n + 1], 8);
    }
  }
}
}}  // namespace goldcrest::test
