// SPDX-License-Identifier: Apache-2.0
#include "report/divergence.h"
#include <algorithm>
#include <cmath>
#include <string_view>
#include "math/deterministic_math.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kBlock = 256;  // outputs of one call of the trace hook

// One sentence at a time, with targets to score.
goldcrest_limits limits_of_one(goldcrest_limits limits) {
  limits.beam_size = limits.n_best = limits.batch = 1;
  limits.inspection = GOLDCREST_INSPECT_TARGETS;
  return limits;
}

// log(sum of e^value), and the terms e^(value - largest) in `terms`.
double log_sum_exp(std::span<const float> values, std::vector<double>& terms) {
  constexpr double kLeast = -60;  // smaller terms vanish next to e^0
  const double largest = double{*std::ranges::max_element(values)};
  double sum = 0;
  terms.assign(values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    const double distance = double{values[i]} - largest;
    if (distance > kLeast) sum += terms[i] = exact_exp(distance);
  }
  const double log_sum = exact_log(sum);
  for (double& term : terms) term /= sum;
  return largest + log_sum;
}

double divergence(std::span<const float> of, std::span<const float> from) {
  std::vector<double> probabilities, unused;
  const double log_sum = log_sum_exp(of, probabilities), from_log_sum = log_sum_exp(from, unused);
  double sum = 0;
  for (size_t i = 0; i < of.size(); ++i) {
    const double share = probabilities[i], a = static_cast<double>(of[i]), b = static_cast<double>(from[i]);
    if (share > 0) sum += share * ((a - log_sum) - (b - from_log_sum));
  }
  return sum;
}
}  // namespace

Divergence::Divergence(std::span<const uint8_t> model, const goldcrest_limits& limits, const std::string& file)
    : session_(model, limits_of_one(limits), file, [this](goldcrest_config* config) {
        config->trace = take;
        config->trace_context = this;
        return std::string();
      }) {}

void Divergence::take(
    void* self, const char* name, int32_t block, uint32_t row, const float* values, uint32_t count) noexcept {
  Divergence& divergence = *static_cast<Divergence*>(self);
  if (std::string_view(name) != "logits" || row >= divergence.logits_.size()) return;
  std::vector<float>& logits = divergence.logits_[row];
  logits.resize(divergence.session_.info().target_vocab_size);
  std::copy_n(values, count, &logits[static_cast<size_t>(block) * kBlock]);
}

void Divergence::add(const OwnedSource& source, std::span<const int32_t> target, const Logits& expected) {
  logits_.assign(target.size(), {});
  host::Sentence sentence;
  const auto give = [](auto values, auto& to) { to.assign(values.begin(), values.end()); };
  give(source.view().ids, sentence.source);
  give(source.view().samples, sentence.samples);
  give(source.view().features, sentence.features);
  give(target, sentence.target);
  host::SentenceSearch search;
  search.begin({.has_text = false, .scores_targets = true}, {&sentence});
  while (!search.is_done()) (void)search.work(&session_);
  if (!sentence.problem.empty()) throw Error("{}", sentence.problem);
  for (size_t i = 0; i < target.size(); ++i) {
    if (logits_[i].empty()) continue;
    const size_t ids = std::min(expected.ids, logits_[i].size());
    sum_ += divergence(expected.row(i).first(ids), std::span(logits_[i]).first(ids));
    ++n_ids_;
  }
  if (n_ids_ == 0) throw Error("this build's engine shows no logits; expected one with GOLDCREST_TRACE=ON");
}
}  // namespace goldcrest::converter
