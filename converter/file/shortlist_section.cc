// SPDX-License-Identifier: Apache-2.0
// N-grams of a shortlist are put in the file's order, in which an n-gram follows all that begin with it. Their lists
// follow those of the ids.
#include "file/shortlist_section.h"
#include <algorithm>
#include <memory>
#include "base/build_options.h"
#include "file/format.h"
#include "model/model_view.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// A list of the file: the n-gram's key, and its candidates.
struct KeyedList {
  std::vector<uint32_t> key;  // [longest n-gram]
  const std::vector<uint32_t>* ids;
};

size_t longest_ngram(const ShortlistSpec& shortlist) {
  size_t longest = 0;
  for (const NgramList& list : shortlist.ngrams) longest = std::max(longest, list.ngram.size());
  return longest;
}

std::vector<KeyedList> keyed_lists(const ShortlistSpec& shortlist) {
  const size_t longest = longest_ngram(shortlist);
  std::vector<KeyedList> lists;
  for (const NgramList& list : shortlist.ngrams) {
    lists.push_back({list.ngram, &list.ids});
    lists.back().key.resize(longest, kNoId);
  }
  std::sort(lists.begin(), lists.end(), [](const KeyedList& a, const KeyedList& b) { return a.key < b.key; });
  return lists;
}

uint32_t append_ids(const std::vector<uint32_t>& ids, uint32_t target_vocab_size, SectionWriter& section) {
  if (has_wide_ids(target_vocab_size)) return section.append(ids);
  return section.append(std::vector<uint16_t>(ids.begin(), ids.end()));
}

std::unique_ptr<format::ShortlistT> write_shortlist(
    const ShortlistSpec& shortlist, uint32_t target_vocab_size, SectionWriter& section) {
  std::vector<uint32_t> ids = shortlist.ids, keys;
  std::vector<uint32_t> offset(shortlist.offset.begin(), shortlist.offset.end());
  uint64_t n_ids = ids.size();
  for (const NgramList& list : shortlist.ngrams) n_ids += list.ids.size();
  if (n_ids > UINT32_MAX) throw Error("the shortlist is too large: it has {} ids, more than 2^32 - 1", n_ids);
  for (const KeyedList& list : keyed_lists(shortlist)) {
    keys.insert(keys.end(), list.key.begin(), list.key.end());
    ids.insert(ids.end(), list.ids->begin(), list.ids->end());
    offset.push_back(static_cast<uint32_t>(ids.size()));
  }
  auto out = std::make_unique<format::ShortlistT>();
  out->always = append_ids(shortlist.always, target_vocab_size, section);
  out->n_always = static_cast<uint32_t>(shortlist.always.size());
  out->offset = section.append(offset);
  out->ids = append_ids(ids, target_vocab_size, section);
  out->n_ids = static_cast<uint32_t>(ids.size());
  out->ngram_keys = section.append(keys);
  out->n_ngrams = static_cast<uint32_t>(shortlist.ngrams.size());
  out->max_ngram = static_cast<uint32_t>(longest_ngram(shortlist));
  return out;
}

std::vector<uint32_t> lexicon_list(const LexiconSpec& lexicon) {
  std::vector<uint32_t> list = {lexicon.n_nodes()};
  list.insert(list.end(), lexicon.first_edge.begin(), lexicon.first_edge.end());
  for (const goldcrest_lexicon_edge& edge : lexicon.edges) {
    list.push_back(edge.token);
    list.push_back(edge.child);
  }
  return list;
}
}  // namespace

void write_lists(const ModelSpec& spec, SectionWriter& section, format::ModelT* metadata) {
  if (spec.shortlist) {
    metadata->features |= kFeatureShortlist;
    metadata->shortlist = write_shortlist(*spec.shortlist, spec.projection.weight->rows, section);
  }
  if (spec.lexicon) {
    metadata->features |= kFeatureLexicon;
    metadata->lexicon = lexicon_list(*spec.lexicon);
  }
}

uint64_t lexicon_bytes(const LexiconSpec& lexicon) {
  return (1 + lexicon.first_edge.size()) * sizeof(uint32_t) + lexicon.edges.size() * sizeof(goldcrest_lexicon_edge);
}

uint64_t shortlist_bytes(const ShortlistSpec& shortlist, uint32_t target_vocab_size) {
  uint64_t n_ids = shortlist.always.size() + shortlist.ids.size();
  for (const NgramList& list : shortlist.ngrams) n_ids += list.ids.size();
  const uint64_t n_words =
      shortlist.offset.size() + shortlist.ngrams.size() + shortlist.ngrams.size() * longest_ngram(shortlist);
  return n_ids * (has_wide_ids(target_vocab_size) ? 4 : 2) + n_words * 4;
}
}  // namespace goldcrest::converter
