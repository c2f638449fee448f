// SPDX-License-Identifier: Apache-2.0
// --check names the first layer that departs, for any mistake in a configuration, and refuses samples that make no
// sense.
#include "evaluate/check.h"
#include "convert/support/sample_folder.h"
#include "dialects/dialect.h"
#include "reference/reference_search.h"
#include "support/expect_error.h"
#include "support/random_spec.h"

namespace goldcrest::converter { namespace {
ModelSpec g2p() { return load_checkpoint(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models/g2p", {}); }

CheckReport check_with(const ModelSpec& spec, const test::SampleFolder& samples) {
  return check(Reference(spec), samples.path(), {.max_target_tokens = 48});
}

struct Mistake {
  std::string departs;  // the first tensor that departs
  std::function<void(ModelSpec&)> make;
  std::string equal_with = "";  // the settings that make it equal
};

TEST(Check, NamesTheFirstLayerThatDeparts) {
  const std::vector<Mistake> mistakes = {
      {"encoder.embed", [](ModelSpec& spec) { spec.encoder.embedding_scale = 1; }, "scale_embedding true"},
      {"encoder.embed",
          [](ModelSpec& spec) {
            std::swap(spec.encoder.positions.values.edit()[128], spec.encoder.positions.values.edit()[129]);
          }},
      {"encoder.layers.0", [](ModelSpec& spec) { spec.encoder.pre_norm = true; }, "norm_first false"},
      {"encoder.layers.0", [](ModelSpec& spec) { spec.encoder.activation = Activation::kGelu; }, "activation relu"},
      {"encoder.layers.0",
          [](ModelSpec& spec) {
            for (StackSpec* stack : {&spec.encoder, &spec.decoder}) {
              stack->activation = Activation::kSilu;
              stack->n_heads = 1;
              stack->d_head = 128;
              stack->attention_scale = 1 / std::sqrt(128.0f);
            }
          },
          "nhead 4 and activation relu"},
      {"encoder.layers.2", [](ModelSpec& spec) { spec.encoder.layers[2].feed_forward.norm.epsilon = 0.01f; }},
      {"encoder.norm", [](ModelSpec& spec) { spec.encoder.final_norm.reset(); }},
      {"decoder.embed", [](ModelSpec& spec) { spec.generation.decoder_start_id = 0; }},
      {"decoder.layers.0",
          [](ModelSpec& spec) {
            spec.decoder.n_heads = 8;
            spec.decoder.d_head = 16;
          },
          "decoder_nhead 4"},
      {"decoder.layers.1",
          [](ModelSpec& spec) {
            std::swap(spec.decoder.layers[1].cross_attention->key, spec.decoder.layers[1].cross_attention->value);
          }},
      {"logits", [](ModelSpec& spec) { spec.projection.bias[7] += 0.01f; }},
  };
  const test::SampleFolder samples("g2p", 500);
  for (const Mistake& mistake : mistakes) {
    ModelSpec spec = g2p();
    mistake.make(spec);
    const CheckReport report = check_with(spec, samples);
    EXPECT_FALSE(report.passed());
    ASSERT_NE(report.first_departure(), nullptr) << mistake.departs;
    EXPECT_EQ(report.first_departure()->tensor, mistake.departs);
    EXPECT_TRUE(report.searches.empty());
    EXPECT_EQ(report.equal_with, mistake.equal_with) << mistake.departs;
    const bool says_settings =
        to_text(report).find("with " + mistake.equal_with + " it is equal\n") != std::string::npos;
    EXPECT_EQ(says_settings, !mistake.equal_with.empty());
    EXPECT_TRUE(test::has(to_text(report), "first departure: " + mistake.departs + ", line 0"));
  }
}

// A start id that a dialect added: the framework has no logit for it.
TEST(Check, AddedIdsAreNotCompared) {
  ModelSpec spec = g2p();
  spec.source_tokenizer.reset();
  spec.target_tokenizer.reset();
  Matrix table = *spec.decoder.embedding, projection = *spec.projection.weight;
  for (Matrix* matrix : {&table, &projection}) matrix->values.edit().resize(size_t{++matrix->rows} * matrix->columns);
  spec.decoder.embedding = std::make_shared<const Matrix>(table);
  spec.projection.weight = std::make_shared<const Matrix>(projection);
  spec.projection.bias.push_back(-65536.0f);
  const test::SampleFolder samples("g2p", 500);
  EXPECT_FALSE(check_with(spec, samples).passed());
  spec.added_target_ids = 1;
  const CheckReport report = check_with(spec, samples);
  EXPECT_TRUE(report.passed()) << to_text(report);
}

TEST(Check, SaysRowColumnFoundAndExpected) {
  ModelSpec spec = g2p();
  spec.encoder.positions.values.edit()[3 * 128 + 70] += 0.5f;
  const CheckReport report = check_with(spec, test::SampleFolder("g2p", 500));
  const Departure* first = report.first_departure();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->row, 3u);
  EXPECT_EQ(first->column, 70u);
  EXPECT_NEAR(first->found - first->expected, 0.5, 1e-5);
  EXPECT_EQ(first->reason, "");
}

TEST(Check, ALayerThatTheModelLacksOrThatHasAnotherShape) {
  const test::SampleFolder samples("g2p", 500);
  ModelSpec spec = g2p();
  spec.decoder.layers.pop_back();
  const CheckReport shallow = check_with(spec, samples);
  ASSERT_NE(shallow.first_departure(), nullptr);
  EXPECT_EQ(shallow.first_departure()->tensor, "decoder.layers.1");
  EXPECT_TRUE(test::has(shallow.first_departure()->reason, "no such layer"));

  samples.write_zeros("trace.safetensors", "encoder.embed", 7, 64);
  const CheckReport narrow = check_with(g2p(), samples);
  ASSERT_NE(narrow.first_departure(), nullptr);
  EXPECT_EQ(narrow.first_departure()->reason, "found the shape [7, 128], expected [7, 64]");
}

TEST(Check, ValuesThatAreNoNumberDepart) {
  ModelSpec spec = g2p();
  spec.decoder.positions.values.edit()[5] = NAN;
  const CheckReport report = check_with(spec, test::SampleFolder("g2p", 500));
  ASSERT_NE(report.first_departure(), nullptr);
  EXPECT_EQ(report.first_departure()->tensor, "decoder.embed");
  EXPECT_EQ(report.first_departure()->column, 5u);
}

TEST(Check, WhatIsMissingIsSaidAndTheRestCompared) {
  const test::SampleFolder samples("g2p", 500);
  std::filesystem::remove(samples.path() / "logits.safetensors");
  samples.write_zeros("trace.safetensors", "encoder.pooler", 1, 1);
  CheckReport report = check_with(g2p(), samples);
  EXPECT_TRUE(report.passed());
  EXPECT_TRUE(report.tensors.empty());
  EXPECT_EQ(report.searches.size(), 2u);
  ASSERT_EQ(report.not_compared.size(), 2u);
  EXPECT_TRUE(test::has(report.not_compared[0], "encoder.pooler"));
  EXPECT_TRUE(test::has(report.not_compared[1], "logits.safetensors"));

  samples.write("results.jsonl", "{\"source_ids\": [5, 2]}\n");
  report = check_with(g2p(), samples);
  EXPECT_TRUE(report.searches.empty());
  EXPECT_EQ(report.not_compared.size(), 3u);
}

TEST(Check, OtherIdsAreADifferenceWithItsGap) {
  ModelSpec spec = g2p();
  const std::vector<int32_t> source = {5, 6, 7, 2};
  const SearchOptions options = {.max_target_tokens = 48};
  std::vector<int32_t> expected = search(Reference(spec), source, options)[0].tokens;
  expected[1] = expected[1] == 9 ? 10 : 9;
  const test::SampleFolder samples;
  samples.write("results.jsonl",
      format_text("{{\"line\": 12, \"source_ids\": [5, 6, 7, 2], \"greedy\": [{}]}}\n", join_text(expected, ", ")));
  const CheckReport report = check_with(spec, samples);
  EXPECT_FALSE(report.passed());
  ASSERT_EQ(report.searches.size(), 1u);
  ASSERT_EQ(report.searches[0].differences.size(), 1u);
  const SearchDifference& difference = report.searches[0].differences[0];
  EXPECT_EQ(difference.line, 12u);
  EXPECT_EQ(difference.expected, expected);
  EXPECT_LT(difference.gap, -1e-3);  // the reference's choice is more likely
  EXPECT_FALSE(difference.tie);
}

// Two tokens have the same embedding and the same logits; the framework took the other one.
TEST(Check, ATieIsNoFailure) {
  ModelSpec spec = test::random_spec(2);
  const std::vector<int32_t> source = {3, 1};
  const SearchOptions options = {.max_target_tokens = 7};
  std::vector<int32_t> tokens = search(Reference(spec), source, options)[0].tokens;
  const uint32_t chosen = static_cast<uint32_t>(tokens[0]), twin = chosen == 35 ? 34 : 35;
  const auto with_twin = [&](const Matrix& matrix) {
    Matrix copy = matrix;
    std::copy_n(matrix.row(chosen), matrix.columns, copy.values.edit().begin() + ptrdiff_t{twin} * matrix.columns);
    return std::make_shared<Matrix>(copy);
  };
  spec.decoder.embedding = with_twin(*spec.decoder.embedding);
  spec.projection.weight = with_twin(*spec.projection.weight);
  spec.projection.bias[twin] = spec.projection.bias[chosen];
  tokens = search(Reference(spec), source, options)[0].tokens;
  ASSERT_EQ(tokens[0], static_cast<int32_t>(std::min(chosen, twin)));
  tokens[0] = static_cast<int32_t>(std::max(chosen, twin));
  const test::SampleFolder samples;
  samples.write("results.jsonl",
      format_text("{{\"source_ids\": [3, 1], \"greedy\": [{}], \"max_target_tokens\": 7}}", join_text(tokens, ", ")));
  const CheckReport report = check(Reference(spec), samples.path(), {});
  EXPECT_TRUE(report.passed()) << to_text(report);
  EXPECT_EQ(report.searches[0].ties, 1u);
}

TEST(Check, RefusesSamplesThatMakeNoSense) {
  const ModelSpec spec = g2p();
  const test::SampleFolder samples;
  const auto message = [&](const std::string& results) -> std::string {
    samples.write("results.jsonl", results);
    return test::error_of([&] { check_with(spec, samples); });
  };
  const auto expect_message = [&](const std::string& results, const std::string& part) {
    EXPECT_TRUE(test::has(message(results), part));
  };
  EXPECT_THROW(check_with(spec, test::SampleFolder()), Error);  // without results.jsonl
  expect_message("\n \n", "no lines");
  expect_message("{\"source_ids\": [5, 2]}\n{\"source_ids\": ", "results.jsonl:2");
  expect_message("[1]", "expected an object");
  expect_message("{\"greedy\": [2]}", "no \"source_ids\"");
  expect_message("{\"source_ids\": 5}", "expected an array");
  expect_message("{\"source_ids\": []}", "found 0 ids, expected 1..64");
  expect_message(
      "{\"source_ids\": [5, 31]}", "\"source_ids\"[1]: found 31, expected an id below the vocabulary's size, 31");
  expect_message("{\"source_ids\": [5, -1]}", "found -1");
  expect_message("{\"source_ids\": [5, 2.5]}", "found 2.5");
  expect_message("{\"source_ids\": [5], \"beam4\": [73]}", "\"beam4\"[0]: found 73");
  expect_message("{\"source_ids\": [5], \"line\": -2}", "\"line\": found -2");
  expect_message("{\"source_ids\": [5], \"line\": 3}\n{\"source_ids\": [5], \"line\": 3}", "\"line\" 3 appears twice");
  const std::vector<int> too_long(65, 5);
  expect_message(format_text("{{\"source_ids\": [{}]}}", join_text(too_long, ",")), "found 65 ids");
}
}}  // namespace goldcrest::converter
