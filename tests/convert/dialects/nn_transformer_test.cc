// SPDX-License-Identifier: Apache-2.0
// nn.Transformer checkpoints: the meaning of the settings of NN_TRANSFORMER.md.
#include <gtest/gtest.h>

#include <cmath>

#include "convert/support/nn_folder.h"
#include "dialects/dialect.h"
#include "dialects/positions.h"
#include "math/deterministic_math.h"
#include "support/expect_error.h"
#include "support/rng.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

using test::NnFolder;

const std::filesystem::path kShippedModels = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models";

TEST(NnTransformer, FillsTheWholeModel) {
  NnFolder checkpoint;
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.encoder.layers.size(), 2u);
  EXPECT_EQ(spec.decoder.layers.size(), 1u);
  EXPECT_EQ(spec.encoder.d_ff, 12u);
  EXPECT_EQ(spec.encoder.d_head, 4u);
  EXPECT_EQ(spec.encoder.embedding_scale, std::sqrt(8.0f));
  EXPECT_TRUE(spec.encoder.final_norm && spec.decoder.final_norm);  // also if norm_first is false
  EXPECT_EQ(spec.decoder.final_norm->gamma, checkpoint.values("transformer.decoder.norm.weight"));
  EXPECT_EQ(spec.encoder.positions.values, sinusoid_table({true, false, 0, 10000}, 10, 8).values);
  const AttentionSpec& cross = *spec.decoder.layers[0].cross_attention;
  const std::vector<float>& fused = checkpoint.values("transformer.decoder.layers.0.multihead_attn.in_proj_weight");
  EXPECT_EQ(cross.query.weight->values, std::vector<float>(fused.begin(), fused.begin() + 64));
  EXPECT_EQ(cross.key.weight->values, std::vector<float>(fused.begin() + 64, fused.begin() + 128));
  EXPECT_EQ(cross.value.weight->values, std::vector<float>(fused.begin() + 128, fused.end()));
  const std::vector<float>& bias = checkpoint.values("transformer.decoder.layers.0.multihead_attn.in_proj_bias");
  EXPECT_EQ(cross.value.bias, std::vector<float>(bias.begin() + 16, bias.end()));
  EXPECT_EQ(cross.norm.gamma, checkpoint.values("transformer.decoder.layers.0.norm2.weight"));
  EXPECT_EQ(spec.decoder.layers[0].feed_forward.norm.gamma,
            checkpoint.values("transformer.decoder.layers.0.norm3.weight"));
  EXPECT_EQ(spec.encoder.layers[1].feed_forward.norm.gamma,
            checkpoint.values("transformer.encoder.layers.1.norm2.weight"));
  EXPECT_EQ(spec.projection.bias, checkpoint.values("head.bias"));
  EXPECT_EQ(spec.generation.decoder_start_id, 2u);
  EXPECT_EQ(spec.generation.end_id, 0u);
  EXPECT_EQ(spec.generation.pad_id, 3u);
  EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{2});
  EXPECT_TRUE(spec.generation.source_prefix.empty() && spec.generation.suppressed_ids.empty());
  EXPECT_EQ(spec.generation.max_target_tokens, 10u);
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kWord);
  EXPECT_EQ(spec.target_tokenizer->kind, TokenizerKind::kCharacter);
  EXPECT_EQ(spec.target_tokenizer->unknown_id, 1u);
}

TEST(NnTransformer, StripsPrefixes) {
  NnFolder checkpoint;
  const ModelSpec plain = checkpoint.load();
  const std::vector<float> table = plain.decoder.embedding->values.get();  // read before the file changes
  const auto expect_same = [&] {
    const ModelSpec spec = checkpoint.load();
    EXPECT_TRUE(spec.warnings.empty());
    EXPECT_EQ(spec.encoder.layers[1].self_attention->out.bias, plain.encoder.layers[1].self_attention->out.bias);
    EXPECT_EQ(spec.decoder.embedding->values.get(), table);
  };
  checkpoint.rename_all([](const std::string& name) { return "module._orig_mod." + name; });
  expect_same();
  checkpoint.rename_all([](const std::string& name) {
    const std::string bare = name.substr(std::string("module._orig_mod.").size());
    return bare.starts_with("transformer.") ? "transformer._orig_mod." + bare.substr(12) : bare;
  });
  expect_same();
  checkpoint.config["tensors"]["transformer"] = "transformer.";
  expect_same();
}

TEST(NnTransformer, StacksMayDiffer) {
  NnFolder checkpoint;
  const std::string encoder = "transformer.encoder.layers.";
  for (const std::string layer : {"0.", "1."}) {  // an encoder of width 16
    checkpoint.add(encoder + layer + "self_attn.in_proj_weight", {48, 16});
    checkpoint.add(encoder + layer + "self_attn.in_proj_bias", {48});
    checkpoint.add_pair(encoder + layer + "self_attn.out_proj", {16, 16});
    checkpoint.add_pair(encoder + layer + "linear1", {20, 16});
    checkpoint.add_pair(encoder + layer + "linear2", {16, 20});
    for (const std::string norm : {"norm1", "norm2"}) checkpoint.add_pair(encoder + layer + norm, {16});
  }
  checkpoint.add_pair("transformer.encoder.norm", {16});
  checkpoint.add("source.weight", {5, 16});
  const std::string cross = "transformer.decoder.layers.0.multihead_attn.";
  checkpoint.tensors.erase(cross + "in_proj_weight");
  checkpoint.add(cross + "q_proj_weight", {8, 8});
  checkpoint.add(cross + "k_proj_weight", {8, 16});
  checkpoint.add(cross + "v_proj_weight", {8, 16});
  checkpoint.config.update({{"encoder_nhead", 4},
                            {"encoder_d_model", 16},
                            {"decoder_d_model", 8},
                            {"encoder_activation", "gelu"},
                            {"decoder_norm_first", true},
                            {"encoder_max_positions", 12},
                            {"encoder_dim_feedforward", 20},
                            {"decoder_scale_embedding", false},
                            {"num_encoder_layers", 2}});
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.encoder.d_model, 16u);
  EXPECT_EQ(spec.encoder.d_ff, 20u);
  EXPECT_EQ(spec.encoder.n_heads, 4u);
  EXPECT_EQ(spec.decoder.n_heads, 2u);
  EXPECT_EQ(spec.encoder.activation, Activation::kGelu);
  EXPECT_EQ(spec.decoder.activation, Activation::kRelu);
  EXPECT_FALSE(spec.encoder.pre_norm);
  EXPECT_TRUE(spec.decoder.pre_norm);
  EXPECT_EQ(spec.encoder.positions.rows, 12u);
  EXPECT_EQ(spec.encoder.embedding_scale, 4.0f);
  EXPECT_EQ(spec.decoder.embedding_scale, 1.0f);
  EXPECT_EQ(spec.decoder.layers[0].cross_attention->key.weight->columns, 16u);
}

TEST(NnTransformer, BiasesAreAllThereOrNone) {
  NnFolder checkpoint;
  std::erase_if(checkpoint.tensors, [](const auto& entry) { return entry.first.ends_with("bias"); });
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.layers[0].self_attention->key.bias, std::vector<float>(8, 0.0f));
  EXPECT_EQ(spec.decoder.final_norm->beta, std::vector<float>(8, 0.0f));
  EXPECT_EQ(spec.projection.bias, std::vector<float>(6, 0.0f));
}

TEST(NnTransformer, SharesTables) {
  NnFolder checkpoint;
  checkpoint.add("source.weight", {6, 8});
  checkpoint.config["source_vocabulary"] = checkpoint.config["target_vocabulary"];
  checkpoint.config["shared_embeddings"] = checkpoint.config["tied_output_projection"] = true;
  checkpoint.config["tensors"] = {{"source_embedding", "source.weight"}, {"output_bias", "head.bias"}};
  checkpoint.tensors.erase("head.weight");
  checkpoint.tensors.erase("target.weight");
  ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.encoder.embedding, spec.decoder.embedding);
  EXPECT_EQ(spec.projection.weight, spec.decoder.embedding);
  EXPECT_EQ(spec.projection.bias, checkpoint.values("head.bias"));

  // Separate tables with the same values become one table, too.
  checkpoint.config["shared_embeddings"] = checkpoint.config["tied_output_projection"] = false;
  checkpoint.config["tensors"] = {
      {"source_embedding", "source.weight"}, {"target_embedding", "target.weight"}, {"output_projection", "head"}};
  checkpoint.tensors["target.weight"] = {"target.weight", {6, 8}, checkpoint.values("source.weight")};
  checkpoint.tensors["head.weight"] = {"head.weight", {6, 8}, checkpoint.values("source.weight")};
  spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.embedding, spec.decoder.embedding);
  EXPECT_EQ(spec.projection.weight, spec.decoder.embedding);
}

TEST(NnTransformer, ReadsEveryKindOfPositions) {
  NnFolder checkpoint;
  checkpoint.config["position_encoding"] = "sinusoidal_concatenated";
  checkpoint.config["position_denominator"] = "d_model-2";
  checkpoint.config["position_offset"] = 2;
  EXPECT_EQ(checkpoint.load().decoder.positions.values, sinusoid_table({false, true, 2, 10000}, 10, 8).values);

  checkpoint.config["position_encoding"] = "learned";
  checkpoint.add("positions", {1, 14, 8});
  checkpoint.config["tensors"]["positions"] = "positions";
  const ModelSpec spec = checkpoint.load();
  const std::vector<float>& all = checkpoint.values("positions");
  EXPECT_EQ(spec.encoder.positions.values, std::vector<float>(all.begin() + 16, all.begin() + 96));
  checkpoint.config.erase("max_positions");
  EXPECT_EQ(checkpoint.load().encoder.positions.rows, 12u);
  checkpoint.config["max_positions"] = 13;
  test::expect_error([&] { checkpoint.load(); }, {"\"positions\"", "14 rows", "position_offset 2 + max_positions 13"});
}

TEST(NnTransformer, ComparesAStoredTableOfSinusoids) {
  NnFolder checkpoint;
  checkpoint.tensors["pos_encoder.pe"] = {
      "pos_encoder.pe", {20, 1, 8}, sinusoid_table({true, false, 0, 10000}, 20, 8).values.get()};
  EXPECT_TRUE(checkpoint.load().warnings.empty());
  checkpoint.config["position_encoding"] = "sinusoidal_concatenated";
  test::expect_error([&] { checkpoint.load(); }, {"pos_encoder.pe", "position_encoding", "stored"});
}

TEST(NnTransformer, ReadsEmbeddingNormsAndSearchSettings) {
  NnFolder checkpoint;
  checkpoint.add_pair("norm_in", {8});
  checkpoint.config["tensors"]["target_embedding_norm"] = "norm_in";
  checkpoint.config.update({{"beam_size", 3},
                            {"length_penalty", 0.75},
                            {"max_length", 7},
                            {"min_length", 2},
                            {"layer_norm_eps", 1e-6},
                            {"suppressed_tokens", {"<pad>", 2}},
                            {"forced_first_token", "a"},
                            {"add_source_bos", true},
                            {"name", "test"},
                            {"license", "MIT"},
                            {"source_language", "xx"}});
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_FALSE(spec.encoder.embedding_norm);
  EXPECT_EQ(spec.decoder.embedding_norm->gamma, checkpoint.values("norm_in.weight"));
  EXPECT_EQ(spec.decoder.embedding_norm->epsilon, 1e-6f);
  EXPECT_EQ(spec.generation.beam_size, 3u);
  EXPECT_EQ(spec.generation.length_penalty, 0.75f);
  EXPECT_EQ(spec.generation.max_target_tokens, 7u);
  EXPECT_EQ(spec.generation.min_target_tokens, 2u);
  EXPECT_EQ(spec.generation.suppressed_ids, (std::vector<uint32_t>{3, 2}));
  EXPECT_EQ(spec.generation.forced_first_id, 4u);
  EXPECT_EQ(spec.generation.source_prefix, std::vector<uint32_t>{1});
  EXPECT_EQ(spec.name, "test");
  EXPECT_EQ(spec.license, "MIT");
  EXPECT_EQ(spec.source_language, "xx");
}

TEST(NnTransformer, ReadsVocabularyFiles) {
  NnFolder checkpoint;
  checkpoint.folder.write("source.txt", "<pad>\n<s>\r\n</s>\n<unk>\n");  // one id has no text
  checkpoint.folder.write("target.json", R"({"a": 4, "b": 5, "</s>": 0, "<unk>": 1, "<s>": 2, "<pad>": 3})");
  checkpoint.config["source_vocabulary"] = "source.txt";
  checkpoint.config["target_vocabulary"] = "target.json";
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->pieces[1].text, "<s>");
  EXPECT_EQ(spec.target_tokenizer->pieces[5].text, "b");
  ASSERT_EQ(spec.warnings.size(), 1u);
  EXPECT_NE(spec.warnings[0].find("1 of the embedding's 5 ids have no text"), std::string::npos);
}

TEST(NnTransformer, ReadsSentencePieceModels) {
  NnFolder checkpoint;
  std::filesystem::copy_file(kShippedModels / "enfr/source.spm", checkpoint.folder / "pieces.model");
  checkpoint.add("source.weight", {6001, 8});  // one row more than the model has pieces
  checkpoint.config.update(
      {{"source_vocabulary", "pieces.model"}, {"source_unit", "sentencepiece"}, {"source_pad_token", 6000}});
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kUnigram);
  EXPECT_EQ(spec.source_tokenizer->vocab_size, 6001u);
  EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{0});

  checkpoint.add("source.weight", {5, 8});
  checkpoint.config.update(
      {{"source_vocabulary", {"<pad>", "<s>", "</s>", "<unk>", "\u2581I"}}, {"source_sentencepiece", "pieces.model"}});
  checkpoint.config.erase("source_pad_token");
  const ModelSpec listed = checkpoint.load();
  EXPECT_EQ(listed.source_tokenizer->vocab_size, 5u);
  EXPECT_EQ(listed.source_tokenizer->unknown_id, 3u);
  EXPECT_EQ(listed.generation.source_suffix, std::vector<uint32_t>{2});
}

TEST(NnTransformer, WorksWithTokenIdsAlone) {
  NnFolder checkpoint;
  for (const char* key :
       {"source_vocabulary", "target_vocabulary", "source_unit", "target_unit", "pad_token", "unk_token"}) {
    checkpoint.config.erase(key);
  }
  checkpoint.config.update({{"bos_token", 1}, {"eos_token", 2}});
  const ModelSpec spec = checkpoint.load();
  EXPECT_FALSE(spec.source_tokenizer || spec.target_tokenizer || spec.generation.pad_id);
  EXPECT_EQ(spec.generation.end_id, 2u);
  checkpoint.config["eos_token"] = "</s>";
  test::expect_error([&] { checkpoint.load(); }, {"eos_token", "no target_vocabulary"});
}

TEST(NnTransformer, WarnsOfUnknownSettings) {
  NnFolder checkpoint;
  checkpoint.config["norm_frist"] = true;
  checkpoint.config["tensors"]["sauce_positions"] = "x";
  checkpoint.add("generator.extra", {3});
  const ModelSpec spec = checkpoint.load();
  ASSERT_EQ(spec.warnings.size(), 3u);
  EXPECT_NE(spec.warnings[0].find("sauce_positions"), std::string::npos);
  EXPECT_NE(spec.warnings[1].find("generator.extra"), std::string::npos);
  EXPECT_NE(spec.warnings[2].find("norm_frist"), std::string::npos);
}

TEST(NnTransformer, ReadsTheTrainedModel) {
  const ModelSpec spec = load_checkpoint(kShippedModels / "g2p", {});
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.encoder.layers.size(), 3u);
  EXPECT_EQ(spec.decoder.layers.size(), 2u);
  EXPECT_TRUE(spec.encoder.final_norm && spec.decoder.final_norm);
  EXPECT_EQ(spec.generation.decoder_start_id, 1u);
  EXPECT_EQ(spec.license, "BSD-2-Clause");
}

// Compares exp, log, sin and cos with libm, and the sinusoid tables of every dialect with their formulas.

TEST(DeterministicMath, EqualsLibm) {
  test::Rng rng(1);
  for (int i = 0; i < 200'000; ++i) {
    const double unit = static_cast<double>(rng.bits() >> 11) * 0x1p-53;
    const double angle = (2 * unit - 1) * (i % 2 ? 1e5 : 10);
    EXPECT_NEAR(exact_sin(angle), std::sin(angle), 1e-15) << angle;
    EXPECT_NEAR(exact_cos(angle), std::cos(angle), 1e-15) << angle;
    const double exponent = (2 * unit - 1) * (i % 2 ? 700 : 10);
    EXPECT_NEAR(exact_exp(exponent) / std::exp(exponent), 1, 2e-15) << exponent;
    const double base = 1 + unit * (i % 2 ? 1e9 : 3);
    EXPECT_NEAR(exact_log(base), std::log(base), 1e-15 * std::max(1.0, std::log(base))) << base;
  }
}

TEST(DeterministicMath, HasTheExactValues) {
  EXPECT_EQ(exact_sin(0), 0);
  EXPECT_EQ(exact_cos(0), 1);
  EXPECT_EQ(exact_exp(0), 1);
  EXPECT_EQ(exact_log(1), 0);
}

struct Dialect {
  const char* name;
  Sinusoid sinusoid;
};

const Dialect kDialects[] = {
    {"Marian of Hugging Face, Pegasus", {false, false, 0, 10000}},
    {"Marian", {false, true, 0, 10000}},
    {"fairseq, M2M-100", {false, true, 2, 10000}},
    {"OpenNMT-tf", {false, true, 1, 10000}},
    {"OpenNMT-py, PyTorch's tutorial", {true, false, 0, 10000}},
    {"another base", {true, false, 0, 777}},
};

TEST(Positions, FollowTheirFormula) {
  constexpr uint32_t kRows = 200, kWidth = 12;
  for (const Dialect& dialect : kDialects) {
    const Sinusoid& sinusoid = dialect.sinusoid;
    const Matrix table = sinusoid_table(sinusoid, kRows, kWidth);
    ASSERT_EQ(table.values.size(), size_t{kRows} * kWidth);
    for (uint32_t p = 0; p < kRows; ++p) {
      for (uint32_t i = 0; i < kWidth / 2; ++i) {
        const double exponent = sinusoid.denominator_minus_two ? i / (0.5 * kWidth - 1.0) : 2.0 * i / kWidth;
        const double angle = (p + sinusoid.first) / std::pow(sinusoid.base, exponent);
        const float* row = table.row(p);
        EXPECT_NEAR(row[sinusoid.interleaved ? 2 * i : i], std::sin(angle), 1e-7) << dialect.name;
        EXPECT_NEAR(row[sinusoid.interleaved ? 2 * i + 1 : kWidth / 2 + i], std::cos(angle), 1e-7) << dialect.name;
      }
    }
  }
}

TEST(Positions, DialectsDiffer) {
  for (const Dialect& a : kDialects) {
    for (const Dialect& b : kDialects) {
      const float difference =
          largest_difference(sinusoid_table(a.sinusoid, 100, 64), sinusoid_table(b.sinusoid, 100, 64));
      EXPECT_EQ(difference > 0.05f, &a != &b) << a.name << " and " << b.name;
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
