// SPDX-License-Identifier: Apache-2.0
// Tokenizers whose ids come from a list of the checkpoint: with a SentencePiece model beside it (vocab.json), or alone.
#pragma once

#include <string>
#include <vector>

#include "spec/spec.h"
#include "tokenizers/subword_codes.h"

namespace goldcrest::converter {

struct Vocabulary {
  std::string where;                    // the file (and key), for messages
  std::vector<std::string> id_to_text;  // an empty text: the id is not in use
  uint32_t unknown_id = 0;
  std::vector<uint32_t> control_ids;  // start, end, padding: never found in text, print nothing
};

// The model's pieces in the order of the vocabulary, as Hugging Face's MarianTokenizer maps them: each piece's text is
// looked up there. An entry that the model lacks is kSurface (kControl when control_ids has it); a piece that the
// vocabulary lacks comes after it and gives the unknown id. Language codes (>>xxx<<) are on when there is such an
// entry.
TokenizerSpec combine_with_vocabulary(const TokenizerSpec& model, const Vocabulary& vocabulary);

// Words between white space, and single characters, of a list. Entries other than the unknown and control ones are
// found in text as they are; of a character list, those of one code point.
TokenizerSpec word_tokenizer(const Vocabulary& vocabulary);
TokenizerSpec character_tokenizer(const Vocabulary& vocabulary);

// Words between spaces, cut by merges to entries as subword-nmt prints them: "x@@" goes on with another entry of its
// word, "x" ends it. What the merges make and the list lacks gives the unknown id. Language codes (>>xxx<<) are whole
// words. Throws Error for an entry with a space in it, and where no entry is of words.
TokenizerSpec subword_tokenizer(const SubwordCodes& codes, const Vocabulary& vocabulary);

}  // namespace goldcrest::converter
