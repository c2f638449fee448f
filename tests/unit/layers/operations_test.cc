// SPDX-License-Identifier: Apache-2.0
// Several matrices multiply a block's input, as in a gated feed-forward, wherever their products are stored.
#include <atomic>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <thread>
#include <tuple>
#include "api/engine.h"
#include "api/observe.h"
#include "boards/board_api.h"
#include "decoding/outputs/output_layer.h"
#include "examples/benchmark_firmware/worst_step.h"
#include "layers/call_sites.h"
#include "layers/norm.h"
#include "layers/parallel.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

uint64_t board_ticks() {
  static uint64_t ticks = 0;
  return ticks += 100;
}

namespace goldcrest {
namespace {
constexpr uint32_t kRows = 2;

std::vector<float> product(const Pass& pass, const LinearView& view, Quantized h) {
  multiply(pass, view, h, {}, pass.projected);
  return {pass.projected, pass.projected + size_t{kRows} * view.n};
}

// With pre-norm, norm(x) is computed in pass.projected, which the first product overwrites.
TEST(Quantized, OutlivesTheFirstProduct) {
  for (const bool pre_norm : {false, true}) {
    test::TinyOptions options = test::odd_tiny_options();
    options.encoder.pre_norm = pre_norm;
    const converter::FileImage file = test::tiny_file(test::tiny_spec(options));
    const test::TestEngine engine(file.span(), {});
    const Runtime& runtime = engine.get()->runtime;
    const StackView& stack = runtime.model.encoder;
    const Pass pass = make_pass(runtime, stack, engine.get()->encoder.pass, 0, {{0, kRows}, 0, 1});
    const EncoderLayerView layer = view_encoder_layer(runtime.model.file, 0);
    const LinearView &in = layer.feed_forward.in, &query_key_value = layer.self_attention.query_key_value;

    test::Rng rng(5);
    std::vector<float> x(kRows * stack.d_model_padded), h = x;
    for (size_t i = 0; i < x.size(); ++i) x[i] = i % stack.d_model_padded < stack.d_model ? rng.uniform() : 0.0f;
    h = x;
    if (pre_norm) layer_norm(runtime, stack, layer.feed_forward.norm, {x.data(), h.data(), kRows});
    const std::vector<float> gate = product(pass, in, quantize(pass, in, h.data()));
    const std::vector<float> values = product(pass, query_key_value, quantize(pass, query_key_value, h.data()));

    const Quantized input = block_input(pass, layer.feed_forward.norm, in, x.data());
    EXPECT_EQ(product(pass, in, input), gate);
    EXPECT_EQ(product(pass, query_key_value, input), values);
  }
}

// A logit with fine inputs is (p + bias) + p'. Blocks are whole and partial, and computed in one slice or in several.
// Its block's sums are those of any logits.
TEST(OutputBlock, WithFineInputsIsTwoProducts) {
  test::TinyOptions options = test::odd_tiny_options();
  options.target_vocab_size = 300;
  const converter::FileImage file = test::fine_tiny_file(test::tiny_spec(options));
  const test::TestEngine engine(file.span(), {});
  const Runtime& runtime = engine.get()->runtime;
  ASSERT_TRUE(runtime.model.projection.fine_input);
  const LinearTensors outputs = tensors_of(runtime, runtime.model.projection);
  const uint32_t k = outputs.k;
  test::Rng rng(11);
  std::vector<int8_t> q(2 * kRows * k);  // the rows, then their remainders
  for (int8_t& value : q) value = static_cast<int8_t>(static_cast<int>(rng.below(255)) - 127);
  std::vector<float> scales = {0.01f, 0.02f, 0.00005f, 0.0001f}, scratch((2 * kRows + 1) * kOutputBlock);
  const OutputInputs coarse = {{q.data(), scales.data()}, {}},
                     remainders = {{q.data() + kRows * k, scales.data() + kRows}, {}};
  std::vector<float> largest(kRows), sum(kRows);
  const auto logits = [&](const OutputInputs& inputs, const LinearTensors& tensors, Range block) {
    std::vector<float> y(kRows * kOutputBlock);
    kInt8Operations.output_block(
        runtime, {&tensors, block.first, block.count, inputs, kRows, y.data()}, {largest.data(), sum.data(), 1});
    return y;
  };
  const std::vector<float> none(outputs.n, 0.0f);
  LinearTensors without_bias = outputs;
  without_bias.bias = none.data();
  for (const Range block : {Range{0, 256}, Range{256, 44}, Range{16, 200}}) {
    const std::vector<float> p = logits(coarse, outputs, block), p_fine = logits(remainders, without_bias, block);
    for (const uint32_t slice : {16u, 48u, kOutputBlock}) {
      const OutputInputs both = {coarse.x, {scratch.data(), (2 * kRows + 1) * slice}};
      const std::vector<float> found = logits(both, outputs, block);
      for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], p[i] + p_fine[i]) << block.first << " + " << i;
      EXPECT_NE(found, p);
      for (uint32_t row = 0; row < kRows; ++row) {
        float row_largest, row_sum;
        runtime.kernels->logit_sums(
            {found.data() + row * kOutputBlock, &row_largest, &row_sum, kOutputBlock, 1, 1, block.count});
        EXPECT_EQ(largest[row], row_largest);
        EXPECT_EQ(sum[row], row_sum);
      }
    }
  }
}

// Rows whose remainder has any scale, or none: zeros, denormals, the largest floats, infinities, NaN. Every table
// quantizes them alike, within int8, and multiplies them.
TEST(OutputBlock, RemaindersOfHostileRows) {
  const converter::FileImage file = test::fine_tiny_file(test::tiny_spec(test::odd_tiny_options()));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float rows[][3] = {{0.0f, -0.0f, 0.0f}, {1e-45f, -1e-40f, 1e-38f}, {0x1p-41f, 0x1p-48f, 0x1p-60f},
      {0x1p-39f, 0x1p-50f, 1.0f}, {3e38f, -3e38f, 1.0f}, {kInfinity, 1.0f, -1.0f}, {kInfinity, -kInfinity, 0.0f},
      {std::nanf(""), 1.0f, -5.0f}, {std::nanf(""), kInfinity, 0.0f}};
  constexpr uint32_t kHostile = std::size(rows);
  std::vector<int8_t> first_rows;
  std::vector<float> first_scales;
  for (uint32_t table = 0; goldcrest_kernels_at(table) != nullptr; ++table) {
    test::EngineSetup setup = {.kernels = goldcrest_kernels_at(table)};
    const test::TestEngine engine(file.span(), setup);
    const Runtime& runtime = engine.get()->runtime;
    const LinearTensors outputs = tensors_of(runtime, runtime.model.projection);
    const uint32_t k = outputs.k;
    std::vector<float> x(kHostile * k), scales(2 * kHostile), remainder(k), scratch((2 * kHostile + 1) * outputs.n),
        logits(kHostile * kOutputBlock), largest(kHostile), sums(kHostile);
    for (uint32_t i = 0; i < x.size(); ++i) x[i] = rows[i / k][i % 3];
    test::GuardedBuffer<int8_t> q(2 * kHostile * k);
    const LinearInputs inputs = {q.get(), scales.data()};
    quantize_one_by_one(runtime, {x.data(), k, kHostile, k}, inputs, remainder.data());
    const std::vector<int8_t> quantized(q.get(), q.get() + 2 * kHostile * k);
    for (const int8_t value : quantized) ASSERT_NE(value, -128) << setup.kernels;
    for (const float scale : scales) ASSERT_TRUE(std::isfinite(scale) && scale >= 0) << setup.kernels;
    if (table == 0) {
      first_rows = quantized;
      first_scales = scales;
    }
    EXPECT_EQ(quantized, first_rows) << setup.kernels;
    EXPECT_EQ(scales, first_scales) << setup.kernels;
    const OutputInputs both = {inputs, {scratch.data(), scratch.size()}};
    kInt8Operations.output_block(runtime, {&outputs, 0, runtime.model.vocab_size, both, kHostile, logits.data()},
        {largest.data(), sums.data(), 1});
    for (uint32_t i = 0; i < kHostile * kOutputBlock; ++i)
      EXPECT_TRUE(i % kOutputBlock >= outputs.n || std::isfinite(logits[i])) << setup.kernels << ", " << i;
    EXPECT_TRUE(q.intact());
  }
}

// The largest step of benchmark_firmware lists every logit, because each is above the one before, with second products
// of every kind, too.
TEST(WorstStep, HasAscendingLogits) {
  test::TinyOptions options = test::odd_tiny_options();
  options.target_vocab_size = 300;
  const converter::ModelSpec spec = test::tiny_spec(options);
  for (const auto& [fine, refine] : {std::pair{"none", "none"}, {"all", "none"}, {"none", "all"}, {"all", "all"}}) {
    const converter::FileImage file = test::fine_tiny_file(spec, {}, fine, refine);
    std::vector<float> logits;
    test::EngineSetup setup = {.trace_context = &logits};
    setup.trace = [](void* context, const char* name, int32_t, uint32_t, const float* values, uint32_t count) {
      auto& all = *static_cast<std::vector<float>*>(context);
      if (std::string(name) == "logits") all.insert(all.end(), values, values + count);
    };
    const test::TestEngine engine(file.span(), setup);
    const std::vector<int32_t> source(engine.memory().limits.max_source_tokens, 1);
    const worst_search worst = {engine.search(), source.data(), source.size()};
    worst_step most;
    ASSERT_EQ(measure_worst_step(engine.get(), &worst, &most), GOLDCREST_OK);
    EXPECT_GT(most.layer_ticks, 0u);
    ASSERT_GE(logits.size(), 300u);
    for (size_t i = 1; i < 300; ++i) EXPECT_GT(logits[i], logits[i - 1]) << fine << ", " << refine << ", " << i;
    const std::vector<float> position(logits.begin(), logits.begin() + 300);
    EXPECT_TRUE(std::equal(position.begin(), position.end(), logits.end() - 300)) << fine << ", " << refine;
  }
}

// Work in pieces: each runs once, on any task, and fast tasks run most of them.

// The simplest pool: task i runs on a thread of its own.
void run_on_threads(void*, void (*task)(void*, size_t), void* task_context, size_t n) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < n; ++i) threads.emplace_back(task, task_context, i);
  for (std::thread& thread : threads) thread.join();
}

Runtime runtime_of(uint32_t threads, goldcrest_parallel_for parallel_for) {
  Runtime runtime = {.parallel_for = parallel_for, .threads = threads};
  return runtime;
}

TEST(Split, FollowsFromTheWorkAndTheTasksAlone) {
  const Split one = split_work(kMacsPerTask, 100, 4), most = split_work(1000 * kMacsPerTask, 100, 4);
  EXPECT_EQ(one.n_tasks, 1u);
  EXPECT_EQ(one.n_pieces, 1u);
  EXPECT_EQ(most.n_tasks, 4u);
  EXPECT_EQ(most.n_pieces, 4 * kPiecesPerTask);
  const Split small = split_work(3 * kMacsPerTask, 100, 4), few = split_work(1000 * kMacsPerTask, 5, 4);
  EXPECT_EQ(small.n_tasks, 3u);
  EXPECT_EQ(small.n_pieces, 6u) << "each piece is worth a task";
  EXPECT_EQ(few.n_tasks, 4u);
  EXPECT_EQ(few.n_pieces, 5u);
}

TEST(Split, OfRowsHasPiecesThatAreWorthReadingTheWeightsFor) {
  const auto pieces = [](uint32_t threads, uint32_t rows) {
    const Split split = split_rows(runtime_of(threads, nullptr), rows);
    EXPECT_EQ(split.n_tasks, split.n_pieces == 1 ? 1u : threads);
    return split.n_pieces;
  };
  EXPECT_EQ(pieces(1, 1000), 1u);
  EXPECT_EQ(pieces(4, 31), 1u) << "too few to split";
  EXPECT_EQ(pieces(4, 32), 4u);
  EXPECT_EQ(pieces(4, 64), 4u);
  EXPECT_EQ(pieces(4, 128), 8u);
  EXPECT_EQ(pieces(4, 10000), 4 * kPiecesPerTask);
}

TEST(Split, PartsAreAllItemsInOrder) {
  for (const uint32_t n : {0u, 1u, 7u, 100u}) {
    for (const uint32_t n_pieces : {1u, 3u, 8u, 24u}) {
      uint32_t next = 0;
      for (uint32_t i = 0; i < n_pieces; ++i) {
        const Range part = Split{n_pieces, 1}.part_of(n, i);
        EXPECT_EQ(part.first, next);
        EXPECT_LE(part.count, n / n_pieces + 1);
        next += part.count;
      }
      EXPECT_EQ(next, n);
    }
  }
}

TEST(RunPieces, EveryPieceOnceAndInOrderWithinATask) {
  for (const goldcrest_parallel_for pool : {goldcrest_parallel_for{nullptr}, goldcrest_parallel_for{run_on_threads}}) {
    std::vector<uint32_t> runs(50);  // plain memory, so that a sanitizer sees a missing order
    std::vector<std::vector<uint32_t>> of_task(3);
    run_pieces(runtime_of(3, pool), {50, 3}, [&](uint32_t piece, uint32_t task) {
      ++runs[piece];
      of_task[task].push_back(piece);
    });
    EXPECT_EQ(runs, std::vector<uint32_t>(50, 1));
    for (const std::vector<uint32_t>& pieces : of_task) EXPECT_TRUE(std::is_sorted(pieces.begin(), pieces.end()));
  }
}

// One core is so slow that the others do all other pieces while it does one. They do not wait for its share.
TEST(RunPieces, TheOthersTakeOverFromASlowTask) {
  constexpr uint32_t kPieces = 32, kTasks = 4;
  std::atomic<uint32_t> n_done = 0, done_of[kTasks] = {};
  run_pieces(runtime_of(kTasks, run_on_threads), {kPieces, kTasks}, [&](uint32_t, uint32_t task) {
    while (task == 0 && n_done < kPieces - 1) std::this_thread::yield();
    ++done_of[task];
    ++n_done;
  });
  EXPECT_EQ(n_done, kPieces);
  EXPECT_LE(done_of[0], 1u);
}

// The lists of linear layers' calls (layers/call_sites.h, decoding/outputs/output_layer.h), from which a backend
// prepares, have exactly the calls that an engine makes.

// A layer's weights as an offset in the file, its outputs and inputs, its activation, and whether it adds to a
// residual.
using Call = std::tuple<size_t, uint32_t, uint32_t, Activation, bool>;

// The functions of layers/ that run now, outermost first: this program has these sources with calls of the two
// functions below.
thread_local std::vector<const void*> running;
}  // namespace
extern "C" void __cyg_profile_func_enter(void* function, void*) { running.push_back(function); }
extern "C" void __cyg_profile_func_exit(void*, void*) { running.pop_back(); }
namespace {

// Kernels are plain functions, so they write to this global.
struct Recording {
  const Kernels* native = nullptr;
  const uint8_t* file = nullptr;
  std::set<Call> calls;
  std::set<std::vector<const void*>> paths;  // functions of layers/ on the way to a product

  template <typename Element> void add(const LinearArgs<Element>& args) {
    paths.insert(running);
    const auto offset = static_cast<size_t>(reinterpret_cast<const uint8_t*>(args.w) - file);
    calls.insert({offset, args.n, args.k, args.activation, args.residual != nullptr});
  }
};
Recording recording;

template <typename Element> const TypedKernels<Element>& native();
template <> const TypedKernels<int8_t>& native() { return recording.native->int8; }
template <> const TypedKernels<float>& native() { return *recording.native->float32; }

template <typename Element> TypedKernels<Element> recorded() {
  TypedKernels<Element> table = native<Element>();
  table.linear = [](const LinearArgs<Element>& args) {
    recording.add(args);
    native<Element>().linear(args);
  };
  table.output_block = [](const OutputBlockArgs<Element>& args) {
    recording.add(args.linear);
    native<Element>().output_block(args);
  };
  return table;
}

std::set<Call> listed_calls(const void* file) {
  const ModelView model = view_model(file);
  std::set<Call> calls;
  const auto add = [&](const LinearCallSite& site) {
    calls.insert({size_t{site.view.weights} * kAlignment, site.view.n, site.view.k, site.activation, site.adds});
  };
  for_each_call_site(model, add);
  for_each_output_call_site(model, add);
  return calls;
}

// Runs an engine; `recording` gets its calls.
void record(const converter::FileImage& file) {
  test::TestEngine engine(file.span(), {});
  recording = {exchange_kernels(engine.get(), nullptr), file.bytes(), {}, std::move(recording.paths)};
  Kernels table = *recording.native;
  table.int8 = recorded<int8_t>();
  table.linear_fine = nullptr;  // remainders take the long way
  TypedKernels<float> float_table = {};
  if (table.float32 != nullptr) {
    float_table = recorded<float>();
    table.float32 = &float_table;
  }
  exchange_kernels(engine.get(), &table);
  goldcrest_search search = engine.search();
  search.min_target_tokens = 2;  // so one position is not the last
  engine.set_search(search);
  (void)engine.run({5, 3, 1});
}

void expect_calls_listed(const converter::FileImage& file) {
  record(file);
  EXPECT_EQ(recording.calls, listed_calls(file.bytes()));
  EXPECT_GT(recording.calls.size(), 8u);
}

TEST(CallSites, AreTheCallsOfAnEngine) {
  test::TinyOptions options = test::deep_tiny_options();
  options.target_vocab_size = 300;  // two blocks of outputs
  for (const test::TinyOptions& each : {test::odd_tiny_options(), options, test::mixed_tiny_options(),
           test::student_tiny_options(), test::gated_tiny_options(), test::t5_tiny_options()}) {
    const converter::ModelSpec spec = test::tiny_spec(each);
    expect_calls_listed(test::tiny_file(spec));
    expect_calls_listed(test::tiny_file(spec, Layout::kN16K4, {}, converter::Weights::kFloat32));
  }
}

#ifdef GOLDCREST_NM
// Returns the names of the engine's functions by their address. Lambdas are none: their symbols begin with _ZZN.
std::map<const void*, std::string> function_names() {
  static const std::regex kSymbol("([0-9a-f]+) [tTwW] _ZN9goldcrest(?:12_GLOBAL__N_1)?L?([0-9]+)(.*)\n");
  std::map<const void*, std::string> names;
  uintptr_t in_file = 0;
  const auto in_memory = reinterpret_cast<uintptr_t>(&goldcrest_step);
  std::vector<std::pair<uintptr_t, std::string>> found;
  const std::unique_ptr<FILE, int (*)(FILE*)> symbols(popen(GOLDCREST_NM " /proc/$PPID/exe", "r"), pclose);
  for (char line[1 << 14]; fgets(line, sizeof line, symbols.get()) != nullptr;) {
    std::cmatch match;
    if (std::strstr(line, " T goldcrest_step\n") != nullptr) in_file = std::stoul(line, nullptr, 16);
    if (std::regex_match(line, match, kSymbol))
      found.emplace_back(std::stoul(match[1], nullptr, 16), match.str(3).substr(0, std::stoul(match[2])));
  }
  for (const auto& [at, name] : found) names[reinterpret_cast<const void*>(at - in_file + in_memory)] = name;
  return names;
}

// Between decoder_layer and a kernel are few functions, so that a reader can follow a product.
TEST(CallSites, AreAtMostSevenFunctionsBelowALayer) {
  recording.paths.clear();
  for (const test::TinyOptions& each : {test::odd_tiny_options(), test::mixed_tiny_options(),
           test::student_tiny_options(), test::gated_tiny_options(), test::t5_tiny_options()}) {
    record(test::tiny_file(test::tiny_spec(each)));
    record(test::fine_tiny_file(test::tiny_spec(each)));
  }
  std::ifstream header(GOLDCREST_SOURCE_DIR "/engine/layers/parallel.h");
  const std::string parallel((std::istreambuf_iterator<char>(header)), {});
  const std::map<const void*, std::string> names = function_names();
  std::set<std::vector<std::string>> paths;
  for (const std::vector<const void*>& path : recording.paths) {
    std::vector<std::string> named;
    for (const void* function : path) {
      const auto name = names.find(function);
      if (name != names.end() && parallel.find(" " + name->second + "(") == std::string::npos)
        named.push_back(name->second);
    }
    const auto layer = std::ranges::find(named, "decoder_layer");
    if (layer != named.end()) paths.insert({layer + 1, named.end()});
  }
  EXPECT_GE(paths.size(), 4u);
  for (const std::vector<std::string>& path : paths) {
    const std::string text = testing::PrintToString(path);
    EXPECT_LE(path.size(), 7u) << text;
    std::printf("%zu functions: %s\n", path.size(), text.c_str());
  }
}
#endif
}  // namespace
}  // namespace goldcrest
