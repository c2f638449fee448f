// SPDX-License-Identifier: Apache-2.0
// Merges of a tokenizer.json that was made from a SentencePiece BPE model.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "sources/values/value.h"
#include "spec/spec.h"

namespace goldcrest::converter {

// Gives each piece the score by which SentencePiece merges its parts: the higher, the earlier. Throws Error unless the
// merges are those that a SentencePiece model has: all ways to make a piece of two others, best piece first.
void score_by_merges(const Value* merges, const std::string& where,
                     const std::unordered_map<std::string, uint32_t>& ids, TokenizerSpec& spec);

}  // namespace goldcrest::converter
