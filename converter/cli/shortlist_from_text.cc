// SPDX-License-Identifier: Apache-2.0
#include "cli/changes.h"
#include "cli/preflight.h"
#include "evaluate/line_encoder.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
// Pairs each source with its given targets, or with the model's own translation.
class PairMaker {
 public:
  explicit PairMaker(const Job& job) : encoder_(job.spec, job.lines.ids), path_(job.lines.shortlist_text.path) {}

  std::vector<IdPair> given(const EvaluationLine& line) const {
    std::vector<IdPair> pairs;
    try {
      for (const std::string& target : line.references)
        pairs.push_back({encoder_.source(line.source), encoder_.target(target)});
    } catch (const Error& error) {
      throw Error("{}:{}: {}", path_, line.number, error.what());
    }
    return pairs;
  }
  IdPair own(const EvaluationLine& line, const Translation& translation) const {
    return {encoder_.source(line.source), translation.tokens};
  }
 private:
  LineEncoder encoder_;
  const std::string& path_;
};

// Pairs for the shortlist, and pairs of held-out lines.
struct Pairs {
  std::vector<IdPair> building, own, given;
};

Pairs make_pairs(Job& job) {
  InMemoryModel model(job);
  const PairMaker maker(job);
  const std::vector<EvaluationLine>& lines = job.lines.shortlist_text.lines;
  Pairs pairs;
  std::vector<EvaluationLine> to_translate;
  std::vector<bool> is_held_out;  // for each line of to_translate
  for (size_t i = 0; i < lines.size(); ++i) {
    const EvaluationLine& line = lines[i];
    const bool held_out = i % kHeldOut == kHeldOut - 1;
    for (IdPair& pair : maker.given(line)) (held_out ? pairs.given : pairs.building).push_back(std::move(pair));
    if (!held_out && !line.references.empty()) continue;
    to_translate.push_back(line);
    is_held_out.push_back(held_out);
  }
  const std::vector<Translation> translations = model.translate(to_translate);
  for (size_t i = 0; i < translations.size(); ++i) {
    if (!translations[i].error.empty()) continue;
    (is_held_out[i] ? pairs.own : pairs.building).push_back(maker.own(to_translate[i], translations[i]));
  }
  const std::string failures = describe_failures(translations);
  if (!failures.empty()) job.spec.warnings.push_back(format_text("{}: {}", job.lines.shortlist_text.path, failures));
  return pairs;
}
}  // namespace

ShortlistFromText make_shortlist_from_text(const ChangeOptions& change, Job& job) {
  const Pairs pairs = make_pairs(job);
  ModelSpec& spec = job.spec;
  if (pairs.building.empty() || pairs.own.empty())
    throw Error("{}: none of its lines could be translated", job.lines.shortlist_text.path);
  job.progress.stage("making the shortlist");
  ShortlistOptions options;
  options.always = change.shortlist_always;
  options.best = change.shortlist_best;
  options.source_ids = spec.encoder.embedding->rows;
  options.never = spec.generation.suppressed_ids;
  options.progress = job.progress.counter();
  const ShortlistSpec& shortlist = spec.shortlist.emplace(make_shortlist(pairs.building, options));
  std::vector<uint32_t> end_ids = spec.generation.rules.more_end_ids;
  end_ids.push_back(spec.generation.end_id);
  ShortlistFromText made;
  made.pairs = pairs.building.size();
  made.listed_ids = shortlist.always.size() + shortlist.ids.size();
  made.own = measure_coverage(shortlist, pairs.own, end_ids);
  made.given = measure_coverage(shortlist, pairs.given, end_ids);
  return made;
}
}  // namespace goldcrest::converter
