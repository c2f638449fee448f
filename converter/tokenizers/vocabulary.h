// SPDX-License-Identifier: Apache-2.0
// Tokenizers whose ids come from a list in the checkpoint, with or without a SentencePiece model (vocab.json).
#pragma once

#include <string>
#include <vector>
#include "spec/spec.h"
#include "tokenizers/subword_codes.h"

namespace goldcrest::converter {
struct Vocabulary {
  std::string where;                    // the file (and key), for messages
  std::vector<std::string> id_to_text;  // an empty text: the id is unused
  uint32_t unknown_id = 0;
  std::vector<uint32_t> control_ids;     // start, end, padding: never found in text, print nothing
  std::vector<uint32_t> added_ids = {};  // a speech model's: entries that are text, even if the others are bytes
};

// Puts the model's pieces in the order of the vocabulary, where each piece's text is looked up, as Hugging Face's
// MarianTokenizer does. An entry that the model lacks becomes kSurface, or kControl if control_ids contains it. A piece
// that the vocabulary lacks follows the vocabulary and gives the unknown id. Language codes (>>xxx<<) are on if an
// entry is one.
TokenizerSpec combine_with_vocabulary(const TokenizerSpec& model, const Vocabulary& vocabulary);

// Tokenizers for words between white space, and for single characters. Entries other than the unknown and control ones
// are found in text as they are; in a character list only those of one code point are found.
TokenizerSpec word_tokenizer(const Vocabulary& vocabulary);
TokenizerSpec character_tokenizer(const Vocabulary& vocabulary);

// Words between spaces, cut by merges into entries as subword-nmt prints them: "x@@" continues with another entry of
// its word, "x" ends it. A merged text that the list lacks gives the unknown id. Language codes (>>xxx<<) are whole
// words. Throws Error for an entry with a space, and if no entry belongs to a word.
TokenizerSpec subword_tokenizer(const SubwordCodes& codes, const Vocabulary& vocabulary);
}  // namespace goldcrest::converter
