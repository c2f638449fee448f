// SPDX-License-Identifier: Apache-2.0
// The hash that says which checkpoint a model came from.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace goldcrest::converter {

// SHA-256 over the files' bytes, one file after another, in lower-case hexadecimal; for one file what sha256sum prints.
std::string sha256_of_files(const std::vector<std::filesystem::path>& paths);

}  // namespace goldcrest::converter
