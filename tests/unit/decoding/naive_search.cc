// SPDX-License-Identifier: Apache-2.0
// The engine is forced along a prefix by writing the prefix's token where it keeps its own choice.
#include "naive_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "api/engine.h"

namespace goldcrest::test {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

EngineSetup forced_setup(uint32_t max_target_tokens, std::vector<std::vector<float>>* traced) {
  EngineSetup setup;
  setup.limits.beam_size = 1;
  setup.limits.max_target_tokens = max_target_tokens;
  setup.trace_context = traced;
  setup.trace = [](void* context, const char* name, int32_t, uint32_t row, const float* values, uint32_t count) {
    if (std::string_view(name) != "logits") return;
    auto& rows = *static_cast<std::vector<std::vector<float>>*>(context);
    if (rows.size() <= row) rows.resize(row + 1);
    rows[row].insert(rows[row].end(), values, values + count);
  };
  return setup;
}

std::vector<double> log_softmax(const std::vector<float>& logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - largest);
  std::vector<double> log_probs;
  for (const float logit : logits) log_probs.push_back(logit - largest - std::log(sum));
  return log_probs;
}

// Log-probabilities of the n-th generated token (from 1) after a prefix.
std::vector<double> next_log_probs(PrefixLogits& logits, const NaiveOptions& options,
                                   const std::vector<int32_t>& prefix) {
  const uint32_t n = static_cast<uint32_t>(prefix.size()) + 1;
  std::vector<double> log_probs;
  if (n >= options.search.max_target_tokens || (n == 1 && options.forced_first_id >= 0)) {
    log_probs.assign(logits.vocab_size(), kNever);
    log_probs[n >= options.search.max_target_tokens ? options.end_id : static_cast<uint32_t>(options.forced_first_id)] =
        0;
    return log_probs;
  }
  log_probs = log_softmax(logits.after(prefix));
  for (const uint32_t id : options.suppressed_ids) log_probs[id] = kNever;
  if (n < options.search.min_target_tokens) log_probs[options.end_id] = kNever;
  return log_probs;
}

NaiveHypothesis extended(const NaiveHypothesis& parent, int32_t token, double log_prob,
                         const goldcrest_search& search) {
  NaiveHypothesis child = parent;
  child.tokens.push_back(token);
  child.log_prob += log_prob;
  const double n = static_cast<double>(child.tokens.size());
  child.score = (child.log_prob - double{search.word_penalty} * n) / std::pow(n, double{search.length_penalty});
  return child;
}

}  // namespace

PrefixLogits::PrefixLogits(std::span<const uint8_t> model, std::vector<int32_t> source, uint32_t max_target_tokens)
    : source_(std::move(source)), engine_(model, forced_setup(max_target_tokens, &traced_)) {
  goldcrest_search search = engine_.search();
  search.min_target_tokens = search.max_target_tokens = max_target_tokens;  // nothing ends it before that
  engine_.set_search(search);
}

// Runs greedy search, but puts the prefix in the place of what it chose.
void PrefixLogits::decode_along(const std::vector<int32_t>& prefix) {
  traced_.clear();
  if (goldcrest_begin(engine_.get(), source_.data(), source_.size()) < 0) throw std::runtime_error("begin");
  int32_t token = 0;
  for (size_t position = 0; position <= prefix.size();) {
    const int status = goldcrest_step(engine_.get(), &token);
    if (status < 0 || status == GOLDCREST_DONE) throw std::runtime_error("the search ended");
    if (status != GOLDCREST_TOKEN) continue;
    const Search& search = engine_.get()->search;
    if (position < prefix.size()) {
      const SentenceView view = sentence_view(search, 0);
      view.tokens[search.position * view.n_slots] = prefix[position];
    }
    ++position;
  }
}

const std::vector<float>& PrefixLogits::after(const std::vector<int32_t>& prefix) {
  if (const auto found = known_.find(prefix); found != known_.end()) return found->second;
  decode_along(prefix);
  return known_[prefix] = traced_.at(prefix.size());
}

std::vector<NaiveHypothesis> naive_beam_search(PrefixLogits& logits, const NaiveOptions& options) {
  const size_t beam_size = options.search.beam_size;
  const auto better_score = [](const NaiveHypothesis& a, const NaiveHypothesis& b) { return a.score > b.score; };
  std::vector<NaiveHypothesis> live(1), finished;
  while (!live.empty()) {
    // All continuations of all hypotheses, in the order parent, token: a stable sort keeps it among equals.
    std::vector<NaiveHypothesis> continuations;
    for (const NaiveHypothesis& parent : live) {
      const std::vector<double> log_probs = next_log_probs(logits, options, parent.tokens);
      for (size_t token = 0; token < log_probs.size(); ++token) {
        if (log_probs[token] == kNever) continue;
        continuations.push_back(extended(parent, static_cast<int32_t>(token), log_probs[token], options.search));
      }
    }
    std::stable_sort(continuations.begin(), continuations.end(),
                     [](const NaiveHypothesis& a, const NaiveHypothesis& b) { return a.log_prob > b.log_prob; });
    live.clear();
    for (size_t rank = 0; rank < std::min(2 * beam_size, continuations.size()); ++rank) {
      const bool is_end = continuations[rank].tokens.back() == static_cast<int32_t>(options.end_id);
      if (is_end && rank < beam_size) finished.push_back(continuations[rank]);
      if (!is_end && live.size() < beam_size) live.push_back(continuations[rank]);
    }
    std::stable_sort(finished.begin(), finished.end(), better_score);
    if (finished.size() > beam_size) finished.resize(beam_size);
    if (!live.empty() && finished.size() == beam_size && !better_score(live[0], finished.back())) live.clear();
  }
  return finished;
}

}  // namespace goldcrest::test
