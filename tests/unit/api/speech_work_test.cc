// SPDX-License-Identifier: Apache-2.0
// The work of a step of a speech model, and the weights that it no longer needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/observe.h"
#include "model/frontend_view.h"
#include "support/engine_fixture.h"
#include "support/speech_model.h"

namespace goldcrest {
namespace {

using converter::FileImage;
using test::EngineSetup;
using test::give;
using test::OpenChoices;
using test::Sound;
using test::sound_of;
using test::TestEngine;

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
  for (const OpenChoices& options : {test::wide_moonshine(), test::tiny_whisper(), test::tiny_frames()}) {
    const FileImage file = test::speech_file(options);
    for (const uint32_t encoder_rows : {1u, 4u, 7u, 32u}) {
      for (const uint32_t batch : {1u, 3u}) {
        EngineSetup setup;
        setup.limits.batch = batch;
        setup.limits.encoder_rows = encoder_rows;
        setup.step_size = GOLDCREST_STEP_LAYER;
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
  for (const OpenChoices& options : test::tiny_speech_options()) {
    const FileImage file = test::speech_file(options);
    std::vector<std::pair<size_t, size_t>> reported;
    struct Context {
      const uint8_t* file;
      std::vector<std::pair<size_t, size_t>>& reported;
    } context = {file.bytes(), reported};
    EngineSetup setup;
    setup.idle_context = &context;
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
    const Sound sound = sound_of(engine.info(), 1, 9);
    ASSERT_EQ(give(engine.get(), sound, true), 0);
    ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
    EXPECT_EQ(first(), expected);
  }
}

}  // namespace
}  // namespace goldcrest
