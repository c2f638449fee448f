// SPDX-License-Identifier: Apache-2.0
// The printed formula is the plan, which is what the engine needs, to the byte. The arena's old contents do not matter.
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
const FileImage& odd_file() {
  static const FileImage image = tiny_file(tiny_spec(odd_tiny_options()));
  return image;
}

const FileImage& deep_file() {
  static const FileImage image = [] {
    ModelSpec spec = tiny_spec(deep_tiny_options());
    add_tokenizers(converter::TokenizerKind::kUnigram, spec);
    return tiny_file(spec);
  }();
  return image;
}

const FileImage& float32_file() {
  static const FileImage image =
      tiny_file(tiny_spec(deep_tiny_options()), Layout::kN16K4, {}, converter::Weights::kFloat32);
  return image;
}

const FileImage& mixed_file() {
  static const FileImage image = tiny_file(tiny_spec(mixed_tiny_options()));
  return image;
}

const FileImage& student_file() {
  static const FileImage image = tiny_file(tiny_spec(student_tiny_options()));
  return image;
}

ModelSpec listed_spec() {
  ModelSpec spec = tiny_spec(deep_tiny_options());
  add_shortlist(3, spec);
  return spec;
}

const FileImage& listed_file() {
  static const FileImage image = tiny_file(listed_spec());
  return image;
}

const FileImage& listed_float32_file() {
  static const auto image = tiny_file(listed_spec(), Layout::kN16K4, {}, converter::Weights::kFloat32);
  return image;
}

struct PlannedMemory {
  goldcrest_memory memory = {};
  std::vector<goldcrest_buffer> buffers;
};

PlannedMemory plan(const FileImage& file, const goldcrest_limits& limits) {
  PlannedMemory planned;
  const auto keep = [](void* context, const goldcrest_buffer* buffer) {
    static_cast<std::vector<goldcrest_buffer>*>(context)->push_back(*buffer);
  };
  EXPECT_EQ(goldcrest_plan_memory(file.bytes(), file.size(), &limits, &planned.memory, keep, &planned.buffers, nullptr),
      GOLDCREST_OK);
  return planned;
}

// The formula of goldcrest.h, in a second implementation.
uint64_t formula(const goldcrest_buffer& buffer, const goldcrest_limits& limits) {
  const std::map<int, uint64_t> factors = {
      {GOLDCREST_FACTOR_NONE, 1},
      {GOLDCREST_FACTOR_SOURCE_TOKENS, limits.max_source_tokens},
      {GOLDCREST_FACTOR_SOURCE_BYTES, limits.max_source_bytes},
      {GOLDCREST_FACTOR_TARGET_TOKENS, limits.max_target_tokens},
      {GOLDCREST_FACTOR_LONGEST, std::max(limits.max_source_tokens, limits.max_target_tokens)},
      {GOLDCREST_FACTOR_BEAM, limits.beam_size},
      {GOLDCREST_FACTOR_BATCH, limits.batch},
      {GOLDCREST_FACTOR_ENCODER_ROWS, limits.encoder_rows},
      {GOLDCREST_FACTOR_BEAM_USED, limits.beam_size > 1 ? 1 : 0},
      {GOLDCREST_FACTOR_PREFIX_TOKENS, limits.max_prefix_tokens},
      {GOLDCREST_FACTOR_SAMPLED, limits.max_sampled},
      {GOLDCREST_FACTOR_CANDIDATES, (uint64_t{limits.max_candidates} + 15) / 16 * 16},
  };
  uint64_t product = buffer.coefficient, copies = 1;
  for (const uint8_t factor : buffer.factors)
    if (factor == GOLDCREST_FACTOR_THREADS) copies = limits.threads;
    else product *= factors.at(factor);
  return (buffer.constant + product + 63) / 64 * 64 * copies;
}

bool may_live_together(const goldcrest_buffer& a, const goldcrest_buffer& b) {
  return a.phase == b.phase || a.phase == GOLDCREST_PHASE_ALWAYS || b.phase == GOLDCREST_PHASE_ALWAYS;
}

void check_plan(const PlannedMemory& planned) {
  const goldcrest_memory& memory = planned.memory;
  uint64_t phases[4] = {}, main[4] = {}, scratch[4] = {};
  for (const goldcrest_buffer& buffer : planned.buffers) {
    EXPECT_EQ(buffer.bytes, formula(buffer, memory.limits)) << buffer.name;
    EXPECT_EQ(buffer.offset_bytes % 64, 0u) << buffer.name;
    EXPECT_LE(buffer.offset_bytes + buffer.bytes, memory.arena_bytes) << buffer.name;
    phases[buffer.phase] += buffer.bytes;
    (buffer.scratch ? scratch : main)[buffer.phase] += buffer.bytes;
  }
  EXPECT_EQ(memory.fixed_bytes, phases[GOLDCREST_PHASE_ALWAYS]);
  EXPECT_EQ(memory.text_bytes, phases[GOLDCREST_PHASE_TEXT]);
  EXPECT_EQ(memory.encode_bytes, phases[GOLDCREST_PHASE_ENCODE]);
  EXPECT_EQ(memory.decode_bytes, phases[GOLDCREST_PHASE_DECODE]);
  EXPECT_EQ(
      memory.arena_bytes, memory.fixed_bytes + std::max({memory.text_bytes, memory.encode_bytes, memory.decode_bytes}));
  EXPECT_EQ(memory.main_bytes, main[0] + std::max({main[1], main[2], main[3]}));
  EXPECT_EQ(memory.scratch_bytes, scratch[0] + std::max({scratch[1], scratch[2], scratch[3]}));
  for (size_t i = 0; i < planned.buffers.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const goldcrest_buffer &a = planned.buffers[i], &b = planned.buffers[j];
      const bool apart = a.offset_bytes + a.bytes <= b.offset_bytes || b.offset_bytes + b.bytes <= a.offset_bytes;
      EXPECT_TRUE(apart || !may_live_together(a, b) || a.bytes == 0 || b.bytes == 0) << a.name << " and " << b.name;
    }
  }
}

goldcrest_limits random_limits(Rng& rng, const FileImage& file) {
  goldcrest_info info;
  EXPECT_EQ(goldcrest_model_info(file.bytes(), file.size(), &info, nullptr), GOLDCREST_OK);
  goldcrest_limits limits = {.max_source_tokens = rng.between(0, info.max_source_positions),
      .max_target_tokens = rng.between(0, info.max_target_positions),
      .beam_size = rng.below(3) == 0 ? 1 : rng.between(1, 16),
      .batch = rng.below(3) == 0 ? 0 : rng.between(1, 9)};
  limits.n_best = rng.between(0, limits.beam_size);
  limits.encoder_rows = rng.between(0, 40);
  limits.threads = rng.below(6);
  limits.inspection = rng.below(4);
  limits.alignment_layers = rng.below(2) == 0 ? 0 : rng.below(1u << info.decoder_layers);
  limits.lexicon = rng.below(2);
  limits.max_candidates = rng.below(3) == 0 ? 0 : rng.between(1, 400);
  if (info.has_tokenizer && rng.below(2) == 1) limits.max_source_bytes = rng.between(1, 3000);
  if (rng.below(2) == 1) limits.max_prefix_tokens = rng.below(std::max(1u, limits.max_target_tokens));
  limits.max_sampled = rng.below(3) == 0 ? rng.between(1, 256) : 0;
  return limits;
}

// A batch of sources as long as the limits allow, and shorter ones.
std::vector<std::vector<int32_t>> some_sources(Rng& rng, const goldcrest_memory& memory, uint32_t vocab_size) {
  std::vector<std::vector<int32_t>> sources;
  const uint32_t longest = memory.limits.max_source_tokens;
  for (uint32_t i = 0; i < memory.limits.batch; ++i)
    sources.push_back(rng.ids(i == 0 ? longest : rng.between(1, longest), vocab_size));
  return sources;
}

goldcrest_config config_for(const FileImage& file, const goldcrest_limits& limits) {
  return {.model = file.bytes(), .model_bytes = file.size(), .limits = limits};
}

void expect_one_byte_less_is_refused(const FileImage& file, const goldcrest_memory& memory) {
  goldcrest_detail detail = {};
  goldcrest_engine* engine = nullptr;
  goldcrest_config config = config_for(file, memory.limits);
  config.detail = &detail;
  GuardedBuffer<uint8_t> arena(memory.arena_bytes), scratch(memory.scratch_bytes);
  config.arena = arena.get();
  config.arena_bytes = memory.arena_bytes - 1;
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARENA_TOO_SMALL);
  EXPECT_EQ(engine, nullptr);
  EXPECT_STREQ(detail.message, "arena: smaller than goldcrest_plan_memory says");
  EXPECT_EQ(detail.index, static_cast<int32_t>(memory.arena_bytes));
  config.scratch = scratch.get();
  config.scratch_bytes = memory.scratch_bytes;
  config.arena_bytes = memory.main_bytes - 1;
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARENA_TOO_SMALL);
  EXPECT_EQ(detail.index, static_cast<int32_t>(memory.main_bytes));
  config.arena_bytes = memory.main_bytes;
  config.scratch_bytes = memory.scratch_bytes - 1;
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARENA_TOO_SMALL);
  EXPECT_STREQ(detail.message, "scratch: smaller than goldcrest_plan_memory says");
  EXPECT_EQ(detail.index, static_cast<int32_t>(memory.scratch_bytes));
}

// Tests one set of limits: the plan, the engine in exactly that memory (either fill, two regions), and one byte less.
void check_limits(const FileImage& file, Rng& rng) {
  EngineSetup setup = {.limits = random_limits(rng, file)};
  const PlannedMemory planned = plan(file, setup.limits);
  check_plan(planned);
  EXPECT_EQ(goldcrest_arena_bytes(file.bytes(), file.size(), &setup.limits),
      static_cast<int64_t>(planned.memory.arena_bytes));
  expect_one_byte_less_is_refused(file, planned.memory);

  setup.fill = 0xAA;
  TestEngine engine(file.span(), setup);
  setup.fill = 0x00;
  TestEngine zeroed(file.span(), setup);
  setup.fill = 0xFF;
  setup.two_regions = true;
  TestEngine split(file.span(), setup);
  const auto sources = some_sources(rng, planned.memory, engine.info().source_vocab_size);
  const auto translations = engine.run(sources);
  EXPECT_EQ(zeroed.run(sources), translations);
  EXPECT_EQ(split.run(sources), translations);
  EXPECT_EQ(engine.run(sources), translations) << "a second time in the same memory";
  EXPECT_TRUE(engine.memory_intact() && zeroed.memory_intact() && split.memory_intact());
}

TEST(PlanMemory, FormulaEqualsPlanAndPlanEqualsNeed) {
  const FileImage umt5 = tiny_file(tiny_spec(umt5_tiny_options()));  // gates, too
  const std::pair<const char*, const FileImage*> files[] = {{"odd", &odd_file()}, {"deep", &deep_file()},
      {"float32", &float32_file()}, {"mixed", &mixed_file()}, {"student", &student_file()}, {"umt5", &umt5},
      {"listed", &listed_file()}, {"listed float32", &listed_float32_file()}};
  for (const auto& [name, file] : files) {
    Rng rng(31);
    for (int i = 0; i < 30; ++i) {
      SCOPED_TRACE(testing::Message() << name << " model, limits " << i);
      check_limits(*file, rng);
      if (HasFailure()) return;
    }
  }
}

// A sentence's panels, parameters and ids, and a bit for each output: pad16(candidates) * (k + 16), or (4k + 8).
TEST(PlanMemory, AShortlistTakesWhatItGathers) {
  goldcrest_limits limits = {.batch = 3};
  const auto added = [&](const FileImage& file, uint32_t max_candidates) {
    limits.max_candidates = GOLDCREST_NO_SHORTLIST;
    const goldcrest_memory without = plan(file, limits).memory;
    EXPECT_EQ(without.limits.max_candidates, GOLDCREST_NO_SHORTLIST);
    limits.max_candidates = max_candidates;
    const goldcrest_memory with = plan(file, limits).memory;
    EXPECT_EQ(with.step_macs, without.step_macs);
    EXPECT_EQ(with.fixed_bytes, without.fixed_bytes);
    EXPECT_EQ(with.encode_bytes, without.encode_bytes);
    return with.decode_bytes - without.decode_bytes;
  };
  const uint64_t bits = 64;
  EXPECT_EQ(added(listed_file(), 100), 3 * 112 * (32 + 16) + bits);
  EXPECT_EQ(added(listed_file(), 1000), 3 * 304 * (32 + 16) + bits) << "at most the vocabulary's size";
  EXPECT_EQ(added(listed_float32_file(), 100), 3 * 112 * (4 * 32 + 8) + bits);
  limits.max_candidates = 0;
  EXPECT_EQ(plan(listed_file(), limits).memory.limits.max_candidates, 300u) << "the file's";
  limits.max_candidates = 40;
  EXPECT_EQ(plan(deep_file(), limits).memory.limits.max_candidates, 0u) << "a file without a shortlist";
}

// Each hypothesis has two cells for each recurrent layer, for any length. Only the other layers have keys of target
// positions.
TEST(PlanMemory, RecurrentLayersKeepNoPositions) {
  const auto find = [](const PlannedMemory& planned, const std::string& name) {
    const auto found = std::find_if(planned.buffers.begin(), planned.buffers.end(),
        [&](const goldcrest_buffer& buffer) { return buffer.name == name; });
    return found == planned.buffers.end() ? goldcrest_buffer{} : *found;
  };
  goldcrest_limits limits = {.beam_size = 3, .batch = 2};
  const PlannedMemory mixed = plan(mixed_file(), limits), student = plan(student_file(), limits);
  EXPECT_EQ(find(mixed, "decoder.cells").coefficient, 2u * 4 * 48 * 2);
  EXPECT_EQ(find(mixed, "decoder.cells").bytes, 2u * 4 * 48 * 2 * 3 * 2);
  EXPECT_EQ(find(mixed, "decoder.keys").coefficient, 3u * 32);
  EXPECT_EQ(find(student, "decoder.cells").coefficient, 2u * 4 * 48 * 2);
  EXPECT_EQ(find(student, "decoder.keys").name, nullptr);
  EXPECT_EQ(find(plan(deep_file(), limits), "decoder.cells").name, nullptr);

  // A longer target needs only ids and slots of the search, because no layer has self-attention.
  limits.max_target_tokens = 20;
  const uint64_t longer = plan(student_file(), limits).memory.decode_bytes;
  limits.max_target_tokens = 19;
  EXPECT_LE(longer - plan(student_file(), limits).memory.decode_bytes, 3u * 64);
}

// The largest step counts only matrices that exist, for a layer and for a position.
TEST(PlanMemory, RecurrentLayersCountInTheWorkOfAStep) {
  goldcrest_limits limits = {.max_source_tokens = 3, .max_target_tokens = 5, .beam_size = 2, .encoder_rows = 1};
  const uint64_t ff = 2 * 48 * 64, heads = 4 * 16;
  const uint64_t rows = 2, source = 2 * 3 * heads, cross = 2 * 48 * heads;
  const uint64_t recurrent = 2 * 48 * 48 + cross + ff + source;
  const goldcrest_memory memory = plan(student_file(), limits).memory;
  const uint64_t output = 304 * 48;
  EXPECT_EQ(memory.step_macs, rows * (2 * recurrent + output));
  EXPECT_EQ(memory.layer_step_macs, rows * std::max(recurrent, output));
}

TEST(PlanMemory, NoLimitsMeansTheFilesDefaults) {
  goldcrest_memory without = {}, zeros = {};
  const goldcrest_limits limits = {};
  const FileImage& file = deep_file();
  ASSERT_EQ(
      goldcrest_plan_memory(file.bytes(), file.size(), nullptr, &without, nullptr, nullptr, nullptr), GOLDCREST_OK);
  ASSERT_EQ(goldcrest_plan_memory(file.bytes(), file.size(), &limits, &zeros, nullptr, nullptr, nullptr), GOLDCREST_OK);
  EXPECT_EQ(without.arena_bytes, zeros.arena_bytes);
  EXPECT_EQ(without.limits.max_source_tokens, 40u);
  EXPECT_EQ(without.limits.max_target_tokens, 30u);
  EXPECT_EQ(without.limits.beam_size, 1u);
  EXPECT_EQ(without.limits.batch, 1u);
  EXPECT_EQ(without.limits.n_best, 1u);
  EXPECT_EQ(without.limits.encoder_rows, 32u);
  EXPECT_EQ(without.limits.threads, 1u);
}

TEST(PlanMemory, LimitsOutOfRangeAreNamed) {
  struct Case {
    uint32_t goldcrest_limits::*field;
    uint32_t value;
    int status;
    const char* message;
  };
  const int bad = GOLDCREST_ERROR_ARGUMENT, unsupported = GOLDCREST_ERROR_UNSUPPORTED;
  const Case cases[] = {
      {&goldcrest_limits::max_source_tokens, 41, bad, "limits.max_source_tokens: more than the model's positions"},
      {&goldcrest_limits::max_source_tokens, UINT32_MAX, bad,
          "limits.max_source_tokens: more than the model's positions"},
      {&goldcrest_limits::max_target_tokens, 31, bad, "limits.max_target_tokens: more than the model's positions"},
      {&goldcrest_limits::max_source_bytes, 1, unsupported, "limits.max_source_bytes: the model has no tokenizer"},
      {&goldcrest_limits::max_source_bytes, (1u << 24) + 1, bad, "limits.max_source_bytes: above 16 MiB"},
      {&goldcrest_limits::beam_size, 17, bad, "limits.beam_size: above 16"},
      {&goldcrest_limits::batch, 257, bad, "limits.batch: above 256"},
      {&goldcrest_limits::n_best, 2, bad, "limits.n_best: above beam_size"},
      {&goldcrest_limits::encoder_rows, 1025, bad, "limits.encoder_rows: above 1024"},
      {&goldcrest_limits::threads, 65, bad, "limits.threads: above 64"},
      {&goldcrest_limits::inspection, 4, bad, "limits.inspection: unknown bits"},
      {&goldcrest_limits::alignment_layers, 1u << 31, bad, "limits.alignment_layers: a layer that the decoder lacks"},
  };
  const FileImage without_tokenizer = tiny_file(tiny_spec(deep_tiny_options()));
  for (const Case& c : cases) {
    const FileImage& file = c.status == unsupported ? without_tokenizer : deep_file();
    goldcrest_limits limits = {};
    limits.*c.field = c.value;
    goldcrest_memory memory;
    goldcrest_detail detail = {};
    EXPECT_EQ(goldcrest_plan_memory(file.bytes(), file.size(), &limits, &memory, nullptr, nullptr, &detail), c.status);
    EXPECT_STREQ(detail.message, c.message);
    EXPECT_EQ(goldcrest_arena_bytes(file.bytes(), file.size(), &limits), c.status);
    goldcrest_config config = config_for(file, limits);
    goldcrest_engine* engine = nullptr;
    EXPECT_EQ(goldcrest_init(&engine, &config), c.status);
  }
}

TEST(Init, MisalignedOrMissingMemoryIsRefused) {
  const FileImage& file = odd_file();
  goldcrest_memory memory;
  ASSERT_EQ(
      goldcrest_plan_memory(file.bytes(), file.size(), nullptr, &memory, nullptr, nullptr, nullptr), GOLDCREST_OK);
  GuardedBuffer<uint8_t> arena(memory.arena_bytes + 64), scratch(memory.scratch_bytes + 64), copy(file.size() + 64);
  std::copy(file.span().begin(), file.span().end(), copy.begin() + 8);
  goldcrest_engine* engine = nullptr;
  goldcrest_config config = config_for(file, {});
  config.arena_bytes = memory.arena_bytes;
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARGUMENT) << "no arena";
  for (const size_t shift : {1u, 4u, 16u, 32u, 63u}) {
    config.arena = arena.get() + shift;
    EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARGUMENT) << shift;
    config.arena = arena.get();
    config.scratch = scratch.get() + shift;
    config.scratch_bytes = memory.scratch_bytes;
    EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARGUMENT) << shift;
    config.scratch = nullptr;
  }
  config.arena = arena.get();
  config.model = copy.get() + 8;
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARGUMENT) << "a misaligned model";
  config.model = nullptr;
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARGUMENT) << "no model";
  EXPECT_EQ(engine, nullptr);
  config.model = file.bytes();
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_OK);
  EXPECT_NE(engine, nullptr);
}
}}  // namespace goldcrest::test
