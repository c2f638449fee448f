// SPDX-License-Identifier: Apache-2.0
// Properties of any tokenizer tables and any text: ids are in range, and calls stay within the stated memory and steps.
#pragma once

#include <string>
#include <string_view>
#include <vector>
#include "model/tokenizer_view.h"

namespace goldcrest::test {
// Returns the ids of a text, or none if it has an allowed error. The scratch is that for texts of this many bytes.
std::vector<int32_t> checked_ids(const TokenizerView& view, std::string_view text);

// Returns the text of ids, flushed. It is the same at once and one by one; too little room is an error that changes
// nothing.
std::string checked_text(const DetokenizerView& view, const std::vector<int32_t>& ids);
}  // namespace goldcrest::test
