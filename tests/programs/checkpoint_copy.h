// SPDX-License-Identifier: Apache-2.0
// A copy of a shipped checkpoint that a test can break.
#pragma once

#include <nlohmann/json.hpp>
#include "converter/sources/containers/tensor_source.h"
#include "programs/models.h"
#include "support/checkpoint_writer.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
class CheckpointCopy {
 public:
  // Copies a folder of examples/models, or one with an absolute path.
  explicit CheckpointCopy(const std::string& task) : path_(folder_ / std::filesystem::path(task).filename()) {
    std::filesystem::create_directory(path_);
    for (const auto& entry : std::filesystem::directory_iterator(checkpoint_folder(task)))
      std::filesystem::copy_file(entry.path(), path_ / entry.path().filename());
  }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path file(const std::string& name) const { return path_ / name; }

  void remove(const std::string& name) const { std::filesystem::remove(path_ / name); }
  void write(const std::string& name, std::string_view bytes) const {
    remove(name);
    folder_.write((path_ / name).string(), bytes);
  }
  void link(const std::string& name, const std::string& target) const {
    remove(name);
    std::filesystem::create_symlink(target, path_ / name);
  }
  // Keeps the first `bytes` bytes.
  void cut(const std::string& name, size_t bytes) const { std::filesystem::resize_file(path_ / name, bytes); }

  void set(const std::string& name, const std::string& key, const nlohmann::json& value) const {
    edit(name, [&](nlohmann::json& json) { json[key] = value; });
  }
  void unset(const std::string& name, const std::string& key) const {
    edit(name, [&](nlohmann::json& json) { json.erase(key); });
  }
  void edit(const std::string& name, const std::function<void(nlohmann::json&)>& change) const {
    nlohmann::json json = nlohmann::json::parse(read_file(path_ / name));
    change(json);
    write(name, json.dump());
  }

  // Changes the tensors of model.safetensors, which stays a valid safetensors file.
  void edit_tensors(const std::function<void(std::vector<NamedTensor>&)>& change) const {
    std::vector<NamedTensor> tensors;
    {
      const auto source = converter::open_safetensors(path_ / "model.safetensors");
      for (const std::string& name : source->names())
        tensors.push_back({name, source->shape(name), source->load(name).values});
    }
    change(tensors);
    remove("model.safetensors");
    std::ofstream stream(path_ / "model.safetensors", std::ios::binary);
    write_safetensors(stream, tensors, converter::ElementType::kF32);
  }
 private:
  TemporaryFolder folder_;
  std::filesystem::path path_;
};

// Leaves the pronunciation model without its vocabularies.
inline void remove_tokenizer(const CheckpointCopy& g2p) {
  g2p.edit("config.json", [](nlohmann::json& config) {
    for (const char* key : {"source_vocabulary", "target_vocabulary", "unk_token"}) config.erase(key);
    config.update({{"pad_token", 0}, {"bos_token", 1}, {"eos_token", 2}});
  });
}

// Puts the language code >>fr<< in the place of a rare piece of the French model.
inline void add_french_code(const CheckpointCopy& enfr) {
  enfr.edit("vocab.json", [](nlohmann::json& vocabulary) {
    const auto is_rare = [](const nlohmann::json& id) { return id == 5990; };
    vocabulary.erase(std::find_if(vocabulary.begin(), vocabulary.end(), is_rare));
    vocabulary[">>fr<<"] = 5990;
  });
}
}  // namespace goldcrest::test
