// SPDX-License-Identifier: Apache-2.0
// The files of a folder by name. A folder inside a zip is read as if it were unpacked.
#include "sources/files/input_folder.h"
#include <algorithm>
#include "host/wording.h"
#include "sources/sniffing/sniff.h"
#include "spec/error.h"

namespace goldcrest::converter {
InputFolder::InputFolder(std::filesystem::path folder) : path_(std::move(folder)), names_(names_in(path_)) {}

InputFolder::InputFolder(std::filesystem::path zip, const std::string& inside)
    : path_(std::move(zip)), inside_(inside), zip_(std::make_unique<const InputFile>(path_)) {
  for (ZipMember& member : read_zip_directory(*zip_)) {
    const std::string name = member.name.starts_with(inside) ? member.name.substr(inside.size()) : "";
    if (name.empty() || name.find('/') != std::string::npos) continue;
    names_.push_back(name);
    members_.push_back(std::move(member));
  }
}

bool InputFolder::has(const std::string& name) const {
  std::error_code error;
  if (zip_ != nullptr) return std::find(names_.begin(), names_.end(), name) != names_.end();
  return std::filesystem::is_regular_file(path_ / name, error) || std::filesystem::is_symlink(path_ / name, error);
}

std::unique_ptr<const InputFile> InputFolder::open(const std::string& name) const {
  constexpr uint64_t kMostTimes = 4, kFreeBytes = uint64_t{1} << 20;
  if (zip_ == nullptr) return std::make_unique<const InputFile>(path_ / name);
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) throw Error("{}: has no member {}", path_.string(), in_quotes(inside_ + name));
  const ZipMember& member = members_[static_cast<size_t>(found - names_.begin())];
  if (member.plain_size > kFreeBytes && member.plain_size / kMostTimes > zip_->size()) {
    throw Error("{}: would unpack to {} bytes, more than four times the {} of the zip, which no model's weights do",
        where(name), member.plain_size, zip_->size());
  }
  return std::make_unique<const InputFile>(path_, inside_ + name, read_member(*zip_, member));
}

std::string InputFolder::read(const std::string& name, uint64_t most_bytes) const {
  return read_small_file(*open(name), most_bytes);
}
}  // namespace goldcrest::converter
