// SPDX-License-Identifier: Apache-2.0
// Shows names and shapes from an untrusted file in messages. Needs only the C++ standard library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// "[6000, 256]"; a scalar is "[]".
std::string shape_text(const std::vector<uint64_t>& shape);

// Returns the text in double quotes, without control characters, cut after about 100 bytes.
std::string in_quotes(std::string_view text);

// Returns the texts in quotes, separated by commas. After the first `most`, only the number of the others follows.
std::string list_in_quotes(const std::vector<std::string>& texts, size_t most);

}  // namespace goldcrest::converter
