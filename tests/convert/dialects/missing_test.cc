// SPDX-License-Identifier: Apache-2.0
// One message names everything that a checkpoint lacks, and proposes similar names.
#include <gtest/gtest.h>
#include "convert/support/marian_folder.h"
#include "convert/support/nn_folder.h"
#include "host/wording.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter { namespace {
using namespace test;

template <typename Folder> std::string load_error(Folder& checkpoint) {
  return error_of([&] { checkpoint.load(); });
}

TEST(Missing, SettingsOfAnNnTransformer) {
  NnFolder checkpoint;
  checkpoint.config["scale_embeding"] = checkpoint.config["scale_embedding"];
  checkpoint.config.erase("scale_embedding");
  const std::string config = (checkpoint.folder / "config.json").string();
  EXPECT_EQ(load_error(checkpoint),
      config +
          ": setting \"scale_embedding\" is missing; expected true if embeddings are multiplied by sqrt(d_model), else "
          "false; \"scale_embeding\" is not known; did you mean \"scale_embedding\"?");

  for (const char* key : {"nhead", "max_positions", "eos_token", "source_unit"}) checkpoint.config.erase(key);
  checkpoint.config["encoder_nhead"] = 2;
  checkpoint.config["tensors"].erase("output_projection");
  checkpoint.config["tensors"]["output_projektion"] = "head";
  EXPECT_EQ(load_error(checkpoint),
      config +
          ": 6 settings are not set:\n  \"nhead\" is missing; expected the number of attention heads, a divisor of "
          "d_model\n  \"scale_embedding\" is missing; expected true if embeddings are multiplied by sqrt(d_model), "
          "else false\n  \"max_positions\" is missing; expected the most positions that a text may have\n  "
          "\"source_unit\" is missing; expected \"word\", \"character\", \"subword\" or \"sentencepiece\"\n  "
          "\"eos_token\" is missing; expected a text of the vocabulary or a token id\n  \"tensors.output_projection\" "
          "is missing; expected the name of the last linear layer, or \"tied_output_projection\": true\n  "
          "\"scale_embeding\" is not known; did you mean \"scale_embedding\"?\n  \"output_projektion\" is not known; "
          "did you mean \"output_projection\"?");
}

TEST(Missing, ANullWithANoteIsAnOpenQuestion) {
  NnFolder checkpoint;
  checkpoint.config["nhead"] = nullptr;
  checkpoint.config["nhead?"] = "one of 1, 2, 4, 8";
  const std::string config = (checkpoint.folder / "config.json").string();
  EXPECT_EQ(load_error(checkpoint), config + ": setting \"nhead\" is null; expected one of 1, 2, 4, 8");
  checkpoint.config["pad_token"] = nullptr;
  checkpoint.config["pad_token?"] = "or remove\nit";
  EXPECT_EQ(load_error(checkpoint), config +
                                        ": 2 settings are not set:\n  \"nhead\" is null; expected one of 1, 2, 4, 8\n  "
                                        "\"pad_token\" is null; expected or remove it");
  checkpoint.config.update({{"nhead", 2}, {"pad_token", "<pad>"}});
  EXPECT_EQ(load_error(checkpoint), "no error");
  EXPECT_TRUE(checkpoint.load().warnings.empty());
}

TEST(Missing, SettingsOfMarian) {
  MarianFolder checkpoint;
  checkpoint.config.erase("d_model");
  checkpoint.config.erase("eos_token_id");
  checkpoint.config["encoder_fn_dim"] = checkpoint.config["encoder_ffn_dim"];
  checkpoint.config.erase("encoder_ffn_dim");
  EXPECT_EQ(load_error(checkpoint),
      (checkpoint.folder / "config.json").string() +
          ": 3 settings are not set:\n  \"d_model\" is missing; expected an integer\n  \"encoder_ffn_dim\" is missing; "
          "expected an integer\n  \"eos_token_id\" is missing; expected a token id\n  \"encoder_fn_dim\" is not known; "
          "did you mean \"encoder_ffn_dim\"?");
}

TEST(Missing, UnknownSettingsAreWarnedOfWithAGuess) {
  NnFolder checkpoint;
  checkpoint.config.update({{"beam_sise", 4}, {"something_else_entirely", 4}});
  checkpoint.config["tensors"]["sauce_positions"] = "x";
  const std::string config = (checkpoint.folder / "config.json").string();
  const std::vector<std::string> warnings = checkpoint.load().warnings;
  EXPECT_EQ(warnings, (std::vector<std::string>{config + ": setting \"tensors\": setting \"sauce_positions\" is not "
                                                         "known and was ignored; did you mean \"source_positions\"?",
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
  EXPECT_EQ(load_error(checkpoint), weights +
                                        ": tensor \"transformer.encoder.layers.1.linear2.bias\" is missing; the "
                                        "nearest names that it has: \"transformer.encoder.layers.0.linear2.bias\"");
  checkpoint.tensors.erase("transformer.decoder.layers.0.multihead_attn.in_proj_weight");
  checkpoint.tensors.erase("transformer.decoder.layers.0.multihead_attn.in_proj_bias");
  checkpoint.tensors.erase("head.weight");
  EXPECT_EQ(
      load_error(checkpoint), weights +
                                  ": tensor \"transformer.encoder.layers.1.linear2.bias\" is missing, and 3 more: "
                                  "\"transformer.decoder.layers.0.multihead_attn.in_proj_weight\", "
                                  "\"transformer.decoder.layers.0.multihead_attn.in_proj_bias\", \"head.weight\"; the "
                                  "nearest names that it has: \"transformer.encoder.layers.0.linear2.bias\"");

  MarianFolder marian;
  for (auto& tensor : marian.tensors) tensor.name = tensor.name.substr(tensor.name.find('.') + 1);
  const std::string message = load_error(marian);
  EXPECT_TRUE(message.starts_with(
      (marian.folder / "model.safetensors").string() + ": tensor \"model.shared.weight\" is missing, and "))
      << message;
  EXPECT_TRUE(message.ends_with("\"shared.weight\", \"encoder.layers.0.self_attn.q_proj.weight\"")) << message;
  EXPECT_LT(message.size(), 1000u);
}

TEST(Misplaced, NamesMayHaveTheWrappersPrefixes) {
  NnFolder checkpoint;
  checkpoint.rename_all([](const std::string& name) { return "module._orig_mod." + name; });
  checkpoint.config["tensors"] = {{"source_embedding", "module._orig_mod.source.weight"},
      {"target_embedding", "target.weight"}, {"transformer", "module.transformer."},
      {"output_projection", "_orig_mod.head"}};
  EXPECT_EQ(load_error(checkpoint), "no error");
}

TEST(Misplaced, SideFilesMayLieBesideTheConfig) {
  MarianFolder checkpoint;
  const ModelSpec together = checkpoint.load();
  const TemporaryFolder weights;
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

TEST(Nearest, NamesTheLanguagesThatWereMeant) {
  const std::vector<std::string> codes = {
      "deu_Latn", "eng_Latn", "fra_Latn", "fur_Latn", "zho_Hans", "zho_Hant", "zsm_Latn"};
  EXPECT_EQ(guess_languages("eng_Latm", codes), "; did you mean \"eng_Latn\"?");
  EXPECT_EQ(guess_languages("zh", codes), "; did you mean \"zho_Hans\" or \"zho_Hant\"?");
  EXPECT_EQ(guess_languages("zho-Hant", codes), "; did you mean \"zho_Hant\" or \"zho_Hans\"?");
  EXPECT_EQ(guess_languages("fra_latn", codes), "; did you mean \"fra_Latn\"?");
  EXPECT_EQ(guess_languages("fua_Latn", codes), "; did you mean \"fra_Latn\" or \"fur_Latn\"?");
  EXPECT_EQ(guess_languages("fra", {"fr", "de"}), "; did you mean \"fr\"?");
  EXPECT_EQ(guess_languages("de_DE", {"fr", "de"}), "; did you mean \"de\"?");
  EXPECT_EQ(guess_languages("x", codes), "");
  EXPECT_EQ(guess_languages("tlh_Latn", {}), "");
}

// Tokenizers that do not belong to a checkpoint: which are refused, which give a warning, and which are right.

const std::filesystem::path kData = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "tests/data";

void copy_over(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
}

// Resizes the model to `vocab_size` rows; its files are still those of examples/models/enfr.
void resize(MarianFolder& checkpoint, uint32_t vocab_size) {
  checkpoint.shape.vocab_size = vocab_size;
  checkpoint.tensors = marian_tensors(checkpoint.shape, 1);
  checkpoint.config = marian_config(checkpoint.shape);
}

// A model with the tokenizers of OPUS-MT's English to Malagasy, whose one trainer served both directions.
struct OpusFolder : MarianFolder {
  OpusFolder() {
    resize(*this, 54688);
    for (const char* name : {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json"})
      copy_over(kData / "opus-mt-en-mg" / name, folder / name);
  }
  void swap() const {
    std::filesystem::rename(folder / "source.spm", folder / "other.spm");
    std::filesystem::rename(folder / "target.spm", folder / "source.spm");
    std::filesystem::rename(folder / "other.spm", folder / "target.spm");
  }
  std::string path(const char* name) const { return (folder / name).string(); }
};

TEST(TokenizerFit, TakesARealCheckpoint) {
  OpusFolder checkpoint;
  const ModelSpec spec = checkpoint.load();
  EXPECT_TRUE(spec.warnings.empty()) << spec.warnings.front();
}

TEST(TokenizerFit, RefusesSwappedModelsByTheLanguagesOfTheirTrainer) {
  OpusFolder checkpoint;
  checkpoint.swap();
  expect_error([&] { checkpoint.load(); },
      {checkpoint.path("source.spm") + ": was trained on \"mg\", and target.spm on \"en\", but the checkpoint "
                                       "translates from \"en\" to \"mg\": source.spm and target.spm are swapped"});
  // If the languages are others, or none are given, nothing is known.
  checkpoint.folder.write("tokenizer_config.json", R"({"source_lang": "eng", "target_lang": "mlg"})");
  EXPECT_TRUE(checkpoint.load().warnings.empty());
  std::filesystem::remove(checkpoint.folder / "tokenizer_config.json");
  EXPECT_TRUE(checkpoint.load().warnings.empty());
}

// Returns a vocabulary of only the model's pieces.
std::string vocabulary_of(const std::filesystem::path& model, uint32_t* n) {
  nlohmann::json vocabulary = {{"</s>", 0}, {"<unk>", 1}};
  uint32_t id = 2;
  for (const Piece& piece : read_sentencepiece_model(model).pieces)
    if (piece.type == PieceType::kNormal) vocabulary[piece.text] = id++;
  vocabulary["<pad>"] = id++;
  *n = id;
  return vocabulary.dump();
}

TEST(TokenizerFit, RefusesSwappedModelsBySeparateVocabularies) {
  OpusFolder checkpoint;
  uint32_t source_size = 0, target_size = 0;
  const std::string source = vocabulary_of(checkpoint.folder / "source.spm", &source_size),
                    target = vocabulary_of(checkpoint.folder / "target.spm", &target_size);
  ASSERT_EQ(source_size, target_size);
  resize(checkpoint, source_size);
  checkpoint.config["share_encoder_decoder_embeddings"] = false;
  checkpoint.tensor("model.shared.weight").name = "model.encoder.embed_tokens.weight";
  checkpoint.add("model.decoder.embed_tokens.weight", {target_size, 8}, 0.5f);
  checkpoint.folder.write("vocab.json", source);
  checkpoint.folder.write("target_vocab.json", target);
  checkpoint.folder.write("tokenizer_config.json", R"({"separate_vocabs": true})");
  EXPECT_TRUE(checkpoint.load().warnings.empty());
  checkpoint.swap();
  expect_error([&] { checkpoint.load(); },
      {checkpoint.path("source.spm") + ": of its pieces and those of target.spm, 18300 of 64000 are in " +
          checkpoint.path("vocab.json") +
          " and target_vocab.json, and 63998 the other way round: source.spm and target.spm are swapped"});
}

// Writes a vocabulary of `n` entries: pieces of a model, then others.
void write_vocabulary(MarianFolder& checkpoint, uint32_t n, uint32_t* others) {
  const std::filesystem::path model = kData / "unigram_rules.model";
  for (const char* name : {"source.spm", "target.spm"}) copy_over(model, checkpoint.folder / name);
  nlohmann::json vocabulary = nlohmann::json::parse(vocabulary_of(model, others));
  uint32_t id = vocabulary["<pad>"];
  for (*others = 0; id < n - 1; ++*others) vocabulary["entry " + std::to_string(*others)] = id++;
  vocabulary["<pad>"] = n - 1;
  checkpoint.folder.write("vocab.json", vocabulary.dump());
  resize(checkpoint, n);
}

TEST(TokenizerFit, EntriesOfAVocabularyArePieces) {
  MarianFolder checkpoint;
  uint32_t others = 0;
  write_vocabulary(checkpoint, 700, &others);
  EXPECT_TRUE(checkpoint.load().warnings.empty());
  const std::string vocabulary = (checkpoint.folder / "vocab.json").string();
  write_vocabulary(checkpoint, 900, &others);
  const std::vector<std::string> warnings = checkpoint.load().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0],
      vocabulary + ": " + std::to_string(others) +
          " of its 897 entries are not pieces of source.spm or target.spm; do they belong to different models?");
  write_vocabulary(checkpoint, 1500, &others);
  expect_error([&] { checkpoint.load(); },
      {vocabulary + ": " + std::to_string(others) +
          " of its 1497 entries are not pieces of source.spm or target.spm: they belong to different models"});
}

TEST(TokenizerFit, LanguageCodesAreNoPieces) {
  MarianFolder checkpoint;
  uint32_t others = 0;
  write_vocabulary(checkpoint, 1500, &others);
  std::string text = checkpoint.folder.read("vocab.json");
  for (size_t at; (at = text.find("\"entry ")) != text.npos;) {
    text.replace(at, 7, "\">>");
    text.insert(text.find('"', at + 1), "<<");
  }
  checkpoint.folder.write("vocab.json", text);
  EXPECT_TRUE(checkpoint.load().warnings.empty());
}

TEST(TokenizerFit, MostIdsHaveAText) {
  MarianFolder checkpoint;
  resize(checkpoint, 11000);
  checkpoint.config["pad_token_id"] = 5999;
  const std::string vocabulary = (checkpoint.folder / "vocab.json").string();
  EXPECT_EQ(checkpoint.load().warnings, std::vector<std::string>{vocabulary + ": 5000 of 11000 ids have no text"});
  resize(checkpoint, 13000);
  expect_error([&] { checkpoint.load(); }, {vocabulary + ": 7000 of 13000 ids have no text; it is another model's"});
}

TEST(TokenizerFit, HoldsForNnTransformerToo) {
  NnFolder checkpoint;
  copy_over(kData / "unigram_rules.model", checkpoint.folder / "pieces.model");
  checkpoint.config.update({{"source_vocabulary", {"<pad>", "<s>", "</s>", "<unk>", "no piece"}},
      {"source_sentencepiece", "pieces.model"}, {"source_unit", "sentencepiece"}});
  expect_error([&] { checkpoint.load(); }, {"config.json: setting \"source_vocabulary\": 1 of its 1 entries are "
                                            "not pieces of pieces.model: they belong to different models"});
}

// The hash tells checkpoints apart that differ only in a tokenizer.
TEST(CheckpointHash, CoversTheTokenizers) {
  MarianFolder checkpoint;
  const std::string before = checkpoint.load().checkpoint_sha256;
  EXPECT_EQ(checkpoint.load().checkpoint_sha256, before);
  for (const char* name : {"vocab.json", "source.spm", "target.spm"}) {
    const std::string bytes = checkpoint.folder.read(name);
    // Adds white space to JSON, and to a protobuf an unknown field, 100, without contents.
    const bool is_json = std::string(name) == "vocab.json";
    checkpoint.folder.write(name, bytes + (is_json ? std::string("\n") : std::string("\xa2\x06\0", 3)));
    EXPECT_NE(checkpoint.load().checkpoint_sha256, before) << name;
    checkpoint.folder.write(name, bytes);
  }
  EXPECT_EQ(checkpoint.load().checkpoint_sha256, before);

  NnFolder listed;  // its config.json lists the texts
  const std::string first = listed.load().checkpoint_sha256;
  listed.config["source_vocabulary"][4] = "two";
  EXPECT_NE(listed.load().checkpoint_sha256, first);
}
}}  // namespace goldcrest::converter
