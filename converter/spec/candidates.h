// SPDX-License-Identifier: Apache-2.0
// What a shortlist leaves of the target's ids, and whether it fits a model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spec/spec.h"

namespace goldcrest::converter {

// The candidates of a source's ids: those of every sentence, the end ids, the lists of its ids and of its n-grams.
// Ascending, each once.
std::vector<uint32_t> candidates_of(const ShortlistSpec& shortlist, const GenerationSpec& generation,
                                    std::span<const int32_t> source);

// Throws Error naming what no file can hold.
void check_shortlist(const ShortlistSpec& shortlist, uint32_t source_vocab_size, uint32_t target_vocab_size);

}  // namespace goldcrest::converter
