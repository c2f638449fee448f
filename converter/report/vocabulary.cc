// SPDX-License-Identifier: Apache-2.0
#include "report/vocabulary.h"

#include <algorithm>

#include "spec/format_text.h"

namespace goldcrest::converter {
namespace {

std::string coverage_text(const ShortlistCoverage& coverage, const char* of) {
  return format_text("{} of {} lines whole ({:.2f} %), {:.3f} % of the ids of {}\n", coverage.whole_lines,
                     coverage.lines, 100 * share(coverage.whole_lines, coverage.lines),
                     100 * share(coverage.covered_ids, coverage.target_ids), of);
}

Value coverage_json(const ShortlistCoverage& coverage) {
  return {{"lines", coverage.lines},
          {"whole_lines", coverage.whole_lines},
          {"covered_ids", share(coverage.covered_ids, coverage.target_ids)}};
}

double mean_candidates(const ShortlistFromText& made) {
  return static_cast<double>(made.own.candidates) / static_cast<double>(std::max<size_t>(1, made.own.lines));
}

}  // namespace

std::string to_text(const TrimmedVocabulary& trimmed) {
  std::string text =
      trimmed.is_shared ? format_text("vocabulary   kept {} of {} entries", trimmed.source_kept, trimmed.source_all)
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
  text += format_text("  held out   {:.1f} candidates a line, at most {}\n", mean_candidates(made),
                      made.own.most_candidates);
  text += "             " + coverage_text(made.own, "the model's own translations");
  if (made.given.lines > 0) text += "             " + coverage_text(made.given, "the given targets");
  return text;
}

Value to_json(const TrimmedVocabulary& trimmed) {
  Value json = {{"source_kept", trimmed.source_kept}, {"source_all", trimmed.source_all},
                {"target_kept", trimmed.target_kept}, {"target_all", trimmed.target_all},
                {"shared", trimmed.is_shared},        {"bytes_saved", trimmed.bytes_saved}};
  if (!trimmed.agreement) return json;
  const Agreement& agreement = *trimmed.agreement;
  json["agreement"] = {{"lines", agreement.lines}, {"identical", agreement.identical}, {"chrf", agreement.chrf}};
  return json;
}

Value to_json(const ShortlistFromText& made) {
  Value json = {{"pairs", made.pairs},
                {"ids", made.listed_ids},
                {"mean_candidates", mean_candidates(made)},
                {"most_candidates", made.own.most_candidates},
                {"own_translations", coverage_json(made.own)}};
  if (made.given.lines > 0) json["given_targets"] = coverage_json(made.given);
  return json;
}

}  // namespace goldcrest::converter
