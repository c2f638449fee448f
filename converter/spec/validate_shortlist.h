// SPDX-License-Identifier: Apache-2.0
// Checks that a shortlist fits a model.
#pragma once

#include "spec/shortlist.h"

namespace goldcrest::converter {

// Throws Error naming whatever no file can hold.
void check_shortlist(const ShortlistSpec& shortlist, uint32_t source_vocab_size, uint32_t target_vocab_size);

}  // namespace goldcrest::converter
