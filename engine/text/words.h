// SPDX-License-Identifier: Apache-2.0
// The tokenizers for word lists and for single characters. They do not normalize the text and need no memory.
#pragma once

#include "text/token_writer.h"

namespace goldcrest {
// Writes one id for each word between ASCII white space.
int tokenize_words(const TokenizerView& view, TextSpan text, TokenWriter* writer);

// Writes one id for each code point; a byte that is no UTF-8 counts as U+FFFD.
int tokenize_characters(const TokenizerView& view, TextSpan text, TokenWriter* writer);
}  // namespace goldcrest
