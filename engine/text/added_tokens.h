// SPDX-License-Identifier: Apache-2.0
// Tokens that a tokenizer was given in addition to its vocabulary (FORMAT.md, "Added tokens").
#pragma once

#include "text/segment.h"

namespace goldcrest {
// Bytes of items for each byte of the longest text, and for any text, in addition to the segmenter's scratch.
// Normalized tokens take them three times: for items, a part's normalized text, and an item of it.
constexpr uint32_t kItemsPerByte = 3, kItemsFixed = 16;

// Builds without added tokens refuse files that have them.
inline bool has_added_tokens(const TokenizerView& view) { return kHasText && view.added != nullptr; }
inline bool has_flag(const TokenizerView& view, uint32_t flag) { return (view.added[kAddedFlags] & flag) != 0; }

// The first byte of a string in the trie of tokens, whose values are an id and flags.
enum class AddedPlace : uint8_t { kInText = 1, kInNormalized = 2 };
constexpr uint32_t kAddedIdMask = (1u << 24) - 1;

// Returns the bytes of the longest token at the text's start; 0 if there is none. *value <- its value.
uint32_t longest_added_token(const TokenizerView& view, AddedPlace place, TextSpan text, uint32_t* value);

// Cuts a part between tokens. Where WhitespaceSplit does not come first, the space at its end is a word of its own.
int tokenize_between(const TokenizeArgs& args, TextSpan part, TokenWriter* writer);

// Writes the ids of the text's added tokens, and cuts each part between them with tokenize_part. By places, it follows
// added_vocabulary.rs of the crate tokenizers 0.23: tokens of the text first, then those of each part's normalized
// text. By items, it follows PreTrainedTokenizer.tokenize of transformers 5.24. The scratch ends with `capacity` bytes
// of items, or three times as many.
int tokenize_added(const TokenizeArgs& args, TextSpan text, uint32_t capacity, TokenWriter* writer);

// The same for files that need it.
int tokenize_added_words(const TokenizeArgs& args, TextSpan text, uint32_t capacity, TokenWriter* writer);
}  // namespace goldcrest
