// SPDX-License-Identifier: Apache-2.0
// Choices that must not change a bit: the size of a step, the other sentences of a batch, another engine that works in
// between, verification.
#include "converter/file/relayout.h"
#include "kernels/kernels.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
// Every rule of the search at once.
converter::RulesSpec all_rules() {
  converter::RulesSpec rules = {.renormalize = true,
      .force_end = false,
      .early_stopping = GOLDCREST_STOP_NEVER,
      .length_penalty_kind = GOLDCREST_LENGTH_WU,
      .no_repeat_ngram = 2,
      .max_extra_tokens = 7,
      .max_length_factor = 1.5f,
      .repetition_penalty = 1.3f,
      .more_end_ids = {3, 5},
      .biases = {{2, 1.5f}, {7, -2.0f}}};
  return rules;
}

struct BitsModel {
  const char* name;
  FileImage file;
  uint32_t source_vocab_size, longest_source, longest_target;
};

// The spec of some options, with all rules or none, and with a shortlist or none. Sets the limit of its candidates.
ModelSpec bits_spec(const TinyOptions& options, bool has_rules, bool is_listed, goldcrest_limits* limits) {
  ModelSpec spec = tiny_spec(options);
  if (has_rules) spec.generation.rules = all_rules();
  if (!is_listed) return spec;
  add_shortlist(5, spec);
  limits->max_candidates = 170;  // long sources have more candidates
  return spec;
}

std::vector<BitsModel> make_models() {
  std::vector<BitsModel> made;
  const auto add = [&](const char* name, const FileImage& file, const TinyOptions& options) {
    made.push_back({name, file, options.source_vocab_size, options.encoder.positions, options.decoder.positions});
  };
  for (const auto& [name, options, is_listed] : {std::tuple{"odd", odd_tiny_options(), false},
           {"deep", deep_tiny_options(), false}, {"mixed", mixed_tiny_options(), false},
           {"gated", gated_tiny_options(), false}, {"t5", t5_tiny_options(), false},
           {"umt5", umt5_tiny_options(), false}, {"student", student_tiny_options(), false},
           {"deep, listed", deep_tiny_options(), true}, {"student, listed", student_tiny_options(), true}}) {
    for (const converter::Weights weights : {converter::Weights::kInt8, converter::Weights::kFloat32}) {
      for (const bool has_rules : {false, true}) {
        goldcrest_limits limits = {};
        const ModelSpec spec = bits_spec(options, has_rules, is_listed, &limits);
        add(name, tiny_file(spec, Layout::kN16K4, limits, weights), options);
      }
    }
  }
  const TinyOptions deep = deep_tiny_options();
  for (const bool has_rules : {false, true}) {
    for (const bool is_listed : {false, true}) {
      goldcrest_limits limits = {};
      const ModelSpec spec = bits_spec(deep, has_rules, is_listed, &limits);
      for (const auto& [name, fine, refine] : {std::tuple{"deep, fine", "all", "none"}, {"deep, refined", "all", "all"},
               {"deep, refined in parts", "decoder.layers.0.*", "decoder"}})
        add(name, fine_tiny_file(spec, limits, fine, refine), deep);
      add("deep, packed", packed_tiny_file(spec, Layout::kN16K4, limits), deep);
    }
  }
  return made;
}

const std::vector<BitsModel>& models() {
  static const std::vector<BitsModel> all = make_models();
  return all;
}

std::vector<std::vector<int32_t>> some_sources(const BitsModel& model, uint32_t n, uint64_t seed) {
  Rng rng(seed);
  std::vector<std::vector<int32_t>> sources;
  for (uint32_t i = 0; i < n; ++i)
    sources.push_back(rng.ids(rng.between(1, model.longest_source), model.source_vocab_size));
  return sources;
}

constexpr uint32_t kAllFlags = GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS;

// Limits that ask for all results of inspection.
EngineSetup inspected_setup() {
  return {.limits = {.inspection = GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS,
              .alignment_layers = GOLDCREST_ALL_LAYERS}};
}

goldcrest_search search_of(const TestEngine& engine, uint32_t beam_size) {
  goldcrest_search search = engine.search();
  search.beam_size = beam_size;
  search.flags = kAllFlags;
  return search;
}

TEST(SameBits, WhateverTheSlicing) {
  for (const BitsModel& model : models()) {
    const auto sources = some_sources(model, 3, 41);
    for (const uint32_t beam_size : {1u, 4u}) {
      std::vector<std::vector<Translation>> whole;
      for (const uint32_t encoder_rows : {1024u, 1u, 3u, 16u}) {
        for (const goldcrest_step_size step_size : {GOLDCREST_STEP_POSITION, GOLDCREST_STEP_LAYER}) {
          EngineSetup setup = inspected_setup();
          setup.limits.batch = 3;
          setup.limits.beam_size = setup.limits.n_best = 4;
          setup.limits.encoder_rows = encoder_rows;
          setup.step_size = step_size;
          TestEngine engine(model.file.span(), setup);
          engine.set_search(search_of(engine, beam_size));
          const auto found = engine.run(sources);
          if (whole.empty()) whole = found;
          EXPECT_EQ(found, whole) << model.name << ", beam size " << beam_size << ", rows " << encoder_rows;
          if (beam_size == 1) {
            EXPECT_NE(found[0][0].logits_hash, found[1][0].logits_hash);
          }
        }
      }
    }
  }
}

// GOLDCREST_SEARCH_COARSE gives the results of a file without fine inputs and second matrices, whichever matrices have
// them; the next search without it has them again.
TEST(SameBits, CoarseAsWithoutFineInputs) {
  for (const TinyOptions& options :
      {odd_tiny_options(), deep_tiny_options(), gated_tiny_options(), t5_tiny_options()}) {
    for (const bool is_listed : {false, true}) {
      ModelSpec spec = tiny_spec(options);
      goldcrest_limits limits = {};
      if (is_listed) {
        spec.generation.rules = all_rules();
        add_shortlist(5, spec);
        limits.max_candidates = 30;
      }
      const FileImage plain = tiny_file(spec, Layout::kN16K4, limits);
      const BitsModel model = {
          "", plain, options.source_vocab_size, options.encoder.positions, options.decoder.positions};
      const auto sources = some_sources(model, 3, 47), targets = some_sources(model, 3, 48);
      for (const uint32_t beam_size : {1u, 3u}) {
        EngineSetup setup = inspected_setup();
        setup.limits.batch = 3;
        setup.limits.beam_size = setup.limits.n_best = beam_size;
        const auto results = [&](TestEngine& engine, uint32_t flags) {
          goldcrest_search search = search_of(engine, beam_size);
          search.flags |= flags;
          engine.set_search(search);
          auto found = engine.run(sources);
          found.push_back(engine.score(sources, targets));
          return found;
        };
        TestEngine without(plain.span(), setup);
        const auto expected = results(without, 0);
        EXPECT_EQ(results(without, GOLDCREST_SEARCH_COARSE), expected) << "no effect on a file without fine inputs";
        for (const auto& [fine, refine] : {std::pair{"all", "none"}, {"decoder", "none"},
                 {"projection", "decoder.layers.*"}, {"encoder.layers.*.feed_forward.*", "encoder.embedding"},
                 {"none", "projection"}, {"none", "encoder.layers.*"}}) {
          const FileImage file = fine_tiny_file(spec, limits, fine, refine);
          TestEngine engine(file.span(), setup);
          EXPECT_EQ(results(engine, GOLDCREST_SEARCH_COARSE), expected) << fine;
          const auto fine_results = results(engine, 0);
          EXPECT_NE(fine_results, expected) << fine;
          EXPECT_EQ(results(engine, GOLDCREST_SEARCH_COARSE), expected) << fine;
          EXPECT_TRUE(engine.memory_intact());
          TestEngine fresh(file.span(), setup);
          EXPECT_EQ(results(fresh, 0), fine_results) << fine;
        }
      }
    }
  }
}

TEST(SameBits, WhateverTheBatch) {
  for (const BitsModel& model : models()) {
    const uint32_t n = 9;
    const auto sources = some_sources(model, n, 42);
    for (const uint32_t beam_size : {1u, 3u}) {
      EngineSetup setup = inspected_setup();
      setup.limits.beam_size = setup.limits.n_best = beam_size;
      TestEngine single(model.file.span(), setup);
      single.set_search(search_of(single, beam_size));
      std::vector<std::vector<Translation>> alone;
      for (const auto& source : sources) alone.push_back(single.run(std::span(&source, 1)).at(0));

      setup.limits.batch = n;
      TestEngine many(model.file.span(), setup);
      many.set_search(search_of(many, beam_size));
      EXPECT_EQ(many.run(sources), alone) << model.name << ", all at once, beam size " << beam_size;
      for (uint32_t first = 0; first < n; first += 2) {
        const auto part = std::span(sources).subspan(first);
        const std::vector<std::vector<Translation>> expected(alone.begin() + first, alone.end());
        EXPECT_EQ(many.run(part), expected) << model.name << ", from " << first;
      }
      const std::vector<std::vector<int32_t>> reversed(sources.rbegin(), sources.rend());
      EXPECT_EQ(many.run(reversed), (std::vector<std::vector<Translation>>(alone.rbegin(), alone.rend())));
      EXPECT_TRUE(many.memory_intact());
    }
  }
}

// The search may have fewer beams than the memory was planned for.
TEST(SameBits, WhateverThePlannedLimits) {
  const BitsModel& model = models()[4];
  const auto sources = some_sources(model, 2, 43);
  std::vector<std::vector<Translation>> first;
  for (const uint32_t planned_beams : {3u, 8u, 16u}) {
    for (const uint32_t longest : {model.longest_source, model.longest_source - 1}) {
      EngineSetup setup = inspected_setup();
      setup.limits.batch = 2;
      setup.limits.beam_size = planned_beams;
      setup.limits.n_best = 3;
      setup.limits.max_source_tokens = longest;
      TestEngine engine(model.file.span(), setup);
      engine.set_search(search_of(engine, 3));
      if (sources[0].size() > longest || sources[1].size() > longest) continue;
      const auto found = engine.run(sources);
      if (first.empty()) first = found;
      EXPECT_EQ(found, first) << planned_beams << " beams planned";
    }
  }
}

TEST(SameBits, WhenTwoEnginesTakeTurns) {
  const BitsModel &a = models()[0], &b = models()[7];  // int8 and float32
  for (const uint32_t beam_size : {1u, 4u}) {
    EngineSetup setup = inspected_setup();
    setup.limits.beam_size = setup.limits.n_best = beam_size;
    setup.limits.encoder_rows = 2;
    setup.step_size = GOLDCREST_STEP_LAYER;
    TestEngine first(a.file.span(), setup), second(b.file.span(), setup), third(a.file.span(), setup);
    const auto source_a = some_sources(a, 2, 44);
    const auto source_b = some_sources(b, 1, 45);
    const auto alone_a = first.run(std::span(source_a).first(1)), alone_b = second.run(source_b),
               alone_c = third.run(std::span(source_a).last(1));
    ASSERT_EQ(goldcrest_begin(first.get(), source_a[0].data(), source_a[0].size()), 0);
    ASSERT_EQ(goldcrest_begin(second.get(), source_b[0].data(), source_b[0].size()), 0);
    ASSERT_EQ(goldcrest_begin(third.get(), source_a[1].data(), source_a[1].size()), 0);
    int done = 0;
    while (done < 3) {
      done = 0;
      for (TestEngine* engine : {&first, &second, &third}) {
        const int status = goldcrest_step(engine->get(), nullptr);
        ASSERT_GE(status, 0);
        done += status == GOLDCREST_DONE;
      }
    }
    EXPECT_EQ(first.results(0), alone_a[0]);
    EXPECT_EQ(second.results(0), alone_b[0]);
    EXPECT_EQ(third.results(0), alone_c[0]);
  }
}

TEST(SameBits, WithEitherVerification) {
  const BitsModel& model = models()[0];
  const auto sources = some_sources(model, 1, 46);
  EngineSetup setup;
  TestEngine full(model.file.span(), setup);
  setup.verify = GOLDCREST_VERIFY_STRUCTURE;
  TestEngine structure(model.file.span(), setup);
  EXPECT_EQ(full.run(sources), structure.run(sources));
}

// A greedy search of one source gives its tokens one by one, and they are the result.
TEST(TokenStream, IsTheResult) {
  for (const BitsModel& model : models()) {
    for (const goldcrest_step_size step_size : {GOLDCREST_STEP_POSITION, GOLDCREST_STEP_LAYER}) {
      TestEngine engine(model.file.span(), {.step_size = step_size});
      for (const auto& source : some_sources(model, 4, 47)) {
        ASSERT_EQ(goldcrest_begin(engine.get(), source.data(), source.size()), 0);
        std::vector<int32_t> stream;
        int status = GOLDCREST_WORKING;
        while (status != GOLDCREST_DONE) {
          int32_t token = -7;
          status = goldcrest_step(engine.get(), &token);
          ASSERT_GE(status, 0);
          EXPECT_EQ(status == GOLDCREST_TOKEN, token != -7);
          if (status == GOLDCREST_TOKEN) stream.push_back(token);
        }
        EXPECT_EQ(stream, engine.results(0).at(0).tokens);
      }
    }
  }
}

// A packed matrix is an int8 matrix: the file with these int8 weights has the same hash and the same results, with
// every table of kernels, as has the packed file in the other layout.
TEST(SameBits, WeightsOfFourBitsAndTheInt8WeightsThatTheyAre) {
  for (const auto& [options, listed] : {std::pair{odd_tiny_options(), false}, {deep_tiny_options(), true},
           {t5_tiny_options(), false}, {student_tiny_options(), true}}) {
    goldcrest_limits limits = {};
    const ModelSpec spec = bits_spec(options, false, listed, &limits);
    for (const char* packed : {"linear", "all", "projection", "decoder.layers.*"}) {
      for (const char* fine : {"none", "all"}) {
        const FileImage first = packed_tiny_file(spec, Layout::kN16K4, limits, packed, fine);
        const FileImage second = packed_tiny_file(spec, Layout::kN4K16, limits, packed, fine);
        const FileImage wide = converter::relay_out(first, {}, "model.gcst", true);
        ASSERT_LT(first.size(), wide.size());
        EXPECT_TRUE(std::ranges::equal(converter::relay_out(first, Layout::kN4K16, "").span(), second.span()));
        std::vector<std::vector<Translation>> expected;
        for (const FileImage* file : {&wide, &first, &second}) {
          for (uint32_t i = 0; const Kernels* table = kernels_at(i); ++i) {
            EngineSetup setup = inspected_setup();
            setup.limits.batch = 3;
            setup.limits.beam_size = setup.limits.n_best = 4;
            setup.kernels = table->name;
            TestEngine engine(file->span(), setup);
            EXPECT_EQ(engine.info().weight_bits, file == &wide ? 8u : 4u);
            const auto found = engine.run(some_sources({"", first, options.source_vocab_size, 20, 20}, 3, 41));
            if (expected.empty()) expected = found;
            EXPECT_EQ(found, expected) << packed << ", fine " << fine << ", " << table->name;
          }
        }
      }
    }
  }
}
}}  // namespace goldcrest::test
