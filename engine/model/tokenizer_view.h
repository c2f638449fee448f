// SPDX-License-Identifier: Apache-2.0
// The two tokenizer tables of a model file as plain structs: pointers into the file, counts and flags
// (schema/model.fbs).
#pragma once

#include <stdint.h>
#include "base/build_options.h"

namespace goldcrest {
enum class TokenizerKind : uint8_t { kUnigram, kBpe, kWord, kCharacter, kSubword };
constexpr bool is_subword(TokenizerKind kind) { return kHasText && kind == TokenizerKind::kSubword; }

// SentencePiece's types, and kSurface: a piece that is found only by its whole text; the segmenter never proposes it
// (FORMAT.md).
enum class PieceType : uint8_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte, kSurface };

// The words of Tokenizer.added before its runs and its trie (FORMAT.md, "Added tokens").
enum AddedWord : uint32_t { kAddedFlags, kAddedSpaces, kAddedLetters, kAddedHeader };
// Flags of the first one; its other bits have the bytes of the longest token.
constexpr uint32_t kAddedNormalized = 1u << 16, kAddedKeepSpace = 1u << 17, kAddedByItems = 1u << 18;

// Returns whether tokens take white space or must be words of their own. Builds without GOLDCREST_ADDED_WORDS refuse
// such files.
inline bool needs_added_words(const uint32_t* added) {
  return added[kAddedFlags] >= kAddedByItems || (added[kAddedSpaces] | added[kAddedLetters]) != 0;
}

// Text to ids. Code that uses a view checks every value that it takes from the arrays: trie values against n_pieces,
// offsets against normalizer_text_bytes. Only the arrays' extents and pointers must be right.
struct TokenizerView {
  TokenizerKind kind;
  bool byte_fallback;  // byte_ids is set
  bool add_dummy_prefix;
  bool remove_extra_whitespace;
  bool escape_whitespace;     // a space becomes U+2581
  bool whitespace_as_suffix;  // the dummy prefix becomes a suffix
  bool language_codes;        // a leading >>xxx<< that is an entry of the trie becomes one id
  bool has_user_defined;
  uint32_t vocab_size;              // ids are below it
  uint32_t n_pieces;                // entries; those >= vocab_size give unknown_id
  const uint32_t* trie;             // [trie_units] pieces -> entries (text/double_array.h)
  const float* score;               // [n_pieces]; kUnigram, kBpe and kSubword only
  const uint8_t* type;              // [n_pieces] PieceType
  const uint32_t* byte_ids;         // [256]; null without byte_fallback
  const uint32_t* normalizer_trie;  // [normalizer_trie_units] strings -> offsets into normalizer_text
  const char* normalizer_text;      // [normalizer_text_bytes] NUL-terminated strings
  uint32_t trie_units, normalizer_trie_units, normalizer_text_bytes;
  uint32_t unknown_id;
  uint32_t max_piece_bytes;  // longer strings in the trie are never found
  float unknown_score;       // kUnigram: of a character that no piece covers
  float max_score;           // kUnigram: a user-defined piece of n bytes scores n * max_score - 0.1
  const uint32_t* added;     // [n_added] tokens that are found before a text is cut; null without them
  uint32_t n_added;
};

// Ids to text.
struct DetokenizerView {
  TokenizerKind kind;
  bool add_dummy_prefix;
  bool remove_extra_whitespace;
  uint32_t n_pieces;
  const uint32_t* text_offset;  // [n_pieces + 1] byte offsets into text
  const char* text;             // [text_bytes]
  const uint8_t* type;          // [n_pieces] PieceType
  uint32_t text_bytes;
};
}  // namespace goldcrest
