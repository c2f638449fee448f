// SPDX-License-Identifier: Apache-2.0
// Engines with the XNNPACK backend: exact memory, shared weights, threads, and which engines get it or are refused.
#include "api/engine.h"
#include "backends/xnnpack/table.h"
#include "kernels/xnnpack_session.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
constexpr double kCloseRows = 0.05;  // relative to a row's largest value, after all layers of a small random model

std::span<const uint8_t> bytes_of(const FileImage& file) { return {file.bytes(), file.size()}; }

EngineSetup batch_setup(uint32_t threads) {
  return {.limits = {.max_source_tokens = 12, .max_target_tokens = 8, .beam_size = 2, .batch = 24, .threads = threads}};
}

std::vector<std::vector<int32_t>> sources_of(uint32_t n, uint32_t vocab_size) {
  Rng rng(5);
  std::vector<std::vector<int32_t>> sources;
  for (uint32_t i = 0; i < n; ++i) sources.push_back(rng.ids(1 + i % 12, vocab_size));
  return sources;
}

// The encoder's last rows.
struct EncoderRows {
  uint32_t n_layers;
  std::map<uint32_t, std::vector<float>> rows;
};

void record_rows(void* context, const char* name, int32_t layer, uint32_t row, const float* values, uint32_t count) {
  EncoderRows& rows = *static_cast<EncoderRows*>(context);
  if (std::string(name) != "encoder.layers" || layer + 1 != static_cast<int32_t>(rows.n_layers)) return;
  rows.rows[row].assign(values, values + count);
}

TEST(XnnpackEngine, EveryArchitectureComesCloseToTheExactTables) {
  for (const TinyOptions& options : {odd_tiny_options(), deep_tiny_options()}) {
    for (const Layout layout : {Layout::kN16K4, Layout::kN4K16}) {
      const FileImage file = tiny_file(tiny_spec(options), layout);
      const XnnpackModel model(bytes_of(file));
      EncoderRows exact_rows = {options.encoder.n_layers, {}}, close_rows = exact_rows;
      EngineSetup setup = {.limits = {.max_source_tokens = 12}, .trace = record_rows, .trace_context = &exact_rows};
      TestEngine exact(model.file(), setup);
      setup.trace_context = &close_rows;
      XnnpackEngineFixture close(model, setup, "xnnpack");
      EXPECT_STREQ(goldcrest_kernels_name(close.engine().get()), "xnnpack");
      const std::vector<int32_t> source = sources_of(12, options.source_vocab_size).back();
      exact.run(source);
      close.engine().run(source);
      ASSERT_EQ(exact_rows.rows.size(), source.size());
      ASSERT_EQ(close_rows.rows.size(), source.size());
      for (const auto& [row, values] : exact_rows.rows) {
        double largest = 0, distance = 0;
        for (size_t i = 0; i < values.size(); ++i) {
          largest = std::max(largest, std::fabs(double{values[i]}));
          distance = std::max(distance, std::fabs(double{values[i]} - close_rows.rows[row][i]));
        }
        EXPECT_LE(distance, kCloseRows * largest) << "row " << row;
      }
      EXPECT_TRUE(close.intact());
      EXPECT_TRUE(model.intact());
    }
  }
}

TEST(XnnpackEngine, EnginesShareTheWeightsAndLeaveThemAlone) {
  const FileImage file = tiny_file(tiny_spec(deep_tiny_options()));
  const goldcrest_limits limits = batch_setup(1).limits;
  goldcrest_xnnpack_memory needed = {};
  goldcrest_detail detail = {"", -1};
  ASSERT_EQ(goldcrest_xnnpack_plan_memory(file.bytes(), file.size(), &limits, &needed, &detail), GOLDCREST_OK)
      << detail.message;
  GuardedBuffer<uint8_t> weights(needed.weights_bytes), packing(needed.packing_bytes);
  goldcrest_xnnpack_config config = {
      file.bytes(), file.size(), weights.get(), needed.weights_bytes, packing.get(), needed.packing_bytes, &detail};
  const goldcrest_backend* backend = nullptr;
  ASSERT_EQ(goldcrest_xnnpack_open(&backend, &config), GOLDCREST_OK) << detail.message;
  const std::vector<uint8_t> packed(weights.begin(), weights.end());

  GuardedBuffer<uint8_t> objects_a(needed.engine_bytes), objects_b(needed.engine_bytes);
  EngineSetup setup = batch_setup(1);
  setup.kernels = "xnnpack";
  setup.backend = backend;
  setup.backend_memory = {objects_a.get(), objects_a.size()};
  TestEngine a(bytes_of(file), setup);
  setup.backend_memory = {objects_b.get(), objects_b.size()};
  TestEngine b(bytes_of(file), setup);
  const auto sources = sources_of(24, deep_tiny_options().source_vocab_size);
  const auto results = a.run(sources);
  EXPECT_EQ(b.run(sources), results);
  EXPECT_EQ(a.run(sources), results);
  EXPECT_EQ(std::memcmp(packed.data(), weights.get(), packed.size()), 0);
  EXPECT_TRUE(weights.intact() && packing.intact() && objects_a.intact() && objects_b.intact());
}

TEST(XnnpackEngine, OneByteLessIsRefused) {
  const FileImage file = tiny_file(tiny_spec(odd_tiny_options()));
  const goldcrest_limits limits = batch_setup(3).limits;
  goldcrest_xnnpack_memory needed = {};
  goldcrest_detail detail = {"", -1};
  ASSERT_EQ(goldcrest_xnnpack_plan_memory(file.bytes(), file.size(), &limits, &needed, &detail), GOLDCREST_OK);
  GuardedBuffer<uint8_t> weights(needed.weights_bytes), packing(needed.packing_bytes), objects(needed.engine_bytes);
  const goldcrest_xnnpack_config exact = {
      file.bytes(), file.size(), weights.get(), needed.weights_bytes, packing.get(), needed.packing_bytes, &detail};
  const goldcrest_backend* backend = nullptr;
  goldcrest_xnnpack_config config = exact;
  --config.weights_bytes;
  EXPECT_EQ(goldcrest_xnnpack_open(&backend, &config), GOLDCREST_ERROR_ARENA_TOO_SMALL);
  EXPECT_TRUE(has(std::string(detail.message), "weights"));
  EXPECT_EQ(detail.index, static_cast<int32_t>(needed.weights_bytes));
  config = exact;
  --config.packing_bytes;
  EXPECT_EQ(goldcrest_xnnpack_open(&backend, &config), GOLDCREST_ERROR_ARENA_TOO_SMALL);
  EXPECT_EQ(backend, nullptr);
  ASSERT_EQ(goldcrest_xnnpack_open(&backend, &exact), GOLDCREST_OK) << detail.message;

  EngineSetup setup = batch_setup(3);
  setup.kernels = "xnnpack";
  setup.backend = backend;
  setup.backend_memory = {objects.get(), objects.size() - 1};
  EXPECT_THROW(TestEngine(bytes_of(file), setup), std::runtime_error);
  setup.backend_memory = {objects.get(), objects.size()};
  TestEngine engine(bytes_of(file), setup);
  EXPECT_EQ(engine.run(sources_of(24, odd_tiny_options().source_vocab_size)).size(), 24u);
  EXPECT_TRUE(objects.intact());
}

TEST(XnnpackEngine, OnePoolServesBothAndTokensDoNotDependOnIt) {
  const FileImage file = tiny_file(tiny_spec(deep_tiny_options()));
  const XnnpackModel model(bytes_of(file));
  const auto sources = sources_of(24, deep_tiny_options().source_vocab_size);
  XnnpackEngineFixture alone(model, batch_setup(1), "xnnpack");
  const auto expected = alone.engine().run(sources);
  const Pthreadpool pool(2);
  EngineSetup setup = batch_setup(2);
  setup.parallel_for = goldcrest_xnnpack_parallel_for;
  setup.parallel_context = pool.get();
  XnnpackEngineFixture threaded(model, setup, "xnnpack");
  for (const size_t n : {size_t{24}, size_t{1}}) {  // split by rows; split by XNNPACK
    const auto results = threaded.engine().run(std::span(sources).first(n));
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(results[i].at(0).tokens, expected[i].at(0).tokens);
  }
  EXPECT_TRUE(threaded.intact());
}

// Empties the backend's list of layers: every layer is then exact. The gathered rows of a shortlist never are in that
// list.
TEST(XnnpackEngine, LayersThatTheBackendForgotAreExact) {
  ModelSpec spec = tiny_spec(deep_tiny_options());
  const auto sources = sources_of(24, deep_tiny_options().source_vocab_size);
  for (const bool is_listed : {false, true}) {
    if (is_listed) add_shortlist(7, spec);
    const FileImage file = tiny_file(spec);
    const XnnpackModel model(bytes_of(file));
    TestEngine exact(model.file(), batch_setup(1));
    XnnpackEngineFixture forgetful(model, batch_setup(1), "xnnpack");
    const void* backend = forgetful.engine().get()->runtime.kernels->backend;
    static_cast<XnnpackEngine*>(const_cast<void*>(backend))->n_layers = 0;
    EXPECT_EQ(forgetful.engine().run(sources), exact.run(sources)) << "with a shortlist: " << is_listed;
  }
}

// Sets GOLDCREST_KERNELS for a scope.
class KernelsVariable {
 public:
  explicit KernelsVariable(const char* value) { setenv("GOLDCREST_KERNELS", value, 1); }
  ~KernelsVariable() { unsetenv("GOLDCREST_KERNELS"); }
};

std::string refusal(std::span<const uint8_t> model, const EngineSetup& setup) {
  try {
    TestEngine engine(model, setup);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(XnnpackEngine, OnlyWhoAsksGetsIt) {
  unsetenv("GOLDCREST_KERNELS");
  const FileImage file = tiny_file(tiny_spec(odd_tiny_options()));
  const XnnpackModel model(bytes_of(file));
  XnnpackEngineFixture unasked(model, {}, nullptr);
  EXPECT_STREQ(goldcrest_kernels_name(unasked.engine().get()), goldcrest_kernels_at(0));
  XnnpackEngineFixture fastest(model, {}, "fastest");
  EXPECT_STREQ(goldcrest_kernels_name(fastest.engine().get()), "fastest");
  XnnpackEngineFixture reference(model, {}, "reference");
  EXPECT_STREQ(goldcrest_kernels_name(reference.engine().get()), "reference");
  const KernelsVariable variable("xnnpack");
  XnnpackEngineFixture by_environment(model, {}, nullptr);
  EXPECT_STREQ(goldcrest_kernels_name(by_environment.engine().get()), "xnnpack");
  goldcrest_info info;
  EXPECT_EQ(goldcrest_model_info(file.bytes(), file.size(), &info, nullptr), GOLDCREST_OK);
}

TEST(XnnpackEngine, WhatDoesNotFitIsRefusedWithAReason) {
  const FileImage file = tiny_file(tiny_spec(odd_tiny_options()));
  const FileImage other = tiny_file(tiny_spec(deep_tiny_options()));
  const XnnpackModel model(bytes_of(file));
  EngineSetup setup = {.kernels = "xnnpack"};
  EXPECT_TRUE(has(refusal(bytes_of(file), setup), "goldcrest_config.backend"));
  setup.backend = model.backend();
  EXPECT_TRUE(has(refusal(bytes_of(file), setup), "backend_memory: null"));
  EXPECT_TRUE(has(refusal(bytes_of(other), setup), "another model"));

  FileImage damaged = tiny_file(tiny_spec(odd_tiny_options()));
  damaged.bytes()[damaged.size() / 2] ^= 1;
  EXPECT_THROW(XnnpackModel(bytes_of(damaged)), std::runtime_error);
  goldcrest_xnnpack_memory needed = {};
  EXPECT_EQ(goldcrest_xnnpack_plan_memory(file.bytes(), 100, nullptr, &needed, nullptr), GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_EQ(
      goldcrest_xnnpack_plan_memory(file.bytes(), file.size(), nullptr, nullptr, nullptr), GOLDCREST_ERROR_ARGUMENT);
}
}}  // namespace goldcrest::test
