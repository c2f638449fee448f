// SPDX-License-Identifier: Apache-2.0
// The paper's two models (Vaswani et al. 2017, table 3) with random weights, through converter, float32 reference,
// engine, self-test and the arena's formula.
#include <nlohmann/json.hpp>
#include "convert/support/arena_formula.h"
#include "programs/models.h"
#include "support/checkpoint_writer.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
using Json = nlohmann::json;

struct Paper {
  const char* name;
  uint32_t d_model, d_ff, heads;
  uint64_t parameters;  // in millions, as in the table
};

constexpr Paper kPapers[] = {{"base", 512, 2048, 8, 65}, {"big", 1024, 4096, 16, 213}};
constexpr uint32_t kVocabulary = 37'000, kLayers = 6;  // shared byte pairs, English to German

class Weights {
 public:
  explicit Weights(const Paper& paper) {
    const uint32_t d = paper.d_model;
    matrix("embedding.weight", kVocabulary, d, 1 / std::sqrt(static_cast<float>(d)));
    for (const std::string stack : {"encoder", "decoder"}) {
      for (uint32_t i = 0; i < kLayers; ++i)
        layer(stack + ".layers." + std::to_string(i) + ".", paper, stack == "decoder");
      norm(stack + ".norm", d);
    }
  }
  const std::vector<NamedTensor>& tensors() const { return tensors_; }
  uint64_t parameters() const {
    uint64_t n = 0;
    for (const NamedTensor& tensor : tensors_) n += tensor.values.size();
    return n;
  }
 private:
  void add(const std::string& name, std::vector<uint64_t> shape, uint64_t n, float center, float spread) {
    std::vector<float> values(n);
    for (float& value : values) value = center + spread * rng_.uniform();
    tensors_.push_back({name, std::move(shape), std::move(values)});
  }
  void matrix(const std::string& name, uint32_t rows, uint32_t columns, float spread) {
    add(name, {rows, columns}, uint64_t{rows} * columns, 0, spread);
  }
  void linear(const std::string& name, uint32_t rows, uint32_t columns) {
    matrix(name + ".weight", rows, columns, std::sqrt(6.0f / static_cast<float>(rows + columns)));
    add(name + ".bias", {rows}, rows, 0, 0.1f);
  }
  void norm(const std::string& name, uint32_t d) {
    add(name + ".weight", {d}, d, 1, 0.1f);
    add(name + ".bias", {d}, d, 0, 0.1f);
  }
  // As in the paper, the attention's projections have no biases.
  void layer(const std::string& name, const Paper& paper, bool is_decoder) {
    const uint32_t d = paper.d_model;
    std::vector<std::string> attentions = {"self_attn"}, norms = {"norm1", "norm2"};
    if (is_decoder) attentions.push_back("multihead_attn");
    if (is_decoder) norms.push_back("norm3");
    for (const std::string& attention : attentions) {
      matrix(name + attention + ".in_proj_weight", 3 * d, d, std::sqrt(6.0f / static_cast<float>(2 * d)));
      matrix(name + attention + ".out_proj.weight", d, d, std::sqrt(6.0f / static_cast<float>(2 * d)));
    }
    linear(name + "linear1", paper.d_ff, d);
    linear(name + "linear2", d, paper.d_ff);
    for (const std::string& each : norms) norm(name + each, d);
  }

  Rng rng_{2017};
  std::vector<NamedTensor> tensors_;
};

// Writes the checkpoint; returns its number of parameters.
uint64_t write_checkpoint(const TemporaryFolder& folder, const Paper& paper) {
  const Json config = {{"model_type", "nn_transformer"}, {"name", paper.name}, {"nhead", paper.heads},
      {"activation", "relu"}, {"norm_first", false}, {"scale_embedding", true},
      {"position_encoding", "sinusoidal_interleaved"}, {"max_positions", 512}, {"shared_embeddings", true},
      {"tied_output_projection", true}, {"bos_token", 1}, {"eos_token", 2}, {"add_source_eos", true}, {"beam_size", 4},
      {"length_penalty", 0.6}, {"tensors", {{"source_embedding", "embedding.weight"}, {"transformer", ""}}}};
  folder.write("config.json", config.dump());
  const Weights weights(paper);
  std::ofstream stream(folder / "model.safetensors", std::ios::binary);
  write_safetensors(stream, weights.tensors(), converter::ElementType::kF16);
  EXPECT_TRUE(stream.flush());
  return weights.parameters();
}

class PaperModel : public ::testing::TestWithParam<Paper> {};

TEST_P(PaperModel, GoesThroughEverything) {
  const Paper& paper = GetParam();
  const TemporaryFolder folder;
  EXPECT_NEAR(static_cast<double>(write_checkpoint(folder, paper)) / 1e6, static_cast<double>(paper.parameters), 5);
  const std::filesystem::path lines = folder.write("lines", "5 17 300 36999 2\n4 4 4 8000 21 2\n");
  for (const std::string weights : {"int8", "float32"}) {
    const std::filesystem::path model = folder / (weights + ".gcst");
    Arguments arguments = {"-q", "--json", folder.path(), "-o", model, "--weights", weights, "--max-source", "16",
        "--max-target", "8", "--ids", "--evaluate", lines};
    const Outcome converted = run(convert_program(), arguments, {.max_seconds = 1200});
    ASSERT_EQ(converted.status, 0) << converted.err;
    EXPECT_EQ(converted.err, "");
    const Json report = Json::parse(converted.out);
    EXPECT_EQ(report.at("encoder").at("d_model"), paper.d_model);
    EXPECT_EQ(report.at("decoder").at("layers"), kLayers);
    // With float32 weights the engine gives the reference's ids; with int8 it may give others.
    EXPECT_EQ(report.at("evaluation").at("lines"), 2);
    if (weights == "float32") {
      EXPECT_EQ(report.at("evaluation").at("identical_lines"), 2);
    }

    goldcrest_limits limits = {
        .max_source_tokens = 16, .max_target_tokens = 8, .beam_size = 4, .batch = 1, .threads = 1};
    limits.encoder_rows = report.at("limits").at("encoder_rows");
    EXPECT_EQ(ArenaFormula(report.at("arena").at("formula")).evaluate(limits), report.at("arena").at("bytes"));
    const Outcome inspected = with_status(0, run(inspect_program(), {model, "--self-test"}));
    const Outcome translated =
        with_status(0, run(translate_program(), {model, "--ids"}, {.input = "5 17 300 36999 2\n"}));
    std::filesystem::remove(model);
  }
}

INSTANTIATE_TEST_SUITE_P(Table3, PaperModel, ::testing::ValuesIn(kPapers),
    [](const auto& instance) { return std::string(instance.param.name); });
}}  // namespace goldcrest::test
