// SPDX-License-Identifier: Apache-2.0
// Tokens that a checkpoint's tokenizer was given in addition to its vocabulary.
#pragma once

#include <vector>

#include "dialects/dialect.h"

namespace goldcrest::converter {

// Returns the entries, by id, of the first of these that has some: added_tokens_decoder of tokenizer_config.json,
// tokenizer.json, added_tokens.json.
std::vector<AddedToken> read_added_tokens(const Checkpoint& checkpoint);

// Gives a tokenizer the tokens that a text may contain, and names their entries. Tokens with a role stay text there, as
// </s> does: those that tokenizer_config.json names for the end, unknown text, padding and so on, the usual ones, and
// languages. Throws Error if an id is another entry's, or outside the vocabulary.
void set_added_tokens(const Checkpoint& checkpoint, std::vector<AddedToken> tokens, const LanguagesSpec& languages,
                      TokenizerSpec& tokenizer);

}  // namespace goldcrest::converter
