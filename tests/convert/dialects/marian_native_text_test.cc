// SPDX-License-Identifier: Apache-2.0
// The files in the folder of a Marian model: decoder settings, vocabularies, and the messages if they are missing.
#include <gtest/gtest.h>

#include "convert/support/native_folder.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

using test::NativeFolder;

const std::filesystem::path kPieces = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models/enfr";
constexpr uint32_t kIds = 5999;  // of source.spm and target.spm

// A model with a row for each piece of the example's SentencePiece models.
struct PieceFolder : NativeFolder {
  PieceFolder() {
    shape = {kIds, 4, 8, 2, 1, 1, true};
    tensors = test::native_tensors(shape, 1);
    settings = test::native_settings(shape);
    decoder = "";
    std::filesystem::remove(folder / "vocab.yml");
  }
  void copy(const char* from, const char* to) const { std::filesystem::copy_file(kPieces / from, folder / to); }
};

TEST(MarianNativeText, OneSentencePieceModelIsForBoth) {
  PieceFolder checkpoint;
  checkpoint.copy("source.spm", "vocab.enfr.spm");
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.warnings,
            (std::vector<std::string>{checkpoint.file("model.npz") +
                                      ": no YAML next to it has \"models\" that name it; it searches greedily, with "
                                      "normalize 1"}));
  EXPECT_EQ(spec.generation.beam_size, 1u);
  EXPECT_EQ(spec.generation.length_penalty, 1.0f);
  EXPECT_EQ(spec.source_tokenizer->vocab_size, kIds + 1);
  EXPECT_EQ(spec.target_tokenizer->pieces[4].text, spec.source_tokenizer->pieces[4].text);
  EXPECT_EQ(spec.source_tokenizer->pieces[kIds].text, "");
  EXPECT_EQ(spec.source_tokenizer->unknown_id, 1u);
}

TEST(MarianNativeText, TwoSentencePieceModelsByTheirNames) {
  PieceFolder checkpoint;
  checkpoint.copy("target.spm", "trgvocab.enfr.spm");
  checkpoint.copy("source.spm", "srcvocab.enfr.spm");
  EXPECT_EQ(checkpoint.load().target_tokenizer->vocab_size, kIds + 1);
  checkpoint.folder.write("trgvocab.enfr.spm", "");
  EXPECT_EQ(message_of(checkpoint), checkpoint.file("trgvocab.enfr.spm") + ": the file is empty; download it again");
  checkpoint.folder.write("srcvocab.enfr.spm", "");  // the converter reads it first
  EXPECT_EQ(message_of(checkpoint), checkpoint.file("srcvocab.enfr.spm") + ": the file is empty; download it again");
  std::filesystem::rename(checkpoint.folder / "trgvocab.enfr.spm", checkpoint.folder / "other.spm");
  const std::string expected =
      ": its vocabularies are not known: expected the YAML that marian-decoder is started with next to the model (or "
      "with "
      "--config), with \"models\" and \"vocabs\", or one .spm file, or srcvocab.spm and trgvocab.spm; found ";
  EXPECT_EQ(message_of(checkpoint), checkpoint.folder.path().string() + expected + "2 .spm files");
  std::filesystem::remove(checkpoint.folder / "other.spm");
  std::filesystem::remove(checkpoint.folder / "srcvocab.enfr.spm");
  EXPECT_EQ(message_of(checkpoint), checkpoint.folder.path().string() + expected + "no .spm file");
}

TEST(MarianNativeText, PiecesAndRowsMustFit) {
  PieceFolder checkpoint;
  checkpoint.copy("source.spm", "vocab.spm");
  checkpoint.tensor("Wemb") = {"Wemb", {6001, 4}, std::vector<float>(6001 * 4, 0.5f)};
  checkpoint.tensor("decoder_ff_logit_out_b") = {"decoder_ff_logit_out_b", {1, 6001}, std::vector<float>(6001)};
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->vocab_size, 6002u);
  EXPECT_EQ(spec.warnings[1], checkpoint.file("vocab.spm") + ": 2 of 6001 ids have no piece");
  checkpoint.tensor("Wemb") = {"Wemb", {12, 4}, std::vector<float>(48, 0.5f)};
  checkpoint.tensor("decoder_ff_logit_out_b") = {"decoder_ff_logit_out_b", {1, 12}, std::vector<float>(12)};
  EXPECT_EQ(message_of(checkpoint),
            checkpoint.file("vocab.spm") + ": has 5999 pieces, but the source's embedding has 12 rows");
}

// OPUS-MT's packages: a YAML vocabulary, and the SentencePiece models that cut texts into its pieces.
TEST(MarianNativeText, AYamlVocabularyWithSentencePieceModels) {
  PieceFolder checkpoint;
  checkpoint.copy("source.spm", "source.spm");
  checkpoint.copy("target.spm", "target.spm");
  checkpoint.copy("vocab.json", "opus.vocab.yml");  // JSON is also YAML
  checkpoint.tensor("Wemb") = {"Wemb", {6000, 4}, std::vector<float>(24000, 0.5f)};
  checkpoint.tensor("decoder_ff_logit_out_b") = {"decoder_ff_logit_out_b", {1, 6000}, std::vector<float>(6000)};
  checkpoint.decoder =
      "relative-paths: true\nmodels: [/elsewhere/model.npz]\nvocabs: [/elsewhere/opus.vocab.yml, opus.vocab.yml]\n"
      "beam-size: 20\n";
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kUnigram);
  EXPECT_EQ(spec.source_tokenizer->vocab_size, 6001u);
  EXPECT_EQ(spec.generation.beam_size, 16u);
  EXPECT_EQ(spec.warnings,
            (std::vector<std::string>{checkpoint.file("decoder.yml") + ": setting \"beam-size\" is 20; 16 are used"}));
  EXPECT_EQ(spec.tokenizer_files,
            (std::vector<std::filesystem::path>{checkpoint.file("opus.vocab.yml"), checkpoint.file("source.spm"),
                                                checkpoint.file("target.spm")}));
}

// OPUS-MT's downloads: a vocabulary of subword-nmt's pieces, source.bpe and target.bpe.
TEST(MarianNativeText, MergesNextToAListOfPieces) {
  NativeFolder checkpoint;
  checkpoint.folder.write("vocab.yml",
                          "</s>: 0\n<unk>: 1\na@@: 2\nb@@: 3\nab: 4\nab@@: 5\nb: 6\na: 7\nbab: 8\nc: 9\nc@@: 10\n"
                          "d: 11\n");
  const auto pieces_of = [](const TokenizerSpec& tokenizer) {
    std::string texts;
    for (const auto& merge : tokenizer.merges) texts += merge.left + "+" + merge.right + " ";
    return texts;
  };
  // One side's words stay words, with a warning, as long as there are no merges.
  EXPECT_EQ(checkpoint.load().source_tokenizer->kind, TokenizerKind::kWord);
  const char *shorter = "#version: 0.2\na b</w>\na b\n", *longer = "#version: 0.2\na b</w>\na b\nb ab</w>\n";
  checkpoint.folder.write("source.bpe", shorter);
  checkpoint.folder.write("target.bpe", longer);
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kSubword);
  EXPECT_EQ(spec.target_tokenizer->kind, TokenizerKind::kSubword);
  EXPECT_NE(pieces_of(*spec.source_tokenizer), pieces_of(*spec.target_tokenizer));
  EXPECT_EQ(spec.tokenizer_files,
            (std::vector<std::filesystem::path>{checkpoint.file("vocab.yml"), checkpoint.file("source.bpe"),
                                                checkpoint.file("target.bpe")}));
  EXPECT_EQ(spec.warnings, std::vector<std::string>{});
  // One file is for both; a truecaser is named; a third file cannot be told apart; another model's is
  // warned of.
  std::filesystem::remove(checkpoint.folder / "target.bpe");
  checkpoint.folder.write("source.tcmodel", "the (1/1)\n");
  const ModelSpec both = checkpoint.load();
  EXPECT_EQ(pieces_of(*both.source_tokenizer), pieces_of(*both.target_tokenizer));
  ASSERT_EQ(both.warnings.size(), 1u);
  EXPECT_NE(both.warnings[0].find(checkpoint.file("source.tcmodel") + ": is not read: Moses's truecaser"),
            std::string::npos);
  checkpoint.folder.write("other.bpe", shorter);
  EXPECT_NE(message_of(checkpoint).find("which of 2 files of subword-nmt's merges cut texts is not known"),
            std::string::npos);
  std::filesystem::remove(checkpoint.folder / "other.bpe");
  checkpoint.folder.write("source.bpe", "#version: 0.2\nx y\n");
  EXPECT_NE(checkpoint.load().warnings[0].find("do they belong to different models?"), std::string::npos);
}

TEST(MarianNativeText, AFileThatIsNotReadIsNamed) {
  NativeFolder checkpoint;
  EXPECT_EQ(checkpoint.load().warnings, std::vector<std::string>{});
  for (const char* name : {"vocab.spm", "sentencepiece.bpe.model", "spiece.model"}) {
    checkpoint.folder.write(name, "");
    const std::vector<std::string> warnings = checkpoint.load().warnings;
    ASSERT_EQ(warnings.size(), 1u) << name;
    EXPECT_NE(warnings[0].find(checkpoint.file(name) + ": is not read: if it cuts the model's texts"),
              std::string::npos);
    std::filesystem::remove(checkpoint.folder / name);
  }
}

TEST(MarianNativeText, SentencePieceModelsOfAnotherVocabulary) {
  NativeFolder checkpoint;
  for (const char* name : {"source.spm", "target.spm"})
    std::filesystem::copy_file(kPieces / name, checkpoint.folder / name);
  EXPECT_EQ(message_of(checkpoint),
            checkpoint.file("vocab.yml") +
                ": 10 of its 10 entries are not pieces of source.spm or target.spm: they belong "
                "to different models");
  std::filesystem::remove(checkpoint.folder / "source.spm");
  EXPECT_EQ(message_of(checkpoint),
            checkpoint.file("vocab.yml") +
                ": 10 of its 10 entries are not pieces of target.spm: they belong to different models");
}

TEST(MarianNativeText, IdsWithoutATextAreCounted) {
  NativeFolder checkpoint;
  checkpoint.folder.write("vocab.yml", "</s>: 0\n<unk>: 1\nword5: 5\nword6: 6\nword7: 7\nword8: 8\nword9: 9\n");
  EXPECT_EQ(checkpoint.load().warnings,
            std::vector<std::string>{checkpoint.file("vocab.yml") + ": 5 of 12 ids have no text"});
  checkpoint.folder.write("vocab.yml", "</s>: 0\n<unk>: 1\n");
  EXPECT_EQ(message_of(checkpoint),
            checkpoint.file("vocab.yml") + ": 10 of 12 ids have no text; it is another model's");
}

TEST(MarianNativeText, TheHashIsOfTheVocabulariesToo) {
  NativeFolder checkpoint;
  const std::string before = checkpoint.load().checkpoint_sha256;
  std::string vocabulary = "</s>: 0\n<unk>: 1\n";
  for (int id = 2; id < 12; ++id) vocabulary += format_text("other{0}: {0}\n", id);
  checkpoint.folder.write("vocab.yml", vocabulary);
  EXPECT_NE(checkpoint.load().checkpoint_sha256, before);
}

TEST(MarianNativeText, NematusNamesOfTheSpecialIds) {
  NativeFolder checkpoint;
  std::string vocabulary = "eos: 0\nUNK: 1\n";
  for (int id = 2; id < 12; ++id) vocabulary += format_text("word{0}: {0}\n", id);
  checkpoint.folder.write("vocab.yml", vocabulary);
  EXPECT_EQ(checkpoint.load().generation.end_id, 0u);
  checkpoint.folder.write("vocab.yml", "a: 0\nb: 1\n<unk>: 2\n");
  EXPECT_EQ(message_of(checkpoint), checkpoint.file("vocab.yml") + ": has no entry \"</s>\", the end token");
  checkpoint.folder.write("vocab.yml", "</s>: 0\nb: 1\n");
  EXPECT_EQ(message_of(checkpoint), checkpoint.file("vocab.yml") + ": has no entry \"<unk>\", the unknown token");
}

TEST(MarianNativeText, SettingsHaveMariansDefaults) {
  NativeFolder checkpoint;
  checkpoint.decoder = "models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\n";
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.generation.beam_size, 12u);
  EXPECT_EQ(spec.generation.length_penalty, 0.0f);
  EXPECT_EQ(spec.generation.word_penalty, 0.0f);
  EXPECT_EQ(spec.generation.rules, RulesSpec{});
}

TEST(MarianNativeText, SaysWhatIsWrongWithSettings) {
  struct Case {
    const char *decoder, *message;  // after decoder.yml's path
  };
  const Case cases[] = {{"models: [model.npz]\nvocabs: [vocab.yml]\n",
                         ": setting \"vocabs\" has 1 files, expected two: of one source and one target"},
                        {"models: [model.npz]\nvocabs: 5\n", ": setting \"vocabs\" is not a list of file names"},
                        {"models: [model.npz, b.npz]\nvocabs: [vocab.yml, vocab.yml]\n",
                         ": setting \"models\" has 2 files, expected one: ensembles are not supported"},
                        {"models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\nbeam-size: 0\n",
                         ": setting \"beam-size\" is \"0\", expected an integer from 1 to 1000"},
                        {"models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\nnormalize: 9\n",
                         ": setting \"normalize\" is \"9\", expected a number from -2 to 4"},
                        {"models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\nmax-length-factor: 0\n",
                         ": setting \"max-length-factor\" is \"0\", expected a number from 0.0009765625 to 1024"},
                        {"models: [model.npz]\nmodels: [x]\n", ": line 2 has the key \"models\" again"}};
  for (const Case& bad : cases) {
    NativeFolder checkpoint;
    checkpoint.decoder = bad.decoder;
    EXPECT_EQ(message_of(checkpoint), checkpoint.file("decoder.yml") + bad.message);
  }
  NativeFolder factored;
  factored.decoder = "models: [model.npz]\nvocabs: [a.fsv, a.fsv]\n";
  EXPECT_EQ(message_of(factored), factored.file("a.fsv") + ": is a factored vocabulary, which is not supported");
  NativeFolder both;
  both.folder.write("other.yml", both.decoder);
  EXPECT_EQ(message_of(both), both.folder.path().string() +
                                  ": \"decoder.yml\" and \"other.yml\" both name \"model.npz\"; "
                                  "give one of them with --config");
  both.folder.write("model.npz.decoder.yml", "models: [model.npz]\nvocabs: [vocab.yml, vocab.yml]\nallow-unk: true\n");
  EXPECT_EQ(both.load().generation.suppressed_ids, std::vector<uint32_t>{12});
  const ModelSpec named = load_checkpoint(both.folder / "model.npz", {both.folder / "other.yml", {}});
  EXPECT_EQ(named.generation.beam_size, 4u);
}

TEST(MarianNativeText, WarnsOfWhatItDoesNotDo) {
  NativeFolder checkpoint;
  checkpoint.decoder +=
      "max-length-factor: 2.5\noutput-sampling: true\nmax-length: 40\nbeem-size: 2\nmax-length-crop: false\n"
      "output-approx-knn: []\n";
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.encoder.positions.rows, 40u);
  EXPECT_EQ(spec.generation.rules, (RulesSpec{.force_end = false, .max_length_factor = 2.5f}));
  const std::string setting = checkpoint.file("decoder.yml") + ": setting ";
  EXPECT_EQ(spec.warnings, (std::vector<std::string>{
                               setting + "\"beem-size\" is not known and was ignored; did you mean \"beam-size\"?",
                               setting + "\"output-sampling\" is not supported and was ignored"}));
}

}  // namespace
}  // namespace goldcrest::converter
