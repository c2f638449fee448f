// SPDX-License-Identifier: Apache-2.0
// Every broken Marian checkpoint that a download or an edit can leave behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "convert/support/marian_folder.h"
#include "support/expect_error.h"

namespace goldcrest::converter {
namespace {

using nlohmann::json;
using test::MarianFolder;

struct BadCheckpoint {
  const char* name;
  std::function<void(MarianFolder&)> change;
  std::vector<std::string> words;
};

void expect_refused(const std::vector<BadCheckpoint>& cases) {
  for (const BadCheckpoint& bad : cases) {
    MarianFolder checkpoint;
    bad.change(checkpoint);
    test::expect_error([&] { checkpoint.load(); }, bad.words, bad.name);
  }
}

TEST(Marian, RefusesBrokenTensors) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  const std::string fc1 = "model.encoder.layers.1.fc1.weight", beta = "model.decoder.layers.0.final_layer_norm.bias";
  expect_refused({
      {"missing matrix", [&](auto& c) { c.remove(fc1); }, {"model.safetensors", fc1, "missing"}},
      {"missing norm", [&](auto& c) { c.remove(beta); }, {"model.safetensors", beta, "missing"}},
      {"missing embedding", [](auto& c) { c.remove("model.shared.weight"); }, {"model.shared.weight", "missing"}},
      {"wrong rows",
       [&](auto& c) {
         c.tensor(fc1) = {fc1, {13, 8}, std::vector<float>(104)};
       },
       {"model.safetensors", fc1, "[13, 8]", "expected [12, 8]"}},
      {"transposed",
       [&](auto& c) {
         c.tensor(fc1).shape = {8, 12};
       },
       {fc1, "[8, 12]", "expected [12, 8]"}},
      {"flat", [&](auto& c) { c.tensor(fc1).shape = {96}; }, {fc1, "[96]", "expected [12, 8]"}},
      {"wrong length",
       [&](auto& c) {
         c.tensor(beta) = {beta, {7}, std::vector<float>(7)};
       },
       {beta, "[7]", "expected [8]"}},
      {"riscv_scalar",
       [&](auto& c) {
         c.tensor(beta) = {beta, {}, {1}};
       },
       {beta, "[]", "expected [8]"}},
      {"NaN", [&](auto& c) { c.tensor(fc1).values[19] = kNan; }, {"model.safetensors", fc1, "nan", "[2, 3]"}},
      {"infinity", [&](auto& c) { c.tensor(beta).values[7] = -kInfinity; }, {beta, "-inf", "[7]"}},
      {"NaN in the table",
       [](auto& c) { c.tensor("model.shared.weight").values[8 * 5999] = kNan; },
       {"model.shared.weight", "[5999, 0]"}},
      {"one layer less",
       [](auto& c) { c.config["encoder_layers"] = 3; },
       {"model.encoder.layers.2.self_attn.q_proj.weight", "missing"}},
      {"another vocabulary",
       [](auto& c) { c.config["vocab_size"] = 6001; },
       {"model.shared.weight", "[6000, 8]", "[6001, 8]"}},
      {"final norm missing",
       [](auto& c) { c.config["add_final_layer_norm"] = true; },
       {"model.encoder.layer_norm.weight", "missing"}},
      {"learned positions missing",
       [](auto& c) { c.config["static_position_embeddings"] = false; },
       {"model.encoder.embed_positions.weight", "missing"}},
      {"untied projection missing",
       [](auto& c) { c.config["tie_word_embeddings"] = false; },
       {"lm_head.weight", "missing"}},
  });
}

TEST(Marian, RefusesBrokenSettings) {
  expect_refused({
      {"no d_model", [](auto& c) { c.config.erase("d_model"); }, {"config.json", "\"d_model\" is missing"}},
      {"d_model a text",
       [](auto& c) { c.config["d_model"] = "8"; },
       {"config.json", "\"d_model\"", "expected an integer"}},
      {"negative layers",
       [](auto& c) { c.config["decoder_layers"] = -1; },
       {"\"decoder_layers\" is \"-1\"", "from 1 to 256"}},
      {"heads",
       [](auto& c) { c.config["encoder_attention_heads"] = 3; },
       {"encoder_attention_heads", "3", "divisor of d_model 8"}},
      {"activation",
       [](auto& c) { c.config["activation_function"] = "elu"; },
       {"activation_function", "elu", "relu, gelu"}},
      {"no activation", [](auto& c) { c.config.erase("activation_function"); }, {"activation_function", "missing"}},
      {"many positions",
       [](auto& c) { c.config["max_position_embeddings"] = 4'000'000'000u; },
       {"max_position_embeddings"}},
      {"flag a number",
       [](auto& c) { c.config["scale_embedding"] = 1; },
       {"scale_embedding", "expected true or false"}},
      {"end token out of range",
       [](auto& c) { c.config["eos_token_id"] = 6000; },
       {"eos_token_id", "6000", "from 0 to 5999"}},
      {"no end token", [](auto& c) { c.config.erase("eos_token_id"); }, {"eos_token_id", "missing"}},
      {"forced end differs",
       [](auto& c) { c.config["forced_eos_token_id"] = 5; },
       {"forced_eos_token_id", "5", "end token 0"}},
      {"banned token out of range",
       [](auto& c) { c.config["bad_words_ids"] = {{6000}}; },
       {"bad_words_ids", "below 6000"}},
      {"minimum above positions",
       [](auto& c) {
         c.config.erase("max_length");
         c.config["min_length"] = 17;
       },
       {"config.json: setting \"min_length\" is 17, but the decoder has 16 positions: make it smaller"}},
      {"minimum above new tokens",
       [](auto& c) {
         c.config.update({{"min_length", 9}, {"max_new_tokens", 5}});
       },
       {"config.json: setting \"min_length\" is 9, but ",
        "config.json: setting \"max_new_tokens\" is 5: transformers would warn of it and stop after 5 tokens; make the "
        "first smaller or the second larger"}},
      {"minimum of new tokens",
       [](auto& c) {
         c.folder.write("generation_config.json", R"({"eos_token_id": 0, "min_new_tokens": 8, "max_length": 9})");
       },
       {"generation_config.json: setting \"min_new_tokens\" is 8, but ",
        "generation_config.json: setting \"max_length\" is 9: transformers would warn of it and stop after 8 tokens"}},
      {"another model",
       [](auto& c) { c.config["model_type"] = "led"; },
       {"config.json", "led", "not supported", "marian", "nn_transformer"}},
      {"no model type", [](auto& c) { c.config.erase("model_type"); }, {"model_type", "missing", "marian"}},
      {"config is a list", [](auto& c) { c.config = json::array(); }, {"config.json", "expected an object"}},
  });
}

TEST(Marian, RefusesBrokenTokenizerFiles) {
  const auto remove = [](const char* name) {
    return [name](MarianFolder& c) { std::filesystem::remove(c.folder / name); };
  };
  const auto write = [](const char* name, const std::string& text) {
    return [name, text](MarianFolder& c) { c.folder.write(name, text); };
  };
  expect_refused({
      {"no source.spm", remove("source.spm"), {"source.spm", "missing", "copy it"}},
      {"no target.spm", remove("target.spm"), {"target.spm", "missing"}},
      {"no vocab.json", remove("vocab.json"), {"vocab.json", "missing"}},
      {"spm is a pointer",
       write("source.spm", "version https://git-lfs.github.com/spec/v1\n"),
       {"source.spm", "Git LFS pointer"}},
      {"spm is a page", write("target.spm", "<!DOCTYPE html>"), {"target.spm", "web page"}},
      {"vocabulary is a pointer",
       write("vocab.json", "version https://git-lfs.github.com/spec/v1\n"),
       {"vocab.json", "Git LFS"}},
      {"vocabulary is broken", write("vocab.json", "{\"a\": 1"), {"vocab.json", "not valid JSON"}},
      {"id beyond the embedding", write("vocab.json", "{\"a\": 6000}"), {"vocab.json", "\"a\"", "6000"}},
      {"id used twice", write("vocab.json", "{\"a\": 1, \"b\": 1}"), {"vocab.json", "same id 1"}},
      {"text used twice", write("vocab.json", "{\"a\": 1, \"a\": 2}"), {"vocab.json", "\"a\" twice"}},
      {"id a text", write("vocab.json", "{\"a\": \"1\"}"), {"vocab.json", "\"a\"", "integer"}},
      {"no unknown token", write("vocab.json", "{\"a\": 1}"), {"vocab.json", "<unk>"}},
      {"tokenizer_config is broken", write("tokenizer_config.json", "["), {"tokenizer_config.json", "not valid JSON"}},
      {"generation_config is a page",
       write("generation_config.json", "<html>"),
       {"generation_config.json", "web page"}},
      {"no target_vocab.json",
       write("tokenizer_config.json", "{\"separate_vocabs\": true}"),
       {"target_vocab.json", "missing"}},
  });
}

// The ids of two entries of vocab.json change places.
void swap_entries(const MarianFolder& checkpoint, const char* first, const char* second) {
  std::ifstream stream(checkpoint.folder / "vocab.json");
  json ids = json::parse(stream);
  std::swap(ids.at(first), ids.at(second));
  checkpoint.folder.write("vocab.json", ids.dump());
}

TEST(Marian, RefusesAnotherCheckpointsSpecialIds) {
  expect_refused(
      {{"end",
        [](auto& c) { swap_entries(c, "</s>", "s"); },
        {"/vocab.json: the end token \"</s>\" has the id 4, but ",
         "/config.json: setting \"eos_token_id\" is 0, which is \"s\"; expected the same id in both: copy both files "
         "from where the checkpoint came from"}},
       {"end of generation_config.json",
        [](auto& c) {
          c.config["forced_eos_token_id"] = 3;
          c.folder.write("generation_config.json", R"({"eos_token_id": [3, 4], "max_length": 9})");
        },
        {"the end token \"</s>\" has the id 0, but ",
         "/generation_config.json: setting \"eos_token_id\" is 3, which"}}});
  MarianFolder checkpoint;
  checkpoint.folder.write("generation_config.json", R"({"eos_token_id": [3, 0], "max_length": 9})");
  EXPECT_EQ(checkpoint.load().generation.end_id, 3u) << "one of two ends";
}

TEST(Marian, WarnsOfAnotherCheckpointsPadding) {
  MarianFolder checkpoint;
  swap_entries(checkpoint, "<pad>", "s");
  const std::vector<std::string> warnings = checkpoint.load().warnings;
  const std::string folder = checkpoint.folder.path().string();
  EXPECT_EQ(
      std::ranges::count(warnings, folder + "/vocab.json: the padding token \"<pad>\" has the id 4, but " + folder +
                                       "/config.json: setting \"pad_token_id\" is 5999, which is \"s\"; if texts "
                                       "come out wrong, copy both files from where the checkpoint came from"),
      1)
      << warnings.size();
}

}  // namespace
}  // namespace goldcrest::converter
