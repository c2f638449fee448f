// SPDX-License-Identifier: Apache-2.0
// The engine as the converter uses it: text, batches, and the self-test that is written into the file.
#include "report/engine_session.h"

#include <gtest/gtest.h>

#include "convert/support/shipped_model.h"
#include "support/expect_error.h"

namespace goldcrest::converter {
namespace {

goldcrest_limits text_limits(uint32_t batch) {
  goldcrest_limits limits = {};
  limits.max_source_bytes = 100;
  limits.batch = batch;
  return limits;
}

TEST(EngineSession, TextGoesToIdsAndBack) {
  EngineSession session(test::shipped_model("g2p").image.span(), text_limits(1), "g2p.gcst");
  const std::vector<int32_t> ids = {5, 6, 5, 7, 19, 2};  // tests/golden/g2p, line 1
  EXPECT_EQ(session.encode("abaco"), ids);
  const std::vector<int32_t> tokens = {10, 22, 5, 45, 50, 2};
  EXPECT_EQ(session.decode(tokens), "AH0 B AA1 K OW0");
  EXPECT_EQ(session.decode({}), "");
}

TEST(EngineSession, ErrorsSayWhatAndWhy) {
  const FileImage& image = test::shipped_model("g2p").image;
  EngineSession session(image.span(), text_limits(1), "g2p.gcst");
  test::expect_error([&] { session.encode(std::string(101, 'a')); }, {"source: "});
  goldcrest_limits limits = {};
  limits.max_target_tokens = 65;
  test::expect_error([&] { EngineSession(image.span(), limits, "g2p.gcst"); }, {"g2p.gcst: ", "max_target_tokens"});
  test::expect_error([&] { EngineSession(image.span().first(image.size() - 64), {}, "g2p.gcst"); }, {"g2p.gcst: "});
}

TEST(EngineTranslator, ABatchGivesWhatEachLineGivesAlone) {
  const FileImage& image = test::shipped_model("g2p").image;
  const std::vector<std::string> sources = {"abaco", "goldcrest", "",         std::string(90, 'x'),
                                            "wren",  "finch",     "firecrest"};
  EngineSession single(image.span(), text_limits(1), "g2p.gcst");
  const std::vector<Translation> alone = EngineTranslator(single).translate(sources);
  for (const uint32_t batch : {2u, 3u, 16u}) {
    EngineSession session(image.span(), text_limits(batch), "g2p.gcst");
    const std::vector<Translation> together = EngineTranslator(session).translate(sources);
    ASSERT_EQ(together.size(), sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      EXPECT_EQ(together[i].tokens, alone[i].tokens) << sources[i];
      EXPECT_EQ(together[i].text, alone[i].text);
      EXPECT_EQ(together[i].error, alone[i].error);
    }
  }
  EXPECT_EQ(alone[0].text, "AH0 B AA1 K OW0");
  EXPECT_NE(alone[3].error.find("source"), std::string::npos) << alone[3].error;  // 90 characters, but 64 positions
  EXPECT_TRUE(alone[3].tokens.empty());
}

TEST(SelfTest, WhatTheConverterWritesTheEnginePasses) {
  const test::ShippedModel& model = test::shipped_model("enfr");
  EngineSession untested(model.image.span(), text_limits(1), "enfr.gcst");
  const std::vector<std::vector<int32_t>> sources = {{541, 147, 0}, {791, 34, 89, 2, 0}, std::vector<int32_t>(129, 5)};
  const std::vector<SelfTestLine> lines = make_self_test(untested, sources, {});
  ASSERT_EQ(lines.size(), 2u);  // the third is too long
  EXPECT_EQ(lines[0].source, (std::vector<uint32_t>{541, 147, 0}));
  EXPECT_EQ(lines[0].target, (std::vector<uint32_t>{1087, 40, 0}));
  EXPECT_NE(lines[0].hash, lines[1].hash);
  const FileImage image = assemble(model.payload, lines);
  EngineSession session(image.span(), {}, "enfr.gcst");
  EXPECT_EQ(goldcrest_self_test(session.engine(), nullptr), GOLDCREST_OK);
}

TEST(SelfTest, RandomSourcesFitTheModel) {
  for (const char* task : {"g2p", "enfr"}) {
    const ModelSpec& spec = test::shipped_model(task).spec;
    for (const uint32_t most : {1u, 2u, 5u, 64u}) {
      const std::vector<std::vector<int32_t>> sources = random_sources(spec, most);
      EXPECT_EQ(sources, random_sources(spec, most));
      EXPECT_EQ(sources.size(), most == 1 ? 0u : 3u) << task << " " << most;  // the end token takes one
      for (const std::vector<int32_t>& source : sources) {
        EXPECT_LE(source.size(), most);
        EXPECT_EQ(source.back(), static_cast<int32_t>(spec.generation.source_suffix.at(0)));
        for (const int32_t id : source) EXPECT_LT(static_cast<uint32_t>(id), spec.encoder.embedding->rows);
      }
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
