// SPDX-License-Identifier: Apache-2.0
// A shortlist to the section Tokenizer and its table in the metadata.
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

// Bytes of its arrays in the file, without what they are padded with.
uint64_t shortlist_bytes(const ShortlistSpec& shortlist, uint32_t target_vocab_size);

}  // namespace goldcrest::converter
