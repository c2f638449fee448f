// SPDX-License-Identifier: Apache-2.0
// Recorded checkpoints that one file of tests/data holds: {FOLDER: {FILE: its bytes in hexadecimal}}.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "sources/values/json_text.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {

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
