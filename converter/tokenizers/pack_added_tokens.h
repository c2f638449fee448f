// SPDX-License-Identifier: Apache-2.0
// Packs added tokens into the arrays of the schema's table AddedTokens.
#pragma once

#include "tokenizers/pack_tokenizer.h"

namespace goldcrest::converter {

// Throws Error for a token without text, or of an id that the vocabulary lacks.
void check_added_tokens(const TokenizerSpec& spec);

// Call it last, because normalized tokens need the packed map.
void pack_added_tokens(const TokenizerSpec& spec, PackedTokenizer& packed);

}  // namespace goldcrest::converter
