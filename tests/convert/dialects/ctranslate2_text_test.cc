// SPDX-License-Identifier: Apache-2.0
// The files in the folder of a CTranslate2 model: vocabularies, tokenizers, and the packages of Argos Translate.
#include "convert/support/ctranslate2_folder.h"
#include "tokenizers/segmenter.h"

namespace goldcrest::converter { namespace {
using namespace test;

// Returns the n-th Chinese character as UTF-8.
std::string character(size_t n) {
  const auto code = static_cast<uint32_t>(0x4E00 + n);
  return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
      static_cast<char>(0x80 | (code & 0x3F))};
}

TEST(CTranslate2Text, TwoSentencePieceModels) {
  PieceFolder checkpoint;
  checkpoint.copy("target.spm", "target.spm");
  checkpoint.copy("source.spm", "source.spm");
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.warnings, std::vector<std::string>{});
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kUnigram);
  EXPECT_EQ(spec.source_tokenizer->vocab_size, kIds + 1);
  EXPECT_EQ(spec.tokenizer_files.size(), 3u);
  checkpoint.copy("source.spm", "other.model");
  EXPECT_EQ(checkpoint.message(), "no name: " + checkpoint.folder.path().string() +
                                      ": which of 3 SentencePiece models cuts texts is not known; expected one, or two "
                                      "whose names have \"source\" and \"target\"");
}

TEST(CTranslate2Text, OneSentencePieceModelIsForBoth) {
  PieceFolder checkpoint;
  checkpoint.copy("source.spm", "sentencepiece.model");
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kUnigram);
  EXPECT_EQ(spec.target_tokenizer->pieces[9].text, spec.source_tokenizer->pieces[9].text);
  checkpoint.folder.write("sentencepiece.model", "");
  EXPECT_EQ(checkpoint.message(), "sentencepiece.model: the file is empty; download it again");
}

TEST(CTranslate2Text, SeparateVocabulariesAsLines) {
  CTranslate2Folder checkpoint;
  checkpoint.vocabulary = nullptr;
  EXPECT_EQ(checkpoint.message(),
      "source_vocabulary.json: is missing, and so are shared_vocabulary.json and the .txt forms of both: copy the "
      "vocabulary from where the model came from");
  checkpoint.folder.write("source_1_vocabulary.txt", "<unk>\n");
  EXPECT_EQ(checkpoint.message(),
      "source_1_vocabulary: has several words per position (source features), which are not supported");
  std::string source = "<blank>\n<s>\n</s>\n", target = "<unk>\n<blank>\n<s>\n</s>\n";
  for (int id = 0; id < 8; ++id) {
    source += format_text("s{}\r\n", id);
    target += format_text("t{}\n", id);
  }
  checkpoint.folder.write("source_vocabulary.txt", source);
  EXPECT_EQ(checkpoint.message(),
      "target_vocabulary.json: is missing, and so are shared_vocabulary.json and the .txt forms of both: copy the "
      "vocabulary from where the model came from");
  checkpoint.folder.write("target_vocabulary.txt", target);
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->unknown_id, 11u);  // the list lacks this piece
  EXPECT_EQ(spec.source_tokenizer->pieces[3].text, "s0");
  EXPECT_EQ(spec.source_tokenizer->pieces[1].type, PieceType::kControl);
  EXPECT_EQ(spec.target_tokenizer->unknown_id, 0u);
  EXPECT_EQ(spec.generation.end_id, 3u);
  EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{2});
  checkpoint.folder.write("source_vocabulary.txt", source + "a\nb\n");
  EXPECT_EQ(checkpoint.message(), "source_vocabulary.txt: \"b\" has id 12, expected less than the embedding's 12 rows");
}

TEST(CTranslate2Text, WhatIsPutAroundASource) {
  CTranslate2Folder checkpoint;
  checkpoint.model.set(scalar("decoder/start_from_zero_embedding", kInt8, 0));
  checkpoint.vocabulary[2] = "<s>";
  const std::string told = checkpoint.file("config.json") +
                           ": setting \"add_source_eos\" is false, and nothing is put around a source; if "
                           "transformers' tokenizer put tokens there, set it (and \"add_source_bos\"), or give ids";
  ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.warnings[0], told);
  EXPECT_EQ(spec.generation.decoder_start_id, 0u);
  EXPECT_EQ(spec.added_target_ids, 0u);
  EXPECT_TRUE(spec.generation.source_suffix.empty());
  checkpoint.config["decoder_start_token"] = "<s>";  // OpenNMT-py's start token
  spec = checkpoint.load();
  EXPECT_EQ(spec.generation.decoder_start_id, 2u);
  EXPECT_EQ(spec.warnings.size(), 1u);
  checkpoint.config["add_source_bos"] = checkpoint.config["add_source_eos"] = true;
  spec = checkpoint.load();
  EXPECT_EQ(spec.generation.source_prefix, std::vector<uint32_t>{2});
  EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{0});
  checkpoint.config["decoder_start_token"] = nullptr;
  EXPECT_EQ(checkpoint.message(),
      "config.json: setting \"decoder_start_token\" is null: the first token of every target is the user's there; "
      "write it into that setting (or into a copy, for --config)");
  checkpoint.config["decoder_start_token"] = "no";
  EXPECT_EQ(checkpoint.message(), "shared_vocabulary.json: has no entry \"no\", the decoder's start token");
  const std::filesystem::path other = checkpoint.folder.write("other.json",
      R"({"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>", "decoder_start_token": "word5"})");
  EXPECT_EQ(load_checkpoint(checkpoint.folder / "model.bin", {other, {}}).generation.decoder_start_id, 5u);
}

// Before binary version 6, variables hold the settings of config.json.
TEST(CTranslate2Text, SpecialTokensOfOlderVersions) {
  CTranslate2Folder checkpoint;
  checkpoint.model.version = 5;
  checkpoint.config = nullptr;
  checkpoint.model.set(scalar("decoder/start_from_zero_embedding", kInt8, 0));
  checkpoint.vocabulary[2] = "<s>";
  ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.generation.decoder_start_id, 2u);
  EXPECT_TRUE(spec.generation.source_suffix.empty());
  checkpoint.model.set(text_variable("eos_token", "word4"));
  checkpoint.model.set(text_variable("unk_token", "word3"));
  checkpoint.model.set(scalar("with_source_eos", kInt8, 1));
  checkpoint.model.set(scalar("with_target_bos", kInt8, 0));
  spec = checkpoint.load();
  EXPECT_EQ(spec.generation.decoder_start_id, 4u);
  EXPECT_EQ(spec.generation.end_id, 4u);
  EXPECT_EQ(spec.generation.unknown_id, 3u);
  EXPECT_EQ(spec.generation.source_suffix, std::vector<uint32_t>{4});
  checkpoint.model.set(scalar("user_decoder_start_tokens", kInt8, 1));
  EXPECT_EQ(checkpoint.message().substr(0, 52), "config.json: setting \"decoder_start_token\" is null: ");
}

TEST(CTranslate2Text, SaysWhatItDoesNotUse) {
  CTranslate2Folder checkpoint;
  checkpoint.folder.write("vmap.txt", "\tword2\n");
  EXPECT_EQ(checkpoint.load().warnings.back(),
      checkpoint.file("vmap.txt") + " is not used, as CTranslate2 does without being asked; --shortlist takes it");
}

// A model whose texts subword-nmt's merges cut.
struct SubwordFolder : CTranslate2Folder {
  SubwordFolder() {
    vocabulary = {"</s>", "<unk>", "a@@", "b@@", "ab@@", "a", "b", "ab", "bab", "c", ">>fr<<", "@@"};
    folder.write("bpe.codes", "#version: 0.2\na b</w>\na b\nb ab</w>\n");
  }
};

TEST(CTranslate2Text, SubwordNmtsMerges) {
  SubwordFolder checkpoint;
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.warnings, std::vector<std::string>{});
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kSubword);
  EXPECT_EQ(spec.target_tokenizer->kind, TokenizerKind::kSubword);
  EXPECT_EQ(spec.source_tokenizer->vocab_size, 13u);
  EXPECT_EQ(spec.source_tokenizer->merges.size(), 3u);
  EXPECT_FALSE(spec.source_tokenizer->word_end_apart);
  EXPECT_TRUE(spec.source_tokenizer->language_codes);
  EXPECT_EQ(spec.tokenizer_files.size(), 2u);
  EXPECT_EQ(Segmenter(*spec.source_tokenizer).encode(">>fr<< abab ba"), (std::vector<int32_t>{10, 4, 7, 3, 5}));
  checkpoint.folder.write("codes.txt", "a b\n");
  EXPECT_EQ(checkpoint.message(), "no name: " + checkpoint.folder.path().string() +
                                      ": which of 2 files of subword-nmt's merges cut texts is not known; expected "
                                      "one, or two whose names have \"source\" and \"target\"");
  checkpoint.folder.write("sentencepiece.model", "");
  EXPECT_EQ(checkpoint.message(), "sentencepiece.model: the file is empty; download it again") << "it comes first";
}

TEST(CTranslate2Text, TwoFilesOfMerges) {
  SubwordFolder checkpoint;
  std::filesystem::remove(checkpoint.folder / "bpe.codes");
  checkpoint.folder.write("target.bpe", "a b\na b</w>\n");
  checkpoint.folder.write("source.bpe", "#version: 0.2\nb ab</w>\n");
  const ModelSpec spec = checkpoint.load();
  EXPECT_EQ(spec.source_tokenizer->merges.size(), 1u);
  EXPECT_EQ(spec.target_tokenizer->merges.size(), 2u);
  EXPECT_TRUE(spec.target_tokenizer->word_end_apart);
}

TEST(CTranslate2Text, MergesOfAnotherModel) {
  SubwordFolder checkpoint;
  const std::string codes = checkpoint.file("bpe.codes"), entries = checkpoint.file("shared_vocabulary.json");
  checkpoint.folder.write("bpe.codes", "a b c\n");
  EXPECT_EQ(checkpoint.message(), "bpe.codes: line 1: found \"a b c\", expected two symbols with a space between them");
  checkpoint.folder.write("bpe.codes", "#version: 0.2\nb c\n");
  EXPECT_EQ(checkpoint.load().warnings,
      (std::vector<std::string>{entries + ": 4 of its 9 entries are neither characters nor made by a merge of " +
                                codes + "; do they belong to different models?"}));
  for (const int id : {4, 7, 9, 11}) checkpoint.vocabulary[id] = format_text("joined{}\uFFED", id);
  EXPECT_EQ(checkpoint.message(),
      "shared_vocabulary.json: 5 of its 9 entries are neither characters nor made by a merge of " + codes +
          ": they belong to different models");
  SubwordFolder marked;
  marked.vocabulary[9] = "@@@";
  marked.folder.write("bpe.codes", "#version: 0.2\na b\na b</w>\nb ab</w>\n@ @\n@@ @</w>\n");
  EXPECT_EQ(marked.load().warnings,
      (std::vector<std::string>{
          marked.file("shared_vocabulary.json") +
          ": \"@@@\" is both a part of a word and a word that the merges make; it is read only as the part"}));
  marked.vocabulary[9] = "a b";
  EXPECT_EQ(
      marked.message(), "shared_vocabulary.json: the entry of id 9, \"a b\", has a space; subword-nmt's have none");
}

// The engine would refuse a file without a score for unknown characters.
TEST(CTranslate2Text, MergesWithoutWords) {
  SubwordFolder checkpoint;
  for (int id = 2; id < 12; ++id) checkpoint.vocabulary[id] = format_text(">>code{}<<", id);
  EXPECT_EQ(checkpoint.message(),
      "shared_vocabulary.json: none of its 12 entries is a word or a part of one: they are special tokens and language "
      "codes");
}

TEST(CTranslate2Text, AnArgosPackage) {
  const Package package;
  const ModelSpec zipped = load_checkpoint(package.write_zip(package.entries()), {});
  const ModelSpec plain = package.checkpoint.load();  // no package: CTranslate2's own search
  EXPECT_EQ(plain.generation.beam_size, 2u);
  EXPECT_EQ(plain.generation.length_penalty, 1.0f);
  EXPECT_EQ(zipped.name, "translate-en_fr-1_0");
  EXPECT_EQ(zipped.tokenizer_files.size(), 0u);  // the zip has the files
  for (const ZipEntry& entry : package.entries()) {
    const std::filesystem::path path = package.checkpoint.folder / entry.name;
    std::filesystem::create_directories(path.parent_path());
    if (!entry.name.ends_with('/')) package.checkpoint.folder.write(entry.name, *entry.contents);
  }
  const std::filesystem::path folder = package.checkpoint.folder / "translate-en_fr-1_0";
  for (const std::filesystem::path& path : {folder, folder / "model", folder / "model/model.bin"}) {
    const ModelSpec unpacked = load_checkpoint(path, {});
    EXPECT_EQ(unpacked.name, "translate-en_fr-1_0");
    EXPECT_EQ(unpacked.tokenizer_files.size(), 2u);
    EXPECT_EQ(unpacked.encoder.embedding->values, zipped.encoder.embedding->values);
    for (const ModelSpec* spec : {&unpacked, &zipped}) {
      EXPECT_EQ(spec->source_language, "en");
      EXPECT_EQ(spec->target_language, "fr");
      EXPECT_EQ(spec->source_tokenizer->kind, TokenizerKind::kUnigram);
      EXPECT_EQ(spec->generation.beam_size, 4u);
      EXPECT_EQ(spec->generation.length_penalty, 0.2f);
      EXPECT_EQ(spec->generation.unknown.heads, 1u);
      EXPECT_EQ(spec->generation.unknown.layer, 0u);
    }
  }
  EXPECT_EQ(plain.generation.unknown.heads, 0u);
}

// CTranslate2 counts a layer below 0 from the end; no heads are all.
TEST(CTranslate2Text, AnArgosPackageNamesTheAttentionOfUnknownTokens) {
  struct Case {
    float layer, heads;
    uint32_t expected_layer, expected_heads;
  };
  for (const auto& [layer, heads, expected_layer, expected_heads] :
      {Case{-1, 0, 0, 2}, Case{-1, 2, 0, 2}, Case{0, 1, 0, 1}, Case{-3, 0, 0, 2}, Case{0, 9, 0, 2}}) {
    Package package;
    package.checkpoint.model.set(scalar("decoder/alignment_layer", CTranslate2Type::kInt16, layer));
    package.checkpoint.model.set(scalar("decoder/alignment_heads", CTranslate2Type::kInt16, heads));
    const ModelSpec spec = load_checkpoint(package.write_zip(package.entries()), {});
    EXPECT_EQ(spec.generation.unknown.layer, expected_layer) << layer << " " << heads;
    EXPECT_EQ(spec.generation.unknown.heads, expected_heads) << layer << " " << heads;
  }
}

TEST(CTranslate2Text, MergesOfArgosTranslate) {
  Package package;
  package.checkpoint.vocabulary = nlohmann::json::array({"<unk>", "<s>", "</s>", "a@@", "b", "ab"});
  while (package.checkpoint.vocabulary.size() < kIds) {
    const std::string entry = format_text("{}@@", character(package.checkpoint.vocabulary.size()));
    package.checkpoint.vocabulary.push_back(entry);
  }
  std::vector<ZipEntry> entries = package.entries();
  entries[2] = deflated("translate-en_fr-1_0/bpe.model", "#version: 0.2\na b</w>\n");
  const std::filesystem::path zip = package.write_zip(entries);
  const ModelSpec spec = load_checkpoint(zip, {});
  EXPECT_EQ(spec.source_tokenizer->kind, TokenizerKind::kSubword);
  EXPECT_EQ(Segmenter(*spec.source_tokenizer).encode("ab ac"), (std::vector<int32_t>{5, 3, 0}));
  EXPECT_EQ(spec.warnings,
      (std::vector<std::string>{
          zip.string() +
          "/translate-en_fr-1_0/bpe.model: Argos Translate takes texts through Moses's normalizer and tokenizer before "
          "these merges, and back after them; Goldcrest does not: give it their words with spaces between them"}));
}

TEST(CTranslate2Text, ATokenThatTargetsBeginWith) {
  Package package = {.metadata = R"({"target_prefix": "__fr__"})"};
  EXPECT_EQ(package.message(package.entries()),
      "/translate-en_fr-1_0/model/shared_vocabulary.json: has no entry \"__fr__\", the token that targets begin with");
  package.checkpoint.vocabulary[4000] = "__fr__";
  const ModelSpec spec = load_checkpoint(package.write_zip(package.entries()), {});
  EXPECT_EQ(spec.generation.forced_first_id, 4000u);
  EXPECT_EQ(spec.generation.rules,
      (RulesSpec{.renormalize = true, .force_end = false, .early_stopping = GOLDCREST_STOP_FULL}));
  EXPECT_EQ(spec.target_tokenizer->pieces[4000].type, PieceType::kControl);
}

TEST(CTranslate2Text, SaysWhatIsWrongWithAPackage) {
  const Package package;
  std::vector<ZipEntry> entries = package.entries();
  entries[1] = deflated("translate-en_fr-1_0/metadata.json", "[]");
  EXPECT_EQ(package.message(entries), "/translate-en_fr-1_0/metadata.json: found a JSON array, expected an object");
  entries = package.entries();
  entries[5].crc_is_wrong = true;
  const std::string damaged = package.message(entries);
  EXPECT_TRUE(has(damaged, ": the zip member \"translate-en_fr-1_0/model/model.bin\" has CRC-32 "));
  entries = package.entries();
  entries[5] = deflated("translate-en_fr-1_0/model/model.bin", std::string(40 << 20, '\0'));
  const std::string bomb = package.message(entries);
  EXPECT_EQ(bomb.substr(0, 72), "/translate-en_fr-1_0/model/model.bin: would unpack to 41943040 bytes, mo");
  EXPECT_TRUE(has(bomb, "more than four times the "));
  entries.pop_back();
  entries.push_back({"translate-en_fr-1_0/other-model/model.bin", "x"});
  EXPECT_EQ(package.message(entries), ": has no model/model.bin, which a package of Argos Translate has");
  entries = package.entries();
  entries[3].method = 12;
  EXPECT_EQ(package.message(entries),
      ": the zip member \"translate-en_fr-1_0/model/config.json\" is compressed by method 12, and stored and deflated "
      "ones (0, 8) are read; expected a zip as Argos Translate's packages are: download it again, or unpack it and "
      "give the folder");
}
}}  // namespace goldcrest::converter
