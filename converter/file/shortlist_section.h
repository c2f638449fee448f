// SPDX-License-Identifier: Apache-2.0
// Writes a model's shortlist to the section Tokenizer and to its table in the metadata, and its lexicon to the
// metadata.
#pragma once

#include "file/section_writer.h"
#include "spec/spec.h"

namespace goldcrest::format {
struct ModelT;
}  // namespace goldcrest::format

namespace goldcrest::converter {
// Also sets their feature bits.
void write_lists(const ModelSpec& spec, SectionWriter& section, format::ModelT* metadata);

// Return the bytes of their arrays in the file, without padding.
uint64_t shortlist_bytes(const ShortlistSpec& shortlist, uint32_t target_vocab_size);
uint64_t lexicon_bytes(const LexiconSpec& lexicon);
}  // namespace goldcrest::converter
