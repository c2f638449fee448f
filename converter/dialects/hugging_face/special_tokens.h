// SPDX-License-Identifier: Apache-2.0
// Tokens that the files of a tokenizer name: special ones, and those that it was given in addition to its vocabulary.
#pragma once

#include <string>
#include <vector>
#include "dialects/dialect.h"
#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {
// The texts of special tokens that a tokenizer_config.json names.
struct SpecialTexts {
  std::string unknown, end, pad;
};

// `usual` has the texts of the family's tokenizer, for those that the file does not name.
SpecialTexts read_special_texts(const Config& tokenizer, const SpecialTexts& usual);

// Throws Error where the vocabulary of the targets has the end token at another id than the settings of the search, and
// warns of such padding: it is another checkpoint's vocabulary then, or an edited one.
void check_special_ids(
    const Checkpoint& checkpoint, const Vocabulary& targets, const SpecialTexts& special, ModelSpec& spec);

// Returns the entries, by id, of the first of these that has some: added_tokens_decoder of tokenizer_config.json,
// tokenizer.json, added_tokens.json.
std::vector<AddedToken> read_added_tokens(const Checkpoint& checkpoint);

// Gives a tokenizer the tokens that a text may contain, and names their entries. Tokens with a role stay text there, as
// </s> does: those that tokenizer_config.json names for the end, unknown text, padding and so on, the usual ones, and
// languages. Throws Error if an id is another entry's, or outside the vocabulary.
void set_added_tokens(const Checkpoint& checkpoint, std::vector<AddedToken> tokens, const LanguagesSpec& languages,
    TokenizerSpec& tokenizer);
}  // namespace goldcrest::converter
