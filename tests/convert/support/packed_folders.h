// SPDX-License-Identifier: Apache-2.0
// Folders that a file in tests/data holds: {FOLDER: {FILE: its bytes in hexadecimal}}.
#pragma once

#include <filesystem>
#include <string>

#include "sources/values/value.h"
#include "support/temporary_folder.h"

namespace goldcrest::test {

inline void unpack_folders(const converter::Value& packed, const TemporaryFolder& into) {
  for (const auto& [folder, files] : packed.members()) {
    std::filesystem::create_directory(into / folder);
    for (const auto& [name, digits] : files.members()) {
      std::string bytes;
      for (size_t i = 0; i + 1 < digits.text().size(); i += 2)
        bytes += static_cast<char>(std::stoi(digits.text().substr(i, 2), nullptr, 16));
      into.write(folder + "/" + name, bytes);
    }
  }
}

}  // namespace goldcrest::test
