// SPDX-License-Identifier: Apache-2.0
// Checks that the parts of a neutral model fit together and fit a file. The packer relies on it and does not check
// indices.
#pragma once

#include "spec/spec.h"

namespace goldcrest::converter {
// Checks every shape against the dimensions, and dimensions, scalars and ids against FORMAT.md's bounds. Throws Error
// with the tensor's or setting's name, what was found and what was expected.
void validate_spec(const ModelSpec& spec);

// Checks that a shortlist fits a model.

// Throws Error naming whatever no file can hold.
void check_shortlist(const ShortlistSpec& shortlist, uint32_t source_vocab_size, uint32_t target_vocab_size);
}  // namespace goldcrest::converter
