// SPDX-License-Identifier: Apache-2.0
// What holds of any tokenizer tables and any text: ids in range, within the memory and the steps that are stated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/tokenizer_view.h"

namespace goldcrest::test {

// The ids of a text, none where it has an error that may be, in scratch for texts of so many bytes.
std::vector<int32_t> checked_ids(const TokenizerView& view, std::string_view text);

// The text of ids, flushed: the same whether they come at once or one by one, with too little room an error that
// changes nothing.
std::string checked_text(const DetokenizerView& view, const std::vector<int32_t>& ids);

}  // namespace goldcrest::test
