// SPDX-License-Identifier: Apache-2.0
// Calls every function in every state: it returns the documented status, and the engine still works afterwards.
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
const FileImage& file() {
  static const FileImage image = tiny_file(tiny_spec(odd_tiny_options()));
  return image;
}

EngineSetup small_setup() {
  return {
      .limits = {
          .max_source_tokens = 6, .max_target_tokens = 8, .beam_size = 3, .batch = 2, .n_best = 2, .encoder_rows = 2}};
}

const std::vector<int32_t> kSource = {1, 2, 3, 4, 0};

enum class State { kIdle, kStored, kEncoding, kDecoding, kLastToken, kDone };

std::string name_of(State state) {
  const char* const names[] = {"idle", "stored", "encoding", "decoding", "last_token", "done"};
  return names[static_cast<int>(state)];
}

// Brings an engine into a state.
void bring_into(TestEngine& engine, State state) {
  goldcrest_search search = engine.search();
  search.beam_size = state == State::kLastToken ? 1 : 3;
  goldcrest_reset(engine.get());
  engine.set_search(search);
  if (state == State::kIdle) return;
  ASSERT_EQ(goldcrest_begin(engine.get(), kSource.data(), kSource.size()), 0);
  if (state == State::kStored) return;
  ASSERT_EQ(goldcrest_step(engine.get(), nullptr), GOLDCREST_WORKING);
  if (state == State::kEncoding) return;
  if (state == State::kDone) {
    ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    return;
  }
  // One encoder layer in two passes, one decoder layer's memory, the embeddings: four stages of three blocks each.
  for (int i = 0; i < 12; ++i) ASSERT_GE(goldcrest_step(engine.get(), nullptr), GOLDCREST_WORKING);
  if (state == State::kDecoding) return;
  int32_t token = -1;
  while (token != 0) ASSERT_EQ(goldcrest_step(engine.get(), &token), GOLDCREST_TOKEN);
}

class EveryState : public testing::TestWithParam<State> {
 protected:
  void SetUp() override {
    bring_into(engine_, GetParam());
    if (HasFatalFailure()) return;
    n_sources_ = GetParam() == State::kIdle ? 0 : 1;
    finished_ = GetParam() == State::kDone || GetParam() == State::kLastToken;
    busy_ = GetParam() == State::kEncoding || GetParam() == State::kDecoding;
  }

  // Whatever was called before, the engine then translates as a new one does.
  void TearDown() override {
    goldcrest_reset(engine_.get());
    engine_.set_search(engine_.search());
    TestEngine other(file().span(), small_setup());
    EXPECT_EQ(engine_.run(kSource), other.run(kSource));
    EXPECT_TRUE(engine_.memory_intact());
  }

  goldcrest_engine* engine() { return engine_.get(); }
  std::string message() const { return engine_.detail().message; }

  TestEngine engine_{file().span(), small_setup()};
  uint32_t n_sources_ = 0;
  bool finished_ = false, busy_ = false;
};

TEST_P(EveryState, BadSourcesAreRefusedAndChangeNothing) {
  const int32_t ids[] = {1, 19, -1, INT32_MIN, INT32_MAX};
  const std::vector<int32_t> too_long(7, 1);
  for (const auto store : {goldcrest_begin, goldcrest_add}) {
    EXPECT_EQ(store(engine(), nullptr, 1), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(store(engine(), kSource.data(), 0), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(store(engine(), too_long.data(), 7), GOLDCREST_ERROR_TOO_LONG);
    EXPECT_EQ(store(engine(), too_long.data(), SIZE_MAX), GOLDCREST_ERROR_TOO_LONG);
    EXPECT_EQ(engine_.detail().index, 6);
    for (int bad = 1; bad < 5; ++bad) {
      const int32_t source[] = {1, 2, ids[bad]};
      EXPECT_EQ(store(engine(), source, 3), GOLDCREST_ERROR_TOKEN_RANGE);
      EXPECT_EQ(engine_.detail().index, 2);
      EXPECT_EQ(message(), "source: id outside the vocabulary");
    }
  }
  for (const auto store : {goldcrest_begin_text, goldcrest_add_text}) {
    EXPECT_EQ(store(engine(), "a", 1), GOLDCREST_ERROR_UNSUPPORTED) << "the memory is planned for ids only";
    EXPECT_EQ(store(engine(), nullptr, 1), GOLDCREST_ERROR_ARGUMENT);
  }
  const int32_t* stored = nullptr;
  if (n_sources_ == 1) {
    ASSERT_EQ(goldcrest_get_source(engine(), 0, &stored), 5);
    EXPECT_EQ((std::vector<int32_t>{stored, stored + 5}), kSource);
  }
  // The work in progress continues.
  EXPECT_EQ(goldcrest_run(engine()), n_sources_ == 0 ? GOLDCREST_ERROR_STATE : GOLDCREST_DONE);
}

TEST_P(EveryState, Add) {
  const int status = goldcrest_add(engine(), kSource.data(), kSource.size());
  if (GetParam() == State::kStored) {
    EXPECT_EQ(status, 1);
    EXPECT_EQ(goldcrest_add(engine(), kSource.data(), kSource.size()), GOLDCREST_ERROR_TOO_LONG) << "batch is 2";
    EXPECT_EQ(goldcrest_run(engine()), GOLDCREST_DONE);
    EXPECT_EQ(engine_.results(0), engine_.results(1));
  } else {
    EXPECT_EQ(status, GOLDCREST_ERROR_STATE);
    EXPECT_EQ(message(), "add: begin first, and add before the first step");
  }
}

TEST_P(EveryState, BeginStartsOver) {
  EXPECT_EQ(goldcrest_begin(engine(), kSource.data(), 2), 0);
  goldcrest_result result;
  EXPECT_EQ(goldcrest_get_result(engine(), 0, 0, &result), GOLDCREST_ERROR_STATE) << "earlier results are gone";
  const int32_t* stored = nullptr;
  EXPECT_EQ(goldcrest_get_source(engine(), 0, &stored), 2);
  EXPECT_EQ(goldcrest_run(engine()), GOLDCREST_DONE);
}

// The source can be the one that get_source returned.
TEST_P(EveryState, BeginWithTheStoredSource) {
  const int32_t* stored = nullptr;
  if (n_sources_ == 0) return;
  ASSERT_EQ(goldcrest_get_source(engine(), 0, &stored), 5);
  EXPECT_EQ(goldcrest_begin(engine(), stored + 1, 3), 0);
  ASSERT_EQ(goldcrest_get_source(engine(), 0, &stored), 3);
  EXPECT_EQ((std::vector<int32_t>{stored, stored + 3}), (std::vector<int32_t>{2, 3, 4}));
}

TEST_P(EveryState, Step) {
  const int status = goldcrest_step(engine(), nullptr);
  if (n_sources_ == 0) {
    EXPECT_EQ(status, GOLDCREST_ERROR_STATE);
    EXPECT_EQ(message(), "no source was given");
    EXPECT_EQ(goldcrest_run(engine()), GOLDCREST_ERROR_STATE);
  } else if (finished_) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(goldcrest_step(engine(), nullptr), GOLDCREST_DONE);
  } else {
    EXPECT_EQ(status, GOLDCREST_WORKING);
  }
}

TEST_P(EveryState, Results) {
  goldcrest_result result;
  EXPECT_EQ(goldcrest_get_result(engine(), 0, 0, nullptr), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_get_result(engine(), 0, 0, &result), finished_ ? GOLDCREST_OK : GOLDCREST_ERROR_STATE);
  if (!finished_) return;
  const bool has_second = GetParam() == State::kDone;
  EXPECT_EQ(goldcrest_get_result(engine(), 0, 1, &result), has_second ? GOLDCREST_OK : GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_get_result(engine(), 0, 2, &result), GOLDCREST_ERROR_ARGUMENT) << "n_best is 2";
  EXPECT_EQ(goldcrest_get_result(engine(), 1, 0, &result), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_get_result(engine(), UINT32_MAX, UINT32_MAX, &result), GOLDCREST_ERROR_ARGUMENT);
}

TEST_P(EveryState, Sources) {
  const int32_t* stored = nullptr;
  EXPECT_EQ(goldcrest_get_source(engine(), 0, nullptr), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_get_source(engine(), n_sources_, &stored), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_get_source(engine(), UINT32_MAX, &stored), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_get_source(engine(), 0, &stored), n_sources_ == 0 ? GOLDCREST_ERROR_ARGUMENT : 5);
}

TEST_P(EveryState, Reset) {
  goldcrest_reset(engine());
  EXPECT_EQ(goldcrest_step(engine(), nullptr), GOLDCREST_ERROR_STATE);
}

TEST_P(EveryState, SearchAgain) {
  const bool encoded = finished_ || GetParam() == State::kDecoding;
  EXPECT_EQ(goldcrest_search_again(engine()), encoded ? GOLDCREST_OK : GOLDCREST_ERROR_STATE);
  if (!encoded) return;
  EXPECT_EQ(goldcrest_search_again(engine()), GOLDCREST_OK);
  EXPECT_EQ(goldcrest_add(engine(), kSource.data(), 1), GOLDCREST_ERROR_STATE);
  engine_.change_search([](goldcrest_search& search) { search.beam_size = 2; });
  int steps = 0;
  while (goldcrest_step(engine(), nullptr) != GOLDCREST_DONE) ++steps;
  EXPECT_LE(steps, 1 + 8 * 2) << "one that starts, and the layer and the output of 8 positions";
  const std::vector<Translation> again = engine_.results(0);
  EXPECT_EQ(engine_.run(kSource), again.at(0));
}

TEST_P(EveryState, SetSearch) {
  EXPECT_EQ(goldcrest_set_search(engine(), nullptr), busy_ ? GOLDCREST_ERROR_STATE : GOLDCREST_OK);
  const goldcrest_search good = engine_.search();
  EXPECT_EQ(goldcrest_set_search(engine(), &good), busy_ ? GOLDCREST_ERROR_STATE : GOLDCREST_OK);
  if (busy_) {
    EXPECT_STREQ(engine_.detail().message, "set_search: a search is under way");
    EXPECT_EQ(engine_.detail().index, -1);
    return;
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<goldcrest_search> bad(20, good);
  bad[0].beam_size = 4;
  bad[1].beam_size = UINT32_MAX;
  bad[2].max_target_tokens = 9;
  bad[3].min_target_tokens = 9;
  bad[4].length_penalty = 17;
  bad[5].length_penalty = nan;
  bad[6].word_penalty = -1025;
  bad[7].word_penalty = nan;
  bad[8].flags = 16;
  bad[9].flags = UINT32_MAX;
  bad[10].min_target_tokens = 5;
  bad[10].max_target_tokens = 4;
  bad[11].renormalize = 3;
  bad[12].force_end = 3;
  bad[13].early_stopping = 4;
  bad[14].length_penalty_kind = 3;
  bad[15].repetition_penalty = -1;
  bad[16].repetition_penalty = 1025;
  bad[17].repetition_penalty = nan;
  bad[18].max_length_factor = -1;
  bad[19].max_length_factor = nan;
  for (const goldcrest_search& search : bad) {
    EXPECT_EQ(goldcrest_set_search(engine(), &search), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_TRUE(message().starts_with("search.")) << message();
  }
}

// Setting the next search's options keeps the results of a finished search.
TEST_P(EveryState, SetSearchDoesNotTouchResults) {
  if (!finished_) return;
  const std::vector<Translation> before = engine_.results(0);
  engine_.change_search([](goldcrest_search& search) {
    search.beam_size = 2;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
  });
  EXPECT_EQ(engine_.results(0), before);
}

INSTANTIATE_TEST_SUITE_P(States, EveryState,
    testing::Values(State::kIdle, State::kStored, State::kEncoding, State::kDecoding, State::kLastToken, State::kDone),
    [](const auto& test) { return name_of(test.param); });

TEST(NoEngine, EveryFunctionRefusesANullAndAFailedEngine) {
  alignas(64) static uint8_t zeros[4096] = {};
  goldcrest_text_state state = {};
  goldcrest_result result;
  const int32_t* ids = nullptr;
  const goldcrest_alignment wanted = {0, 0, 0, -1, -1};
  float weights[6];
  char out[8];
  for (goldcrest_engine* engine :
      {static_cast<goldcrest_engine*>(nullptr), reinterpret_cast<goldcrest_engine*>(zeros)}) {
    EXPECT_EQ(goldcrest_begin(engine, kSource.data(), 1), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_add(engine, kSource.data(), 1), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_begin_text(engine, "a", 1), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_add_text(engine, "a", 1), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_get_source(engine, 0, &ids), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_set_search(engine, nullptr), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_step(engine, nullptr), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_run(engine), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_search_again(engine), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_get_result(engine, 0, 0, &result), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_score(engine, 0, kSource.data(), 1), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_get_alignment(engine, &wanted, weights, 6), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_detokenize(engine, &state, kSource.data(), 1, out, 8), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_translate(engine, "a", 1, out, 8), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(goldcrest_self_test(engine, nullptr), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_STREQ(goldcrest_kernels_name(engine), "");
    goldcrest_reset(engine);
  }
}

TEST(Init, BadConfigurations) {
  goldcrest_engine* engine = nullptr;
  goldcrest_config config = {};
  EXPECT_EQ(goldcrest_init(nullptr, &config), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_init(&engine, nullptr), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARGUMENT) << "no model";
  config.model = file().bytes();
  config.model_bytes = file().size();
  GuardedBuffer<uint8_t> arena(1 << 20);
  config.arena = arena.get();
  config.arena_bytes = arena.size();
  config.kernels = "fast";
  EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(engine, nullptr);
  config.kernels = "reference";
  ASSERT_EQ(goldcrest_init(&engine, &config), GOLDCREST_OK);
  EXPECT_STREQ(goldcrest_kernels_name(engine), "reference");
}

TEST(StatusString, EveryValueHasItsOwn) {
  std::vector<std::string> seen;
  for (int status = -11; status <= 3; ++status) {
    const std::string text = goldcrest_status_string(status);
    EXPECT_NE(text, "unknown status") << status;
    for (const std::string& other : seen) EXPECT_NE(text, other);
    seen.push_back(text);
  }
  for (const int status : {-12, 4, 1000, INT32_MIN}) EXPECT_STREQ(goldcrest_status_string(status), "unknown status");
}
}}  // namespace goldcrest::test
