// SPDX-License-Identifier: Apache-2.0
// A shortlist in the form of the model file: it tells which outputs are the candidates of a sentence.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace goldcrest::converter {

struct NgramList {
  std::vector<uint32_t> ngram;  // consecutive source ids, at least two
  std::vector<uint32_t> ids;    // ascending
};

// The candidates of a sentence are `always`, the lists of its ids and the lists of its n-grams. All lists have target
// ids, ascending and without duplicates. End ids may be missing.
struct ShortlistSpec {
  std::vector<uint32_t> always;
  std::vector<uint64_t> offset;  // [source ids + 1]; the list of id i is ids[offset[i] .. offset[i + 1])
  std::vector<uint32_t> ids;
  std::vector<NgramList> ngrams;  // ascending by n-gram, each once
};

// Returns the candidates of a source, which includes the ids around its text: ascending, without duplicates, end ids
// included.
std::vector<uint32_t> candidates_of(const ShortlistSpec& shortlist, std::span<const int32_t> source,
                                    std::span<const uint32_t> end_ids);

}  // namespace goldcrest::converter
