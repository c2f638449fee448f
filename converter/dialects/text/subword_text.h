// SPDX-License-Identifier: Apache-2.0
// Tokenizers of models whose texts are cut by subword-nmt's merges. Their vocabulary has the pieces as subword-nmt
// prints them.
#pragma once

#include <string>
#include <vector>

#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {

struct SubwordSide {
  const SubwordCodes* codes;
  const Vocabulary* vocabulary;
};

// Returns the tokenizer of one side. Throws Error and warns as set_subword_tokenizers does.
TokenizerSpec checked_subword_tokenizer(const SubwordSide& side, std::vector<std::string>& warnings);

// Sets both tokenizers of the spec; the sides may be one. Counts the entries of a vocabulary that are neither
// characters nor made by a merge. If they are more than half, vocabulary and merges belong to different models: throws
// Error. Warns from a quarter on.
void set_subword_tokenizers(const SubwordSide& source, const SubwordSide& target, ModelSpec& spec);

}  // namespace goldcrest::converter
