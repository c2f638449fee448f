// SPDX-License-Identifier: Apache-2.0
// The number of tasks, their order, and the threads that run them must not change a bit.
#include <atomic>
#include <thread>
#include "api/observe.h"
#include "host/thread_pool.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
// Large enough that single operations on a few rows are split, which does not happen in smaller shared_models.
TinyOptions wide_options() {
  TinyOptions options = {.seed = 13,
      .encoder = {80, 272, 5, 16, 2, 40, converter::Activation::kRelu, true, false, true},
      .decoder = {256, 1040, 8, 32, 1, 40, converter::Activation::kRelu, false, false, false},
      .source_vocab_size = 60,
      .target_vocab_size = 2100};
  options.end_bias = 0;  // so translations are long
  return options;
}

TinyOptions wide_student_options() {
  TinyOptions options = wide_options();
  options.decoder.n_layers = options.decoder.n_recurrent = 2;
  return options;
}

struct SharedModel {
  const char* name;
  FileImage file;
  uint32_t source_vocab_size, longest_source;
};

const std::vector<SharedModel>& shared_models() {
  static const std::vector<SharedModel> all = [] {
    std::vector<SharedModel> made;
    for (const auto& [name, options] : {std::pair{"odd", odd_tiny_options()}, std::pair{"deep", deep_tiny_options()},
             std::pair{"wide", wide_options()}, std::pair{"wide student", wide_student_options()},
             std::pair{"mixed", mixed_tiny_options()}, std::pair{"gated", gated_tiny_options()},
             std::pair{"t5", t5_tiny_options()}, std::pair{"umt5", umt5_tiny_options()}})
      made.push_back({name, tiny_file(tiny_spec(options)), options.source_vocab_size, options.encoder.positions});
    const TinyOptions options = wide_options();
    ModelSpec with_rules = tiny_spec(options);
    made.push_back({"wide, fine", fine_tiny_file(with_rules), options.source_vocab_size, options.encoder.positions});
    with_rules.generation.rules.renormalize = true;
    with_rules.generation.rules.repetition_penalty = 1.2f;  // runs the output layer twice
    with_rules.generation.rules.no_repeat_ngram = 2;
    with_rules.generation.rules.more_end_ids = {17, 1800};
    with_rules.generation.rules.biases = {{5, 1.0f}, {2000, 2.0f}};
    made.push_back({"wide, with rules", tiny_file(with_rules), options.source_vocab_size, options.encoder.positions});
    made.push_back({"wide float32", tiny_file(tiny_spec(options), Layout::kN16K4, {}, converter::Weights::kFloat32),
        options.source_vocab_size, options.encoder.positions});
    for (ModelSpec spec : {tiny_spec(options), with_rules}) {
      add_shortlist(7, spec);
      goldcrest_limits limits = {};
      limits.max_candidates = 1600;  // the longest sources have more candidates
      made.push_back({"wide, listed", tiny_file(spec, Layout::kN16K4, limits), options.source_vocab_size,
          options.encoder.positions});
      made.push_back(
          {"wide, listed, fine", fine_tiny_file(spec, limits), options.source_vocab_size, options.encoder.positions});
    }
    return made;
  }();
  return all;
}

std::vector<std::vector<int32_t>> some_sources(const SharedModel& model, uint32_t n) {
  Rng rng(81);
  std::vector<std::vector<int32_t>> sources;
  for (uint32_t i = 0; i < n; ++i)
    sources.push_back(rng.ids(rng.between(1, model.longest_source), model.source_vocab_size));
  return sources;
}

// Runs tasks on the calling thread, the last one first, and counts them.
struct Backwards {
  size_t n_regions = 0, most_tasks = 0;
};

void run_backwards(void* context, void (*task)(void*, size_t), void* task_context, size_t n) {
  Backwards& counts = *static_cast<Backwards*>(context);
  ++counts.n_regions;
  counts.most_tasks = std::max(counts.most_tasks, n);
  while (n > 0) task(task_context, --n);
}

// One kind of search over a batch.
struct Case {
  uint32_t batch, beam_size, encoder_rows, flags;
};

const Case kCases[] = {
    {1, 1, 5, GOLDCREST_SEARCH_SCORES},
    {1, 1, 5, GOLDCREST_SEARCH_HASH_LOGITS},
    {1, 8, 32, 0},
    {9, 3, 64, 0},
    {17, 1, 40, GOLDCREST_SEARCH_SCORES | GOLDCREST_SEARCH_HASH_LOGITS},
    {16, 4, 1024, 0},
};

using Translations = std::vector<std::vector<Translation>>;

Translations translate(
    const SharedModel& model, const Case& c, uint32_t threads, goldcrest_parallel_for parallel_for, void* context) {
  EngineSetup setup = {.limits = {.beam_size = c.beam_size,
                           .batch = c.batch,
                           .n_best = c.beam_size,
                           .encoder_rows = c.encoder_rows,
                           .threads = threads,
                           .inspection = GOLDCREST_INSPECT_TOKEN_SCORES,
                           .alignment_layers = GOLDCREST_ALL_LAYERS},
      .parallel_for = parallel_for,
      .parallel_context = context};
  TestEngine engine(model.file.span(), setup);
  engine.change_search([&](goldcrest_search& search) { search.flags = c.flags; });
  Translations found = engine.run(some_sources(model, c.batch));
  EXPECT_TRUE(engine.memory_intact());
  return found;
}

TEST(Threads, ChangeNoBit) {
  for (const SharedModel& model : shared_models()) {
    for (const Case& c : kCases) {
      SCOPED_TRACE(testing::Message() << model.name << ", batch " << c.batch << ", beam size " << c.beam_size);
      const Translations alone = translate(model, c, 1, nullptr, nullptr);
      for (const uint32_t threads : {2u, 3u, 5u}) {
        EXPECT_EQ(translate(model, c, threads, nullptr, nullptr), alone) << threads << " tasks, no pool";
        Backwards backwards;
        EXPECT_EQ(translate(model, c, threads, run_backwards, &backwards), alone) << threads << " tasks, backwards";
        EXPECT_LE(backwards.most_tasks, threads);
        ThreadPool pool;
        ASSERT_EQ(pool.start(threads), "");
        EXPECT_EQ(translate(model, c, threads, pool.parallel_for(), pool.context()), alone) << threads << " threads";
      }
    }
  }
}

// Large work is split; otherwise the test above would compare nothing.
TEST(Threads, ShareTheWork) {
  const SharedModel& wide = shared_models()[2];
  for (const Case& c : kCases) {
    Backwards counts;
    translate(wide, c, 3, run_backwards, &counts);
    EXPECT_EQ(counts.most_tasks, 3u) << "batch " << c.batch;
    EXPECT_GT(counts.n_regions, 10u);
  }
  // With one sentence at a time, nothing in a small model is worth a second thread.
  Backwards counts;
  translate(shared_models()[0], kCases[0], 3, run_backwards, &counts);
  EXPECT_EQ(counts.n_regions, 0u);
}

// Two threads, one three times as slow: it ends a kernel call only when the other has made three more or has no more
// work. This is like a slower core, or a core that another program uses.
struct UnequalThreads {
  const Kernels* native;
  std::atomic<uint32_t> fast_calls = 0, slow_calls = 0;
  std::atomic<bool> slow_began = false, fast_is_done = false;
};
UnequalThreads unequal;
thread_local bool is_slow = false;

void count_linear(const LinearArgs<int8_t>& args) {
  unequal.native->int8.linear(args);
  if (!is_slow) {
    ++unequal.fast_calls;
    return;
  }
  const uint32_t enough = unequal.fast_calls + 3;
  while (unequal.fast_calls < enough && !unequal.fast_is_done) std::this_thread::yield();
  ++unequal.slow_calls;
}

void run_on_unequal(void*, void (*task)(void*, size_t), void* task_context, size_t n) {
  ASSERT_EQ(n, 2u);
  unequal.slow_began = unequal.fast_is_done = false;
  std::thread slow([&] {
    is_slow = true;
    unequal.slow_began = true;
    task(task_context, 0);
  });
  while (!unequal.slow_began) std::this_thread::yield();
  task(task_context, 1);
  unequal.fast_is_done = true;
  slow.join();
}

TEST(Threads, ASlowOneLeavesItsWorkToTheOther) {
  const SharedModel& wide = shared_models()[2];
  const auto sources = some_sources(wide, 1);
  const auto translations = [&](uint32_t threads, goldcrest_parallel_for parallel_for) {
    TestEngine engine(wide.file.span(), {.limits = {.beam_size = 4, .threads = threads}, .parallel_for = parallel_for});
    unequal.native = exchange_kernels(engine.get(), nullptr);
    Kernels table = *unequal.native;
    table.int8.linear = count_linear;
    exchange_kernels(engine.get(), &table);
    return engine.run(sources);
  };
  const auto alone = translations(1, nullptr);
  unequal.fast_calls = unequal.slow_calls = 0;
  EXPECT_EQ(translations(2, run_on_unequal), alone);
  EXPECT_GT(unequal.slow_calls, 0u);
  EXPECT_GT(unequal.fast_calls, 2 * unequal.slow_calls);
}

TEST(Threads, ATraceIsMadeByTheCaller) {
  EngineSetup setup = {.limits = {.threads = 3}};
  Backwards counts;
  setup.parallel_for = run_backwards;
  setup.parallel_context = &counts;
  setup.trace = [](void*, const char*, int32_t, uint32_t, const float*, uint32_t) {};
  const SharedModel& wide = shared_models()[2];
  TestEngine engine(wide.file.span(), setup);
  (void)engine.run(some_sources(wide, 1));
  EXPECT_EQ(counts.n_regions, 0u);
}

TEST(Threads, OneEnginePerThreadOverOneModel) {
  const SharedModel& model = shared_models()[1];
  const Translations alone = translate(model, kCases[3], 1, nullptr, nullptr);
  ThreadPool pool;
  ASSERT_EQ(pool.start(3), "");
  struct Context {
    const SharedModel& model;
    std::vector<Translations> found;
  } context = {model, std::vector<Translations>(6)};
  const auto work = [](void* shared, size_t i) {
    Context& all = *static_cast<Context*>(shared);
    all.found[i] = translate(all.model, kCases[3], 1, nullptr, nullptr);
  };
  pool.parallel_for()(pool.context(), work, &context, context.found.size());
  for (const Translations& found : context.found) EXPECT_EQ(found, alone);
}
}}  // namespace goldcrest::test
