// SPDX-License-Identifier: Apache-2.0
#include "spec/spec.h"
#include <algorithm>
#include <iterator>

namespace goldcrest::converter {
std::vector<uint32_t> candidates_of(
    const ShortlistSpec& shortlist, std::span<const int32_t> source, std::span<const uint32_t> end_ids) {
  std::vector<uint32_t> candidates = shortlist.always;
  candidates.insert(candidates.end(), end_ids.begin(), end_ids.end());
  for (const int32_t token : source) {
    const auto id = static_cast<size_t>(token);
    const auto begin = shortlist.ids.begin();
    candidates.insert(candidates.end(), begin + static_cast<ptrdiff_t>(shortlist.offset[id]),
        begin + static_cast<ptrdiff_t>(shortlist.offset[id + 1]));
  }
  const std::vector<uint32_t> ids(source.begin(), source.end());
  for (const NgramList& list : shortlist.ngrams) {
    const auto found = std::search(ids.begin(), ids.end(), list.ngram.begin(), list.ngram.end());
    if (found != ids.end()) std::ranges::copy(list.ids, std::back_inserter(candidates));
  }
  std::ranges::sort(candidates);
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}
}  // namespace goldcrest::converter
