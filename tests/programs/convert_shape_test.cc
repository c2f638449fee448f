// SPDX-License-Identifier: Apache-2.0
// goldcrest-convert --shape: it prints a model's sizes before there are weights, and its conversion has these sizes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "convert/support/marian_folder.h"
#include "convert/support/nn_folder.h"
#include "programs/checkpoint_copy.h"
#include "programs/models.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

using Json = nlohmann::json;

Json json_of(Arguments arguments) {
  arguments.insert(arguments.end(), {"-q", "--json"});
  const Outcome outcome = run(convert_program(), arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return Json::parse(outcome.out);
}

// Expects --shape to print the same sizes from config.json as the conversion of these weights.
void expect_same_sizes(const std::filesystem::path& checkpoint, const Arguments& options) {
  Arguments sizing = options, conversion = options;
  sizing.insert(sizing.end(), {"--shape", checkpoint / "config.json"});
  conversion.push_back(checkpoint);
  const Json shape = json_of(sizing), converted = json_of(conversion);
  for (const char* key : {"file_bytes", "sections", "arena", "limits", "encoder", "decoder", "multiply_accumulates",
                          "tokenizer", "self_test_lines"}) {
    EXPECT_EQ(shape.at(key), converted.at(key)) << checkpoint << " " << key;
  }
}

const std::vector<Arguments> kWeights = {
    {"--weights", "int8"}, {"--weights", "float32"}, {"--cpu", "cortex-m55", "--max-target", "9", "--beam", "3"}};

TEST(ConvertShape, TheShippedModels) {
  for (const std::string task : {"g2p", "enfr"}) {
    for (const Arguments& options : kWeights) expect_same_sizes(checkpoint_folder(task), options);
  }
  const TemporaryFolder folder;
  const Json shape = json_of({"--shape", checkpoint_folder("g2p")});
  EXPECT_EQ(shape.at("file_bytes"), std::filesystem::file_size(converted_model("g2p")));
}

// Sizes do not depend on the weights: greedy searches of three random models end at different places.
TEST(ConvertShape, SeededRandomCheckpoints) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    MarianFolder marian;
    marian.tensors = marian_tensors(marian.shape, seed);
    if (seed == 2) marian.config["max_position_embeddings"] = 20;
    if (seed == 3) {
      marian.config["tie_word_embeddings"] = false;
      marian.add("lm_head.weight", {6000, 8}, 0.5f);
      marian.add("model.encoder.embed_tokens.weight", {6000, 8}, 0.25f);  // as transformers 5 saves them
      marian.add("model.decoder.embed_tokens.weight", {6000, 8}, 0.75f);
    }
    marian.load();
    for (const Arguments& options : kWeights) expect_same_sizes(marian.folder.path(), options);
  }
}

TEST(ConvertShape, NnTransformersOfManySettings) {
  const auto with = [](const std::function<void(NnFolder&)>& change) {
    NnFolder folder;
    folder.config.update(
        {{"d_model", 8}, {"dim_feedforward", 12}, {"num_encoder_layers", 2}, {"num_decoder_layers", 1}});
    change(folder);
    folder.load();
    for (const Arguments& options : kWeights) expect_same_sizes(folder.folder.path(), options);
  };
  with([](NnFolder&) {});
  with([](NnFolder& nn) {  // token ids only
    for (const char* key : {"source_vocabulary", "target_vocabulary", "unk_token"}) nn.config.erase(key);
    nn.config.update(
        {{"pad_token", 0}, {"bos_token", 1}, {"eos_token", 2}, {"source_vocab_size", 5}, {"target_vocab_size", 6}});
  });
  with([](NnFolder& nn) {  // heads of other widths
    nn.config.update({{"d_k", 3}, {"d_v", 5}});
    for (const std::string attention : {"encoder.layers.0.self_attn.", "encoder.layers.1.self_attn.",
                                        "decoder.layers.0.self_attn.", "decoder.layers.0.multihead_attn."}) {
      nn.add("transformer." + attention + "in_proj_weight", {22, 8});
      nn.add("transformer." + attention + "in_proj_bias", {22});
      nn.add("transformer." + attention + "out_proj.weight", {8, 10});
    }
  });
  with([](NnFolder& nn) {  // tied
    nn.config["tied_output_projection"] = true;
    nn.config["tensors"].erase("output_projection");
    nn.tensors.erase("head.weight");
    nn.tensors.erase("head.bias");
  });
  with([](NnFolder& nn) {  // learned positions, no norm after the encoder
    nn.config["position_encoding"] = "learned";
    nn.config["tensors"]["positions"] = "positions";
    nn.add("positions", {10, 8});
    nn.config["encoder_final_norm"] = false;
    nn.tensors.erase("transformer.encoder.norm.weight");
    nn.tensors.erase("transformer.encoder.norm.bias");
  });
}

TEST(ConvertShape, NamesOfTensorsAndATokenizerMayBeMissing) {
  const TemporaryFolder folder;
  Json config = Json::parse(read_file(checkpoint_folder("g2p") / "config.json"));
  config.erase("tensors");
  const Json named = json_of({"--shape", checkpoint_folder("g2p"), "--name", "g2p"});
  const Json unnamed = json_of({"--shape", folder.write("config.json", config.dump()), "--name", "g2p"});
  EXPECT_EQ(unnamed.at("file_bytes"), named.at("file_bytes"));

  const std::string marian = folder.write("marian.json", read_file(checkpoint_folder("enfr") / "config.json"));
  const Json without = json_of({"--shape", marian});
  EXPECT_EQ(without.at("tokenizer"), false);
  EXPECT_EQ(without.at("sections").at("Tokenizer"), 0);
  EXPECT_EQ(without.at("arena").at("text_steps"), 0);
  EXPECT_EQ(json_of({"--shape", checkpoint_folder("enfr")}).at("arena").at("text_steps"), 458280);
  EXPECT_EQ(without.at("sections").at("Weights"),
            json_of({"--shape", checkpoint_folder("enfr")}).at("sections").at("Weights"));
  const Outcome text = run(convert_program(), {"-q", "--shape", marian});
  EXPECT_NE(text.out.find("\nThese are sizes without a tokenizer.\n"), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("\ntokenizing "), std::string::npos) << text.out;
  const Outcome whole = run(convert_program(), {"-q", "--shape", checkpoint_folder("enfr")});
  EXPECT_NE(whole.out.find("\ntokenizing   458280 steps at most\n"), std::string::npos) << whole.out;
}

TEST(ConvertShape, WorkIsTheEnginesLargestStep) {
  const Json json = json_of({"--shape", checkpoint_folder("g2p"), "--max-source", "7", "--max-target", "9", "--beam",
                             "1", "--encoder-rows", "1"});
  const Json& work = json.at("multiply_accumulates");
  EXPECT_EQ(work.at("token").get<uint64_t>() + (7 + 9) * work.at("token_per_position").get<uint64_t>(),
            json.at("arena").at("step_macs").get<uint64_t>());
}

TEST(ConvertShape, AllThatIsMissingIsNamedAtOnce) {
  const TemporaryFolder folder;
  const std::string config = folder.write("config.json", R"({"model_type": "nn_transformer", "nhead": 4})");
  EXPECT_EQ(run(convert_program(), {"-q", "--shape", config}).err,
            "goldcrest-convert: " + config +
                ": 14 settings are not set:\n  \"activation\" is missing; expected \"relu\", \"gelu\", \"gelu_tanh\" "
                "or \"silu\"\n  \"norm_first\" is missing; expected true or false\n  \"scale_embedding\" is missing; "
                "expected true if embeddings are multiplied by sqrt(d_model), else false\n  \"position_encoding\" "
                "is missing; expected \"sinusoidal_interleaved\", \"sinusoidal_concatenated\", \"learned\" or "
                "\"stored\"\n  \"bos_token\" is missing; expected a text of the vocabulary or a token id\n  "
                "\"eos_token\" is missing; expected a text of the vocabulary or a token id\n  \"add_source_eos\" is "
                "missing; expected true if the end token follows a source, else false\n  \"d_model\" is missing; "
                "expected an integer\n  \"dim_feedforward\" is missing; expected an integer\n  \"max_positions\" is "
                "missing; expected an integer\n  \"num_encoder_layers\" is missing; expected an integer\n  "
                "\"num_decoder_layers\" is missing; expected an integer\n  \"source_vocab_size\" is missing; expected "
                "an integer\n  \"target_vocab_size\" is missing; expected an integer\n");
  const std::string marian = folder.write("marian.json", R"({"model_type": "marian", "vocab_size": 9, "d_model": 16,
      "encoder_layers": 1, "encoder_attention_heads": 1, "encoder_ffn_dim": 16, "decoder_layers": 1, "eos_token_id": 0})");
  EXPECT_EQ(run(convert_program(), {"-q", "--shape", marian}).err,
            "goldcrest-convert: " + marian +
                ": 4 settings are not set:\n  \"decoder_attention_heads\" is missing; expected an integer\n  "
                "\"decoder_ffn_dim\" is missing; expected an integer\n  \"activation_function\" is missing; expected "
                "relu, gelu, gelu_new, gelu_pytorch_tanh, silu or swish\n  \"decoder_start_token_id\" is missing; "
                "expected a token id\n");
}

TEST(ConvertShape, WhatIsRefused) {
  const TemporaryFolder folder;
  const auto refuse = [](const Arguments& arguments, int status, const std::string& message) {
    const Outcome outcome = run(convert_program(), arguments);
    EXPECT_EQ(outcome.status, status) << message;
    EXPECT_EQ(outcome.err, "goldcrest-convert: " + message + "\n");
  };
  const std::string g2p = checkpoint_folder("g2p");
  for (const std::string option : {"--output", "--emit-c", "--check", "--evaluate", "--self-test", "--config"}) {
    refuse({"--shape", g2p, option, "x"}, 2, option + " needs weights, and --shape has none; leave one of them out");
  }
  refuse({"--shape", converted_model("g2p")}, 2,
         converted_model("g2p").string() + ": --shape works on a checkpoint, not on a .gcst file; give the checkpoint");
  Json config = Json::parse(read_file(checkpoint_folder("enfr") / "config.json"));
  config.update({{"vocab_size", 16777216}, {"d_model", 65536}, {"encoder_attention_heads", 256}});
  const std::string absurd = folder.write("config.json", config.dump());
  refuse({"-q", "--shape", absurd}, 1,
         absurd + ": is a model of 1237760219136 parameters; --shape takes 2147483648 at most");
  EXPECT_EQ(run(convert_program(), {"-q", "--shape", checkpoint_folder("g2p"), "--budget", "file=1M"}).status, 5);
}

}  // namespace
}  // namespace goldcrest::test
