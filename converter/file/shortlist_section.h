// SPDX-License-Identifier: Apache-2.0
// Writes a shortlist to the section Tokenizer and to its table in the metadata.
#pragma once

#include <memory>

#include "file/section_writer.h"
#include "spec/shortlist.h"

namespace goldcrest::format {
struct ShortlistT;
}  // namespace goldcrest::format

namespace goldcrest::converter {

std::unique_ptr<format::ShortlistT> write_shortlist(const ShortlistSpec& shortlist, uint32_t target_vocab_size,
                                                    SectionWriter& section);

// Returns the bytes of its arrays in the file, without padding.
uint64_t shortlist_bytes(const ShortlistSpec& shortlist, uint32_t target_vocab_size);

}  // namespace goldcrest::converter
