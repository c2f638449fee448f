// SPDX-License-Identifier: Apache-2.0
// A small model of CTranslate2's with its config.json and a vocabulary of words, which tests change before they load
// it.
#pragma once

#include <nlohmann/json.hpp>
#include "converter/dialects/dialect.h"
#include "support/ctranslate2_model.h"
#include "support/expect_error.h"

namespace goldcrest::test {
struct CTranslate2Folder {
  TemporaryFolder folder;
  NativeShape shape = {12, 8, 16, 2, 2, 2, false};
  std::vector<NamedTensor> native;
  CTranslate2Model model;
  // As CTranslate2's converter writes it for transformers' Marian.
  nlohmann::json config = {{"unk_token", "<unk>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"},
      {"decoder_start_token", "</s>"}, {"add_source_bos", false}, {"add_source_eos", false},
      {"layer_norm_epsilon", nullptr}, {"multi_query_attention", false}};
  nlohmann::json vocabulary = nlohmann::json::array({"</s>", "<unk>"});

  explicit CTranslate2Folder(CTranslate2Type weights = kFloat32, uint64_t seed = 1)
      : native(native_tensors(shape, seed)), model(ctranslate2_model(native, shape, weights)) {
    for (uint32_t id = 2; id < shape.vocab_size; ++id) vocabulary.push_back("word" + std::to_string(id));
  }
  CTranslate2Folder(const CTranslate2Folder&) = delete;

  std::string file(const std::string& name) const { return (folder / name).string(); }
  void write() const {
    folder.write("model.bin", model.bytes());
    if (!config.is_null()) folder.write("config.json", config.dump());
    if (!vocabulary.is_null()) folder.write("shared_vocabulary.json", vocabulary.dump());
  }
  converter::ModelSpec load() const {
    write();
    return converter::load_checkpoint(folder.path(), {});
  }
  // Loads the model. Returns the error's message after the folder's name, or "no error".
  std::string message() const {
    return error_of([&] { load(); }, folder.path().string() + "/");
  }
};

inline const std::filesystem::path kPieces = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models/enfr";
constexpr uint32_t kIds = 5999;  // source.spm's and target.spm's

// A model with a row for each entry of the example's vocabulary.
struct PieceFolder : CTranslate2Folder {
  PieceFolder() {
    shape = {kIds, 4, 8, 2, 1, 1, false};
    native = native_tensors(shape, 1);
    model = ctranslate2_model(native, shape);
    vocabulary = nlohmann::json::array();
    const nlohmann::json ids = nlohmann::json::parse(folder.read(kPieces / "vocab.json"));
    std::vector<std::string> texts(ids.size());
    for (const auto& [text, id] : ids.items()) texts[id.get<size_t>()] = text;
    for (uint32_t id = 0; id < kIds; ++id) vocabulary.push_back(texts[id]);
  }
  void copy(const char* from, const char* to) const { std::filesystem::copy_file(kPieces / from, folder / to); }
};

// A package of Argos Translate in a folder, and its zip.
struct Package {
  PieceFolder checkpoint;
  std::string metadata = R"({"from_code": "en", "to_code": "fr", "links": [], "target_prefix": ""})";

  std::vector<ZipEntry> entries() const {
    return {{"translate-en_fr-1_0/", ""}, deflated("translate-en_fr-1_0/metadata.json", metadata),
        deflated("translate-en_fr-1_0/sentencepiece.model", checkpoint.folder.read(kPieces / "source.spm")),
        deflated("translate-en_fr-1_0/model/config.json", checkpoint.config.dump()),
        deflated("translate-en_fr-1_0/model/shared_vocabulary.json", checkpoint.vocabulary.dump()),
        deflated("translate-en_fr-1_0/model/model.bin", checkpoint.model.bytes())};
  }
  std::filesystem::path write_zip(const std::vector<ZipEntry>& entries) const {
    std::ostringstream stream;
    ZipWriter writer(stream);
    for (const ZipEntry& entry : entries) writer.add(entry);
    writer.finish();
    return checkpoint.folder.write("translate-en_fr-1_0.argosmodel", stream.str());
  }
  std::string message(const std::vector<ZipEntry>& entries) const {
    const std::string path = write_zip(entries).string();
    return error_of([&] { converter::load_checkpoint(path, {}); }, path);
  }
};
}  // namespace goldcrest::test
