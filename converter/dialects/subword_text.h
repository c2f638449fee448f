// SPDX-License-Identifier: Apache-2.0
// Tokenizers of models whose texts subword-nmt's merges cut, with a vocabulary that has the pieces as it prints them.
#pragma once

#include <string>

#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {

// By its name: codes, bpecodes, train.codes, codes.en, source.bpe, bpe.model (Argos Translate's).
bool is_codes_name(const std::string& name);

struct SubwordSide {
  const SubwordCodes* codes;
  const Vocabulary* vocabulary;
};

// Sets both tokenizers of the spec; the sides may be one. Throws Error where more than half of a vocabulary's entries
// are neither characters nor made by a merge, and warns from a quarter on: they belong to different models.
void set_subword_tokenizers(const SubwordSide& source, const SubwordSide& target, ModelSpec& spec);

}  // namespace goldcrest::converter
