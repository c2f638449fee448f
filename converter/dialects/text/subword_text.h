// SPDX-License-Identifier: Apache-2.0
// Tokenizers of models whose texts subword-nmt's merges cut, with a vocabulary that has the pieces as it prints them.
#pragma once

#include <string>
#include <vector>

#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {

struct SubwordSide {
  const SubwordCodes* codes;
  const Vocabulary* vocabulary;
};

// The tokenizer of one side. Throws Error and warns as set_subword_tokenizers does.
TokenizerSpec checked_subword_tokenizer(const SubwordSide& side, std::vector<std::string>& warnings);

// Sets both tokenizers of the spec; the sides may be one. Throws Error where more than half of a vocabulary's entries
// are neither characters nor made by a merge, and warns from a quarter on: they belong to different models.
void set_subword_tokenizers(const SubwordSide& source, const SubwordSide& target, ModelSpec& spec);

}  // namespace goldcrest::converter
