// SPDX-License-Identifier: Apache-2.0
// Checks the shortlist and the lexicon, and the other fields of their feature bits (FORMAT.md, sections 12 and 18).
// With a file that passes, choosing candidates reads only the arrays and sets no bit beyond the vocabulary.
#include "base/exact_floats.h"
#include "model/model_view.h"
#include "model/validate/validator.h"

namespace goldcrest {
int Validator::check_shortlist() {
  const format::Shortlist* table = model_->shortlist();
  const uint32_t most = model_->limits()->max_candidates();
  const bool has_lexicon = has_feature(features_, kFeatureLexicon);
  GOLDCREST_REQUIRE_INTACT(
      table != nullptr ? most >= 1 && most <= target_vocab_size_ : most <= (has_lexicon ? target_vocab_size_ : 0),
      "limits.max_candidates", -1);
  for (uint32_t i = 0; table == nullptr && model_->self_test() != nullptr && i < model_->self_test()->size(); ++i)
    GOLDCREST_REQUIRE_INTACT(!model_->self_test()->at(i)->shortlist(), "self_test.shortlist", static_cast<int32_t>(i));
  if (table == nullptr) return GOLDCREST_OK;
  GOLDCREST_REQUIRE_INTACT(!has_frontend(), "shortlist: not expected", -1);
  const SectionView& arrays = section(format::SectionKind::Tokenizer);
  const uint64_t id_bytes = has_wide_ids(target_vocab_size_) ? 4 : 2;
  GOLDCREST_REQUIRE_INTACT(
      table->n_always() <= target_vocab_size_ && arrays.holds(table->always(), id_bytes * table->n_always()),
      "shortlist.always", -1);
  GOLDCREST_REQUIRE_INTACT(table->n_ngrams() <= kMaxVocabulary, "shortlist.ngram_keys", -1);
  GOLDCREST_REQUIRE_INTACT(arrays.holds(table->offset(), 4 * (uint64_t{source_vocab_size_} + table->n_ngrams() + 1)),
      "shortlist.offset", -1);
  GOLDCREST_REQUIRE_INTACT(arrays.holds(table->ids(), id_bytes * table->n_ids()), "shortlist.ids", -1);
  GOLDCREST_REQUIRE_INTACT(table->n_ngrams() == 0 ? table->max_ngram() == 0
                                                  : table->max_ngram() >= 2 && table->max_ngram() <= kMaxSourceNgram,
      "shortlist.max_ngram", -1);
  GOLDCREST_REQUIRE_INTACT(arrays.holds(table->ngram_keys(), 4 * uint64_t{table->n_ngrams()} * table->max_ngram()),
      "shortlist.ngram_keys", -1);
  if (functions_.metadata_only) return GOLDCREST_OK;
  GOLDCREST_TRY(check_lists(*table));
  return check_ngrams(*table);
}

// Returns whether ids [first, end) of an array ascend and are ids of the target.
template <typename Id> bool Validator::is_list(uint32_t units, uint32_t first, uint32_t end) const {
  const Id* ids = section(format::SectionKind::Tokenizer).at<Id>(units);
  for (uint32_t i = first; i < end; ++i)
    if (ids[i] >= target_vocab_size_ || (i > first && ids[i] <= ids[i - 1])) return false;
  return true;
}

int Validator::check_lists(const format::Shortlist& table) {
  const auto is_good = [&](uint32_t units, uint32_t first, uint32_t end) {
    return has_wide_ids(target_vocab_size_) ? is_list<uint32_t>(units, first, end)
                                            : is_list<uint16_t>(units, first, end);
  };
  GOLDCREST_REQUIRE_INTACT(is_good(table.always(), 0, table.n_always()), "shortlist.always", -1);
  const uint32_t* offset = section(format::SectionKind::Tokenizer).at<uint32_t>(table.offset());
  const uint32_t n_lists = source_vocab_size_ + table.n_ngrams();
  GOLDCREST_REQUIRE_INTACT(offset[0] == 0 && offset[n_lists] == table.n_ids(), "shortlist.offset", -1);
  for (uint32_t i = 0; i < n_lists; ++i) {
    const int32_t index = static_cast<int32_t>(i);
    GOLDCREST_REQUIRE_INTACT(offset[i] <= offset[i + 1] && offset[i + 1] <= table.n_ids(), "shortlist.offset", index);
    GOLDCREST_REQUIRE_INTACT(is_good(table.ids(), offset[i], offset[i + 1]), "shortlist.ids", index);
  }
  return GOLDCREST_OK;
}

int Validator::check_ngrams(const format::Shortlist& table) {
  const uint32_t width = table.max_ngram();
  const uint32_t* key = section(format::SectionKind::Tokenizer).at<uint32_t>(table.ngram_keys());
  for (uint32_t i = 0; i < table.n_ngrams(); ++i, key += width) {
    const int32_t index = static_cast<int32_t>(i);
    uint32_t n = 0;
    while (n < width && key[n] < source_vocab_size_) ++n;
    GOLDCREST_REQUIRE_INTACT(n >= 2, "shortlist.ngram_keys", index);
    for (; n < width; ++n) GOLDCREST_REQUIRE_INTACT(key[n] == kNoId, "shortlist.ngram_keys", index);
    if (i == 0) continue;
    uint32_t same = 0;
    while (same < width && key[same] == (key - width)[same]) ++same;
    GOLDCREST_REQUIRE_INTACT(same < width && (key - width)[same] < key[same], "shortlist.ngram_keys", index);
  }
  return GOLDCREST_OK;
}

// A file has the lexicon if it has the feature bit.
int Validator::check_lexicon_of_file() {
  goldcrest_lexicon lexicon;
  GOLDCREST_REQUIRE_INTACT(view_lexicon(file_, &lexicon), "metadata: feature bits", -1);
  GOLDCREST_REQUIRE_INTACT(
      uint64_t{lexicon.n_nodes} + 2 + 2 * uint64_t{lexicon.n_edges} == model_->lexicon()->size(), "lexicon", -1);
  return check_lexicon(lexicon, target_vocab_size_, GOLDCREST_ERROR_MODEL_CORRUPT, &detail);
}

// Each node has an edge, and an edge without an end leads to a higher node, so an end is reached from each node.
int check_lexicon(
    const goldcrest_lexicon& lexicon, uint32_t vocab_size, goldcrest_status bad, goldcrest_detail* detail) {
  bool is_good = lexicon.first_edge != nullptr && lexicon.edges != nullptr && lexicon.n_nodes - 1 < kMaxLexicon &&
                 lexicon.n_edges <= kMaxLexicon;
  uint32_t edge = 0, node = 0;
  for (; is_good && node < lexicon.n_nodes; ++node) {
    const uint32_t end = lexicon.first_edge[node + 1];
    is_good = lexicon.first_edge[node] == edge && edge < end && end <= lexicon.n_edges;
    for (uint32_t least = 0; is_good && edge < end; ++edge) {
      const auto [token, child] = lexicon.edges[edge];
      is_good = token == GOLDCREST_LEXICON_END
                    ? edge + 1 == end && (child == 0 || child == GOLDCREST_LEXICON_STOP)
                    : token >= least && token < vocab_size && child > node && child < lexicon.n_nodes;
      least = token + 1;
    }
  }
  if (is_good && edge == lexicon.n_edges) return GOLDCREST_OK;
  return fail(detail, bad, "lexicon: a node", static_cast<int32_t>(node) - 1);
}
}  // namespace goldcrest
