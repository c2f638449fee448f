// SPDX-License-Identifier: Apache-2.0
#include "report/shortlist.h"

#include <algorithm>

#include "file/shortlist_section.h"
#include "report/vocabulary.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

uint64_t bytes_of(const ModelSpec& spec) { return shortlist_bytes(*spec.shortlist, spec.projection.weight->rows); }

double mean_list(const ShortlistSpec& shortlist) { return share(shortlist.ids.size(), shortlist.offset.size() - 1); }

}  // namespace

std::string describe_shortlist(const ModelSpec& spec) {
  const ShortlistSpec& shortlist = *spec.shortlist;
  return format_text(
      "shortlist {} bytes: {} ids of every sentence, {:.1f} of a source id (mean), {} n-grams (the engine needs "
      "GOLDCREST_SHORTLIST)\n",
      bytes_of(spec), shortlist.always.size(), mean_list(shortlist), shortlist.ngrams.size());
}

Value shortlist_json(const ModelSpec& spec) {
  const ShortlistSpec& shortlist = *spec.shortlist;
  return {{"bytes", bytes_of(spec)},
          {"always", shortlist.always.size()},
          {"mean_list", mean_list(shortlist)},
          {"ngrams", shortlist.ngrams.size()}};
}

std::string describe_lexicon(const ModelSpec& spec) {
  const LexiconSpec& lexicon = *spec.lexicon;
  return format_text(
      "lexicon  {} bytes: {} nodes, {} edges, {} first ids, {} (the engine needs GOLDCREST_SHORTLIST; measures are "
      "without it)\n",
      lexicon_bytes(lexicon), lexicon.n_nodes(), lexicon.edges.size(), lexicon.edges_of(0),
      lexicon.has_words() ? "words" : "whole texts");
}

Value lexicon_json(const ModelSpec& spec) {
  const LexiconSpec& lexicon = *spec.lexicon;
  return {{"bytes", lexicon_bytes(lexicon)},
          {"nodes", lexicon.n_nodes()},
          {"edges", lexicon.edges.size()},
          {"first_ids", lexicon.edges_of(0)},
          {"words", lexicon.has_words()}};
}

ShortlistEvaluation evaluate_shortlist(const Evaluation& both, uint32_t target_vocab_size) {
  ShortlistEvaluation evaluation;
  uint64_t sum = 0;
  for (const EvaluatedLine& line : both.lines) {
    const uint32_t n = line.int8.n_outputs;
    if (n == target_vocab_size) {
      ++evaluation.whole_vocabulary;
      continue;
    }
    sum += n;
    evaluation.most_candidates = std::max(evaluation.most_candidates, n);
  }
  evaluation.lines = both.lines.size();
  const size_t listed = evaluation.lines - evaluation.whole_vocabulary;
  if (listed > 0) evaluation.mean_candidates = static_cast<double>(sum) / static_cast<double>(listed);
  evaluation.identical = both.identical;
  evaluation.token_agreement = both.token_agreement;
  return evaluation;
}

std::string to_text(const ShortlistEvaluation& evaluation) {
  return format_text(
      "shortlist: {:.1f} candidates (mean), {} (most), {} lines with the whole vocabulary; against the whole "
      "vocabulary {} lines identical ({:.2f} %), token agreement {:.2f} %\n",
      evaluation.mean_candidates, evaluation.most_candidates, evaluation.whole_vocabulary, evaluation.identical,
      100 * share(evaluation.identical, evaluation.lines), 100 * evaluation.token_agreement);
}

Value to_json(const ShortlistEvaluation& evaluation) {
  return {{"mean_candidates", evaluation.mean_candidates},
          {"most_candidates", evaluation.most_candidates},
          {"whole_vocabulary_lines", evaluation.whole_vocabulary},
          {"identical_lines", evaluation.identical},
          {"token_agreement", evaluation.token_agreement}};
}

}  // namespace goldcrest::converter
