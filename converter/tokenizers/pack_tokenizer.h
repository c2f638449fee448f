// SPDX-License-Identifier: Apache-2.0
// Packs a TokenizerSpec into the arrays and scalars of the schema's tables Tokenizer and Detokenizer
// (engine/schema/model.fbs).
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include "spec/spec.h"

namespace goldcrest::converter {
struct PackedTokenizer {
  TokenizerKind kind = TokenizerKind::kWord;
  uint32_t vocab_size = 0, n_pieces = 0;
  std::vector<uint32_t> trie;
  std::vector<float> score;        // [n_pieces]; empty for kWord and kCharacter
  std::vector<uint8_t> type;       // [n_pieces]
  std::vector<uint32_t> byte_ids;  // [256], or empty without byte_fallback
  std::vector<uint32_t> normalizer_trie;
  std::string normalizer_text;
  uint32_t unknown_id = 0, max_piece_bytes = 0;
  float unknown_score = 0, max_score = 0;
  bool byte_fallback = false, add_dummy_prefix = false, remove_extra_whitespace = false, escape_whitespace = false;
  bool whitespace_as_suffix = false, language_codes = false, has_user_defined = false;
  std::vector<uint32_t> added;  // as in the schema; empty without added tokens
};

struct PackedDetokenizer {
  TokenizerKind kind = TokenizerKind::kWord;
  uint32_t n_pieces = 0;
  std::vector<uint32_t> text_offset;  // [n_pieces + 1]
  std::string text;
  std::vector<uint8_t> type;  // [n_pieces]
  bool add_dummy_prefix = false, remove_extra_whitespace = false;
};

// Returns whether an entry names a language as Whisper's entries do: "<|fr|>", two or three letters.
bool is_language_entry(const std::string& text);

// Both throw Error for an invalid spec (ids out of range, duplicate pieces).
PackedTokenizer pack_tokenizer(const TokenizerSpec& given);
PackedDetokenizer pack_detokenizer(const TokenizerSpec& spec);

// Throws Error for a token without text, or of an id that the vocabulary lacks.
void check_added_tokens(const TokenizerSpec& spec);

// Packs added tokens into the arrays of the schema's table AddedTokens. Call it last, because normalized tokens need
// the packed map.
void pack_added_tokens(const TokenizerSpec& spec, PackedTokenizer& packed);
}  // namespace goldcrest::converter
