// SPDX-License-Identifier: Apache-2.0
// A small Marian checkpoint with the vocabulary of examples/models/enfr, which tests change before they load it.
#pragma once

#include "convert/support/read_container.h"
#include "converter/dialects/dialect.h"
#include "support/marian_tensors.h"

namespace goldcrest::test {
struct MarianFolder : TensorList {
  TemporaryFolder folder;
  MarianShape shape = {6000, 8, 2, 1, 2, 4, 12, 20, 16};
  nlohmann::json config = marian_config(shape);

  MarianFolder() {
    tensors = marian_tensors(shape, 1);
    const std::filesystem::path models = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models";
    for (const char* name : {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json"})
      std::filesystem::copy_file(models / "enfr" / name, folder / name);
  }
  void add_norm(const std::string& name, float value) {
    add(name + ".weight", {8}, value);
    add(name + ".bias", {8}, -value);
  }
  converter::ModelSpec load() {
    folder.write("config.json", config.dump());
    std::ofstream stream(folder / "model.safetensors", std::ios::binary);
    write_safetensors(stream, tensors, converter::ElementType::kF32);
    stream.close();
    return converter::load_checkpoint(folder.path(), {});
  }
};
}  // namespace goldcrest::test
