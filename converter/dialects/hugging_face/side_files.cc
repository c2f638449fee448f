// SPDX-License-Identifier: Apache-2.0
#include "dialects/hugging_face/side_files.h"

#include "sources/values/value.h"

namespace goldcrest::converter {

std::filesystem::path side_file(const Checkpoint& checkpoint, const char* name) {
  std::error_code error;
  const std::filesystem::path beside_config = checkpoint.config.path().parent_path() / name;
  const bool is_there =
      !std::filesystem::exists(checkpoint.directory / name, error) && std::filesystem::exists(beside_config, error);
  return is_there ? beside_config : checkpoint.directory / name;
}

Config side_config(const Checkpoint& checkpoint, const char* name) {
  const std::filesystem::path path = side_file(checkpoint, name);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Config(Value::map(), path.string(), path);
  return Config(path);
}

}  // namespace goldcrest::converter
