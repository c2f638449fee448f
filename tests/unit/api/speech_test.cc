// SPDX-License-Identifier: Apache-2.0
// Clips through the engine: choices that must not change a bit, clips of wrong lengths, calls that do not fit the
// model, the work of a step, weights that are no longer needed.
#include "goldcrest/speech.h"
#include "api/observe.h"
#include "base/build_options.h"
#include "host/thread_pool.h"
#include "model/frontend_view.h"
#include "support/engine_fixture.h"
#include "support/speech_model.h"
#include "support/test.h"
#include "unit/model/hostile_file.h"

namespace goldcrest::test { namespace {
std::vector<uint64_t> hashes(TestEngine& engine, const std::vector<Sound>& sounds, uint32_t flags = 0) {
  engine.change_search([&](goldcrest_search& search) { search.flags = GOLDCREST_SEARCH_HASH_LOGITS | flags; });
  std::vector<uint64_t> found;
  for (size_t i = 0; i < sounds.size(); ++i)
    EXPECT_EQ(give(engine.get(), sounds[i], i == 0), static_cast<int>(i)) << engine.detail().message;
  EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  for (uint32_t i = 0; i < sounds.size(); ++i) found.push_back(engine.results(i).at(0).logits_hash);
  EXPECT_TRUE(engine.memory_intact());
  return found;
}

// Runs a single clip.
Translation run_clip(TestEngine& engine, const Sound& sound) {
  EXPECT_EQ(give(engine.get(), sound, true), 0) << engine.detail().message;
  return engine.finish(1)[0].at(0);
}

void set_fine(bool fine, OpenChoices& options) {
  options.fine_layers = fine;
  for (TinyConvolution& convolution : options.convolutions) convolution.fine_input = fine;
}

std::vector<OpenChoices> all_options() {
  std::vector<OpenChoices> all = tiny_speech_options();
  all.push_back(wide_moonshine());
  for (OpenChoices& options : tiny_speech_options()) {
    options.weights = converter::Weights::kFloat32;
    set_fine(false, options);
    all.push_back(options);
  }
  return all;
}

TEST(Speech, AllChoicesGiveTheSameBits) {
  ThreadPool pool;
  ASSERT_EQ(pool.start(3), "");
  for (const OpenChoices& options : all_options()) {
    const FileImage file = speech_file(options);
    std::vector<Sound> sounds;
    std::vector<uint64_t> alone;
    for (const uint32_t rows : {11u, 1u, 19u}) {
      TestEngine engine(file.span(), {});
      sounds.push_back(sound_of(engine.info(), rows, rows));
      alone.push_back(hashes(engine, {sounds.back()}).at(0));
    }
    EXPECT_NE(alone[0], alone[2]);
    for (uint32_t table = 0; goldcrest_kernels_at(table) != nullptr; ++table) {
      for (const uint32_t encoder_rows : {1u, 3u, 4u, 32u}) {
        for (const uint32_t threads : {1u, 3u}) {
          EngineSetup setup;
          setup.limits.batch = 3;
          setup.limits.encoder_rows = encoder_rows;
          setup.limits.threads = threads;
          setup.step_size = threads == 1 ? GOLDCREST_STEP_LAYER : GOLDCREST_STEP_POSITION;
          setup.two_regions = encoder_rows == 3;
          setup.fill = static_cast<uint8_t>(0x11 * encoder_rows);
          setup.kernels = goldcrest_kernels_at(table);
          setup.parallel_for = threads == 1 ? nullptr : pool.parallel_for();
          setup.parallel_context = pool.context();
          TestEngine engine(file.span(), setup);
          EXPECT_EQ(hashes(engine, sounds), alone)
              << setup.kernels << ", rows " << encoder_rows << ", threads " << threads << ", seed " << options.seed;
        }
      }
    }
    OpenChoices other = options;
    other.layout = Layout::kN4K16;
    const FileImage other_file = speech_file(other);
    TestEngine engine(other_file.span(), {});
    if (options.weights == converter::Weights::kInt8) {
      EXPECT_EQ(hashes(engine, {sounds[0]}).at(0), alone[0]);
    }
  }
}

TEST(Speech, CoarseAsWithoutFineInputs) {
  OpenChoices options = tiny_moonshine();
  std::vector<uint64_t> found;
  for (const auto& [fine, flags] : {std::pair{false, 0u}, {true, GOLDCREST_SEARCH_COARSE}, {true, 0u}}) {
    set_fine(fine, options);
    const FileImage file = speech_file(options);
    TestEngine engine(file.span(), {});
    found.push_back(hashes(engine, {sound_of(engine.info(), 11, 11)}, flags)[0]);
  }
  EXPECT_TRUE(found[1] == found[0] && found[2] != found[0]);
}

// Whatever is in memory before, in the file after the frontend's arrays, or after the clip.
TEST(Speech, NothingElseIsRead) {
  for (const OpenChoices& options : tiny_speech_options()) {
    const FileImage file = speech_file(options);
    std::vector<uint64_t> first;
    for (const uint8_t fill : {uint8_t{0}, uint8_t{0x7f}, uint8_t{0xff}}) {
      TestEngine engine(file.span(), {.fill = fill});
      const Sound sound = sound_of(engine.info(), 5, 7);
      // An unmapped page follows the clip.
      GuardedBuffer<int16_t> samples(sound.samples.size());
      std::copy(sound.samples.begin(), sound.samples.end(), samples.begin());
      GuardedBuffer<float> features(sound.features.size());
      std::copy(sound.features.begin(), sound.features.end(), features.begin());
      engine.change_search([](goldcrest_search& search) { search.flags = GOLDCREST_SEARCH_HASH_LOGITS; });
      ASSERT_EQ(sound.samples.empty() ? goldcrest_begin_features(engine.get(), features.get(), sound.n)
                                      : goldcrest_begin_audio(engine.get(), samples.get(), sound.n),
          0);
      ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
      const std::vector<uint64_t> found = {engine.results(0).at(0).logits_hash};
      if (first.empty()) first = found;
      EXPECT_EQ(found, first);
    }
  }
}

TEST(Speech, ClipsOfWrongLengths) {
  for (const OpenChoices& options : tiny_speech_options()) {
    const FileImage file = speech_file(options);
    TestEngine engine(file.span(), {.limits = {.max_source_tokens = 6}});
    const goldcrest_info& info = engine.info();
    const Sound longest = sound_of(info, 1, 8);
    const auto begin = [&](size_t n) {
      Sound part = longest;
      part.n = n;
      return give(engine.get(), part, true);
    };
    EXPECT_EQ(begin(info.first_row_samples - 1), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(begin(info.first_row_samples), 0);
    const size_t most = info.first_row_samples + 6 * size_t{info.row_samples} - 1;
    EXPECT_EQ(begin(most), 0);
    EXPECT_EQ(begin(most + 1), info.fixed_window != 0 ? 0 : GOLDCREST_ERROR_TOO_LONG);
    EXPECT_EQ(goldcrest_begin_audio(engine.get(), nullptr, 5000),
        info.sample_rate != 0 ? GOLDCREST_ERROR_ARGUMENT : GOLDCREST_ERROR_UNSUPPORTED);
    EXPECT_EQ(goldcrest_begin_audio(nullptr, longest.samples.data(), 5000), GOLDCREST_ERROR_ARGUMENT);
    Sound shortest = longest;
    shortest.n = info.first_row_samples;
    EXPECT_EQ(give(engine.get(), shortest, false), GOLDCREST_ERROR_TOO_LONG);  // limits.batch is 1
    goldcrest_reset(engine.get());
    EXPECT_EQ(give(engine.get(), shortest, false), GOLDCREST_ERROR_STATE);
  }
}

TEST(Speech, AFixedWindowIsCutOrFilledUpWithZeros) {
  const FileImage file = speech_file(tiny_whisper());
  TestEngine engine(file.span(), {});
  const size_t window = size_t{engine.info().row_samples} * engine.info().limits.max_source_tokens;
  Sound sound = {tiny_clip(4, window + 100), {}, window};
  const std::vector<uint64_t> whole = hashes(engine, {sound});
  sound.n = window + 100;
  EXPECT_EQ(hashes(engine, {sound}), whole);
  sound.n = window / 3;
  const std::vector<uint64_t> third = hashes(engine, {sound});
  EXPECT_NE(third, whole);
  std::fill(sound.samples.begin() + static_cast<ptrdiff_t>(sound.n), sound.samples.end(), int16_t{0});
  sound.n = window;
  EXPECT_EQ(hashes(engine, {sound}), third);
}

TEST(Speech, CallsThatDoNotFitTheModel) {
  const FileImage speech = speech_file(tiny_moonshine());
  TestEngine hears(speech.span(), {});
  const int32_t ids[] = {1, 2};
  const float features[100] = {};
  const int32_t* source = nullptr;
  char out[8];
  EXPECT_EQ(goldcrest_begin(hears.get(), ids, 2), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_EQ(goldcrest_begin_text(hears.get(), "a", 1), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_EQ(goldcrest_translate(hears.get(), "a", 1, out, sizeof out), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_EQ(goldcrest_begin_features(hears.get(), features, 100), GOLDCREST_ERROR_UNSUPPORTED);
  const Sound sound = sound_of(hears.info(), 1, 2);
  EXPECT_EQ(give(hears.get(), sound, true), 0);
  EXPECT_EQ(goldcrest_get_source(hears.get(), 0, &source), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_EQ(goldcrest_transcribe(hears.get(), nullptr, 0, out, 0), GOLDCREST_ERROR_ARGUMENT);

  const FileImage text = tiny_file(tiny_spec(odd_tiny_options()));
  TestEngine reads(text.span(), {});
  const std::vector<int16_t> samples = tiny_clip(1, 4000);
  EXPECT_EQ(goldcrest_begin_audio(reads.get(), samples.data(), samples.size()), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_EQ(goldcrest_begin_features(reads.get(), features, 100), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_EQ(
      goldcrest_transcribe(reads.get(), samples.data(), samples.size(), out, sizeof out), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_EQ(reads.info().sample_rate, 0u);
}

// Samples that change between the passes, or from the second pass to its end, are found; others are not read.
TEST(Speech, ChangedSamplesAreFound) {
  const FileImage file = speech_file(tiny_moonshine());
  TestEngine engine(file.span(), {.limits = {.encoder_rows = 2}});
  Sound sound = sound_of(engine.info(), 1, 9);
  for (const size_t changed : {size_t{0}, sound.n / 2, sound.n - 1}) {
    ASSERT_EQ(give(engine.get(), sound, true), 0);
    ASSERT_EQ(goldcrest_step(engine.get(), nullptr), GOLDCREST_WORKING);
    sound.samples[changed] = static_cast<int16_t>(sound.samples[changed] ^ 1);
    int status = GOLDCREST_WORKING;
    while (status == GOLDCREST_WORKING) status = goldcrest_step(engine.get(), nullptr);
    EXPECT_EQ(status, GOLDCREST_ERROR_STATE) << changed;
    EXPECT_EQ(goldcrest_step(engine.get(), nullptr), GOLDCREST_ERROR_STATE);  // no source is left
    run_clip(engine, sound);
  }
  ASSERT_EQ(give(engine.get(), sound, true), 0);
  int status = GOLDCREST_WORKING;
  while (status == GOLDCREST_WORKING) status = goldcrest_step(engine.get(), nullptr);
  ASSERT_EQ(status, GOLDCREST_TOKEN);
  std::fill(sound.samples.begin(), sound.samples.end(), int16_t{0});
  EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
}

TEST(Speech, MemoryIsExactlyThePlan) {
  for (const OpenChoices& options : all_options()) {
    const FileImage file = speech_file(options);
    goldcrest_memory memory;
    ASSERT_EQ(goldcrest_plan_memory(file.bytes(), file.size(), nullptr, &memory, nullptr, nullptr, nullptr), 0);
    GuardedBuffer<uint8_t> arena(memory.arena_bytes);
    goldcrest_config config = {
        .model = file.bytes(), .model_bytes = file.size(), .arena = arena.get(), .arena_bytes = arena.size() - 1};
    goldcrest_engine* engine = nullptr;
    EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_ERROR_ARENA_TOO_SMALL);
    config.arena_bytes = arena.size();
    EXPECT_EQ(goldcrest_init(&engine, &config), GOLDCREST_OK);
  }
}

TEST(Speech, TranscribesToText) {
  const FileImage file = speech_file(tiny_moonshine());
  TestEngine engine(file.span(), {});
  const Sound sound = sound_of(engine.info(), 2, 20);
  char out[256];
  const int64_t bytes = goldcrest_transcribe(engine.get(), sound.samples.data(), sound.n, out, sizeof out);
  ASSERT_GT(bytes, 0);
  goldcrest_result result;
  ASSERT_EQ(goldcrest_get_result(engine.get(), 0, 0, &result), GOLDCREST_OK);
  goldcrest_text_state state = {};
  char expected[256];
  const int64_t n = goldcrest_detokenize(engine.get(), &state, result.tokens, result.n_tokens, expected, 256);
  EXPECT_EQ(std::string(out), std::string(expected, static_cast<size_t>(n)));
}

// A log-mel's features, given as such, have the same result as the samples that they are made of.
TEST(Speech, FeaturesOfALogMel) {
  OpenChoices options = tiny_whisper();
  const FileImage file = speech_file(options);
  EngineSetup setup;
  TestEngine engine(file.span(), setup);
  const size_t rows = 2 * size_t{engine.info().limits.max_source_tokens};
  const std::vector<float> features(rows * engine.info().feature_channels, 0.25f);
  const Sound whole = {{}, features, rows}, cut = {{}, features, rows - 1};
  const std::vector<uint64_t> hash = hashes(engine, {whole});
  EXPECT_NE(hashes(engine, {cut}), hash);
}

// The self-test of a file with clips; with another window the results are others, so the line is left out.
TEST(Speech, SelfTestWithSamples) {
  for (const OpenChoices& options : {tiny_moonshine(), tiny_whisper()}) {
    const FileImage file = speech_file(options);
    TestEngine engine(file.span(), {});
    const Sound sound = sound_of(engine.info(), 3, 5);
    const uint64_t hash = hashes(engine, {sound}).at(0);
    const std::vector<int32_t> target = engine.results(0).at(0).tokens;
    const auto tested = [&](uint64_t of_line, goldcrest_limits limits) {
      const FileImage with_line = remade(file, [&](ModelT& model) {
        auto line = std::make_unique<format::SelfTestLineT>();
        line->samples = sound.samples;
        line->target.assign(target.begin(), target.end());
        line->hash_low = static_cast<uint32_t>(of_line);
        line->hash_high = static_cast<uint32_t>(of_line >> 32);
        model.self_test.push_back(std::move(line));
      });
      TestEngine tests(with_line.span(), {.limits = limits});
      return goldcrest_self_test(tests.get(), nullptr);
    };
    goldcrest_limits fewer = {
        .max_source_tokens = options.fixed_window ? engine.info().limits.max_source_tokens - 1 : 4};
    EXPECT_EQ(tested(hash, {}), GOLDCREST_OK);
    EXPECT_EQ(tested(hash + 1, {}), GOLDCREST_ERROR_SELF_TEST);
    EXPECT_EQ(tested(hash, fewer), GOLDCREST_ERROR_TOO_LONG);
  }
}

// Counts the multiply-accumulates of linear layers; kernels are plain functions, so they write to a global.
struct Counted {
  const Kernels* native = nullptr;
  uint64_t macs = 0;
} counted;

// Returns the multiply-accumulates of the largest step.
uint64_t largest_step(TestEngine& engine, const std::vector<Sound>& sounds) {
  counted.native = exchange_kernels(engine.get(), nullptr);
  Kernels table = *counted.native;
  table.int8.linear = [](const LinearArgs<int8_t>& args) {
    counted.macs += uint64_t{args.rows} * args.n * args.k;
    counted.native->int8.linear(args);
  };
  exchange_kernels(engine.get(), &table);
  for (size_t i = 0; i < sounds.size(); ++i) EXPECT_GE(give(engine.get(), sounds[i], i == 0), 0);
  uint64_t most = 0;
  int status = GOLDCREST_WORKING;
  for (; status == GOLDCREST_WORKING || status == GOLDCREST_TOKEN; most = std::max(most, counted.macs)) {
    counted.macs = 0;
    status = goldcrest_step(engine.get(), nullptr);
  }
  EXPECT_EQ(status, GOLDCREST_DONE);
  exchange_kernels(engine.get(), counted.native);
  return most;
}

// No step multiplies more than the plan says. Where the frontend has the largest step, the plan is close.
TEST(Speech, StepsAreBounded) {
  for (const OpenChoices& options : {wide_moonshine(), tiny_whisper(), tiny_frames()}) {
    const FileImage file = speech_file(options);
    for (const uint32_t encoder_rows : {1u, 4u, 7u, 32u}) {
      for (const uint32_t batch : {1u, 3u}) {
        EngineSetup setup = {
            .limits = {.batch = batch, .encoder_rows = encoder_rows}, .step_size = GOLDCREST_STEP_LAYER};
        TestEngine engine(file.span(), setup);
        std::vector<Sound> sounds;
        for (uint32_t i = 0; i < batch; ++i) sounds.push_back(sound_of(engine.info(), i, 24 - 5 * i));
        const uint64_t most = largest_step(engine, sounds);
        EXPECT_LE(most, engine.memory().layer_step_macs) << encoder_rows << ", batch " << batch;
        if (options.convolutions[0].n == 288 && batch == 1 && encoder_rows < 24) {
          EXPECT_GT(5 * most, 4 * engine.memory().layer_step_macs) << encoder_rows << ", seed " << options.seed;
        }
      }
    }
  }
}

TEST(Speech, WeightsOfTheFrontendBecomeIdle) {
  for (const OpenChoices& options : tiny_speech_options()) {
    const FileImage file = speech_file(options);
    std::vector<std::pair<size_t, size_t>> reported;
    struct Context {
      const uint8_t* file;
      std::vector<std::pair<size_t, size_t>>& reported;
    } context = {file.bytes(), reported};
    EngineSetup setup = {.idle_context = &context};
    setup.idle_weights = [](void* to, const void* weights, size_t n) {
      Context& in = *static_cast<Context*>(to);
      in.reported.emplace_back(static_cast<const uint8_t*>(weights) - in.file, n);
    };
    TestEngine engine(file.span(), setup);
    std::vector<std::pair<size_t, size_t>> expected;
    const FrontendView view = view_frontend(file.bytes());
    for (uint32_t i = 0; i < view.n_convolutions; ++i) {
      const LinearView& linear = view.convolutions[i].linear;
      expected.emplace_back(size_t{linear.weights} * 64, size_t{linear.n} * linear.k);
    }
    const auto first = [&] { return std::vector(reported.begin(), reported.begin() + view.n_convolutions); };
    ASSERT_GT(reported.size(), view.n_convolutions);
    EXPECT_EQ(first(), expected);  // after the check
    reported.clear();
    run_clip(engine, sound_of(engine.info(), 1, 9));
    EXPECT_EQ(first(), expected);
  }
}

// A file's length factor limits the text of each clip by its encoder rows, with and without the feature Rules.

FileImage limited_file(float factor, uint32_t more_features) {
  return remade(speech_file(tiny_moonshine()), [&](ModelT& model) {
    model.generation->max_length_factor = factor;
    model.generation->suppressed_ids = {model.generation->end_id};  // only the limit ends a text
    model.features |= more_features;
  });
}

TEST(ClipLimit, FollowsEachClip) {
  for (const uint32_t features : {0u, kFeatureRules}) {
    for (const uint32_t beams : {1u, 3u}) {
      for (const float factor : {0.0f, 0.156f, 0.25f, 0.5f, 100.0f}) {
        const FileImage file = limited_file(factor, features);
        TestEngine engine(file.span(), {.limits = {.beam_size = beams}});
        const size_t most = engine.info().limits.max_target_tokens;
        ASSERT_GT(most, 9u);
        for (const uint32_t rows : {1u, 7u, 13u, 20u, 24u}) {
          const size_t by_factor =
              factor == 0 ? most : static_cast<size_t>(std::ceil(factor * static_cast<float>(rows)));
          const size_t n = run_clip(engine, sound_of(engine.info(), 4, rows)).tokens.size();
          EXPECT_EQ(n, std::min(most, std::max<size_t>(3, by_factor))) << factor << " " << rows;
        }
      }
    }
  }
}

TEST(ClipLimit, OtherFactorsAreRefused) {
  for (const float factor : {-1.0f, 1e-4f, 2000.0f, std::nanf(""), HUGE_VALF}) {
    for (const uint32_t features : {0u, kFeatureRules})
      expect_corrupt(limited_file(factor, features), std::string("generation.max_length_factor"));
  }
}

// Whisper's timestamps, next to the rules as openai/whisper's decoding.py writes them, over probabilities that
// goldcrest_score gives one by one.

constexpr uint32_t kMaxFirst = 3;

FileImage timed_file(uint64_t seed, uint32_t first) {
  OpenChoices options = tiny_whisper();
  options.seed = seed;
  return remade(speech_file(options), [&](ModelT& model) {
    model.features |= kFeaturePrompt | kFeatureTimestamps;
    model.generation->forced_ids = {first - 1};
    model.generation->first_timestamp = first;
    model.generation->max_first_timestamp = kMaxFirst;
  });
}

// Returns the log-probabilities of every next id after some ids.
std::vector<double> next_log_probs(TestEngine& engine, std::vector<int32_t> ids) {
  std::vector<double> found;
  ids.push_back(0);
  for (uint32_t id = 0; id < engine.info().target_vocab_size; ++id) {
    ids.back() = static_cast<int32_t>(id);
    EXPECT_EQ(goldcrest_search_again(engine.get()), GOLDCREST_OK);
    EXPECT_EQ(goldcrest_score(engine.get(), 0, ids.data(), ids.size()), GOLDCREST_OK);
    EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    found.push_back(engine.results(0).at(0).token_log_probs.back());
  }
  return found;
}

// Sets those that must not follow to -infinity. Returns how far the last rule is from its other choice.
double apply_rules(const std::vector<int32_t>& ids, int32_t first, int32_t end, std::vector<double>* values) {
  const auto forbid = [&](int32_t from, int32_t to) {
    for (int32_t id = from; id < std::min(to, static_cast<int32_t>(values->size())); ++id)
      (*values)[static_cast<size_t>(id)] = -HUGE_VAL;
  };
  forbid(first - 1, first);
  const size_t n = ids.size();
  const bool is_time = n > 0 && ids[n - 1] >= first, was_time = n < 2 || ids[n - 2] >= first;
  if (is_time) was_time ? forbid(first, INT32_MAX) : forbid(0, end);
  for (const int32_t id : ids)
    if (id >= first) forbid(first, is_time && !was_time ? ids[n - 1] : id + 1);
  if (n == 0) forbid(0, first);
  if (n == 0) forbid(first + kMaxFirst + 1, INT32_MAX);
  double times = 0, text = -HUGE_VAL;
  for (size_t id = 0; id < values->size(); ++id)
    if (static_cast<int32_t>(id) < first) text = std::max(text, (*values)[id]);
    else times += std::exp((*values)[id]);
  if (std::log(times) > text) forbid(0, first);
  return std::abs(std::log(times) - text);
}

TEST(Timestamps, FollowWhispersRules) {
  size_t n_times = 0, n_text = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const auto first = static_cast<int32_t>(8 + 4 * seed);
    const FileImage file = timed_file(seed, static_cast<uint32_t>(first));
    EngineSetup setup = {
        .limits = {.beam_size = 3, .inspection = GOLDCREST_INSPECT_TARGETS | GOLDCREST_INSPECT_TOKEN_SCORES}};
    TestEngine engine(file.span(), setup);
    goldcrest_search search = engine.search();
    search.beam_size = 1;
    const Sound sound = sound_of(engine.info(), seed, 9);
    const auto run = [&](uint32_t flags) {
      search.flags = flags;
      engine.set_search(search);
      return run_clip(engine, sound);
    };
    const Translation plain = run(0), timed = run(GOLDCREST_SEARCH_TIMESTAMPS);
    EXPECT_EQ(plain.tokens.at(0), first - 1) << "the prompt";
    for (const int32_t id : plain.tokens) EXPECT_LT(id, first);
    const int32_t end = engine.info().end_id;
    std::vector<int32_t> ids;
    for (const int32_t id : timed.tokens) {
      std::vector<double> values = next_log_probs(engine, ids);
      const int32_t start = engine.info().decoder_start_id;
      values[static_cast<size_t>(start)] = -HUGE_VAL;  // suppressed by the file
      if (apply_rules(ids, first, end, &values) < 1e-4) break;
      const double best = *std::ranges::max_element(values);
      double sum = 0;
      for (const double value : values) sum += std::exp(value - best);
      const bool is_forced = ids.size() + 1 == timed.tokens.size() && timed.was_cut != 0;
      if (!is_forced) {
        EXPECT_NEAR(values[static_cast<size_t>(id)], best, 1e-5) << seed << " " << ids.size();
        EXPECT_NEAR(timed.token_log_probs[ids.size()], -std::log(sum), 1e-4) << seed << " " << ids.size();
      }
      ids.push_back(id);
      (id >= first ? n_times : n_text) += 1;
    }
    search.beam_size = 3;
    const Translation beams = run(GOLDCREST_SEARCH_TIMESTAMPS);
    EXPECT_GE(beams.tokens.at(0), first);
    EXPECT_LE(beams.tokens.at(0), first + static_cast<int32_t>(kMaxFirst));
    EXPECT_TRUE(engine.memory_intact());
  }
  EXPECT_GT(n_times, 10u);
  EXPECT_GT(n_text, 10u);
}

TEST(Timestamps, DamagedTablesAreRefused) {
  expect_refused(
      timed_file(1, 20), {
                             {"generation: prompt", [](ModelT& m) { m.generation->first_timestamp = 0; }},
                             {"generation: prompt", [](ModelT& m) { m.generation->first_timestamp = 19; }},
                             {"generation: prompt", [](ModelT& m) { m.generation->first_timestamp = UINT32_MAX; }},
                             {"generation: prompt", [](ModelT& m) { m.generation->max_first_timestamp = 17; }},
                             {"generation: prompt", [](ModelT& m) { m.generation->forced_ids = {5}; }},
                             {"generation: prompt", [](ModelT& m) { m.generation->forced_ids.clear(); }},
                             {"generation.alignment_heads",
                                 [](ModelT& m) {
                                   m.generation->alignment_heads = {0, 1000};
                                 }},
                         });
}
}}  // namespace goldcrest::test
