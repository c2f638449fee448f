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
}  // namespace goldcrest::test
