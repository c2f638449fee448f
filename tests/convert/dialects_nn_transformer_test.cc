// SPDX-License-Identifier: Apache-2.0
// nn.Transformer checkpoints: what the settings of NN_TRANSFORMER.md mean, and every disagreement with the tensors.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>

#include "dialects/dialect.h"
#include "dialects/positions.h"
#include "support/checkpoint_writer.h"
#include "support/expect_error.h"
#include "support/rng.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

using nlohmann::json;
using test::NamedTensor;

const std::filesystem::path kModels = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models";

// Two encoder layers and one decoder layer of width 8, 5 source words and 6 target characters.
class NnFolder {
 public:
  NnFolder() {
    for (const std::string layer : {"encoder.layers.0.", "encoder.layers.1.", "decoder.layers.0."})
      add_layer("transformer." + layer);
    add_pair("transformer.encoder.norm", {8});
    add_pair("transformer.decoder.norm", {8});
    add("source.weight", {5, 8});
    add("target.weight", {6, 8});
    add_pair("head", {6, 8});
  }

  void add(const std::string& name, std::vector<uint64_t> shape) {
    uint64_t n = 1;
    for (const uint64_t size : shape) n *= size;
    std::vector<float> values(n);
    for (float& value : values) value = rng_.uniform();
    tensors[name] = {name, std::move(shape), std::move(values)};
  }
  // A weight and a bias of its first size.
  void add_pair(const std::string& name, const std::vector<uint64_t>& shape) {
    add(name + ".weight", shape);
    add(name + ".bias", {shape[0]});
  }
  void rename_all(const std::function<std::string(const std::string&)>& name_of) {
    const std::map<std::string, NamedTensor> before = std::exchange(tensors, {});
    for (const auto& [name, tensor] : before) tensors[name_of(name)] = {name_of(name), tensor.shape, tensor.values};
  }
  const std::vector<float>& values(const std::string& name) const { return tensors.at(name).values; }

  ModelSpec load() {
    folder.write("config.json", config.dump());
    std::vector<NamedTensor> all;
    for (const auto& [name, tensor] : tensors) all.push_back(tensor);
    std::ofstream stream(folder / "weights.pt", std::ios::binary);
    test::write_torch_zip(stream, all, ElementType::kF32);
    stream.close();
    return load_checkpoint(folder.path(), {});
  }

  test::TemporaryFolder folder;
  std::map<std::string, NamedTensor> tensors;
  json config = {
      {"model_type", "nn_transformer"},
      {"nhead", 2},
      {"activation", "relu"},
      {"norm_first", false},
      {"scale_embedding", true},
      {"position_encoding", "sinusoidal_interleaved"},
      {"max_positions", 10},
      {"source_unit", "word"},
      {"target_unit", "character"},
      {"source_vocabulary", {"<pad>", "<s>", "</s>", "<unk>", "one"}},
      {"target_vocabulary", {"</s>", "<unk>", "<s>", "<pad>", "a", "b"}},
      {"pad_token", "<pad>"},
      {"bos_token", "<s>"},
      {"eos_token", "</s>"},
      {"unk_token", "<unk>"},
      {"add_source_eos", true},
      {"tensors",
       {{"source_embedding", "source.weight"}, {"target_embedding", "target.weight"}, {"output_projection", "head"}}}};

 private:
  void add_layer(const std::string& prefix) {
    const bool is_decoder = prefix.find("decoder") != std::string::npos;
    std::vector<std::string> attentions = {"self_attn"};
    if (is_decoder) attentions.push_back("multihead_attn");
    for (const std::string& attention : attentions) {
      add(prefix + attention + ".in_proj_weight", {24, 8});
      add(prefix + attention + ".in_proj_bias", {24});
      add_pair(prefix + attention + ".out_proj", {8, 8});
    }
    add_pair(prefix + "linear1", {12, 8});
    add_pair(prefix + "linear2", {8, 12});
    for (const std::string norm : {"norm1", "norm2", "norm3"}) {
      if (is_decoder || norm != "norm3") add_pair(prefix + norm, {8});
    }
  }

  test::Rng rng_{7};
};

TEST(NnTransformer, FillsTheWholeModel) {
  NnFolder checkpoint;
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.encoder.layers.size(), 2u);
  EXPECT_EQ(spec.decoder.layers.size(), 1u);
  EXPECT_EQ(spec.encoder.d_ff, 12u);
  EXPECT_EQ(spec.encoder.d_head, 4u);
  EXPECT_EQ(spec.encoder.embedding_scale, std::sqrt(8.0f));
  EXPECT_TRUE(spec.encoder.final_norm && spec.decoder.final_norm);  // also with norm_first false
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
  const auto expect_same = [&] {
    const ModelSpec spec = checkpoint.load();
    EXPECT_TRUE(spec.warnings.empty());
    EXPECT_EQ(spec.encoder.layers[1].self_attention.out.bias, plain.encoder.layers[1].self_attention.out.bias);
    EXPECT_EQ(spec.decoder.embedding->values, plain.decoder.embedding->values);
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
  EXPECT_EQ(spec.encoder.layers[0].self_attention.key.bias, std::vector<float>(8, 0.0f));
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

  // Tables of their own with the same values are one table too.
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
      "pos_encoder.pe", {20, 1, 8}, sinusoid_table({true, false, 0, 10000}, 20, 8).values};
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
  std::filesystem::copy_file(kModels / "enfr/source.spm", checkpoint.folder / "pieces.model");
  checkpoint.add("source.weight", {6001, 8});  // a row more than the model has pieces
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

struct BadCheckpoint {
  const char* name;
  std::function<void(NnFolder&)> change;
  std::vector<std::string> words;
};

TEST(NnTransformer, RefusesWhatDoesNotFit) {
  const auto erase = [](const char* key) { return [key](NnFolder& c) { c.config.erase(key); }; };
  const auto set = [](const char* key, json value) { return [key, value](NnFolder& c) { c.config[key] = value; }; };
  const auto tensor = [](const char* key, json value) {
    return [key, value](NnFolder& c) { c.config["tensors"][key] = value; };
  };
  const std::string layer = "transformer.encoder.layers.1.", cross = "transformer.decoder.layers.0.multihead_attn.";
  const std::vector<BadCheckpoint> cases = {
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
      {"no embedding",
       [](NnFolder& c) { c.config["tensors"].erase("source_embedding"); },
       {"source_embedding", "\"source.weight\""}},
      {"embedding not there", tensor("source_embedding", "absent"), {"weights.pt", "\"absent\" is missing"}},
      {"embedding a vector",
       tensor("source_embedding", "head.bias"),
       {"head.bias", "[6]", "expected [vocabulary, d_model]"}},
      {"no projection",
       [](NnFolder& c) { c.config["tensors"].erase("output_projection"); },
       {"output_projection", "tied"}},
      {"tied and not", set("tied_output_projection", true), {"tied_output_projection", "output_projection"}},
      {"shared and not", set("shared_embeddings", true), {"shared_embeddings", "target_embedding"}},
      {"projection of another size",
       [](NnFolder& c) {
         c.add("head.weight", {7, 8});
       },
       {"head.weight", "[7, 8]", "expected [6, 8]"}},
      {"prefix not there", tensor("transformer", "model."), {"model.encoder.layers.0.linear1.weight", "missing"}},
      {"two transformers",
       [](NnFolder& c) {
         c.add("other.encoder.layers.0.linear1.weight", {12, 8});
       },
       {"2 tensors", "transformer"}},
      {"missing bias",
       [&](NnFolder& c) { c.tensors.erase(layer + "linear2.bias"); },
       {layer + "linear2.bias", "missing"}},
      {"missing norm",
       [&](NnFolder& c) { c.tensors.erase(layer + "norm2.weight"); },
       {layer + "norm2.weight", "missing"}},
      {"layers differ in width",
       [&](NnFolder& c) {
         c.add_pair(layer + "linear1", {13, 8});
       },
       {layer + "linear1.weight", "[13, 8]", "expected [12, 8]"}},
      {"not fused right",
       [&](NnFolder& c) {
         c.add(cross + "in_proj_weight", {16, 8});
       },
       {cross, "[16, 8]", "expected [24, 8]"}},
      {"bias_k",
       [&](NnFolder& c) {
         c.add(cross + "bias_k", {1, 1, 8});
       },
       {"bias_k", "not supported"}},
      {"NaN",
       [&](NnFolder& c) { c.tensors.at(layer + "norm1.bias").values[3] = std::nanf(""); },
       {layer + "norm1.bias", "nan", "[3]"}},
      {"same name twice",
       [](NnFolder& c) {
         c.add("module.head.weight", {6, 8});
       },
       {"same name", "module."}},
      {"vocabulary too long",
       set("target_vocabulary", {"</s>", "<unk>", "<s>", "<pad>", "a", "b", "c"}),
       {"\"c\"", "6 rows"}},
      {"text twice",
       set("target_vocabulary", {"</s>", "<unk>", "<s>", "<pad>", "a", "a"}),
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
  };
  for (const BadCheckpoint& bad : cases) {
    NnFolder checkpoint;
    bad.change(checkpoint);
    test::expect_error([&] { checkpoint.load(); }, bad.words, bad.name);
  }
}

TEST(NnTransformer, ReadsTheTrainedModel) {
  const ModelSpec spec = load_checkpoint(kModels / "g2p", {});
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.encoder.layers.size(), 3u);
  EXPECT_EQ(spec.decoder.layers.size(), 2u);
  EXPECT_TRUE(spec.encoder.final_norm && spec.decoder.final_norm);
  EXPECT_EQ(spec.generation.decoder_start_id, 1u);
  EXPECT_EQ(spec.license, "BSD-2-Clause");
}

}  // namespace
}  // namespace goldcrest::converter
