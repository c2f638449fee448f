// SPDX-License-Identifier: Apache-2.0
// No heap call between goldcrest_init and the end of 10,000 sentences.
#include "support/engine_fixture.h"
#include "support/heap_calls.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
constexpr uint32_t kSentences = 10000, kBatch = 4, kLongest = 9;

// operator new and delete call malloc and free.
TEST(Heap, TheCountIsReal) {
  long before = heap_calls;
  int* volatile one = new int(1);
  EXPECT_EQ(heap_calls, before + 1);
  delete one;
  EXPECT_EQ(heap_calls, before + 2);
  before = heap_calls;
  void* volatile block = std::calloc(3, 5);
  block = std::realloc(block, 1000);
  std::free(block);
  EXPECT_GE(heap_calls, before + 3);
}

TEST(Heap, NoCallFromInitToTheEndOfTenThousandSentences) {
  ModelSpec spec = tiny_spec(odd_tiny_options());
  add_tokenizers(converter::TokenizerKind::kUnigram, spec);
  const FileImage file = tiny_file(spec);
  Rng rng(1);
  const std::vector<int32_t> ids = rng.ids(10000, 19);
  goldcrest_config config = {.model = file.bytes(),
      .model_bytes = file.size(),
      .limits = {.max_source_tokens = kLongest,
          .max_source_bytes = 16,
          .max_target_tokens = 5,
          .beam_size = 3,
          .batch = kBatch}};
  const int64_t bytes = goldcrest_arena_bytes(config.model, config.model_bytes, &config.limits);
  ASSERT_GT(bytes, 0);
  FileImage arena(static_cast<size_t>(bytes));
  config.arena = arena.bytes();
  config.arena_bytes = arena.size();

  const long before = heap_calls;
  goldcrest_engine* engine = nullptr;
  int failures = goldcrest_init(&engine, &config) != GOLDCREST_OK;
  goldcrest_search search = {.length_penalty = 1};
  uint64_t n_tokens = 0;
  for (uint32_t sentence = 0; sentence < kSentences; sentence += kBatch) {
    search.beam_size = 1 + sentence / kBatch % 3;
    failures += goldcrest_set_search(engine, &search) != GOLDCREST_OK;
    failures += goldcrest_begin_text(engine, "abc de", 1 + sentence % 6) < 0;
    for (uint32_t i = 1; i < kBatch; ++i) {
      failures +=
          goldcrest_add(engine, &ids[(sentence + i * 7) % 9000], 1 + (sentence + i) % kLongest) != static_cast<int>(i);
    }
    failures += goldcrest_run(engine) != GOLDCREST_DONE;
    for (uint32_t i = 0; i < kBatch; ++i) {
      goldcrest_result result;
      failures += goldcrest_get_result(engine, i, 0, &result) != GOLDCREST_OK;
      goldcrest_text_state state = {};
      char out[64];
      failures += goldcrest_detokenize(engine, &state, result.tokens, result.n_tokens, out, sizeof out) < 0;
      n_tokens += result.n_tokens;
    }
  }
  const long after = heap_calls;
  EXPECT_EQ(after - before, 0);
  EXPECT_EQ(failures, 0);
  EXPECT_GE(n_tokens, kSentences);
}
}}  // namespace goldcrest::test
