// SPDX-License-Identifier: Apache-2.0
// A small Marian checkpoint with the vocabulary of examples/models/enfr, to be changed before it is loaded.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "converter/dialects/dialect.h"
#include "support/marian_tensors.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {

struct MarianFolder {
  TemporaryFolder folder;
  MarianShape shape = {6000, 8, 2, 1, 2, 4, 12, 20, 16};
  std::vector<NamedTensor> tensors = marian_tensors(shape, 1);
  nlohmann::json config = marian_config(shape);

  MarianFolder() {
    const std::filesystem::path models = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "examples/models";
    for (const char* name : {"source.spm", "target.spm", "vocab.json", "tokenizer_config.json"}) {
      std::filesystem::copy_file(models / "enfr" / name, folder / name);
    }
  }
  NamedTensor& tensor(const std::string& name) {
    for (NamedTensor& found : tensors) {
      if (found.name == name) return found;
    }
    throw std::out_of_range(name);
  }
  void remove(const std::string& name) {
    std::erase_if(tensors, [&](const NamedTensor& found) { return found.name == name; });
  }
  void add(const std::string& name, const std::vector<uint64_t>& sizes, float value) {
    uint64_t n = 1;
    for (const uint64_t size : sizes) n *= size;
    tensors.push_back({name, sizes, std::vector<float>(n, value)});
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
