// SPDX-License-Identifier: Apache-2.0
#include "report/vocabulary.h"
#include <algorithm>
#include "file/shortlist_section.h"
#include "spec/error.h"
#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {
std::string coverage_text(const ShortlistCoverage& coverage, const char* of) {
  return format_text("{} of {} lines whole ({:.2f} %), {:.3f} % of the ids of {}\n", coverage.whole_lines,
      coverage.lines, 100 * share(coverage.whole_lines, coverage.lines),
      100 * share(coverage.covered_ids, coverage.target_ids), of);
}

Value coverage_json(const ShortlistCoverage& coverage) {
  return {{"lines", coverage.lines}, {"whole_lines", coverage.whole_lines},
      {"covered_ids", share(coverage.covered_ids, coverage.target_ids)}};
}

double mean_candidates(const ShortlistFromText& made) {
  return static_cast<double>(made.own.candidates) / static_cast<double>(std::max<size_t>(1, made.own.lines));
}
}  // namespace

std::string to_text(const TrimmedVocabulary& trimmed) {
  std::string text = trimmed.is_shared
                         ? format_text("vocabulary   kept {} of {} entries", trimmed.source_kept, trimmed.source_all)
                         : format_text("vocabulary   kept {} of {} source entries, {} of {} target entries",
                               trimmed.source_kept, trimmed.source_all, trimmed.target_kept, trimmed.target_all);
  text += format_text(": {} bytes less\n", trimmed.bytes_saved);
  if (!trimmed.agreement) return text;
  const Agreement& agreement = *trimmed.agreement;
  return text + format_text("             {} of {} lines as with all entries ({:.2f} %), chrF {:.2f}\n",
                    agreement.identical, agreement.lines, 100 * share(agreement.identical, agreement.lines),
                    agreement.chrf);
}

std::string to_text(const ShortlistFromText& made) {
  std::string text = format_text("shortlist    made from {} pairs: {} ids\n", made.pairs, made.listed_ids);
  text += format_text(
      "  held out   {:.1f} candidates a line, at most {}\n", mean_candidates(made), made.own.most_candidates);
  text += "             " + coverage_text(made.own, "the model's own translations");
  if (made.given.lines > 0) text += "             " + coverage_text(made.given, "the given targets");
  return text;
}

Value to_json(const TrimmedVocabulary& trimmed) {
  Value json = {{"source_kept", trimmed.source_kept}, {"source_all", trimmed.source_all},
      {"target_kept", trimmed.target_kept}, {"target_all", trimmed.target_all}, {"shared", trimmed.is_shared},
      {"bytes_saved", trimmed.bytes_saved}};
  if (!trimmed.agreement) return json;
  const Agreement& agreement = *trimmed.agreement;
  json["agreement"] = {{"lines", agreement.lines}, {"identical", agreement.identical}, {"chrf", agreement.chrf}};
  return json;
}

Value to_json(const ShortlistFromText& made) {
  Value json = {{"pairs", made.pairs}, {"ids", made.listed_ids}, {"mean_candidates", mean_candidates(made)},
      {"most_candidates", made.own.most_candidates}, {"own_translations", coverage_json(made.own)}};
  if (made.given.lines > 0) json["given_targets"] = coverage_json(made.given);
  return json;
}

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
  return {{"bytes", bytes_of(spec)}, {"always", shortlist.always.size()}, {"mean_list", mean_list(shortlist)},
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
  return {{"bytes", lexicon_bytes(lexicon)}, {"nodes", lexicon.n_nodes()}, {"edges", lexicon.edges.size()},
      {"first_ids", lexicon.edges_of(0)}, {"words", lexicon.has_words()}};
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
  return {{"mean_candidates", evaluation.mean_candidates}, {"most_candidates", evaluation.most_candidates},
      {"whole_vocabulary_lines", evaluation.whole_vocabulary}, {"identical_lines", evaluation.identical},
      {"token_agreement", evaluation.token_agreement}};
}
}  // namespace goldcrest::converter
