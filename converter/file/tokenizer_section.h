// SPDX-License-Identifier: Apache-2.0
// Writes packed tokenizers to the section Tokenizer and to their tables in the metadata.
#pragma once

#include <memory>
#include "file/section_writer.h"
#include "tokenizers/pack_tokenizer.h"

namespace goldcrest::format {
struct DetokenizerT;
struct TokenizerT;
}  // namespace goldcrest::format

namespace goldcrest::converter {
std::unique_ptr<format::TokenizerT> write_tokenizer(const PackedTokenizer& packed, SectionWriter& section);
std::unique_ptr<format::DetokenizerT> write_detokenizer(const PackedDetokenizer& packed, SectionWriter& section);
}  // namespace goldcrest::converter
