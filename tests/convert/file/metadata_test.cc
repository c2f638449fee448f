// SPDX-License-Identifier: Apache-2.0
// Defaults and bounds of the limits, and the file's entries about the search and its origin.
#include "file/metadata.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/build_options.h"
#include "file/build.h"
#include "model_generated.h"
#include "quantize/pack.h"
#include "spec/error.h"
#include "support/random_spec.h"

namespace goldcrest::converter {
namespace {

TEST(ResolveLimits, ZerosBecomeTheDocumentedDefaults) {
  ModelSpec spec = test::random_spec(1);
  spec.generation.beam_size = 6;
  goldcrest_limits limits = resolve_limits(spec, {});
  EXPECT_EQ(limits.max_source_tokens, 11u);
  EXPECT_EQ(limits.max_source_bytes, 0u);
  EXPECT_EQ(limits.max_target_tokens, 7u);
  EXPECT_EQ(limits.beam_size, 6u);
  EXPECT_EQ(limits.batch, 1u);
  EXPECT_EQ(limits.n_best, 1u);
  EXPECT_EQ(limits.encoder_rows, 11u);

  spec.source_tokenizer.emplace();
  spec.generation.max_target_tokens = 0;
  limits = resolve_limits(spec, {});
  EXPECT_EQ(limits.max_source_bytes, 88u);
  EXPECT_EQ(limits.max_target_tokens, 11u);
}

TEST(ResolveLimits, OutOfRangeIsNamed) {
  const ModelSpec spec = test::random_spec(1);
  struct Case {
    uint32_t goldcrest_limits::*limit;
    uint32_t value;
    const char* message;
  };
  const Case cases[] = {
      {&goldcrest_limits::max_source_tokens, 12, "--max-source is 12; expected 1 to 11, the encoder's positions"},
      {&goldcrest_limits::max_target_tokens, 12, "--max-target is 12; expected 1 to 11, the decoder's positions"},
      {&goldcrest_limits::max_source_bytes, 5,
       "--max-source-bytes is 5, but the checkpoint has no tokenizer; leave it out"},
      {&goldcrest_limits::beam_size, 17, "--beam-size is 17; expected 1 to 16, the engine's bound"},
      {&goldcrest_limits::batch, 257, "--batch is 257; expected 1 to 256, the engine's bound"},
      {&goldcrest_limits::n_best, 2, "--n-best is 2; expected 1 to 1, the beam size"},
      {&goldcrest_limits::encoder_rows, 1025, "--encoder-rows is 1025; expected 1 to 1024, the engine's bound"},
  };
  for (const Case& c : cases) {
    goldcrest_limits limits = {};
    limits.*c.limit = c.value;
    try {
      resolve_limits(spec, limits);
      ADD_FAILURE() << c.message;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), c.message);
    }
  }
}

TEST(MakeGeneration, StaysWithinTheLimits) {
  GenerationSpec spec;
  spec.beam_size = 8;
  spec.max_target_tokens = 100;
  spec.min_target_tokens = 50;
  spec.unknown_id = 3;
  goldcrest_limits limits = {};
  limits.beam_size = 4;
  limits.max_target_tokens = 20;
  const auto generation = make_generation(spec, limits);
  EXPECT_EQ(generation->beam_size, 4u);
  EXPECT_EQ(generation->max_target_tokens, 20u);
  EXPECT_EQ(generation->min_target_tokens, 20u);
  EXPECT_EQ(generation->unknown_id, 3);
  EXPECT_EQ(generation->pad_id, -1);
  EXPECT_EQ(generation->forced_first_id, -1);
}

// The model's prompt and its limit of prefixes are in the file, with their bit. Without them the bit is not.
TEST(MakeGeneration, Prompts) {
  ModelSpec spec = test::random_spec(1);
  EXPECT_EQ(build_payload(spec, {}).metadata->features & kFeaturePrompt, 0u);
  spec.generation.prompt = {{1, 2}, {3}, {4, 5}};
  spec.generation.max_prefix_tokens = 1000;
  const Payload payload = build_payload(spec, {});
  EXPECT_EQ(payload.metadata->features & kFeaturePrompt, kFeaturePrompt);
  EXPECT_EQ(payload.metadata->generation->first_choices, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(payload.metadata->generation->forced_ids, std::vector<uint32_t>{3});
  EXPECT_EQ(payload.metadata->generation->first_suppressed_ids, (std::vector<uint32_t>{4, 5}));
  const uint32_t most = payload.metadata->limits->max_target_tokens;
  EXPECT_EQ(payload.metadata->limits->max_prefix_tokens, most - 1);

  BuildOptions options;
  options.limits.max_prefix_tokens = 2;
  EXPECT_EQ(build_payload(test::random_spec(1), options).metadata->features & kFeaturePrompt, kFeaturePrompt);
  const auto message = [&](uint32_t target, uint32_t prefix) -> std::string {
    options.limits.max_target_tokens = target;
    options.limits.max_prefix_tokens = prefix;
    try {
      build_payload(spec, options);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message(2, 0), "--max-target is 2; expected more than the 2 ids of the model's prompt");
  EXPECT_EQ(message(3, 2), "");
  EXPECT_EQ(message(3, 3), "--max-prefix is 3; expected 1 to 2, one less than the target tokens");
  spec.generation.prompt = {{2, 1}, {}, {}};
  EXPECT_EQ(message(0, 0), "generation: the first choices do not ascend; expected each id once, the lowest first");
  spec.generation.prompt = {{}, {spec.generation.end_id}, {}};
  EXPECT_EQ(message(0, 0),
            "generation: the prompt has id " + std::to_string(spec.generation.end_id) + ", which ends a text");
  spec.generation.prompt = {{}, {1}, {}};
  spec.generation.forced_first_id = 2;
  EXPECT_EQ(message(0, 0), "generation: a forced first id and a prompt; expected only one of them");
}

TEST(MakeProvenance, OptionsReplaceTheCheckpoints) {
  const ModelSpec spec = test::random_spec(1);
  EXPECT_EQ(make_provenance(spec, {}, {})->license, "CC0-1.0");
  const auto replaced = make_provenance(spec, "MIT", "somebody");
  EXPECT_EQ(replaced->license, "MIT");
  EXPECT_EQ(replaced->attribution, "somebody");
  EXPECT_EQ(replaced->converter_version, GOLDCREST_VERSION);
}

// Compares layouts with FORMAT.md's formulas, and unpacks them.

// FORMAT.md, section 5.
size_t byte_of(Layout layout, size_t n, size_t k, size_t columns) {
  switch (layout) {
    case Layout::kN16K4:
      return ((n / 16) * (columns / 4) + k / 4) * 64 + (n % 16) * 4 + k % 4;
    case Layout::kN4K16:
      return ((n / 4) * (columns / 16) + k / 16) * 64 + (n % 4) * 16 + k % 16;
    case Layout::kRowMajor:
      return n * columns + k;
  }
  return 0;
}

TEST(Pack, EveryElementIsWhereTheFormatSaysAndComesBack) {
  for (const Layout layout : {Layout::kRowMajor, Layout::kN16K4, Layout::kN4K16}) {
    for (const uint32_t rows : {16u, 32u, 80u}) {
      for (const uint32_t columns : {16u, 48u, 112u}) {
        std::vector<int8_t> weights(size_t{rows} * columns);
        uint32_t state = rows * 31 + columns;
        for (int8_t& weight : weights) {
          state = state * 1664525u + 1013904223u;
          weight = static_cast<int8_t>(state >> 24);
        }
        const std::vector<int8_t> packed = pack(weights, rows, columns, layout);
        ASSERT_EQ(packed.size(), weights.size());
        for (size_t n = 0; n < rows; ++n) {
          for (size_t k = 0; k < columns; ++k) {
            ASSERT_EQ(packed[byte_of(layout, n, k, columns)], weights[n * columns + k]) << n << ", " << k;
          }
        }
        EXPECT_EQ(unpack(packed, rows, columns, layout), weights);
      }
    }
  }
}

TEST(Pack, UnknownLayoutIsRefused) {
  const std::vector<int8_t> weights(256);
  EXPECT_THROW(pack(weights, 16, 16, static_cast<Layout>(3)), Error);
}

TEST(LayoutForCpu, KnownNames) {
  for (const char* name : {"generic", "x86", "cortex-a53", "cortex-a76", "cortex-m4", "cortex-m7", "cortex-m33"}) {
    EXPECT_EQ(layout_for_cpu(name), Layout::kN16K4) << name;
  }
  for (const char* name : {"cortex-m55", "cortex-m85"}) EXPECT_EQ(layout_for_cpu(name), Layout::kN4K16) << name;
}

TEST(LayoutForCpu, UnknownNamesGetTheList) {
  for (const char* name : {"", "cortex-a", "cortex-m5", "Cortex-M55", "cortex-m551"}) {
    try {
      layout_for_cpu(name);
      ADD_FAILURE() << name << " was accepted";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("'" + std::string(name) + "'"), std::string::npos) << message;
      EXPECT_NE(message.find("cortex-m55 or cortex-m85"), std::string::npos) << message;
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
