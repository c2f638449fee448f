// SPDX-License-Identifier: Apache-2.0
// Token ids as a line of text, for models without a tokenizer: "5 3 0".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace goldcrest::converter {

// Reads decimal numbers below `vocab_size` separated by spaces. Throws Error for any other text, and for a line without
// ids.
std::vector<int32_t> parse_ids(std::string_view line, uint32_t vocab_size);

std::string ids_text(std::span<const int32_t> ids);

}  // namespace goldcrest::converter
