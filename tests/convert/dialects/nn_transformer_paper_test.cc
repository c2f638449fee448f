// SPDX-License-Identifier: Apache-2.0
// nn.Transformer checkpoints of modules that are closer to the paper than PyTorch's: widths of heads, projections
// without biases, convolutions. Also the spellings of their names.
#include <gtest/gtest.h>

#include <cmath>

#include "convert/support/nn_folder.h"
#include "support/expect_error.h"

namespace goldcrest::converter {
namespace {

using test::NnFolder;

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
  EXPECT_EQ(spec.encoder.layers[0].feed_forward.in.bias,
            checkpoint.values("transformer.encoder.layers.0.linear1.bias"));
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
  test::expect_error([&] { checkpoint.load(); }, {"setting \"d_k\" is 4, but the tensors have 3 "
                                                  "(\"transformer.encoder.layers.0.self_attn.in_proj_weight[0:6]\")"});
  checkpoint.config.erase("d_k");
  checkpoint.config["nhead"] = 4;
  test::expect_error([&] { checkpoint.load(); },
                     {"setting \"nhead\" is 4, expected a divisor of the 6 rows of its heads "
                      "(\"transformer.encoder.layers.0.self_attn.in_proj_weight[0:6]\")"});
  NnFolder uneven;
  uneven.add("transformer.encoder.layers.1.self_attn.in_proj_weight", {20, 8});
  uneven.add("transformer.encoder.layers.1.self_attn.in_proj_bias", {20});
  test::expect_error([&] { uneven.load(); },
                     {"config.json: \"transformer.encoder.layers.1.self_attn.in_proj_weight[0:6]\": its heads "
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
  for (auto& [name, tensor] : checkpoint.tensors) {
    if (name.find(".linear") != std::string::npos && tensor.shape.size() == 2) tensor.shape.push_back(1);
  }
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.decoder.layers[0].feed_forward.in.weight->values.get(), inner);
  EXPECT_EQ(spec.encoder.layers[1].feed_forward.out.weight->rows, 8u);
  EXPECT_EQ(spec.encoder.layers[1].feed_forward.out.weight->columns, 12u);
  checkpoint.tensors["transformer.encoder.layers.1.linear2.weight"].shape = {8, 4, 3};
  test::expect_error([&] { checkpoint.load(); }, {"linear2.weight\" has shape [8, 4, 3], expected [8, 12]"});
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
  test::expect_error([&] { checkpoint.load(); }, {"\"bos_token\" is missing"});
  checkpoint.config["decoder_start_token"] = "<s>";
  EXPECT_EQ(checkpoint.load().generation.decoder_start_id, 2u);
  checkpoint.config["target_decoder_start_token"] = "<pad>";
  EXPECT_EQ(checkpoint.load().generation.decoder_start_id, 3u);
  checkpoint.config["bos_token"] = "<s>";
  checkpoint.config.erase("decoder_start_token");
  EXPECT_EQ(checkpoint.load().generation.decoder_start_id, 3u);
  checkpoint.config.erase("bos_token");
  checkpoint.config["add_source_bos"] = true;
  test::expect_error([&] { checkpoint.load(); }, {"\"bos_token\" is missing"});
  checkpoint.config["source_bos_token"] = "<s>";
  EXPECT_EQ(checkpoint.load().generation.source_prefix, std::vector<uint32_t>{1});
}

}  // namespace
}  // namespace goldcrest::converter
