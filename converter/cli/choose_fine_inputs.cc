// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include "cli/changes.h"
#include "cli/quality.h"
#include "evaluate/line_encoder.h"
#include "file/fine_inputs.h"
#include "file/format.h"
#include "spec/error.h"
#include "spec/frontend_rows.h"

namespace goldcrest::converter {
namespace {
constexpr size_t kMostLines = 100;  // At most this many lines rank the matrices.
constexpr uint32_t kRankedTogether = 8;

// The lines that a ranking is of, and what they are.
struct Sample {
  std::vector<std::string> sources;
  Lines kind = Lines::kText;
  uint64_t clip_rows = 0;  // encoder rows for all clips
};

// Takes lines of --evaluate, as far from each other as possible, or made-up ones.
Sample take_sample(const Job& job, uint32_t most_tokens) {
  const ModelSpec& spec = job.spec;
  Sample sample;
  if (job.lines.evaluation.empty()) {
    if (spec.encoder.frontend) throw Error("--accuracy auto: speech and images are ranked on lines of --evaluate");
    sample.kind = Lines::kIds;
    for (const std::vector<int32_t>& source : random_sources(spec, most_tokens))
      sample.sources.push_back(ids_text(source));
    return sample;
  }
  sample.kind = kind_of_lines(job);
  std::vector<EvaluationLine> all = job.lines.evaluation.lines;
  prepare_sources(job, all);
  const size_t n = std::min(all.size(), kMostLines);
  for (size_t i = 0; i < n; ++i) sample.sources.push_back(all[i * all.size() / n].source);
  if (const std::optional<FrontendSpec>& frontend = spec.encoder.frontend) {
    for (const std::string& clip : sample.sources)
      sample.clip_rows += frontend->fixed_window
                              ? most_tokens
                              : count_frontend_rows(*frontend, read_clip(clip, frontend->sample_rate).size());
  }
  return sample;
}

// Results of a file whose weights are the payload's.
class Ranking {
 public:
  Ranking(const Payload& payload, const Sample& sample, const std::string& file)
      : payload_(payload), sample_(sample), file_(file), sites_(fine_sites(*payload.metadata)) {}

  size_t n_sites() const { return sites_.size(); }
  FineInputs run(double share, Progress& progress);
 private:
  std::vector<Translation> results(const std::vector<bool>& chosen, std::span<const Translation> targets);
  // Returns the sum of distances from the log-probabilities of `whole`.
  static double error(const std::vector<Translation>& results, const std::vector<Translation>& whole);
  // Chooses, in the order of gain by work, what the share has room for.
  void choose(double share, FineInputs& fine);

  const Payload& payload_;
  const Sample& sample_;
  const std::string& file_;
  const std::vector<FineSite> sites_;
};

std::vector<Translation> Ranking::results(const std::vector<bool>& chosen, std::span<const Translation> targets) {
  set_fine_inputs(chosen, *payload_.metadata);
  const FileImage image = assemble(payload_, {});
  goldcrest_limits limits = {};
  limits.max_source_bytes = payload_.metadata->limits->max_source_bytes;
  limits.beam_size = limits.n_best = 1;
  limits.batch = kRankedTogether;
  limits.inspection = GOLDCREST_INSPECT_TOKEN_SCORES | GOLDCREST_INSPECT_TARGETS;
  EngineSession session(image.span(), limits, file_);
  if (sample_.kind == Lines::kIds) session.choose_languages(0);
  EngineTranslator translator(session, sample_.kind);
  return targets.empty() ? translator.translate(sample_.sources) : translator.score(sample_.sources, targets);
}

double Ranking::error(const std::vector<Translation>& results, const std::vector<Translation>& whole) {
  double sum = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    for (size_t t = 0; t < results[i].token_log_probs.size(); ++t) {
      const double distance = double{results[i].token_log_probs[t]} - double{whole[i].token_log_probs[t]};
      sum += std::abs(distance);
    }
  }
  return sum;
}

void Ranking::choose(double share, FineInputs& fine) {
  std::ranges::stable_sort(fine.ranking,
      [](const RankedMatrix& a, const RankedMatrix& b) { return a.gain * b.more_work > b.gain * a.more_work; });
  for (RankedMatrix& matrix : fine.ranking) {
    matrix.chosen = matrix.gain > 0 && fine.more_work + matrix.more_work <= share;
    if (matrix.chosen) fine.more_work += matrix.more_work;
  }
}

FineInputs Ranking::run(double share, Progress& progress) {
  progress.stage("ranking matrices");
  const std::vector<bool> none(n_sites()), all(n_sites(), true);
  const std::vector<Translation> targets = results(all, {}), whole = results(all, targets);
  FineInputs fine;
  auto source_rows = static_cast<double>(sample_.clip_rows);
  for (const Translation& target : targets) {
    if (!target.error.empty()) continue;
    ++fine.n_lines;
    fine.n_tokens += target.tokens.size();
    source_rows += target.n_source_tokens;
  }
  if (fine.n_lines == 0) throw Error("--accuracy auto: {}", describe_failures(targets));
  const auto n = static_cast<double>(fine.n_lines);
  fine.source_rows = source_rows / n;
  fine.target_rows = static_cast<double>(fine.n_tokens) / n;
  const double error_of_none = error(results(none, targets), whole);
  for (size_t i = 0; i < n_sites(); ++i) {
    progress.at(i, n_sites());
    std::vector<bool> one = none;
    one[i] = true;
    const double left = error(results(one, targets), whole);
    const double gain = error_of_none > 0 ? 1 - left / error_of_none : 0;
    fine.ranking.push_back(
        {sites_[i].name, gain, added_work(*payload_.metadata, fine.source_rows, fine.target_rows), false});
  }
  choose(share, fine);
  return fine;
}
}  // namespace

FineInputs choose_fine_inputs(std::optional<double> cost, Job& job, Payload& payload) {
  FineInputs fine;
  format::ModelT& model = *payload.metadata;
  if (cost) {
    const Sample sample = take_sample(job, model.limits->max_source_tokens);
    fine = Ranking(payload, sample, job.input).run(*cost, job.progress);
    std::vector<bool> chosen;
    for (const FineSite& site : fine_sites(model))
      chosen.push_back(std::ranges::any_of(
          fine.ranking, [&](const RankedMatrix& matrix) { return matrix.chosen && matrix.name == site.name; }));
    set_fine_inputs(chosen, model);
  }
  for (const FineSite& site : fine_sites(model))
    if (site.linear->fine_input) fine.matrices.push_back(site.name);
  fine.refined = refined_parts(model, false);
  fine.packed = packed_parts(model);
  fine.packed_choice = job.packed_choice;
  fine.exact_bytes = refined_parts(model, true).bytes - fine.refined.bytes;
  fine.more_work = added_work(model, fine.source_rows, fine.target_rows);
  return fine;
}
}  // namespace goldcrest::converter
