// SPDX-License-Identifier: Apache-2.0
// Messages about CTranslate2's models that Goldcrest does not compute, and about variables and settings that do not
// fit.
#include <gtest/gtest.h>

#include "convert/support/ctranslate2_folder.h"

namespace goldcrest::converter {
namespace {

using test::CTranslate2Folder;

TEST(CTranslate2Refusals, NamesWhatItDoesNotCompute) {
  struct Case {
    test::CTranslate2Variable variable;
    const char* what;
  };
  const auto tensor = [](const char* name) { return test::variable({name, {2}, {1, 1}}); };
  const auto number = [](const char* name, float value) { return test::scalar(name, test::kInt32, value); };
  const Case cases[] = {
      {tensor("encoder/layer_0/self_attention/relative_position_keys"), "relative positions are"},
      {tensor("encoder/layer_0/self_attention/relative_asymmetric_position_keys"), "relative positions are"},
      {number("encoder/layer_0/self_attention/relative_left_max_position", 4), "relative positions are"},
      {tensor("encoder/layer_0/self_attention/relative_attention_bias"), "relative attention biases are"},
      {number("decoder/layer_0/self_attention/relative_attention_max_distance", 9), "relative attention biases are"},
      {number("decoder/layer_0/self_attention/rotary_dim", 0), "rotary positions are"},
      {number("decoder/layer_0/self_attention/original_max_position_embeddings", 9), "rotary positions are"},
      {number("decoder/layer_0/self_attention/num_heads_kv", 1), "multi-query attention is"},
      {number("decoder/layer_0/self_attention/multi_query", 1), "multi-query attention is"},
      {number("decoder/layer_0/self_attention/head_dim", 4),
       "heads of another width than the model's over their number are"},
      {tensor("encoder/layer_0/ffn/linear_0_noact/weight"), "a gated feed-forward network is"},
      {tensor("encoder/layer_0/self_attention/q_norm/gamma"), "norms of queries, keys or values are"},
      {tensor("decoder/project_in/weight"), "projections around a stack are"},
      {test::scalar("decoder/scale_outputs", test::kFloat32, 0.5f), "a scale of the decoder's output is"},
      {test::scalar("decoder/final_logit_softcapping", test::kFloat32, 30), "capped logits are"},
      {number("decoder/sliding_window", 8), "a sliding window is"},
      {tensor("decoder/layer_0/shared_layer_norm/gamma"),
       "norms on both sides of a block, and parallel residuals, are"},
      {tensor("decoder/layer_0/external_pre_encoder_attention_layer_norm/gamma"),
       "norms on both sides of a block, and parallel residuals, are"},
      {tensor("encoder/layer_0/self_attention/linear_0/weight_zero"), "4-bit weights are"},
      {tensor("encoder/embeddings_1/weight"), "several words per position (source features) are"},
      {tensor("encoder/conv1/weight"), "convolutions are"},
      {number("decoder/layer_0/self_attention/merged_encoder_attention", 1),
       "self-attention and cross-attention in one are"},
      {test::scalar("decoder/layer_0/layer_scalar", test::kFloat32, 2), "scaled layers are"},
      {number("decoder/layer_norm/layer_norm_use_residual", 1), "RMS norms are"}};
  for (const Case& c : cases) {
    CTranslate2Folder checkpoint;
    checkpoint.model.set(c.variable);
    EXPECT_EQ(checkpoint.message(),
              format_text("model.bin: {} \"{}\": {} not supported", c.variable.shape.empty() ? "setting" : "tensor",
                          c.variable.name, c.what));
  }
}

TEST(CTranslate2Refusals, FlagsAndNumbers) {
  struct Case {
    const char* name;
    float value;
    const char* message;  // after the setting's name
  };
  const Case cases[] = {
      {"decoder/alibi", 1, " is set: ALiBi is not supported"},
      {"encoder/multi_query_attention", 1, " is set: multi-query attention is not supported"},
      {"encoder/activation", 5,
       " is 5 (tanh), expected 0 (ReLU), 1 (GELU by tanh), 2 (SiLU), 3 (GELU) or 4 (GELU by a sigmoid)"},
      {"decoder/activation", 6,
       " is 6 (a sigmoid), expected 0 (ReLU), 1 (GELU by tanh), 2 (SiLU), 3 (GELU) or 4 (GELU by a sigmoid)"},
      {"encoder/num_heads", 0, " is \"0\", expected an integer from 1 to 256"},
      {"encoder/num_heads", 3, " is 3, expected a number that divides the even width 8"},
      {"decoder/pre_norm", 2, " is \"2\", expected an integer from 0 to 1"},
      {"decoder/scale_embeddings", 2, " is \"2\", expected an integer from 0 to 1"},
      {"decoder/layer_0/self_attention/queries_scale", 1,
       " is 1, expected 0.5: other scales of queries are not supported"},
      {"decoder/temperature", 1, " is not known, and may change the graph"}};
  for (const Case& c : cases) {
    CTranslate2Folder checkpoint;
    checkpoint.model.set(test::scalar(c.name, test::kInt16, c.value));
    EXPECT_EQ(checkpoint.message(), format_text("model.bin: setting \"{}\"{}", c.name, c.message));
  }
}

TEST(CTranslate2Refusals, TensorsThatAreMissingOrNotKnown) {
  CTranslate2Folder rms;
  rms.model.remove("encoder/layer_1/ffn/layer_norm/beta");
  EXPECT_EQ(rms.message(),
            "model.bin: tensor \"encoder/layer_1/ffn/layer_norm/gamma\": has no beta next to it: RMS norms are not "
            "supported");
  CTranslate2Folder missing;
  missing.model.remove("encoder/layer_1/ffn/linear_1/weight");
  EXPECT_EQ(missing.message(),
            "model.bin: tensor \"encoder/layer_1/ffn/linear_1/weight\" is missing; the nearest names that it has: "
            "\"encoder/layer_0/ffn/linear_1/weight\"");
  CTranslate2Folder wide;
  wide.model.set(test::variable({"decoder/layer_0/attention/linear_1/bias", {8}, std::vector<float>(8)}));
  EXPECT_EQ(wide.message(),
            "model.bin: tensor \"decoder/layer_0/attention/linear_1/bias\" has shape [8], expected [16]");
  CTranslate2Folder infinite;
  infinite.model.set(test::variable({"decoder/projection/bias", {12}, std::vector<float>(12, INFINITY)}));
  EXPECT_EQ(infinite.message(),
            "model.bin: tensor \"decoder/projection/bias\" has the value inf at [0], expected finite numbers; the "
            "checkpoint is damaged or its training diverged");
  CTranslate2Folder strange;
  strange.model.set(test::variable({"decoder/layer_0/adapter/weight", {2}, {1, 2}}));
  EXPECT_EQ(strange.message(),
            "model.bin: tensor \"decoder/layer_0/adapter/weight\" is not known, and may change the graph");
  CTranslate2Folder narrow;
  narrow.model.set(test::variable({"decoder/embeddings/weight", {12}, std::vector<float>(12)}));
  EXPECT_EQ(narrow.message(),
            "model.bin: tensor \"encoder/embeddings_0/weight\" has shape [12] and the feed-forward network's [16, 8], "
            "expected [rows, 4 to 65536] and 1 to 65536 rows");
  CTranslate2Folder alone;
  for (const char* layer : {"0", "1"}) {
    for (const char* end : {"linear_0/weight", "linear_0/bias", "linear_1/weight", "linear_1/bias", "linear_2/weight",
                            "linear_2/bias", "layer_norm/gamma", "layer_norm/beta"})
      alone.model.remove(format_text("decoder/layer_{}/attention/{}", layer, end));
  }
  EXPECT_EQ(alone.message(),
            "model.bin: has no variable \"decoder/layer_0/attention/linear_0/weight\": this is not an encoder-decoder");
}

TEST(CTranslate2Refusals, SpecificationsAndRevisions) {
  CTranslate2Folder checkpoint;
  for (const uint32_t revision : {1u, 8u}) {
    checkpoint.model.revision = revision;
    EXPECT_EQ(checkpoint.message(),
              format_text("model.bin: is of revision {} of TransformerSpec, expected 2 to 7", revision));
  }
  checkpoint.model.revision = 7;
  checkpoint.model.spec = "OtherSpec";
  EXPECT_EQ(checkpoint.message(),
            "model.bin: is a model of the specification \"OtherSpec\", expected \"TransformerSpec\"");
  checkpoint.model.spec = "TransformerDecoderSpec";
  EXPECT_EQ(checkpoint.message(),
            "model.bin: this is a CTranslate2 model of a decoder-only language model; Goldcrest runs encoder-decoder "
            "Transformers; it cannot be converted");
  checkpoint.model.spec = "Wav2Vec2Spec";
  EXPECT_EQ(checkpoint.message(),
            "model.bin: this is a CTranslate2 model of speech without a decoder (Wav2Vec2); Goldcrest runs "
            "encoder-decoder Transformers; it cannot be converted");
  checkpoint.model.spec = "TransformerEncoderSpec";
  EXPECT_EQ(checkpoint.message(),
            "model.bin: this is a CTranslate2 model of an encoder without a decoder; Goldcrest runs encoder-decoder "
            "Transformers; it cannot be converted");
  // Version 1 has no specification; its names are OpenNMT-tf's.
  checkpoint.model.version = 1;
  checkpoint.model.variables = {test::variable({"transformer/decoder/LayerNorm/beta:0", {2}, {1, 1}})};
  EXPECT_EQ(checkpoint.message(),
            "model.bin: is of binary version 1, expected 2 to 6; convert the model again with a CTranslate2 of these");
}

TEST(CTranslate2Refusals, SettingsOfConfigJson) {
  struct Case {
    const char *key, *value, *message;
  };
  const Case cases[] = {
      {"decoder_start_token", "null", "read"},  // a model that starts from zero needs no start token
      {"layer_norm_epsilon", "0",
       "setting \"layer_norm_epsilon\" is \"0\", expected a number from 9.999999960041972e-13 to 1"},
      {"add_source_eos", "1", "setting \"add_source_eos\" is \"1\", expected true or false"},
      {"eos_token", "null", "setting \"eos_token\" is missing"},
      {"unk_token", "5", "setting \"unk_token\" is \"5\", expected a text"},
      {"quantization_type", "1", "setting \"quantization_type\" is not known, and may change the graph"},
      {"decoder_start_tokens", "1",
       "setting \"decoder_start_tokens\" is not known, and may change the graph; did you mean "
       "\"decoder_start_token\"?"}};
  for (const Case& c : cases) {
    CTranslate2Folder checkpoint;
    checkpoint.config[c.key] = nlohmann::json::parse(c.value);
    const std::string message = checkpoint.message();
    EXPECT_EQ(message, std::string(c.message) == "read" ? "read" : std::string("config.json: ") + c.message) << c.key;
  }
  CTranslate2Folder checkpoint;
  checkpoint.config = nullptr;
  EXPECT_EQ(checkpoint.message(),
            "config.json: is missing; it tells the model's special tokens: copy it from where the model came from");
  checkpoint.folder.write("config.json", "[1]");
  EXPECT_EQ(checkpoint.message(), "config.json: found a JSON array, expected an object");
}

}  // namespace
}  // namespace goldcrest::converter
