// SPDX-License-Identifier: Apache-2.0
// The work of an engine's calls grows with multiply-accumulates, text steps, ids or bytes, for every model and text.
// The tests use models whose logits ascend, texts of pieces with the same beginning, and results that do not fit.
#include "goldcrest/languages.h"
#include "support/engine_fixture.h"
#include "support/instructions.h"
#include "support/test.h"
#include "unit/api/linear_work.h"
#include "unit/model/hostile_file.h"
#include "unit/text/damaged_tables.h"

namespace goldcrest::test { namespace {
using converter::PieceType;

constexpr uint32_t kBeams = 4, kPositions = 12;

EngineSetup setup_of(uint32_t max_source_tokens) {
  return {.limits = {.max_source_tokens = max_source_tokens,
              .max_target_tokens = kPositions,
              .beam_size = kBeams,
              .encoder_rows = 4},
      .kernels = "reference"};
}

// Outputs ascend whatever the decoder computes, so each enters the lists of the best.
ModelSpec ascending_spec(uint32_t n_outputs, uint32_t n_source, uint32_t n_target = kPositions) {
  TinyOptions options = {
      .encoder = {.positions = n_source}, .decoder = {.positions = n_target}, .target_vocab_size = n_outputs};
  ModelSpec spec = tiny_spec(options);
  for (uint32_t i = 0; i < n_outputs; ++i) spec.projection.bias[i] = 8.0f * static_cast<float>(i);
  return spec;
}

std::vector<int32_t> some_source(uint32_t n) { return std::vector<int32_t>(n, 2); }

// Returns the largest step of a search from the longest source to the last position.
uint64_t largest_step(const TestEngine& engine, goldcrest_search search, uint32_t n_source) {
  search.min_target_tokens = engine.memory().limits.max_target_tokens - 1;
  search.length_penalty = 0.5f;
  EXPECT_EQ(goldcrest_set_search(engine.get(), &search), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_begin(engine.get(), some_source(n_source).data(), n_source), 0);
  uint64_t most = 0;
  for (int status = GOLDCREST_WORKING; status >= 0 && status != GOLDCREST_DONE;) {
    const Counted step = count_instructions([&] { return goldcrest_step(engine.get(), nullptr); });
    most = std::max(most, step.instructions);
    status = static_cast<int>(step.value);
  }
  return most;
}

Cost cost_of_step(uint32_t n_outputs, uint32_t n_source, goldcrest_step_size step_size) {
  const FileImage file = tiny_file(ascending_spec(n_outputs, n_source));
  EngineSetup setup = setup_of(n_source);
  setup.step_size = step_size;
  const TestEngine engine(file.span(), setup);
  const bool layer = step_size == GOLDCREST_STEP_LAYER;
  return {largest_step(engine, engine.search(), n_source),
      layer ? engine.memory().layer_step_macs : engine.memory().step_macs};
}

TEST(WorkOfRuns, IsOfMultiplyAccumulatesForSteps) {
  for (const goldcrest_step_size step : {GOLDCREST_STEP_POSITION, GOLDCREST_STEP_LAYER}) {
    const std::string call = step == GOLDCREST_STEP_LAYER ? "goldcrest_step of a layer, " : "goldcrest_step, ";
    // The sizes start at eight blocks of outputs: the first block lists few outputs, all later ones list every output.
    expect_linear({call + "outputs", 24}, [step](uint32_t size) { return cost_of_step(2048 * size, 16, step); });
    expect_linear({call + "source", 24}, [step](uint32_t size) { return cost_of_step(64, 64 * size, step); });
  }
}

// Each suppressed id is looked for in each row's blocks of 256 outputs.
TEST(WorkOfRuns, IsOfSuppressedIdsToo) {
  constexpr uint32_t kOutputs = 1024, kSource = 16;
  expect_linear({"goldcrest_step, suppressed ids", 24}, [](uint32_t size) {
    const uint32_t n = 1000 * size;
    const FileImage file = remade(tiny_file(ascending_spec(kOutputs, kSource)),
        [n](ModelT& metadata) { metadata.generation->suppressed_ids.assign(n, 1); });
    const TestEngine engine(file.span(), setup_of(kSource));
    return Cost{
        largest_step(engine, engine.search(), kSource), engine.memory().step_macs + kBeams * (kOutputs / 256) * n};
  });
}

// Rules look through a row's past once for each block, and once more for each of its tokens.
TEST(WorkOfRuns, IsOfThePastForRules) {
  constexpr uint32_t kOutputs = 512;
  expect_linear({"goldcrest_step, rules", 24}, [](uint32_t size) {
    const uint32_t n_target = 32 * size;
    ModelSpec spec = ascending_spec(kOutputs, 16, n_target);
    const FileImage file = tiny_file(spec);
    EngineSetup setup = setup_of(16);
    setup.limits.max_target_tokens = n_target;
    TestEngine engine(file.span(), setup);
    goldcrest_search search = engine.search();
    search.repetition_penalty = 1.0f / 1024;  // the same token again and again
    search.no_repeat_ngram = n_target / 2;
    const uint64_t past = kBeams * n_target * uint64_t{n_target + kOutputs / 256};
    return Cost{largest_step(engine, search, 16), engine.memory().step_macs * 2 + past};
  });
}

// Reads every list of a source's ids, 4 bytes an id, and then gathers the candidates' weights.
TEST(WorkOfRuns, IsOfTheListsOfASource) {
  constexpr uint32_t kOutputs = 2048;
  expect_linear({"goldcrest_step, shortlist", 24}, [](uint32_t size) {
    const uint32_t n_source = 64 * size;
    ModelSpec spec = ascending_spec(kOutputs, n_source);
    spec.shortlist = {{}, {0, 0, 0}, {}, {}};
    for (uint32_t id = 0; id + 1 < kOutputs; ++id) spec.shortlist->ids.push_back(id);
    for (uint32_t id = 2; id < spec.encoder.embedding->rows; ++id) spec.shortlist->offset.push_back(kOutputs - 1);
    const FileImage file = tiny_file(spec);
    EngineSetup setup = setup_of(n_source);
    setup.limits.max_candidates = kOutputs - 1;
    setup.limits.beam_size = 1;
    const TestEngine engine(file.span(), setup);
    const uint64_t ids = n_source * uint64_t{4 * kOutputs}, gathered = kOutputs * uint64_t{pad16(spec.decoder.d_model)};
    return Cost{largest_step(engine, engine.search(), n_source), ids + gathered};
  });
}

TEST(WorkOfRuns, IsOfIdsForSources) {
  const FileImage file = tiny_file(ascending_spec(64, 1024));
  const TestEngine engine(file.span(), setup_of(1024));
  expect_linear({"goldcrest_begin", 16}, [&](uint32_t size) {
    const uint32_t n = 256 * size;
    const std::vector<int32_t> source = some_source(n);
    const Counted counted = count_instructions([&] { return goldcrest_begin(engine.get(), source.data(), n); });
    EXPECT_EQ(counted.value, 0);
    return Cost{counted.instructions, n};
  });
}

// "a", "aa", "aaa", ...; a longer one has a better score.
converter::TokenizerSpec chain(converter::TokenizerKind kind, PieceType type) {
  converter::TokenizerSpec spec = {
      .kind = kind, .pieces = {{"<unk>", 0, PieceType::kUnknown}, {"a", 0, PieceType::kNormal}}};
  for (uint32_t n = 2; n <= 200; ++n) spec.pieces.push_back({std::string(n, 'a'), static_cast<float>(n), type});
  spec.vocab_size = static_cast<uint32_t>(spec.pieces.size());
  spec.add_dummy_prefix = false;
  return spec;
}

FileImage file_of_text(const converter::TokenizerSpec& tokenizer, uint32_t n_source) {
  ModelSpec spec = tiny_spec({.encoder = {.positions = n_source}, .source_vocab_size = tokenizer.vocab_size});
  spec.source_tokenizer = tokenizer;
  return tiny_file(spec);
}

// Returns the most work of several texts: one byte again and again, and lines of every kind.
uint64_t worst_text(const TestEngine& engine, uint32_t bytes) {
  std::vector<std::string> texts = {std::string(bytes, 'a'), std::string(bytes, ' '), std::string(bytes, '\xff')};
  for (const uint32_t seed : {1u, 2u}) {
    std::string text;
    for (const std::string& line : random_lines(seed, 100)) text += line;
    while (text.size() < bytes) text += text;
    texts.push_back(text.substr(0, bytes));
  }
  uint64_t most = 0;
  for (const std::string& text : texts) {
    const Counted counted =
        count_instructions([&] { return goldcrest_begin_text(engine.get(), text.data(), text.size()); });
    EXPECT_TRUE(counted.value == 0 || counted.value == GOLDCREST_ERROR_ARGUMENT) << counted.value;  // only spaces
    most = std::max(most, counted.instructions);
  }
  return most;
}

TEST(WorkOfRuns, IsOfTextStepsForTexts) {
  std::vector<converter::TokenizerSpec> specs = good_specs();
  for (const PieceType type : {PieceType::kUnused, PieceType::kNormal, PieceType::kUserDefined}) {
    specs.push_back(chain(converter::TokenizerKind::kBpe, type));
    specs.push_back(chain(converter::TokenizerKind::kUnigram, type));
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    const FileImage file = file_of_text(specs[i], 16384);
    expect_linear({"goldcrest_begin_text, tokenizer " + std::to_string(i), 48}, [&](uint32_t size) {
      EngineSetup setup = setup_of(16384);
      setup.limits.max_source_bytes = 1000 * size;
      const TestEngine engine(file.span(), setup);
      return Cost{worst_text(engine, 1000 * size), engine.memory().text_steps};
    });
  }
}

// The whole text is measured even if it does not fit and nothing is written.
TEST(WorkOfRuns, IsOfTheirBytesForResultsAsText) {
  constexpr uint32_t kPieceBytes = 300;
  ModelSpec spec = ascending_spec(37, 16);
  for (const auto kind : {converter::TokenizerKind::kUnigram, converter::TokenizerKind::kWord}) {
    add_tokenizers(converter::TokenizerKind::kUnigram, spec);
    spec.target_tokenizer->kind = kind;
    std::string spaces;
    while (spaces.size() < kPieceBytes) spaces += "\xe2\x96\x81";
    spec.target_tokenizer->pieces[5].text = spaces;
    const FileImage file = tiny_file(spec);
    const TestEngine engine(file.span(), setup_of(16));
    for (const size_t room : {size_t{10}, size_t{1} << 20}) {
      expect_linear({"goldcrest_detokenize, room " + std::to_string(room), 32}, [&](uint32_t size) {
        const std::vector<int32_t> ids(100 * size, 5);
        std::vector<char> out(room);
        goldcrest_text_state state = {};
        const Counted counted = count_instructions(
            [&] { return goldcrest_detokenize(engine.get(), &state, ids.data(), ids.size(), out.data(), room); });
        EXPECT_EQ(counted.value < 0, room == 10);
        return Cost{counted.instructions, ids.size() * (1 + kPieceBytes)};
      });
    }
  }
}

TEST(WorkOfRuns, IsOfTheTrieForLanguages) {
  expect_linear({"goldcrest_target_languages", 64}, [](uint32_t size) {
    TinyOptions options = {.source_vocab_size = 64 * size};
    ModelSpec spec = tiny_spec(options);
    add_tokenizers(converter::TokenizerKind::kUnigram, spec);
    for (uint32_t id = 3; id + 1 < options.source_vocab_size; ++id)
      spec.source_tokenizer->pieces[id] = {">>" + std::to_string(id * 7919) + "<<", 0, PieceType::kSurface};
    spec.source_tokenizer->language_codes = true;
    const FileImage file = tiny_file(spec);
    goldcrest_detail detail = {};
    const Counted counted = count_instructions(
        [&] { return goldcrest_target_languages(file.bytes(), file.size(), nullptr, nullptr, &detail); });
    EXPECT_EQ(counted.value, options.source_vocab_size - 4) << detail.message;
    // For each byte, each unit's place is tried as the child of one node.
    return Cost{counted.instructions, uint64_t{256} * format::GetModel(file.bytes())->tokenizer()->trie_units()};
  });
}

TEST(WorkOfRuns, IsOfIdsForGivenTargets) {
  ModelSpec spec = ascending_spec(64, 512);
  const FileImage file = tiny_file(spec);
  EngineSetup setup = setup_of(512);
  setup.limits.inspection = GOLDCREST_INSPECT_TARGETS;
  setup.limits.alignment_layers = 1;
  const TestEngine engine(file.span(), setup);
  const int32_t target[kPositions] = {};
  expect_linear({"goldcrest_get_alignment", 64}, [&](uint32_t size) {
    const uint32_t n = 128 * size;
    EXPECT_EQ(goldcrest_begin(engine.get(), some_source(n).data(), n), 0);
    const Counted score = count_instructions([&] { return goldcrest_score(engine.get(), 0, target, kPositions); });
    EXPECT_EQ(score.value, GOLDCREST_OK);
    EXPECT_LE(score.instructions, 1000u);
    EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    std::vector<float> weights(n);
    const goldcrest_alignment wanted = {0, 0, 1, -1, -1};
    const Counted counted =
        count_instructions([&] { return goldcrest_get_alignment(engine.get(), &wanted, weights.data(), n); });
    EXPECT_EQ(counted.value, n);
    return Cost{counted.instructions, n * 2 * 16};  // heads; their padded width
  });
}

// All other calls take the same time for every model.
TEST(WorkOfRuns, IsFixedForTheRest) {
  for (const uint32_t size : {1u, 16u}) {
    ModelSpec spec = ascending_spec(64 * size, 16 * size);
    spec.target_language = "xx";
    const FileImage file = tiny_file(spec);
    const TestEngine engine(file.span(), setup_of(16 * size));
    EXPECT_EQ(goldcrest_begin(engine.get(), some_source(16 * size).data(), 16 * size), 0);
    EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    goldcrest_result result;
    const int32_t* ids;
    const goldcrest_search search = engine.search();
    const std::function<int64_t()> calls[] = {
        [&] { return goldcrest_get_result(engine.get(), 0, 0, &result); },
        [&] { return goldcrest_get_source(engine.get(), 0, &ids); },
        [&] { return goldcrest_kernels_name(engine.get()) != nullptr; },
        [&] { return goldcrest_status_string(-9) != nullptr; },
        [&] { return goldcrest_set_languages(engine.get(), nullptr, "xx"); },
        [&] { return goldcrest_set_search(engine.get(), &search); },
        [&] { return goldcrest_set_search(engine.get(), nullptr); },
        [&] { return goldcrest_reset(engine.get()), 0; },
    };
    for (const auto& call : calls) {
      const Counted counted = count_instructions(call);
      EXPECT_GE(counted.value, 0);
      EXPECT_LE(counted.instructions, 2000u);
    }
  }
}
}}  // namespace goldcrest::test
