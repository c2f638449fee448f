// SPDX-License-Identifier: Apache-2.0
// Settings that a tutorial's checkpoint needs, and settings that do not fit it: each message with its exact text.
#include <gtest/gtest.h>

#include "convert/support/tutorial_folder.h"
#include "dialects/config_template.h"
#include "sources/values/json_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

using namespace test;

std::string refusal(const TutorialFolder& checkpoint) {
  try {
    checkpoint.load();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(TutorialRefusals, AskForWhatNoTensorTells) {
  for (const auto& [kind, model_type] : kTutorials) {
    TutorialFolder checkpoint(kind);
    const std::string config = (checkpoint.folder / "config.json").string();
    checkpoint.config = nlohmann::json::object();
    EXPECT_EQ(refusal(checkpoint),
              config +
                  ": 3 settings are not set:\n  \"nhead\" is missing; expected the number of attention heads, a "
                  "divisor of d_model\n  \"bos_token\" is missing; expected a text of the vocabulary or a token id\n  "
                  "\"eos_token\" is missing; expected a text of the vocabulary or a token id");
    checkpoint.config = {{"bos_token", 0}, {"eos_token", 1}};
    EXPECT_EQ(refusal(checkpoint), config +
                                       ": setting \"nhead\" is missing; expected the number of attention heads, a "
                                       "divisor of d_model");
    checkpoint.config["nhead"] = 3;
    EXPECT_EQ(refusal(checkpoint), config + ": setting \"nhead\" is 3, expected a divisor of d_model 8");
    std::filesystem::remove(config);
    try {
      load_checkpoint(checkpoint.folder.path(), {});
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(
          error.what(),
          config + ": is missing; it tells what the weights of this model cannot. `goldcrest-convert --print-config " +
              checkpoint.folder.path().string() + "` begins one (converter/dialects/TUTORIALS.md lists its settings)");
    }
  }
}

TEST(TutorialRefusals, AnotherModelType) {
  TutorialFolder annotated(TutorialKind::kAnnotated);
  annotated.config["model_type"] = "nn_transformer";
  EXPECT_EQ(refusal(annotated), (annotated.folder / "config.json").string() +
                                    ": setting \"model_type\" is \"nn_transformer\", but this is a model of the "
                                    "Annotated Transformer: expected \"annotated_transformer\"");
  TutorialFolder trevett(TutorialKind::kTrevett);
  trevett.config["model_type"] = "seq2seq_transformer";
  EXPECT_EQ(refusal(trevett),
            (trevett.folder / "config.json").string() +
                ": setting \"model_type\" is \"seq2seq_transformer\", but this is a Transformer of Ben "
                "Trevett's tutorial 6: expected \"trevett_transformer\"");
}

// Before this family had a dialect, such a checkpoint was read as nn_transformer; that must still work.
TEST(TutorialRefusals, ASeq2SeqTransformerMayBeAnNnTransformer) {
  TutorialFolder checkpoint(TutorialKind::kSeq2Seq);
  const ModelSpec expected = checkpoint.load();
  checkpoint.config.update({{"model_type", "nn_transformer"},
                            {"activation", "relu"},
                            {"norm_first", false},
                            {"scale_embedding", true},
                            {"position_encoding", "sinusoidal_interleaved"},
                            {"max_positions", 10},
                            {"add_source_eos", true},
                            {"add_source_bos", true},
                            {"tensors",
                             {{"source_embedding", "src_tok_emb.embedding.weight"},
                              {"target_embedding", "tgt_tok_emb.embedding.weight"},
                              {"output_projection", "generator"}}}});
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
  EXPECT_EQ(spec.dialect, "nn_transformer");
  EXPECT_EQ(spec.encoder.positions.values, expected.encoder.positions.values);
  EXPECT_EQ(spec.decoder.layers[0].self_attention->key.weight->values,
            expected.decoder.layers[0].self_attention->key.weight->values);
}

TEST(TutorialRefusals, TensorsByTheirOwnNames) {
  TutorialFolder annotated(TutorialKind::kAnnotated);
  const std::string weights = (annotated.folder / "model.pt").string();
  annotated.tensors.erase("encoder.layers.1.self_attn.linears.2.weight");
  annotated.tensors.erase("decoder.layers.0.sublayer.2.norm.b_2");
  EXPECT_EQ(refusal(annotated), weights +
                                    ": tensor \"encoder.layers.1.self_attn.linears.2.weight\" is missing, and 1 more: "
                                    "\"decoder.layers.0.sublayer.2.norm.b_2\"; the nearest names that it has: "
                                    "\"encoder.layers.0.self_attn.linears.2.weight\", "
                                    "\"decoder.layers.0.sublayer.0.norm.b_2\"");
  TutorialFolder unfinished(TutorialKind::kAnnotated);
  for (const char* name : {"encoder.norm.a_2", "encoder.norm.b_2"}) unfinished.tensors.erase(name);
  EXPECT_EQ(refusal(unfinished), (unfinished.folder / "config.json").string() +
                                     ": setting \"final_norm\" is true, but the tensors have no \"encoder.norm.a_2\"");
  TutorialFolder trevett(TutorialKind::kTrevett);
  trevett.add("decoder.layers.0.encoder_attention.fc_k.weight", {8, 7});
  EXPECT_EQ(refusal(trevett), (trevett.folder / "model.pt").string() +
                                  ": tensor \"decoder.layers.0.encoder_attention.fc_k.weight\" has shape [8, 7], "
                                  "expected [8, 8]");
}

TEST(TutorialRefusals, PositionsThatAreNotThere) {
  TutorialFolder trevett(TutorialKind::kTrevett);
  trevett.config["max_positions"] = 11;
  EXPECT_EQ(refusal(trevett), (trevett.folder / "model.pt").string() +
                                  ": tensor \"encoder.pos_embedding.weight\" has 10 rows, expected at least "
                                  "position_offset 0 + max_positions 11");
  TutorialFolder annotated(TutorialKind::kAnnotated);
  annotated.tensors["src_embed.1.pe"].values[3] = 3;
  EXPECT_EQ(refusal(annotated), (annotated.folder / "model.pt").string() +
                                    ": tensor \"src_embed.1.pe\" differs by up to 2 from the table that " +
                                    (annotated.folder / "config.json").string() +
                                    ": setting \"position_encoding\" describes; correct the setting, or use \"stored\" "
                                    "and name this tensor in tensors.positions");
  for (const char* name : {"src_embed.1.pe", "tgt_embed.1.pe"}) annotated.tensors.erase(name);
  EXPECT_EQ(refusal(annotated), (annotated.folder / "config.json").string() +
                                    ": setting \"max_positions\" is missing; expected the most positions that a text "
                                    "may have");
}

constexpr const char* kAnnotatedConfig = R"({
 "model_type": "annotated_transformer",
 "d_model": 8,
 "dim_feedforward": 12,
 "num_encoder_layers": 2,
 "num_decoder_layers": 1,
 "nhead": null,
 "nhead?": "one of 1, 2, 4, 8 (a divisor of d_model 8): nhead of the nn.Transformer",
 "activation": "relu",
 "activation?": "the tutorial's; no tensor tells it",
 "norm_first": true,
 "norm_first?": "the tutorial's; no tensor tells it",
 "layer_norm_eps": 1e-06,
 "layer_norm_eps?": "the tutorial's; no tensor tells it",
 "scale_embedding": true,
 "scale_embedding?": "the tutorial's; no tensor tells it",
 "position_encoding": "sinusoidal_interleaved",
 "position_encoding?": "the tutorial's; no tensor tells it",
 "max_positions": 10,
 "max_positions?": "the most positions that a text may have: the rows of \"src_embed.1.pe\"; fewer make a smaller file",
 "source_vocab_size": 9,
 "target_vocab_size": 7,
 "source_vocabulary": null,
 "source_vocabulary?": "the texts in the order of their ids, or a file next to config.json (.json, .spm, .model, or one text a line); remove it and the unit to use token ids only",
 "source_unit": null,
 "source_unit?": "\"word\", \"character\", \"subword\" or \"sentencepiece\"",
 "target_vocabulary": null,
 "target_vocabulary?": "the texts in the order of their ids, or a file next to config.json (.json, .spm, .model, or one text a line); remove it and the unit to use token ids only",
 "target_unit": null,
 "target_unit?": "\"word\", \"character\", \"subword\" or \"sentencepiece\"",
 "bos_token": null,
 "bos_token?": "the start token, a text of the vocabulary or its id; the tutorial's is \"<s>\", id 0",
 "eos_token": null,
 "eos_token?": "the end token, a text of the vocabulary or its id; the tutorial's is \"</s>\", id 1",
 "pad_token": null,
 "pad_token?": "the padding token, a text or its id; remove it if there is none; the tutorial's is \"<blank>\", id 2",
 "unk_token": null,
 "unk_token?": "the unknown token, a text or its id; remove it if there is none; the tutorial's is \"<unk>\", id 3",
 "add_source_bos": true,
 "add_source_bos?": "the tutorial's; no tensor tells it",
 "add_source_eos": true,
 "add_source_eos?": "the tutorial's; no tensor tells it"
})";

TEST(TutorialRefusals, ThePrintedConfigAsksForTheRest) {
  for (const auto& [kind, model_type] : kTutorials) {
    TutorialFolder checkpoint(kind);
    const ModelSpec by_hand = checkpoint.load();
    const auto printed = nlohmann::ordered_json::parse(write_json(config_template(checkpoint.folder / "model.pt")));
    if (kind == TutorialKind::kAnnotated) {
      EXPECT_EQ(printed.dump(1), kAnnotatedConfig);
    }
    EXPECT_EQ(printed.at("model_type"), model_type);
    const std::map<std::string, nlohmann::json> answers = {
        {"nhead", 2}, {"bos_token", 0}, {"eos_token", 1}, {"pad_token", 2}, {"unk_token", 3}};
    checkpoint.config = nlohmann::json::object();
    for (const auto& [key, value] : printed.items()) {
      if (!value.is_null()) {
        checkpoint.config[key] = nlohmann::json::parse(value.dump());
      } else if (answers.contains(key)) {
        checkpoint.config[key] = answers.at(key);
      } else {
        EXPECT_TRUE(key.ends_with("_vocabulary") || key.ends_with("_unit")) << key;
      }
    }
    const ModelSpec spec = checkpoint.load();
    EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
    EXPECT_EQ(spec.projection.weight->values, by_hand.projection.weight->values);
    EXPECT_EQ(spec.encoder.positions.values, by_hand.encoder.positions.values);
    EXPECT_EQ(spec.encoder.layers[1].feed_forward.norm.gamma, by_hand.encoder.layers[1].feed_forward.norm.gamma);
    EXPECT_EQ(spec.encoder.layers[1].feed_forward.norm.epsilon, by_hand.encoder.layers[1].feed_forward.norm.epsilon);
  }
}

TEST(TutorialRefusals, AShapeHasTheSettingsOfTheTutorial) {
  for (const auto& [kind, model_type] : kTutorials) {
    const test::TemporaryFolder folder;
    nlohmann::json config = {{"model_type", model_type},
                             {"nhead", 2},
                             {"d_model", 8},
                             {"dim_feedforward", 12},
                             {"bos_token", 0},
                             {"eos_token", 1},
                             {"num_encoder_layers", 2},
                             {"max_positions", 10},
                             {"num_decoder_layers", 1},
                             {"source_vocab_size", 9},
                             {"target_vocab_size", 7}};
    folder.write("config.json", config.dump());
    const ModelSpec shape = load_shape(folder.path(), 1 << 20);
    EXPECT_TRUE(shape.warnings.empty()) << shape.warnings.front();
    EXPECT_EQ(shape.dialect, model_type);
    EXPECT_EQ(shape.encoder.pre_norm, kind == TutorialKind::kAnnotated);
    EXPECT_EQ(shape.decoder.final_norm.has_value(), kind != TutorialKind::kTrevett);
  }
}

}  // namespace
}  // namespace goldcrest::converter
