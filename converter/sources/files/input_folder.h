// SPDX-License-Identifier: Apache-2.0
// The files of a folder by name. A folder inside a zip is read as if it were unpacked.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>
#include "sources/files/input_file.h"
#include "sources/files/zip_directory.h"

namespace goldcrest::converter {
class InputFolder {
 public:
  // A folder on disk.
  explicit InputFolder(std::filesystem::path folder);
  // A folder inside a zip; `inside` is "" or ends in "/".
  InputFolder(std::filesystem::path zip, const std::string& inside);

  // The folder on disk, or the zip.
  const std::filesystem::path& path() const { return path_; }
  bool is_zip() const { return zip_ != nullptr; }
  // A folder on disk gives at most 1,000 names.
  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const;
  // A zip's member is unpacked to memory, unless its contents have more than four times the zip's bytes.
  std::unique_ptr<const InputFile> open(const std::string& name) const;
  // Throws Error as read_small_file does.
  std::string read(const std::string& name, uint64_t most_bytes) const;
  // For messages.
  std::string where(const std::string& name) const { return (path_ / (inside_ + name)).string(); }
 private:
  std::filesystem::path path_;
  std::string inside_;
  std::unique_ptr<const InputFile> zip_;  // null: a folder on disk
  std::vector<ZipMember> members_;        // a zip's: one per name
  std::vector<std::string> names_;
};
}  // namespace goldcrest::converter
