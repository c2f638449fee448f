// SPDX-License-Identifier: Apache-2.0
#include "evaluate/deviation.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include "base/bounds.h"
#include "reference/reference_search.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kMostSteps = 64;

double unbiased_deviation(std::span<const float> row) {
  const auto n = static_cast<double>(row.size());
  double sum = 0, squares = 0;
  for (const float value : row) sum += double{value};
  for (const float value : row) squares += (double{value} - sum / n) * (double{value} - sum / n);
  return std::sqrt(squares / (n - 1));
}
}  // namespace

DeviationBound bound_deviations(
    const ModelSpec& spec, const std::vector<std::vector<int32_t>>& sources, const std::string& where) {
  DeviationBound bound = {
      double{spec.deviation_epsilon}, std::numeric_limits<double>::infinity(), 0, 0, sources.size()};
  Reference reference(spec);
  reference.set_norm_trace([&](std::span<const float> row) {
    ++bound.rows;
    const double deviation = unbiased_deviation(row);
    if (deviation > 0) bound.smallest = std::min(bound.smallest, deviation);
  });
  SearchOptions options = default_search(spec);
  options.beam_size = options.n_best = 1;
  options.max_target_tokens = std::min(options.max_target_tokens, kMostSteps);
  options.min_target_tokens = std::min(options.min_target_tokens, options.max_target_tokens);
  for (const std::vector<int32_t>& source : sources) search(reference, source, options);
  if (!std::isfinite(bound.smallest)) return bound;
  const auto n = static_cast<double>(spec.encoder.d_model);
  const double s = bound.smallest;
  bound.error = std::fabs((s + bound.epsilon) / std::sqrt(s * s + double{kMinEpsilon} * n / (n - 1)) - 1);
  if (bound.error > kMaxDeviationError) {
    throw Error(
        "{}: its norms add {:.3g} to the deviation, which a file's norms add to the variance; the smallest deviation "
        "of {} rows is {:.3g}, where this changes a norm by {:.2g} of its value, more than 2^-16; it cannot be "
        "converted",
        where, bound.epsilon, bound.rows, s, bound.error);
  }
  return bound;
}

std::string to_text(const DeviationBound& bound) {
  return format_text(
      "norms    {:.3g} is added to the deviation, folded; this changes a norm by at most {:.2g} of its value, at the "
      "smallest deviation, {:.3g}, of {} rows of {} sources\n",
      bound.epsilon, bound.error, bound.smallest, bound.rows, bound.sources);
}

Agreement measure_agreement(const std::vector<EvaluationLine>& lines, Translator& whole, Translator& part,
    const std::function<void(size_t, size_t)>& progress) {
  EvaluationOptions options;
  options.progress = progress;
  std::vector<EvaluationLine> sources = lines;
  for (EvaluationLine& line : sources) line.references.clear();
  const Evaluation evaluation = evaluate(sources, whole, part, options);
  Agreement agreement;
  for (const EvaluatedLine& line : evaluation.lines) {
    ++agreement.lines;
    agreement.identical += line.float32.text == line.int8.text ? 1 : 0;
  }
  agreement.chrf = evaluation.chrf;
  return agreement;
}
}  // namespace goldcrest::converter
