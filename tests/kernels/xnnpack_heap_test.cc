// SPDX-License-Identifier: Apache-2.0
// With XNNPACK's kernels, too, there is no heap call after goldcrest_init. Only XNNPACK's own start takes memory, once
// in a process; after that, opening a model and starting an engine take none.
#include "kernels/xnnpack_session.h"
#include "support/heap_calls.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
constexpr uint32_t kSentences = 2000, kBatch = 4, kLongest = 9;

struct Session {
  goldcrest_limits limits = {};
  goldcrest_memory arena = {};
  goldcrest_xnnpack_memory memory = {};
};

Session plan(const FileImage& file) {
  Session session;
  session.limits.max_source_tokens = kLongest;
  session.limits.max_target_tokens = 5;
  session.limits.beam_size = 3;
  session.limits.batch = kBatch;
  EXPECT_EQ(
      goldcrest_plan_memory(file.bytes(), file.size(), &session.limits, &session.arena, nullptr, nullptr, nullptr),
      GOLDCREST_OK);
  EXPECT_EQ(goldcrest_xnnpack_plan_memory(file.bytes(), file.size(), &session.limits, &session.memory, nullptr),
      GOLDCREST_OK);
  return session;
}

// Runs sentences in batches of all sizes. Returns the number of failed calls.
int run_sentences(goldcrest_engine* engine, const std::vector<int32_t>& ids) {
  int failures = 0;
  goldcrest_search search = {};
  for (uint32_t sentence = 0; sentence < kSentences; ++sentence) {
    const uint32_t batch = 1 + sentence % kBatch;
    search.beam_size = 1 + sentence % 3;
    failures += goldcrest_set_search(engine, &search) != GOLDCREST_OK;
    failures += goldcrest_begin(engine, &ids[sentence], 1 + sentence % kLongest) < 0;
    for (uint32_t i = 1; i < batch; ++i) failures += goldcrest_add(engine, &ids[sentence + i * 7], 1 + i) < 0;
    failures += goldcrest_run(engine) != GOLDCREST_DONE;
  }
  return failures;
}

TEST(XnnpackHeap, NoCallFromOpeningTheModelToTheLastSentence) {
  const FileImage file = tiny_file(tiny_spec(odd_tiny_options()));
  const std::vector<int32_t> ids = Rng(1).ids(kSentences + 64, 19);
  const Session session = plan(file);  // starts XNNPACK
  GuardedBuffer<uint8_t> arena(session.arena.arena_bytes), weights(session.memory.weights_bytes),
      packing(session.memory.packing_bytes), objects(session.memory.engine_bytes);
  for (const char* const kernels : {"xnnpack", "fastest"}) {
    const long before = heap_calls;
    const goldcrest_xnnpack_config xnnpack = {
        file.bytes(), file.size(), weights.get(), weights.size(), packing.get(), packing.size(), nullptr};
    goldcrest_config config = {};
    int failures = goldcrest_xnnpack_open(&config.backend, &xnnpack) != GOLDCREST_OK;
    config.model = file.bytes();
    config.model_bytes = file.size();
    config.arena = arena.get();
    config.arena_bytes = arena.size();
    config.limits = session.limits;
    config.kernels = kernels;
    config.backend_memory = objects.get();
    config.backend_bytes = objects.size();
    goldcrest_engine* engine = nullptr;
    failures += goldcrest_init(&engine, &config) != GOLDCREST_OK;
    failures += run_sentences(engine, ids);
    const long after = heap_calls;
    EXPECT_EQ(after - before, 0) << kernels;
    EXPECT_EQ(failures, 0) << kernels;
    EXPECT_STREQ(goldcrest_kernels_name(engine), kernels);
  }
}

TEST(XnnpackHeap, TheCountIsReal) {
  const long before = heap_calls;
  int* volatile one = new int(1);
  delete one;
  EXPECT_EQ(heap_calls, before + 2);
}
}}  // namespace goldcrest::test
