// SPDX-License-Identifier: Apache-2.0
// Every contradiction between an nn.Transformer checkpoint's settings and its tensors.
#include <gtest/gtest.h>

#include <functional>

#include "convert/support/nn_folder.h"
#include "support/expect_error.h"

namespace goldcrest::converter {
namespace {

using nlohmann::json;
using test::NnFolder;

struct BadCheckpoint {
  const char* name;
  std::function<void(NnFolder&)> change;
  std::vector<std::string> words;
};

TEST(NnTransformer, RefusesWhatDoesNotFit) {
  const auto erase = [](const char* key) { return [key](NnFolder& c) { c.config.erase(key); }; };
  const auto set = [](const char* key, const json& value) {
    return [key, value](NnFolder& c) { c.config[key] = value; };
  };
  const auto tensor = [](const char* key, const json& value) {
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

// If only one of two tables is named, the other side would get the wrong table.
TEST(NnTransformer, ASecondTableOfPositionsIsRefused) {
  NnFolder checkpoint;
  checkpoint.add("src_pos.weight", {10, 8});
  checkpoint.add("tgt_pos.weight", {10, 8});
  checkpoint.config["position_encoding"] = "learned";
  checkpoint.config["tensors"]["positions"] = "src_pos.weight";
  test::expect_error([&] { checkpoint.load(); },
                     {"\"tgt_pos.weight\"",
                      "is not used, although it looks like a table of positions; name the tables "
                      "of both sides as tensors.source_positions and tensors.target_positions"});
  // A copy of the used table does not count, for example of a module that is registered twice. Nor does a linear
  // layer.
  checkpoint.tensors.erase("tgt_pos.weight");
  checkpoint.tensors["tgt_pos.weight"] = {"tgt_pos.weight", {10, 8}, checkpoint.values("src_pos.weight")};
  EXPECT_TRUE(checkpoint.load().warnings.empty());
  checkpoint.add_pair("tgt_pos", {10, 8});
  EXPECT_EQ(checkpoint.load().warnings.size(), 1u);
  // Both tables are named.
  checkpoint.tensors.erase("tgt_pos.bias");
  checkpoint.config["tensors"] = {{"source_embedding", "source.weight"},
                                  {"target_embedding", "target.weight"},
                                  {"output_projection", "head"},
                                  {"source_positions", "src_pos.weight"},
                                  {"target_positions", "tgt_pos.weight"}};
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

}  // namespace
}  // namespace goldcrest::converter
