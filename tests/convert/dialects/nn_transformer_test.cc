// SPDX-License-Identifier: Apache-2.0
// nn.Transformer checkpoints: the meaning of the settings of NN_TRANSFORMER.md.
#include "convert/support/nn_folder.h"
#include "dialects/dialect.h"
#include "dialects/positions.h"
#include "math/deterministic_math.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
using test::NnFolder;

// Expects that a checkpoint is refused with these words.
void expect_refused(NnFolder& checkpoint, const std::vector<std::string>& words, const std::string& name = {}) {
  test::expect_error([&] { checkpoint.load(); }, words, name);
}

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
  EXPECT_EQ(
      spec.decoder.layers[0].feed_forward.norm.gamma, checkpoint.values("transformer.decoder.layers.0.norm3.weight"));
  EXPECT_EQ(
      spec.encoder.layers[1].feed_forward.norm.gamma, checkpoint.values("transformer.encoder.layers.1.norm2.weight"));
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
  checkpoint.config.update({{"encoder_nhead", 4}, {"encoder_d_model", 16}, {"decoder_d_model", 8},
      {"encoder_activation", "gelu"}, {"decoder_norm_first", true}, {"encoder_max_positions", 12},
      {"encoder_dim_feedforward", 20}, {"decoder_scale_embedding", false}, {"num_encoder_layers", 2}});
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
  checkpoint.config.update({{"position_encoding", "sinusoidal_concatenated"}, {"position_denominator", "d_model-2"},
      {"position_offset", 2}});
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
  expect_refused(checkpoint, {"\"positions\"", "14 rows", "position_offset 2 + max_positions 13"});
}

TEST(NnTransformer, ComparesAStoredTableOfSinusoids) {
  NnFolder checkpoint;
  checkpoint.tensors["pos_encoder.pe"] = {
      "pos_encoder.pe", {20, 1, 8}, sinusoid_table({true, false, 0, 10000}, 20, 8).values.get()};
  EXPECT_TRUE(checkpoint.load().warnings.empty());
  checkpoint.config["position_encoding"] = "sinusoidal_concatenated";
  expect_refused(checkpoint, {"pos_encoder.pe", "position_encoding", "stored"});
}

TEST(NnTransformer, ReadsEmbeddingNormsAndSearchSettings) {
  NnFolder checkpoint;
  checkpoint.add_pair("norm_in", {8});
  checkpoint.config["tensors"]["target_embedding_norm"] = "norm_in";
  checkpoint.config.update({{"beam_size", 3}, {"length_penalty", 0.75}, {"max_length", 7}, {"min_length", 2},
      {"layer_norm_eps", 1e-6}, {"suppressed_tokens", {"<pad>", 2}}, {"forced_first_token", "a"},
      {"add_source_bos", true}, {"name", "test"}, {"license", "MIT"}, {"source_language", "xx"}});
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
  checkpoint.config.update({{"source_vocabulary", "source.txt"}, {"target_vocabulary", "target.json"}});
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->pieces[1].text, "<s>");
  EXPECT_EQ(spec.target_tokenizer->pieces[5].text, "b");
  ASSERT_EQ(spec.warnings.size(), 1u);
  EXPECT_TRUE(has(spec.warnings[0], "1 of the embedding's 5 ids have no text"));
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
      {"source_vocabulary", "target_vocabulary", "source_unit", "target_unit", "pad_token", "unk_token"})
    checkpoint.config.erase(key);
  checkpoint.config.update({{"bos_token", 1}, {"eos_token", 2}});
  const ModelSpec spec = checkpoint.load();
  EXPECT_FALSE(spec.source_tokenizer || spec.target_tokenizer || spec.generation.pad_id);
  EXPECT_EQ(spec.generation.end_id, 2u);
  checkpoint.config["eos_token"] = "</s>";
  expect_refused(checkpoint, {"eos_token", "no target_vocabulary"});
}

TEST(NnTransformer, WarnsOfUnknownSettings) {
  NnFolder checkpoint;
  checkpoint.config["norm_frist"] = true;
  checkpoint.config["tensors"]["sauce_positions"] = "x";
  checkpoint.add("generator.extra", {3});
  const ModelSpec spec = checkpoint.load();
  ASSERT_EQ(spec.warnings.size(), 3u);
  EXPECT_TRUE(has(spec.warnings[0], "sauce_positions"));
  EXPECT_TRUE(has(spec.warnings[1], "generator.extra"));
  EXPECT_TRUE(has(spec.warnings[2], "norm_frist"));
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

// Every contradiction between an nn.Transformer checkpoint's settings and its tensors.

using nlohmann::json;
using namespace test;

struct BadFolder {
  const char* name;
  std::function<void(NnFolder&)> change;
  std::vector<std::string> words;
};

std::function<void(NnFolder&)> erase(const char* key) {
  return [key](NnFolder& c) { c.config.erase(key); };
}
std::function<void(NnFolder&)> set(const char* key, const json& value) {
  return [key, value](NnFolder& c) { c.config[key] = value; };
}

void expect_all_refused(const std::vector<BadFolder>& cases) {
  for (const BadFolder& bad : cases) {
    NnFolder checkpoint;
    bad.change(checkpoint);
    expect_refused(checkpoint, bad.words, bad.name);
  }
}

TEST(NnTransformer, RefusesSettingsThatDoNotFit) {
  expect_all_refused({
      {"no heads", erase("nhead"), {"config.json", "\"nhead\" is missing"}},
      {"heads do not divide", set("nhead", 3), {"nhead", "3", "divisor of d_model 8"}},
      {"no activation", erase("activation"), {"activation", "missing"}},
      {"unknown activation", set("activation", "elu"), {"activation", "\"elu\"", "\"gelu_tanh\"", "\"silu\""}},
      {"no norm_first", erase("norm_first"), {"norm_first", "missing"}},
      {"norm_first a text", set("norm_first", "false"), {"norm_first", "true or false"}},
      {"no scale", erase("scale_embedding"), {"scale_embedding", "missing"}},
      {"no positions", erase("position_encoding"), {"position_encoding", "missing"}},
      {"unknown positions", set("position_encoding", "rotary"), {"\"rotary\"", "\"sinusoidal_interleaved\""}},
      {"no number of positions", erase("max_positions"), {"max_positions", "missing"}},
      {"too many positions", set("max_positions", 1u << 31), {"max_positions"}},
      {"unknown denominator", set("position_denominator", 8), {"position_denominator", "expected a text"}},
      {"learned without a name", set("position_encoding", "learned"), {"tensors", "positions", "missing"}},
      {"depth differs", set("num_encoder_layers", 3), {"num_encoder_layers", "3", "have 2"}},
      {"width differs", set("d_model", 16), {"d_model", "16", "have 8"}},
      {"feed-forward differs", set("dim_feedforward", 13), {"dim_feedforward", "13", "have 12"}},
      {"vocabulary too long", set("target_vocabulary", {"</s>", "<unk>", "<s>", "<pad>", "a", "b", "c"}),
          {"\"c\"", "6 rows"}},
      {"text twice", set("target_vocabulary", {"</s>", "<unk>", "<s>", "<pad>", "a", "a"}),
          {"target_vocabulary", "\"a\""}},
      {"text a number", set("target_vocabulary", {"</s>", 1}), {"target_vocabulary", "number", "expected a text"}},
      {"no unit", erase("source_unit"), {"source_unit", "missing"}},
      {"unknown unit", set("source_unit", "letter"), {"source_unit", "\"letter\"", "character"}},
      {"pieces without a model", set("source_unit", "sentencepiece"), {"source_unit", "not a SentencePiece model"}},
      {"file outside", set("source_vocabulary", "../words.txt"), {"source_vocabulary", "checkpoint's directory"}},
      {"absolute file", set("source_vocabulary", "/etc/passwd"), {"source_vocabulary", "checkpoint's directory"}},
      {"file not there", set("source_vocabulary", "words.txt"), {"words.txt", "missing", "source_vocabulary"}},
      {"no start token", erase("bos_token"), {"bos_token", "missing"}},
      {"no end token", erase("eos_token"), {"eos_token", "missing"}},
      {"no unknown token", erase("unk_token"), {"unk_token", "missing"}},
      {"token not in the vocabulary", set("eos_token", "<eos>"), {"\"<eos>\"", "eos_token"}},
      {"token id out of range", set("target_eos_token", 6), {"target_eos_token", "below 6"}},
      {"add_source_eos not said", erase("add_source_eos"), {"add_source_eos", "missing"}},
      {"beams", set("beam_size", 17), {"beam_size", "17", "1 to 16"}},
      {"longer than the positions", set("max_length", 11), {"max_length", "11", "1 to 10"}},
      {"tensors not an object", set("tensors", "x"), {"tensors", "expected an object"}},
  });
}

TEST(NnTransformer, RefusesTensorsThatDoNotFit) {
  const auto tensor = [](const char* key, const json& value) {
    return [key, value](NnFolder& c) { c.config["tensors"][key] = value; };
  };
  const auto added = [](const std::string& name, const std::vector<size_t>& shape) {
    return [name, shape](NnFolder& c) { c.add(name, shape); };
  };
  const std::string layer = "transformer.encoder.layers.1.", cross = "transformer.decoder.layers.0.multihead_attn.";
  expect_all_refused({
      {"no embedding", [](NnFolder& c) { c.config["tensors"].erase("source_embedding"); },
          {"source_embedding", "\"source.weight\""}},
      {"embedding not there", tensor("source_embedding", "absent"), {"weights.pt", "\"absent\" is missing"}},
      {"embedding a vector", tensor("source_embedding", "head.bias"),
          {"head.bias", "[6]", "expected [vocabulary, d_model]"}},
      {"no projection", [](NnFolder& c) { c.config["tensors"].erase("output_projection"); },
          {"output_projection", "tied"}},
      {"tied and not", set("tied_output_projection", true), {"tied_output_projection", "output_projection"}},
      {"shared and not", set("shared_embeddings", true), {"shared_embeddings", "target_embedding"}},
      {"projection of another size", added("head.weight", {7, 8}), {"head.weight", "[7, 8]", "expected [6, 8]"}},
      {"prefix not there", tensor("transformer", "model."), {"model.encoder.layers.0.linear1.weight", "missing"}},
      {"two transformers", added("other.encoder.layers.0.linear1.weight", {12, 8}), {"2 tensors", "transformer"}},
      {"missing bias", [&](NnFolder& c) { c.tensors.erase(layer + "linear2.bias"); },
          {layer + "linear2.bias", "missing"}},
      {"missing norm", [&](NnFolder& c) { c.tensors.erase(layer + "norm2.weight"); },
          {layer + "norm2.weight", "missing"}},
      {"layers differ in width", added(layer + "linear1.weight", {13, 8}),
          {layer + "linear1.weight", "[13, 8]", "expected [12, 8]"}},
      {"not fused right", added(cross + "in_proj_weight", {16, 8}), {cross, "[16, 8]", "expected [24, 8]"}},
      {"bias_k", added(cross + "bias_k", {1, 1, 8}), {"bias_k", "not supported"}},
      {"NaN", [&](NnFolder& c) { c.tensors.at(layer + "norm1.bias").values[3] = std::nanf(""); },
          {layer + "norm1.bias", "nan", "[3]"}},
      {"same name twice", added("module.head.weight", {6, 8}), {"same name", "module."}},
  });
}

// If only one of two tables is named, the other side would get the wrong table.
TEST(NnTransformer, ASecondTableOfPositionsIsRefused) {
  NnFolder checkpoint;
  checkpoint.add("src_pos.weight", {10, 8});
  checkpoint.add("tgt_pos.weight", {10, 8});
  checkpoint.config["position_encoding"] = "learned";
  checkpoint.config["tensors"]["positions"] = "src_pos.weight";
  expect_refused(checkpoint, {"\"tgt_pos.weight\"",
                                 "is not used, although it looks like a table of positions; name the tables of "
                                 "both sides as tensors.source_positions and tensors.target_positions"});
  // A copy of the used table does not count, for example of a module that is registered twice. Nor does a linear
  // layer.
  checkpoint.tensors.erase("tgt_pos.weight");
  checkpoint.tensors["tgt_pos.weight"] = {"tgt_pos.weight", {10, 8}, checkpoint.values("src_pos.weight")};
  EXPECT_TRUE(checkpoint.load().warnings.empty());
  checkpoint.add_pair("tgt_pos", {10, 8});
  EXPECT_EQ(checkpoint.load().warnings.size(), 1u);
  // Both tables are named.
  checkpoint.tensors.erase("tgt_pos.bias");
  checkpoint.config["tensors"] = {{"source_embedding", "source.weight"}, {"target_embedding", "target.weight"},
      {"output_projection", "head"}, {"source_positions", "src_pos.weight"}, {"target_positions", "tgt_pos.weight"}};
  EXPECT_TRUE(checkpoint.load().warnings.empty());
}

// --shape counts a vocabulary's entries before it reads them.
TEST(NnTransformer, AShapesVocabularyLiesBesideIt) {
  NnFolder checkpoint;
  checkpoint.config.update({{"d_model", 8}, {"dim_feedforward", 12}});
  checkpoint.config.update({{"num_encoder_layers", 1}, {"num_decoder_layers", 1}, {"target_vocabulary", "target.txt"}});
  checkpoint.folder.write("target.txt", "</s>\n<unk>\n<s>\n<pad>\na\nb\n");
  const auto load = [&] {
    checkpoint.folder.write("config.json", checkpoint.config.dump());
    return load_shape(checkpoint.folder.path(), 1 << 20);
  };
  EXPECT_EQ(load().decoder.embedding->rows, 6u);
  const std::string where = (checkpoint.folder / "config.json").string() + ": setting \"target_vocabulary\"";
  for (const char* name : {"/", "../target.txt", ""}) {
    checkpoint.config["target_vocabulary"] = name;
    test::expect_error(load, {where + " is \"" + name + "\", expected a file in the checkpoint's directory"});
  }
  checkpoint.config["target_vocabulary"] = "words.txt";
  test::expect_error(load, {(checkpoint.folder / "words.txt").string() + ": is missing; " + where + " names it"});
}

// nn.Transformer checkpoints of modules that are closer to the paper than PyTorch's: widths of heads, projections
// without biases, convolutions. Also the spellings of their names.

// As in the paper, attention has no biases and feed-forward has some.
TEST(NnTransformer, ProjectionsMayBeWithoutBias) {
  NnFolder checkpoint;
  std::erase_if(checkpoint.tensors, [](const auto& entry) {
    return entry.first.ends_with("in_proj_bias") || entry.first.ends_with("out_proj.bias");
  });
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.encoder.layers[0].self_attention->key.bias, std::vector<float>(8, 0.0f));
  EXPECT_EQ(spec.decoder.layers[0].cross_attention->out.bias, std::vector<float>(8, 0.0f));
  EXPECT_EQ(
      spec.encoder.layers[0].feed_forward.in.bias, checkpoint.values("transformer.encoder.layers.0.linear1.bias"));
}

// Gives each attention 2 heads of 3 query and key rows and 5 value rows: 6, 6 and 10 rows for d_model 8.
void make_heads_odd(NnFolder& checkpoint) {
  for (const std::string attention : {"encoder.layers.0.self_attn.", "encoder.layers.1.self_attn.",
           "decoder.layers.0.self_attn.", "decoder.layers.0.multihead_attn."}) {
    checkpoint.add("transformer." + attention + "in_proj_weight", {22, 8});
    checkpoint.add("transformer." + attention + "in_proj_bias", {22});
    checkpoint.add("transformer." + attention + "out_proj.weight", {8, 10});
  }
}

TEST(NnTransformer, HeadsOfOtherWidthsAreFilledWithZeros) {
  NnFolder checkpoint;
  make_heads_odd(checkpoint);
  checkpoint.config.update({{"d_k", 3}, {"decoder_d_v", 5}, {"encoder_d_v", 5}});
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  for (const StackSpec* stack : {&spec.encoder, &spec.decoder}) {
    EXPECT_EQ(stack->d_head, 5u);
    EXPECT_EQ(stack->attention_scale, 1 / std::sqrt(3.0f));
  }
  const std::string prefix = "transformer.decoder.layers.0.multihead_attn.";
  const std::vector<float>&fused = checkpoint.values(prefix + "in_proj_weight"),
        &bias = checkpoint.values(prefix + "in_proj_bias"), &out = checkpoint.values(prefix + "out_proj.weight");
  const AttentionSpec& cross = *spec.decoder.layers[0].cross_attention;
  const std::pair<const LinearSpec*, uint32_t> parts[] = {{&cross.query, 0}, {&cross.key, 6}, {&cross.value, 12}};
  for (const auto& [linear, first] : parts) {
    const uint32_t width = linear == &cross.value ? 5 : 3;
    ASSERT_EQ(linear->weight->rows, 10u);
    for (uint32_t row = 0; row < 10; ++row) {
      const bool is_real = row % 5 < width;
      const uint32_t from = first + row / 5 * width + row % 5;
      EXPECT_EQ(linear->bias[row], is_real ? bias[from] : 0.0f);
      for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(linear->weight->row(row)[i], is_real ? fused[from * 8 + i] : 0.0f);
    }
  }
  EXPECT_EQ(cross.out.weight->values, out);  // values have the most rows

  checkpoint.config["d_k"] = 4;
  expect_refused(checkpoint, {"setting \"d_k\" is 4, but the tensors have 3 "
                              "(\"transformer.encoder.layers.0.self_attn.in_proj_weight[0:6]\")"});
  checkpoint.config.erase("d_k");
  checkpoint.config["nhead"] = 4;
  expect_refused(checkpoint, {"setting \"nhead\" is 4, expected a divisor of the 6 rows of its heads "
                              "(\"transformer.encoder.layers.0.self_attn.in_proj_weight[0:6]\")"});
  NnFolder uneven;
  uneven.add("transformer.encoder.layers.1.self_attn.in_proj_weight", {20, 8});
  uneven.add("transformer.encoder.layers.1.self_attn.in_proj_bias", {20});
  expect_refused(uneven, {"config.json: \"transformer.encoder.layers.1.self_attn.in_proj_weight[0:6]\": its heads "
                          "have 3 rows, others of the encoder 4"});
}

TEST(NnTransformer, WideKeysPadTheValues) {
  NnFolder checkpoint;
  const std::string prefix = "transformer.encoder.layers.0.self_attn.";
  for (const std::string attention : {"encoder.layers.0.self_attn.", "encoder.layers.1.self_attn."}) {
    checkpoint.add("transformer." + attention + "in_proj_weight", {20, 8});
    checkpoint.add("transformer." + attention + "in_proj_bias", {20});
    checkpoint.add("transformer." + attention + "out_proj.weight", {8, 4});
  }
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.d_head, 4u);
  EXPECT_EQ(spec.decoder.d_head, 4u);
  const Matrix& out = *spec.encoder.layers[0].self_attention->out.weight;
  const std::vector<float>& stored = checkpoint.values(prefix + "out_proj.weight");
  ASSERT_EQ(out.columns, 8u);
  for (uint32_t row = 0; row < 8; ++row) {
    for (uint32_t column = 0; column < 8; ++column) {
      const float expected = column % 4 < 2 ? stored[row * 4 + column / 4 * 2 + column % 4] : 0.0f;
      EXPECT_EQ(out.row(row)[column], expected);
    }
  }
}

TEST(NnTransformer, ConvolutionsOfWidthOneAreMatrices) {
  NnFolder checkpoint;
  const ModelSpec matrices = checkpoint.load();
  const std::vector<float> inner = matrices.decoder.layers[0].feed_forward.in.weight->values.get();
  for (auto& [name, tensor] : checkpoint.tensors)
    if (name.find(".linear") != std::string::npos && tensor.shape.size() == 2) tensor.shape.push_back(1);
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.decoder.layers[0].feed_forward.in.weight->values.get(), inner);
  EXPECT_EQ(spec.encoder.layers[1].feed_forward.out.weight->rows, 8u);
  EXPECT_EQ(spec.encoder.layers[1].feed_forward.out.weight->columns, 12u);
  checkpoint.tensors["transformer.encoder.layers.1.linear2.weight"].shape = {8, 4, 3};
  expect_refused(checkpoint, {"linear2.weight\" has shape [8, 4, 3], expected [8, 12]"});
}

TEST(NnTransformer, PrefixesMayBeWithoutTheirDot) {
  NnFolder checkpoint;
  for (const char* prefix : {"transformer", "transformer.", "module.transformer"}) {
    checkpoint.config["tensors"]["transformer"] = prefix;
    EXPECT_EQ(checkpoint.load().encoder.layers.size(), 2u) << prefix;
  }
  checkpoint.config["tensors"].erase("transformer");
  checkpoint.config["tensors"]["encoder"] = "transformer.encoder";
  checkpoint.config["tensors"]["decoder"] = "transformer.decoder.";
  EXPECT_EQ(checkpoint.load().decoder.layers.size(), 1u);
  checkpoint.add_pair("norm_in", {8});
  for (const char* prefix : {"norm_in", "norm_in."}) {
    checkpoint.config["tensors"]["target_embedding_norm"] = prefix;
    EXPECT_TRUE(checkpoint.load().decoder.embedding_norm) << prefix;
  }
}

// A checkpoint needs the decoder's start token, under either name, and the source's if its sources have a start token.
TEST(NnTransformer, TheStartTokenIsNeededWhereItIsUsed) {
  NnFolder checkpoint;
  checkpoint.config.erase("bos_token");
  expect_refused(checkpoint, {"\"bos_token\" is missing"});
  checkpoint.config["decoder_start_token"] = "<s>";
  EXPECT_EQ(checkpoint.load().generation.decoder_start_id, 2u);
  checkpoint.config["target_decoder_start_token"] = "<pad>";
  EXPECT_EQ(checkpoint.load().generation.decoder_start_id, 3u);
  checkpoint.config["bos_token"] = "<s>";
  checkpoint.config.erase("decoder_start_token");
  EXPECT_EQ(checkpoint.load().generation.decoder_start_id, 3u);
  checkpoint.config.erase("bos_token");
  checkpoint.config["add_source_bos"] = true;
  expect_refused(checkpoint, {"\"bos_token\" is missing"});
  checkpoint.config["source_bos_token"] = "<s>";
  EXPECT_EQ(checkpoint.load().generation.source_prefix, std::vector<uint32_t>{1});
}
}}  // namespace goldcrest::converter
