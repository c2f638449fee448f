// SPDX-License-Identifier: Apache-2.0
// The bounds are FORMAT.md's, section 12.
#include "spec/validate_shortlist.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/bounds.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

void check_list(const std::string& role, std::span<const uint32_t> ids, uint32_t target_vocab_size) {
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= target_vocab_size) {
      throw Error("{} has the target id {}; expected 0 to {}", role, ids[i], target_vocab_size - 1);
    }
    if (i > 0 && ids[i] <= ids[i - 1])
      throw Error("{}: {} follows {}; expected ascending ids", role, ids[i], ids[i - 1]);
  }
}

void check_ngram(const NgramList& list, uint32_t source_vocab_size) {
  if (list.ngram.size() < 2 || list.ngram.size() > kMaxSourceNgram) {
    throw Error("shortlist: an n-gram has {} ids; expected 2 to {}", list.ngram.size(), kMaxSourceNgram);
  }
  for (const uint32_t id : list.ngram) {
    if (id < source_vocab_size) continue;
    throw Error("shortlist: an n-gram has the source id {}; expected 0 to {}", id, source_vocab_size - 1);
  }
}

}  // namespace

void check_shortlist(const ShortlistSpec& shortlist, uint32_t source_vocab_size, uint32_t target_vocab_size) {
  check_list("shortlist: the list of every sentence", shortlist.always, target_vocab_size);
  const std::vector<uint64_t>& offset = shortlist.offset;
  if (offset.size() != size_t{source_vocab_size} + 1) {
    throw Error("shortlist: has {} offsets; expected one for each of {} source ids, and the end", offset.size(),
                source_vocab_size);
  }
  if (offset.front() != 0 || offset.back() != shortlist.ids.size() || !std::is_sorted(offset.begin(), offset.end())) {
    throw Error("shortlist: its offsets do not ascend from 0 to {}", shortlist.ids.size());
  }
  for (uint32_t id = 0; id < source_vocab_size; ++id) {
    const auto first = static_cast<size_t>(offset[id]), end = static_cast<size_t>(offset[id + 1]);
    check_list(format_text("shortlist: the list of the source id {}", id),
               std::span(shortlist.ids).subspan(first, end - first), target_vocab_size);
  }
  for (size_t i = 0; i < shortlist.ngrams.size(); ++i) {
    const NgramList& list = shortlist.ngrams[i];
    check_ngram(list, source_vocab_size);
    if (i > 0 && !(shortlist.ngrams[i - 1].ngram < list.ngram)) {
      throw Error("shortlist: its n-grams do not ascend; expected each once, in order");
    }
    check_list("shortlist: the list of an n-gram", list.ids, target_vocab_size);
  }
}

}  // namespace goldcrest::converter
