// SPDX-License-Identifier: Apache-2.0
// The texts of special tokens that a tokenizer_config.json names, and their ids.
#pragma once

#include <string>

#include "dialects/dialect.h"
#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {

struct SpecialTexts {
  std::string unknown, end, pad;
};

// Reads a setting of tokenizer_config.json that is a text, or an object with its text as "content".
std::string token_text(const Config& tokenizer, const char* key, const std::string& usual);

// `usual` has the texts of the family's tokenizer, for those that the file does not name.
SpecialTexts read_special_texts(const Config& tokenizer, const SpecialTexts& usual);

// Throws Error where the vocabulary of the targets has the end token at another id than the settings of the search, and
// warns of such padding: it is another checkpoint's vocabulary then, or an edited one.
void check_special_ids(const Checkpoint& checkpoint, const Vocabulary& targets, const SpecialTexts& special,
                       ModelSpec& spec);

}  // namespace goldcrest::converter
