// SPDX-License-Identifier: Apache-2.0
// The hash that identifies the checkpoint of a model and tells whether two tables are equal.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace goldcrest::converter {
// Returns the SHA-256 of the files' bytes, concatenated, in lower-case hexadecimal. For one file, sha256sum prints the
// same.
std::string sha256_of_files(const std::vector<std::filesystem::path>& paths);
std::string sha256_of(std::span<const std::byte> bytes);
}  // namespace goldcrest::converter
