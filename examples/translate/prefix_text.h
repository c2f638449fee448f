// SPDX-License-Identifier: Apache-2.0
// Makes ids of the text of a prefix. A model file has a tokenizer for sources only, so this cuts the text into pieces
// that the detokenizer writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// *ids <- the fewest pieces of the target whose text is `text`; of equally few, those with the longest first piece.
// Bytes that no piece has are byte pieces. Returns an error, or an empty string.
std::string prefix_ids(const void* model, const std::string& text, std::vector<int32_t>* ids);
