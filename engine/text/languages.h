// SPDX-License-Identifier: Apache-2.0
// The target languages that a text can ask for: the entries >>xxx<< of the vocabulary. A source of an OPUS-MT model
// with several targets begins with such an entry.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "base/bounds.h"
#include "model/tokenizer_view.h"
#include "text/utf8.h"

namespace goldcrest {
// Returns the bytes of a leading >>xxx<<, up to the first "<<"; 0 if the text starts otherwise.
uint32_t language_code_bytes(TextSpan text);

// Codes are written without >> and <<. A code of more than kMaxLanguageBytes is not found by name.
// Returns the entry >>code<<, below vocab_size, of a tokenizer with language codes; kNoEntry if there is none.
uint32_t find_language(const TokenizerView& view, TextSpan code);

// Calls visit(context, code, bytes, entry) for every code that find_language finds, in the order of their bytes.
// Returns their number, or GOLDCREST_ERROR_MODEL_CORRUPT for a trie that is no tree.
using LanguageFunction = void (*)(void* context, const char* code, size_t code_bytes, int32_t id);
int visit_languages(const TokenizerView& view, LanguageFunction visit, void* context);
}  // namespace goldcrest
