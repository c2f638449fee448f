// SPDX-License-Identifier: Apache-2.0
// How names and shapes from an untrusted file appear in a message. The C++ standard library alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// "[6000, 256]"; a scalar is "[]".
std::string shape_text(const std::vector<uint64_t>& shape);

// The text in double quotes, without control characters and cut after about 100 bytes.
std::string in_quotes(std::string_view text);

// The texts in quotes, with commas; after `most` of them only the number of the others.
std::string list_in_quotes(const std::vector<std::string>& texts, size_t most);

}  // namespace goldcrest::converter
