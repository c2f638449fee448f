// SPDX-License-Identifier: Apache-2.0
// One message names everything that a checkpoint lacks, and proposes similar names.
#include <gtest/gtest.h>

#include "convert/support/marian_folder.h"
#include "convert/support/nn_folder.h"
#include "sources/messages/nearest.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

using test::MarianFolder;
using test::NnFolder;

template <typename Folder>
std::string error_of(Folder& checkpoint) {
  try {
    checkpoint.load();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Missing, SettingsOfAnNnTransformer) {
  NnFolder checkpoint;
  checkpoint.config["scale_embeding"] = checkpoint.config["scale_embedding"];
  checkpoint.config.erase("scale_embedding");
  const std::string config = (checkpoint.folder / "config.json").string();
  EXPECT_EQ(error_of(checkpoint),
            config +
                ": setting \"scale_embedding\" is missing; expected true if embeddings are multiplied by "
                "sqrt(d_model), else false; \"scale_embeding\" is not known; did you mean \"scale_embedding\"?");

  for (const char* key : {"nhead", "max_positions", "eos_token", "source_unit"}) checkpoint.config.erase(key);
  checkpoint.config["encoder_nhead"] = 2;
  checkpoint.config["tensors"].erase("output_projection");
  checkpoint.config["tensors"]["output_projektion"] = "head";
  EXPECT_EQ(
      error_of(checkpoint),
      config +
          ": 6 settings are not set:\n  \"nhead\" is missing; expected the number of attention heads, a divisor "
          "of d_model\n  \"scale_embedding\" is missing; expected true if embeddings are multiplied by "
          "sqrt(d_model), else false\n  \"max_positions\" is missing; expected the most positions that a text "
          "may have\n  \"source_unit\" is missing; expected \"word\", \"character\", \"subword\" or "
          "\"sentencepiece\"\n  \"eos_token\" is missing; expected a text of the vocabulary or a token id\n  "
          "\"tensors.output_projection\" is missing; expected the name of the last linear layer, or "
          "\"tied_output_projection\": true\n  \"scale_embeding\" is not known; did you mean \"scale_embedding\"?\n  "
          "\"output_projektion\" is not known; did you mean \"output_projection\"?");
}

TEST(Missing, ANullWithANoteIsAnOpenQuestion) {
  NnFolder checkpoint;
  checkpoint.config["nhead"] = nullptr;
  checkpoint.config["nhead?"] = "one of 1, 2, 4, 8";
  const std::string config = (checkpoint.folder / "config.json").string();
  EXPECT_EQ(error_of(checkpoint), config + ": setting \"nhead\" is null; expected one of 1, 2, 4, 8");
  checkpoint.config["pad_token"] = nullptr;
  checkpoint.config["pad_token?"] = "or remove\nit";
  EXPECT_EQ(error_of(checkpoint), config +
                                      ": 2 settings are not set:\n  \"nhead\" is null; expected one of 1, 2, 4, 8\n  "
                                      "\"pad_token\" is null; expected or remove it");
  checkpoint.config["nhead"] = 2;
  checkpoint.config["pad_token"] = "<pad>";
  EXPECT_EQ(error_of(checkpoint), "");
  EXPECT_TRUE(checkpoint.load().warnings.empty());
}

TEST(Missing, SettingsOfMarian) {
  MarianFolder checkpoint;
  checkpoint.config.erase("d_model");
  checkpoint.config.erase("eos_token_id");
  checkpoint.config["encoder_fn_dim"] = checkpoint.config["encoder_ffn_dim"];
  checkpoint.config.erase("encoder_ffn_dim");
  EXPECT_EQ(
      error_of(checkpoint),
      (checkpoint.folder / "config.json").string() +
          ": 3 settings are not set:\n  \"d_model\" is missing; expected an integer\n  \"encoder_ffn_dim\" is "
          "missing; expected an integer\n  \"eos_token_id\" is missing; expected a token id\n  \"encoder_fn_dim\" "
          "is not known; did you mean \"encoder_ffn_dim\"?");
}

TEST(Missing, UnknownSettingsAreWarnedOfWithAGuess) {
  NnFolder checkpoint;
  checkpoint.config["beam_sise"] = 4;
  checkpoint.config["something_else_entirely"] = 4;
  checkpoint.config["tensors"]["sauce_positions"] = "x";
  const std::string config = (checkpoint.folder / "config.json").string();
  const std::vector<std::string> warnings = checkpoint.load().warnings;
  EXPECT_EQ(
      warnings,
      (std::vector<std::string>{
          config + ": setting \"tensors\": setting \"sauce_positions\" is not known and was ignored; did you mean "
                   "\"source_positions\"?",
          config + ": setting \"beam_sise\" is not known and was ignored; did you mean \"beam_size\"?",
          config + ": setting \"something_else_entirely\" is not known and was ignored"}));
}

TEST(Missing, KnownSettingsWithoutEffectAreNoMisspellings) {
  NnFolder checkpoint;
  for (const char* key : {"source_vocabulary", "target_vocabulary", "source_unit", "target_unit"})
    checkpoint.config.erase(key);
  checkpoint.config.update({{"decoder_start_token", 1}, {"bos_token", 1}, {"eos_token", 2}, {"pad_token", 3}});
  checkpoint.config["unk_token"] = 0;
  const std::string config = (checkpoint.folder / "config.json").string();
  EXPECT_EQ(checkpoint.load().warnings,
            (std::vector<std::string>{
                config + ": setting \"bos_token\" has no effect with the other settings and was ignored"}));
}

TEST(Missing, Tensors) {
  NnFolder checkpoint;
  const std::string weights = (checkpoint.folder / "weights.pt").string();
  checkpoint.tensors.erase("transformer.encoder.layers.1.linear2.bias");
  EXPECT_EQ(error_of(checkpoint), weights +
                                      ": tensor \"transformer.encoder.layers.1.linear2.bias\" is missing; the nearest "
                                      "names that it has: \"transformer.encoder.layers.0.linear2.bias\"");
  checkpoint.tensors.erase("transformer.decoder.layers.0.multihead_attn.in_proj_weight");
  checkpoint.tensors.erase("transformer.decoder.layers.0.multihead_attn.in_proj_bias");
  checkpoint.tensors.erase("head.weight");
  EXPECT_EQ(error_of(checkpoint),
            weights +
                ": tensor \"transformer.encoder.layers.1.linear2.bias\" is missing, and 3 more: "
                "\"transformer.decoder.layers.0.multihead_attn.in_proj_weight\", "
                "\"transformer.decoder.layers.0.multihead_attn.in_proj_bias\", \"head.weight\"; the nearest names that "
                "it has: \"transformer.encoder.layers.0.linear2.bias\"");

  MarianFolder marian;
  for (auto& tensor : marian.tensors) tensor.name = tensor.name.substr(tensor.name.find('.') + 1);
  const std::string message = error_of(marian);
  EXPECT_TRUE(message.starts_with((marian.folder / "model.safetensors").string() +
                                  ": tensor \"model.shared.weight\" is missing, and "))
      << message;
  EXPECT_TRUE(message.ends_with("\"shared.weight\", \"encoder.layers.0.self_attn.q_proj.weight\"")) << message;
  EXPECT_LT(message.size(), 1000u);
}

TEST(Misplaced, NamesMayHaveTheWrappersPrefixes) {
  NnFolder checkpoint;
  checkpoint.rename_all([](const std::string& name) { return "module._orig_mod." + name; });
  checkpoint.config["tensors"] = {{"source_embedding", "module._orig_mod.source.weight"},
                                  {"target_embedding", "target.weight"},
                                  {"transformer", "module.transformer."},
                                  {"output_projection", "_orig_mod.head"}};
  EXPECT_EQ(error_of(checkpoint), "");
}

TEST(Misplaced, SideFilesMayLieBesideTheConfig) {
  MarianFolder checkpoint;
  const ModelSpec together = checkpoint.load();
  const test::TemporaryFolder weights;
  std::filesystem::rename(checkpoint.folder / "model.safetensors", weights / "model.safetensors");
  for (const std::filesystem::path& config : {checkpoint.folder.path(), checkpoint.folder / "config.json"}) {
    const ModelSpec apart = load_checkpoint(weights.path(), {config, {}});
    ASSERT_TRUE(apart.source_tokenizer && together.source_tokenizer);
    EXPECT_EQ(apart.source_tokenizer->pieces.size(), together.source_tokenizer->pieces.size());
    EXPECT_EQ(apart.generation.suppressed_ids, together.generation.suppressed_ids);
    EXPECT_EQ(apart.warnings, together.warnings);
  }
}

TEST(Misplaced, TheTokenizerOfAnotherModelIsWarnedOf) {
  MarianFolder checkpoint;
  const std::filesystem::path data = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "tests/data";
  std::filesystem::copy_file(data / "unigram_rules.model", checkpoint.folder / "source.spm",
                             std::filesystem::copy_options::overwrite_existing);
  const std::vector<std::string> warnings = checkpoint.load().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0], (checkpoint.folder / "source.spm").string() + ": only 154 of its 600 pieces are in " +
                             (checkpoint.folder / "vocab.json").string() +
                             "; is it another model's, or are source.spm and target.spm swapped?");
}

TEST(Nearest, NamesWhatWasMeant) {
  const std::vector<std::string> names = {"nhead", "norm_first", "model.shared.weight"};
  EXPECT_EQ(nearest("n_head", names), "nhead");
  EXPECT_EQ(nearest("norm_frist", names), "norm_first");
  EXPECT_EQ(nearest("shared.weight", names), "model.shared.weight");
  EXPECT_EQ(nearest("a.model.shared.weight", names), "model.shared.weight");
  EXPECT_EQ(nearest("activation", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("nhead", {}), "");
  EXPECT_EQ(guess("n_head", names), "; did you mean \"nhead\"?");
}

}  // namespace
}  // namespace goldcrest::converter
