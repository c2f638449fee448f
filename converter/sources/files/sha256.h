// SPDX-License-Identifier: Apache-2.0
// The hash that says which checkpoint a model came from, and whether two tables are the same.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace goldcrest::converter {

// SHA-256 over the files' bytes, one file after another, in lower-case hexadecimal; for one file what sha256sum prints.
std::string sha256_of_files(const std::vector<std::filesystem::path>& paths);
std::string sha256_of(std::span<const std::byte> bytes);

}  // namespace goldcrest::converter
