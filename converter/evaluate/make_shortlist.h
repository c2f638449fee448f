// SPDX-License-Identifier: Apache-2.0
// Makes a shortlist from texts and their translations. It lists the most frequent target ids and, for each source id,
// its most probable translations by IBM model 1 (Brown et al. 1993, "The Mathematics of Statistical Machine
// Translation", section 4.1).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>
#include "spec/spec.h"

namespace goldcrest::converter {
// A source and its translation, including all ids that the model puts around them.
struct IdPair {
  std::vector<int32_t> source, target;
};

struct ShortlistOptions {
  uint32_t always = 100, best = 100;  // the most frequent ids; the most probable ones of a source id
  uint32_t source_ids = 0;            // the model's
  std::vector<uint32_t> never;        // target ids that are never listed
  std::function<void(size_t done, size_t total)> progress;  // in pairs, over all passes; may be empty
};

// The same pairs give the same shortlist on any machine.
ShortlistSpec make_shortlist(std::span<const IdPair> pairs, const ShortlistOptions& options);

// Measures a shortlist on pairs that it was not made from.
struct ShortlistCoverage {
  size_t lines = 0, whole_lines = 0;             // whole: every target id is a candidate
  uint64_t target_ids = 0, covered_ids = 0;      // all targets together
  uint64_t candidates = 0, most_candidates = 0;  // summed over the lines; largest of one line
};
ShortlistCoverage measure_coverage(
    const ShortlistSpec& shortlist, std::span<const IdPair> pairs, std::span<const uint32_t> end_ids);
}  // namespace goldcrest::converter
