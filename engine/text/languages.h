// SPDX-License-Identifier: Apache-2.0
// Target languages that a text can ask for: the vocabulary's entries >>xxx<<, with which OPUS-MT's models of several
// targets begin a source.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/tokenizer_view.h"
#include "text/utf8.h"

namespace goldcrest {

constexpr uint32_t kMaxLanguageBytes = 32;  // of a code without its marks; longer ones are not found by name

// Bytes of a leading >>xxx<<, up to the first "<<"; 0 when the text starts otherwise.
uint32_t language_code_bytes(TextSpan text);

// The entry >>code<<, below vocab_size, of a tokenizer with language codes; kNoEntry when there is none.
uint32_t find_language(const TokenizerView& view, TextSpan code);

// Calls visit(context, code, bytes, entry) for every code that find_language finds, in the order of their bytes.
// Returns their number, or GOLDCREST_ERROR_MODEL_CORRUPT for a trie that is no tree.
using LanguageFunction = void (*)(void* context, const char* code, size_t code_bytes, int32_t id);
int visit_languages(const TokenizerView& view, LanguageFunction visit, void* context);

}  // namespace goldcrest
