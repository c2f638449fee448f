// SPDX-License-Identifier: Apache-2.0
// Folders of recorded and of made samples.
#pragma once

#include <stdlib.h>
#include "sources/values/json_text.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {
// A folder of samples that lives as long as a test: a part of the golden samples, or samples written line by line.

class SampleFolder {
 public:
  SampleFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "goldcrest_samples_XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder " + path);
    path_ = path;
  }
  // Every `step`-th line of tests/golden/<task>, starting with the first, and all of its tensors.
  SampleFolder(const std::string& task, size_t step) : SampleFolder() {
    const std::filesystem::path golden = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "tests/golden" / task;
    for (const char* name : {"logits.safetensors", "trace.safetensors"})
      if (std::filesystem::exists(golden / name)) std::filesystem::copy_file(golden / name, path_ / name);
    std::ifstream results(golden / "results.jsonl");
    std::string part, line;
    for (size_t i = 0; std::getline(results, line); ++i)
      if (i % step == 0) part += line + "\n";
    write("results.jsonl", part);
  }
  ~SampleFolder() { std::filesystem::remove_all(path_); }
  SampleFolder(const SampleFolder&) = delete;
  SampleFolder& operator=(const SampleFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream file(path_ / name, std::ios::binary);
    file << bytes;
    if (!file.flush()) throw std::runtime_error("cannot write " + name);
  }
  // Writes one float32 tensor of zeros.
  void write_zeros(const std::string& name, const std::string& tensor, size_t rows, size_t columns) const {
    const std::string bytes(rows * columns * sizeof(float), '\0');
    const std::string header = "{\"" + tensor + "\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(rows) + "," +
                               std::to_string(columns) + "],\"data_offsets\":[0," + std::to_string(bytes.size()) +
                               "]}}";
    std::string size(8, '\0');
    for (size_t i = 0; i < size.size(); ++i) size[i] = static_cast<char>(header.size() >> (8 * i) & 0xff);
    write(name, size + header + bytes);
  }
 private:
  std::filesystem::path path_;
};

// Recorded checkpoints that one file of tests/data holds: {FOLDER: {FILE: its bytes in hexadecimal}}.

// Returns the contents of a file of tests/data.
inline converter::Value recorded(const std::string& file) {
  return converter::read_json_object(std::filesystem::path(GOLDCREST_SOURCE_DIR) / "tests/data" / file);
}

class PackedFolders {
 public:
  explicit PackedFolders(const converter::Value& packed) {
    for (const auto& [name, files] : packed.members()) {
      std::filesystem::create_directory(folder_ / name);
      for (const auto& [path, digits] : files.members()) folder_.write(name + "/" + path, bytes_of(digits.text()));
    }
  }
  const std::filesystem::path& path() const { return folder_.path(); }
 private:
  static std::string bytes_of(const std::string& digits) {
    std::string bytes;
    for (size_t i = 0; i + 1 < digits.size(); i += 2)
      bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    return bytes;
  }
  TemporaryFolder folder_;
};

// A copy of one of them, to change.
class FolderCopy {
 public:
  explicit FolderCopy(const std::filesystem::path& of) {
    std::filesystem::copy(of, path(), std::filesystem::copy_options::recursive);
  }
  std::filesystem::path path() const { return folder_.path(); }
  void set(const char* file, const std::string& key, const converter::Value& value) const {
    converter::Value settings = converter::read_json_object(path() / file);
    settings[key] = value;
    std::ofstream(path() / file) << converter::write_json(settings);
  }
 private:
  TemporaryFolder folder_;
};
}  // namespace goldcrest::test
