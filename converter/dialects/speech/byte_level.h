// SPDX-License-Identifier: Apache-2.0
// Detokenizers of speech models: their ids become bytes, and no text becomes ids.
#pragma once

#include <filesystem>

#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {

enum class SpeechText {
  kByteLevel,     // GPT-2's: a piece is bytes, each written as one printable character
  kByteFallback,  // SentencePiece's: a piece is text, or one byte written as <0x41>
};

// Reads a tokenizer.json with n_ids ids at most. Its special added tokens become control ids. Throws Error naming a
// part that would change a text.
Vocabulary read_tokenizer_json(const std::filesystem::path& path, uint32_t n_ids, SpeechText text);

// Returns a tokenizer of the first n_ids entries for results only. Entries like <|en|> are control entries too. Throws
// Error naming an entry that is no such piece.
TokenizerSpec speech_tokenizer(const Vocabulary& vocabulary, uint32_t n_ids, SpeechText text);

}  // namespace goldcrest::converter
