// SPDX-License-Identifier: Apache-2.0
// A file's length factor limits the text of each clip by its encoder rows, with and without the feature Rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/build_options.h"
#include "goldcrest/speech.h"
#include "support/engine_fixture.h"
#include "support/speech_model.h"
#include "unit/model/hostile_file.h"

namespace goldcrest {
namespace {

converter::FileImage limited_file(float factor, uint32_t more_features) {
  return test::remade(test::speech_file(test::tiny_moonshine()), [&](format::ModelT& model) {
    model.generation->max_length_factor = factor;
    model.generation->suppressed_ids = {model.generation->end_id};  // only the limit ends a text
    model.features |= more_features;
  });
}

size_t tokens_of(test::TestEngine& engine, uint32_t rows) {
  const test::Sound sound = test::sound_of(engine.info(), 4, rows);
  EXPECT_EQ(test::give(engine.get(), sound, true), 0);
  EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  return engine.results(0).at(0).tokens.size();
}

TEST(ClipLimit, FollowsEachClip) {
  for (const uint32_t features : {0u, kFeatureRules}) {
    for (const uint32_t beams : {1u, 3u}) {
      for (const float factor : {0.0f, 0.156f, 0.25f, 0.5f, 100.0f}) {
        const converter::FileImage file = limited_file(factor, features);
        test::EngineSetup setup;
        setup.limits.beam_size = beams;
        test::TestEngine engine(file.span(), setup);
        const size_t most = engine.info().limits.max_target_tokens;
        ASSERT_GT(most, 9u);
        for (const uint32_t rows : {1u, 7u, 13u, 20u, 24u}) {
          const size_t by_factor =
              factor == 0 ? most : static_cast<size_t>(std::ceil(factor * static_cast<float>(rows)));
          EXPECT_EQ(tokens_of(engine, rows), std::min(most, std::max<size_t>(3, by_factor))) << factor << " " << rows;
        }
      }
    }
  }
}

TEST(ClipLimit, OtherFactorsAreRefused) {
  for (const float factor : {-1.0f, 1e-4f, 2000.0f, std::nanf(""), HUGE_VALF}) {
    for (const uint32_t features : {0u, kFeatureRules}) {
      const test::Verdict verdict = test::try_file(limited_file(factor, features));
      EXPECT_EQ(verdict.status, GOLDCREST_ERROR_MODEL_CORRUPT);
      EXPECT_EQ(verdict.detail, std::string("generation.max_length_factor"));
    }
  }
}

}  // namespace
}  // namespace goldcrest
