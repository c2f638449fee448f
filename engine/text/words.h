// SPDX-License-Identifier: Apache-2.0
// The tokenizers of word lists and of single characters; the text is taken as it is, without memory.
#pragma once

#include "text/token_writer.h"

namespace goldcrest {

// One id for each word between ASCII white space.
int tokenize_words(const TokenizerView& view, TextSpan text, TokenWriter* writer);

// One id for each code point; a byte that is no UTF-8 counts as U+FFFD.
int tokenize_characters(const TokenizerView& view, TextSpan text, TokenWriter* writer);

}  // namespace goldcrest
