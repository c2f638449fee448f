// SPDX-License-Identifier: Apache-2.0
// A shortlist as the model file will have it: which outputs a sentence's ids leave as candidates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace goldcrest::converter {

struct NgramList {
  std::vector<uint32_t> ngram;  // source ids that follow each other, at least two
  std::vector<uint32_t> ids;    // ascending
};

// The candidates of a sentence are `always`, the lists of its ids and the lists of its n-grams. All lists are of target
// ids, ascending and without duplicates. End ids need not be among them.
struct ShortlistSpec {
  std::vector<uint32_t> always;
  std::vector<uint64_t> offset;  // [source ids + 1]; the list of id i is ids[offset[i] .. offset[i + 1])
  std::vector<uint32_t> ids;
  std::vector<NgramList> ngrams;  // ascending by n-gram, each once
};

// What a source, with the ids around its text, leaves: ascending, each once, the end ids among them.
std::vector<uint32_t> candidates_of(const ShortlistSpec& shortlist, std::span<const int32_t> source,
                                    std::span<const uint32_t> end_ids);

}  // namespace goldcrest::converter
