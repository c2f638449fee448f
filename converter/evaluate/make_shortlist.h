// SPDX-License-Identifier: Apache-2.0
// A shortlist from texts and their translations: the target ids that are most frequent, and for each source id those
// that IBM model 1 has as its most probable translations (Brown et al. 1993, "The Mathematics of Statistical Machine
// Translation", section 4.1).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "spec/shortlist.h"

namespace goldcrest::converter {

// A source and its translation, with all ids that the model puts around them.
struct IdPair {
  std::vector<int32_t> source, target;
};

struct ShortlistOptions {
  uint32_t always = 100, best = 100;                        // the most frequent ids; the most probable of a source id
  uint32_t source_ids = 0;                                  // that the model has
  std::vector<uint32_t> never;                              // target ids that are not listed
  std::function<void(size_t done, size_t total)> progress;  // of the pairs, over all passes; may be empty
};

// The same pairs give the same shortlist on any machine.
ShortlistSpec make_shortlist(std::span<const IdPair> pairs, const ShortlistOptions& options);

// How a shortlist does on pairs that it was not made from.
struct ShortlistCoverage {
  size_t lines = 0, whole_lines = 0;             // whole: every target id is a candidate
  uint64_t target_ids = 0, covered_ids = 0;      // of all targets
  uint64_t candidates = 0, most_candidates = 0;  // summed over the lines, and of one line
};
ShortlistCoverage measure_coverage(const ShortlistSpec& shortlist, std::span<const IdPair> pairs,
                                   std::span<const uint32_t> end_ids);

}  // namespace goldcrest::converter
