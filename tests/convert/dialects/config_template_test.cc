// SPDX-License-Identifier: Apache-2.0
// The settings that --print-config finds in the tensors, and those that it leaves open.
#include "converter/dialects/config_template.h"
#include <gtest/gtest.h>
#include "convert/support/nn_folder.h"
#include "converter/dialects/positions.h"
#include "sources/values/json_text.h"
#include "support/expect_error.h"
#include "support/marian_native.h"

namespace goldcrest::converter { namespace {
using nlohmann::json;
using test::NnFolder;

// Returns the template for the folder's tensors, with each null replaced by the answer of the folder's own config.
json answered(NnFolder& checkpoint) {
  json config = json::parse(write_json(config_template(checkpoint.folder / "weights.pt")));
  for (auto& [key, value] : config.items())
    if (value.is_null()) value = checkpoint.config.at(key);
  return config;
}

// Returns the draft of the folder's tensors. The tensors are written even if they do not fit the config.
json draft_of(NnFolder& checkpoint) {
  test::error_of([&] { checkpoint.load(); });
  return json::parse(write_json(config_template(checkpoint.folder.path())));
}

// Both configurations give the same model.
void expect_same_model(NnFolder& checkpoint) {
  const ModelSpec by_hand = checkpoint.load();
  std::filesystem::remove(checkpoint.folder / "config.json");
  checkpoint.config = answered(checkpoint);
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.encoder.embedding->values, by_hand.encoder.embedding->values);
  EXPECT_EQ(spec.decoder.embedding->values, by_hand.decoder.embedding->values);
  EXPECT_EQ(spec.projection.weight->values, by_hand.projection.weight->values);
  EXPECT_EQ(spec.projection.bias, by_hand.projection.bias);
  EXPECT_EQ(spec.encoder.positions.values, by_hand.encoder.positions.values);
  EXPECT_EQ(spec.decoder.positions.values, by_hand.decoder.positions.values);
  EXPECT_EQ(spec.encoder.layers.size(), by_hand.encoder.layers.size());
  EXPECT_EQ(spec.decoder.layers.size(), by_hand.decoder.layers.size());
  EXPECT_EQ(spec.generation.end_id, by_hand.generation.end_id);
}

TEST(ConfigTemplate, AnsweredItGivesTheModelOfAConfigByHand) {
  NnFolder plain;
  expect_same_model(plain);
  for (const char* prefix : {"module.", "_orig_mod.", "module._orig_mod."}) {
    NnFolder wrapped;
    wrapped.rename_all([&](const std::string& name) { return prefix + name; });
    expect_same_model(wrapped);
  }
  NnFolder nested;
  nested.rename_all([](const std::string& name) { return "model." + name; });
  nested.config["tensors"] = {{"source_embedding", "model.source.weight"}, {"target_embedding", "model.target.weight"},
      {"output_projection", "model.head"}};
  expect_same_model(nested);
}

TEST(ConfigTemplate, FindsStoredPositions) {
  NnFolder learned;
  learned.add("pos_embedding.weight", {10, 8});
  learned.config["position_encoding"] = "learned";
  learned.config["tensors"]["positions"] = "pos_embedding.weight";
  expect_same_model(learned);
  EXPECT_EQ(learned.config.at("position_encoding"), "learned");

  NnFolder buffer;
  const Matrix table = sinusoid_table({false, true, 2, 10000}, 12, 8);
  buffer.tensors["positional.pe"] = {"positional.pe", {12, 1, 8}, table.values.get()};
  buffer.config.update({{"position_encoding", "sinusoidal_concatenated"}, {"position_denominator", "d_model-2"},
      {"position_offset", 2}, {"max_positions", 12}});
  expect_same_model(buffer);
  EXPECT_EQ(buffer.config.at("position_offset"), 2);
}

TEST(ConfigTemplate, NamesTheTablesThatMayBeOfPositions) {
  NnFolder checkpoint;
  checkpoint.add("pos_a.weight", {10, 8});
  checkpoint.add("pos_b.weight", {12, 8});
  json draft = draft_of(checkpoint);
  EXPECT_EQ(draft.at("position_encoding"), nullptr);
  const std::string asked = draft.at("position_encoding?");
  EXPECT_TRUE(asked.ends_with("it may be one of \"pos_a.weight\", \"pos_b.weight\"")) << asked;

  // If no name tells it, the draft lists each table without a role. A table with three sizes is not an embedding.
  NnFolder nameless;
  nameless.add("wpe", {1, 10, 8});
  const std::string choices = draft_of(nameless).at("position_encoding?");
  EXPECT_TRUE(choices.ends_with("it may be one of \"wpe\"")) << choices;

  NnFolder none;
  const std::string of_none = draft_of(none).at("position_encoding?");
  EXPECT_TRUE(of_none.ends_with("with the table's name as tensors.positions")) << of_none;
}

TEST(ConfigTemplate, TellsTheSidesOfPositionTablesApart) {
  for (const auto& [source, target] : {std::pair("src_pos_encoding", "tgt_pos_encoding"),
           std::pair("encoder.pos_enc.weight", "decoder.pos_enc.weight")}) {
    NnFolder checkpoint;
    checkpoint.add(source, {10, 8});
    checkpoint.add(target, {12, 8});
    checkpoint.config["position_encoding"] = "learned";
    checkpoint.config.erase("max_positions");
    checkpoint.config["tensors"].update({{"source_positions", source}, {"target_positions", target}});
    expect_same_model(checkpoint);
    EXPECT_EQ(checkpoint.config.at("encoder_max_positions"), 10);
    EXPECT_EQ(checkpoint.config.at("decoder_max_positions"), 12);
  }
}

// The draft of a checkpoint has everything that --shape asks for and that the tensors tell.
TEST(ConfigTemplate, HasTheSizesThatAShapeNeeds) {
  NnFolder checkpoint;
  checkpoint.add("pos_embedding.weight", {10, 8});
  checkpoint.config["position_encoding"] = "learned";
  checkpoint.config["tensors"]["positions"] = "pos_embedding.weight";
  expect_same_model(checkpoint);
  json& config = checkpoint.config;
  EXPECT_EQ(config.at("source_vocab_size"), checkpoint.tensors.at("source.weight").shape[0]);
  EXPECT_EQ(config.at("target_vocab_size"), checkpoint.tensors.at("target.weight").shape[0]);
  EXPECT_EQ(config.at("max_positions"), 10);
  for (const char* vocabulary : {"source_vocabulary", "target_vocabulary", "source_unit", "target_unit"})
    config.erase(vocabulary);
  for (const char* token : {"bos_token", "eos_token", "pad_token", "unk_token"}) config[token] = 0;
  const ModelSpec shape = load_shape(checkpoint.folder.write("shape.json", config.dump()), 1u << 20);
  EXPECT_EQ(shape.encoder.embedding->rows, config.at("source_vocab_size"));
  EXPECT_EQ(shape.encoder.positions.rows, 10u);
}

TEST(ConfigTemplate, TellsTablesApart) {
  NnFolder shared;
  shared.tensors.erase("source.weight");
  shared.tensors.erase("target.weight");
  shared.tensors.erase("head.weight");
  shared.tensors.erase("head.bias");
  shared.add("embedding.weight", {6, 8});
  shared.config["tensors"] = {{"source_embedding", "embedding.weight"}};
  shared.config.update({{"shared_embeddings", true}, {"tied_output_projection", true}});
  shared.config["source_vocabulary"] = shared.config["target_vocabulary"];
  expect_same_model(shared);

  // Only the number of the projection's rows tells the tables apart.
  NnFolder nameless;
  nameless.rename_all([](const std::string& name) {
    return name == "source.weight" ? "a.weight" : name == "target.weight" ? "b.weight" : name;
  });
  nameless.config["tensors"] = {
      {"source_embedding", "a.weight"}, {"target_embedding", "b.weight"}, {"output_projection", "head"}};
  expect_same_model(nameless);
  EXPECT_EQ(draft_of(nameless).at("tensors"), json({{"source_embedding", "a.weight"}, {"target_embedding", "b.weight"},
                                                  {"output_projection", "head"}, {"transformer", "transformer."}}));
  // If nothing tells them apart, the template names the choices.
  nameless.add("a.weight", {6, 8});
  nameless.config["source_vocabulary"] = nameless.config["target_vocabulary"];
  const json roles = draft_of(nameless).at("tensors");
  EXPECT_EQ(roles.at("source_embedding"), nullptr);
  EXPECT_EQ(roles.at("source_embedding?"), "one of \"a.weight\", \"b.weight\"");
}

TEST(ConfigTemplate, StacksMayBeModulesOfTheirOwn) {
  NnFolder checkpoint;
  checkpoint.rename_all([](const std::string& name) {
    return name.starts_with("transformer.") ? "transformer_" + name.substr(std::string("transformer.").size()) : name;
  });
  checkpoint.config["tensors"].update({{"encoder", "transformer_encoder."}, {"decoder", "transformer_decoder."}});
  expect_same_model(checkpoint);
}

TEST(ConfigTemplate, IsRefusedUntilItIsAnswered) {
  NnFolder checkpoint;
  checkpoint.load();
  const json answers = answered(checkpoint);
  checkpoint.config = answers;
  checkpoint.config["nhead"] = nullptr;
  const std::string config = (checkpoint.folder / "config.json").string();
  const auto error = [&] { return test::error_of([&] { checkpoint.load(); }); };
  EXPECT_EQ(error(), config +
                         ": setting \"nhead\" is null; expected one of 1, 2, 4, 8 (a divisor of d_model 8): nhead of "
                         "the nn.Transformer");
  checkpoint.config["norm_first"] = nullptr;
  EXPECT_EQ(error(),
      config +
          ": 2 settings are not set:\n  \"nhead\" is null; expected one of 1, 2, 4, 8 (a divisor of d_model 8): nhead "
          "of the nn.Transformer\n  \"norm_first\" is null; expected true or false; PyTorch's default is false");
  checkpoint.config = answers;
  EXPECT_EQ(error(), "no error");
}

TEST(ConfigTemplate, SaysWhereThereIsNoTransformer) {
  const auto error = [](const std::filesystem::path& path) { return test::error_of([&] { config_template(path); }); };
  const std::string file = std::string(GOLDCREST_SOURCE_DIR) + "/tests/data/torch/nested.pt";
  EXPECT_EQ(error(file),
      file +
          ": its tensors are 0 encoders and 0 decoders of nn.Transformer, expected one of each: names that end in "
          "\"layers.0.linear1.weight\", for the decoder next to \"layers.0.multihead_attn.in_proj_weight\"; it has "
          "\"weight\", \"transposed\", \"row\", \"half\", \"bfloat16\", \"double\", \"long\", \"empty\"");
  const std::string marian = std::string(GOLDCREST_SOURCE_DIR) + "/examples/models/enfr";
  EXPECT_EQ(error(marian),
      marian +
          "/model.safetensors: this is a Marian / OPUS-MT model of Hugging Face; goldcrest-convert converts it to a "
          ".gcst file, with the config.json, vocab.json, source.spm and target.spm of its repository");
  const test::TemporaryFolder folder;
  const test::NativeShape shape = {4, 4, 4, 2, 1, 1, true};
  const std::string native =
      folder.write("model.npz", test::npz_bytes(test::native_tensors(shape, 1), test::native_settings(shape))).string();
  EXPECT_EQ(error(native), native +
                               ": this is a Marian model in Marian's own format (.npz); goldcrest-convert converts it "
                               "to a .gcst file, with the vocabularies next to it");
}
}}  // namespace goldcrest::converter
