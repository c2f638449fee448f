// SPDX-License-Identifier: Apache-2.0
// Compares every layer's output of the engine with the float reference, over a table of architectures, int8 and
// float32.
//
// The tolerance: rounding a row to int8 changes each value by at most half a step, amax / 254. Uniformly spread, this
// is an error of amax / 254 / sqrt(3), relative to the row's root mean square r: (amax / r) / 440. Rows here are nearly
// normal, amax / r is about 3, so one rounding adds 0.7 %. A block (attention or feed-forward) rounds at most seven
// times (input, weights, query, keys, values, attention's output, weights again): sqrt(7) * 0.7 % = 1.8 %. Independent
// errors add in squares, and each block's output is the next one's input, so after n blocks the error is near 1.8 % *
// sqrt(n). That is the bound, about twice the errors found. A norm, a scale or a bias in the wrong place costs far
// more.
//
// Float32 files differ from the reference in the order of sums and in the last bits of exp, erf and tanh. A sum of n
// products is off by about sqrt(n) * 2^-24, with n about 100 here. A block has eight sums of products or more, on
// either side: sqrt(16) * sqrt(100) * 2^-24 = 2.4e-6.
#include "converter/reference/reference.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using converter::Activation;

constexpr double kErrorOfBlock = 0.018, kFloatErrorOfBlock = 2.4e-6;

// Rows of activations by "name layer", then by position.
using Trace = std::map<std::string, std::map<uint32_t, std::vector<float>>>;

void keep(Trace& trace, const std::string& name, int layer, uint32_t row, std::span<const float> values) {
  // The engine gives logits block by block.
  std::vector<float>& kept = trace[name == "logits" ? name : name + " " + std::to_string(layer)][row];
  kept.insert(kept.end(), values.begin(), values.end());
}

double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
  double error = 0, energy = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    error += std::pow(double{found[i]} - expected[i], 2);
    energy += std::pow(expected[i], 2);
  }
  return std::sqrt(error / energy);
}

// Returns the number of blocks before a traced value.
double blocks_before(const std::string& stage, const TinyOptions& options) {
  const uint32_t encoder = 2 * options.encoder.n_layers, decoder = 3 * options.decoder.n_layers;
  if (stage == "encoder.embed -1" || stage == "decoder.embed -1") return 1;
  if (stage == "encoder.norm -1") return 1 + encoder;
  if (stage.starts_with("encoder.layers ")) return 1 + 2 * (std::stod(stage.substr(15)) + 1);
  if (stage.starts_with("decoder.layers ")) return 1 + encoder + 3 * (std::stod(stage.substr(15)) + 1);
  return 2 + encoder + decoder;  // decoder.norm, logits
}

struct Run {
  Translation translation;
  Trace trace;
};

Run run_engine(const FileImage& file, const std::vector<int32_t>& source) {
  Run run;
  EngineSetup setup = {.limits = {.encoder_rows = 5}, .trace_context = &run.trace};
  setup.trace = [](void* context, const char* name, int32_t layer, uint32_t row, const float* values, uint32_t count) {
    keep(*static_cast<Trace*>(context), name, layer, row, {values, count});
  };
  TestEngine engine(file.span(), setup);
  engine.change_search([&](goldcrest_search& search) {
    search.beam_size = 1;
    search.min_target_tokens = engine.info().max_target_positions / 4;
    search.max_target_tokens = engine.info().max_target_positions / 2;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  });
  run.translation = engine.run(source);
  EXPECT_TRUE(engine.memory_intact());
  return run;
}

// Returns the reference's rows at every stage, when it is fed the run's own tokens.
Trace expected_trace(const ModelSpec& spec, const std::vector<int32_t>& source, const Run& run) {
  Trace expected;
  converter::Reference reference(spec);
  reference.set_trace([&](const std::string& name, int layer, uint32_t row, std::span<const float> values) {
    keep(expected, name, layer, row, values);
  });
  (void)reference.teacher_forced_logits(reference.encode(source), run.translation.tokens);
  return expected;
}

void expect_near(const Run& run, const Trace& expected, const TinyOptions& options, double error_of_block) {
  for (const auto& [stage, rows] : expected) {
    const auto found = run.trace.find(stage);
    ASSERT_NE(found, run.trace.end()) << stage << " is not traced";
    const double tolerance = error_of_block * std::sqrt(blocks_before(stage, options));
    for (const auto& [row, values] : rows) {
      const auto at = found->second.find(row);
      // A forced end token has no decoder step.
      if (at == found->second.end() && row + 1 == run.translation.tokens.size() && stage[0] != 'e') continue;
      ASSERT_NE(at, found->second.end()) << stage << " row " << row;
      ASSERT_EQ(at->second.size(), values.size()) << stage;
      EXPECT_LT(relative_error(at->second, values), tolerance) << stage << " row " << row;
    }
  }
  for (const auto& [stage, rows] : run.trace) EXPECT_TRUE(expected.contains(stage)) << stage << " is not in the model";
  EXPECT_NE(run.translation.logits_hash, 0u);
}

void check_architecture(const TinyOptions& options) {
  const ModelSpec spec = tiny_spec(options);
  Rng rng(options.seed);
  const std::vector<int32_t> source = rng.ids(options.encoder.positions - 1, options.source_vocab_size);
  const Run run = run_engine(tiny_file(spec), source);
  expect_near(run, expected_trace(spec, source, run), options, kErrorOfBlock);

  const Run other = run_engine(tiny_file(spec, Layout::kN4K16), source);
  EXPECT_EQ(other.translation, run.translation) << "the layouts differ";
  EXPECT_EQ(other.trace, run.trace) << "the layouts differ";

  SCOPED_TRACE("float32");
  const Run float32 = run_engine(tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32), source);
  expect_near(float32, expected_trace(spec, source, float32), options, kFloatErrorOfBlock);
}

struct Architecture {
  const char* name;
  TinyOptions options;
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name
void PrintTo(const Architecture& architecture, std::ostream* out) { *out << architecture.name; }

TinyOptions with(TinyStack encoder, TinyStack decoder, uint32_t source, uint32_t target, bool tied) {
  return {7, encoder, decoder, source, target, tied, 1.5f};
}
const TinyStack kSmall = {32, 64, 2, 16, 1};

std::vector<Architecture> attention_architectures() {
  std::vector<Architecture> all = {
      {"post_norm_deep", with({32, 64, 2, 16, 4}, {32, 64, 2, 16, 3}, 31, 300, true)},
      {"stacks_differ_in_everything", with({48, 96, 4, 12, 2}, {80, 56, 5, 16, 3}, 17, 1000, false)},
      {"narrow_heads", with({24, 40, 6, 4, 2}, {40, 64, 5, 8, 2}, 31, 300, true)},
      {"heads_wider_than_model", with({20, 50, 2, 18, 1}, {36, 70, 3, 20, 1}, 31, 17, false)},
      {"odd_width", with({19, 35, 1, 19, 2}, {33, 65, 3, 11, 2}, 31, 1000, true)},
      {"one_block_of_outputs", with(kSmall, kSmall, 16, 17, false)},
      {"long_sequences", with({32, 64, 2, 16, 1, 90}, {32, 64, 2, 16, 1, 90}, 31, 37, false)},
      {"full_blocks_of_outputs", with(kSmall, kSmall, 16, 512, true)},
      {"one_output_over_a_block", with(kSmall, kSmall, 16, 257, true)},
  };
  TinyStack stack = {36, 72, 3, 12, 2};
  stack.pre_norm = true;
  all.push_back({"pre_norm", with(stack, stack, 29, 37, false)});
  stack.final_norm = true;
  all.push_back({"pre_norm_final_norm", with(stack, stack, 29, 37, true)});
  stack.embedding_norm = true;
  all.push_back({"pre_norm_all_norms", with(stack, stack, 29, 300, false)});
  stack.pre_norm = false;
  all.push_back({"post_norm_all_norms", with(stack, stack, 29, 300, true)});
  stack.final_norm = false;
  all.push_back({"post_norm_embedding_norm", with(kSmall, stack, 29, 37, true)});
  TinyStack gated = {20, 33, 2, 10, 2, 24, Activation::kGeluTanh, true, false, true};
  gated.gated = true;
  TinyStack gated_silu = {36, 47, 3, 12, 2, 24, Activation::kSilu};
  gated_silu.gated = true;
  all.push_back({"gated", with(gated, gated, 29, 37, true)});
  all.push_back({"gated_and_recurrent",
      with(gated, {36, 72, 3, 12, 2, 24, Activation::kRelu, true, false, true, 1}, 29, 37, true)});
  TinyStack rms = kSmall;
  rms.centred = false;
  rms.final_norm = rms.embedding_norm = true;
  all.push_back({"rms_norms", with(rms, rms, 29, 37, true)});
  all.push_back({"t5", t5_tiny_options()});
  all.push_back({"umt5", umt5_tiny_options()});
  TinyStack biased = {36, 72, 3, 12, 2, 90};
  biased.bias_tables = 2;
  all.push_back({"biases", with(biased, biased, 29, 37, false)});
  biased.n_recurrent = 1;
  all.push_back({"biases_and_recurrent", with(kSmall, biased, 29, 37, false)});
  all.push_back({"gate_of_the_decoder", with(kSmall, gated_silu, 29, 300, false)});
  return all;
}

std::vector<Architecture> architectures() {
  std::vector<Architecture> all = attention_architectures();
  TinyStack stack = {36, 72, 3, 12, 3};
  stack.n_recurrent = 3;
  all.push_back({"recurrent", with(kSmall, stack, 29, 37, true)});
  stack.pre_norm = stack.final_norm = true;
  all.push_back({"recurrent_pre_norm", with(kSmall, stack, 29, 37, false)});
  stack.n_recurrent = 1;
  all.push_back({"one_recurrent_layer", with(kSmall, stack, 29, 37, true)});
  TinyStack long_stack = {32, 64, 2, 16, 2, 90};
  long_stack.n_recurrent = 2;
  all.push_back({"long_recurrence", with({32, 64, 2, 16, 1, 90}, long_stack, 31, 37, false)});
  for (const auto& [name, activation] : {std::pair{"relu", Activation::kRelu}, std::pair{"gelu", Activation::kGelu},
           std::pair{"gelu_tanh", Activation::kGeluTanh}, std::pair{"silu", Activation::kSilu}}) {
    TinyStack active = {32, 80, 2, 16, 2, 24, activation, false, false, true};
    all.push_back({name, with(active, active, 29, 37, false)});
  }
  return all;
}

class Stack : public testing::TestWithParam<Architecture> {};

TEST_P(Stack, EveryLayerIsNearTheFloatReference) { check_architecture(GetParam().options); }

INSTANTIATE_TEST_SUITE_P(Architectures, Stack, testing::ValuesIn(architectures()),
    [](const auto& test) { return std::string(test.param.name); });

// Returns the hashes of all bits of the logits of greedy searches with float32 weights.
std::vector<uint64_t> logits_hashes_of(const ModelSpec& spec, const std::vector<std::vector<int32_t>>& sources) {
  const FileImage file = tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32);
  TestEngine engine(file.span(), {});
  engine.change_search([](goldcrest_search& search) {
    search.beam_size = 1;
    search.min_target_tokens = search.max_target_tokens = 9;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  });
  std::vector<uint64_t> hashes;
  for (const std::vector<int32_t>& source : sources) hashes.push_back(engine.run(source).logits_hash);
  return hashes;
}

// One ulp more in the bias of any head and distance changes the bits of some source, and no distance that a source
// lacks does.
TEST(Biases, AnUlpOfEachBiasIsFound) {
  TinyOptions options = t5_tiny_options();
  options.encoder.positions = 20;
  options.decoder.positions = 9;
  ModelSpec spec = tiny_spec(options);
  for (converter::StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    auto table = std::make_shared<converter::AttentionBiasSpec>(*stack->layers[0].self_attention->bias);
    for (uint32_t i = 0; i < table->values.size(); ++i)
      table->values[i] = 2 + 0.012f * static_cast<float>(i * 5 % 163);  // each value once, all with the same ulp
    for (converter::LayerSpec& layer : stack->layers) layer.self_attention->bias = table;
  }
  Rng rng(11);
  std::vector<std::vector<int32_t>> sources;
  for (const uint32_t length : {1u, 17u, 20u, 20u, 20u, 20u, 19u, 18u, 13u, 7u})
    sources.push_back(rng.ids(length, spec.encoder.embedding->rows));
  const std::vector<uint64_t> right = logits_hashes_of(spec, sources);
  for (converter::StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    const std::shared_ptr<const converter::AttentionBiasSpec> table = stack->layers[0].self_attention->bias;
    const uint32_t n = table->before + 1 + table->after;
    for (uint32_t i = 0; i < table->values.size(); ++i) {
      auto changed = std::make_shared<converter::AttentionBiasSpec>(*table);
      changed->values[i] = std::nextafter(changed->values[i], 100.0f);
      for (converter::LayerSpec& layer : stack->layers) layer.self_attention->bias = changed;
      const std::vector<uint64_t> found = logits_hashes_of(spec, sources);
      EXPECT_NE(found, right) << (stack == &spec.encoder ? "encoder" : "decoder") << ", head " << i / n << ", distance "
                              << static_cast<int>(i % n) - static_cast<int>(table->before);
      if (stack == &spec.encoder && i % n + 1 == n) {
        EXPECT_EQ(found[1], right[1]) << "a source of 17 ids lacks it";
      }
    }
    for (converter::LayerSpec& layer : stack->layers) layer.self_attention->bias = table;
  }
}
}}  // namespace goldcrest::test
