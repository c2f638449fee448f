// SPDX-License-Identifier: Apache-2.0
// Log-probabilities in double, then argmax or the best 2 * beam_size continuations of all live hypotheses.
#include "reference/reference_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "math/deterministic_math.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kLargestExponent = 700;  // of exact_exp

// Not a number, all of them, where a logit is not finite.
std::vector<double> log_softmax(std::span<const float> logits) {
  std::vector<double> log_probs(logits.size(), std::numeric_limits<double>::quiet_NaN());
  if (!std::all_of(logits.begin(), logits.end(), [](float logit) { return std::isfinite(logit); })) return log_probs;
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits)
    if (logit - largest >= -kLargestExponent) sum += exact_exp(logit - largest);  // less is nothing beside e^0
  const double log_sum = largest + exact_log(sum);
  std::transform(logits.begin(), logits.end(), log_probs.begin(), [&](float logit) { return logit - log_sum; });
  return log_probs;
}

// Log-probabilities of the n-th generated token (from 1) after the constraints, which do not renormalize.
std::vector<double> constrained(std::span<const float> logits, const GenerationSpec& generation,
                                const SearchOptions& options, size_t n) {
  std::vector<double> log_probs = log_softmax(logits);
  const auto force = [&](uint32_t id) {
    std::fill(log_probs.begin(), log_probs.end(), kNever);
    log_probs[id] = 0;
  };
  for (const uint32_t id : generation.suppressed_ids) log_probs[id] = kNever;
  if (n < options.min_target_tokens) log_probs[generation.end_id] = kNever;
  if (n == 1 && generation.forced_first_id) force(*generation.forced_first_id);
  if (n >= options.max_target_tokens) force(generation.end_id);
  return log_probs;
}

std::span<const float> row_of(const Rows& rows, size_t i) {
  const size_t width = static_cast<size_t>(rows.cols());
  return {rows.data() + i * width, width};
}

// Tokens that continue hypothesis `parent`; log_prob is the whole hypothesis's.
struct Candidate {
  double log_prob;
  uint32_t parent;
  int32_t token;
};

bool ranks_before(const Candidate& a, const Candidate& b) {
  return std::tuple(-a.log_prob, a.parent, a.token) < std::tuple(-b.log_prob, b.parent, b.token);
}

// The best `count` continuations of all live hypotheses, best first; fewer where the constraints leave fewer.
std::vector<Candidate> best_candidates(const Rows& logits, const std::vector<Hypothesis>& live, size_t count,
                                       const GenerationSpec& generation, const SearchOptions& options) {
  std::vector<Candidate> candidates;
  for (size_t parent = 0; parent < live.size(); ++parent) {
    const std::vector<double> log_probs =
        constrained(row_of(logits, parent), generation, options, live[parent].tokens.size() + 1);
    for (size_t token = 0; token < log_probs.size(); ++token)
      if (log_probs[token] > kNever)
        candidates.push_back(
            {live[parent].log_prob + log_probs[token], static_cast<uint32_t>(parent), static_cast<int32_t>(token)});
  }
  count = std::min(count, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(count), candidates.end(),
                    ranks_before);
  candidates.resize(count);
  return candidates;
}

Hypothesis extend(const Hypothesis& parent, const Candidate& candidate, const SearchOptions& options) {
  Hypothesis child = parent;
  child.tokens.push_back(candidate.token);
  child.log_prob = candidate.log_prob;
  child.score = length_normalized_score(child.log_prob, child.tokens.size(), options);
  return child;
}

Hypothesis greedy(const Reference& reference, const EncodedSource& encoded, const SearchOptions& options) {
  const GenerationSpec& generation = reference.spec().generation;
  DecoderState state = reference.start(1);
  Hypothesis hypothesis;
  int32_t token = static_cast<int32_t>(generation.decoder_start_id);
  do {
    const Rows logits = reference.decode(encoded, {&token, 1}, state);
    const std::vector<Candidate> best = best_candidates(logits, {hypothesis}, 1, generation, options);
    if (best.empty()) break;
    hypothesis = extend(hypothesis, best[0], options);
    token = best[0].token;
  } while (token != static_cast<int32_t>(generation.end_id));
  return hypothesis;
}

// Keeps the beam_size best; among equals the one that finished first.
void finish(Hypothesis hypothesis, uint32_t beam_size, std::vector<Hypothesis>& finished) {
  const auto place = std::upper_bound(finished.begin(), finished.end(), hypothesis,
                                      [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  finished.insert(place, std::move(hypothesis));
  if (finished.size() > beam_size) finished.pop_back();
}

// Stops when no live hypothesis is left, or when the best live one, scored at its present length, does not beat the
// worst of beam_size finished ones. An end token counts only among the beam_size best candidates.
std::vector<Hypothesis> beam(const Reference& reference, const EncodedSource& encoded, const SearchOptions& options) {
  const GenerationSpec& generation = reference.spec().generation;
  const int32_t end = static_cast<int32_t>(generation.end_id);
  DecoderState state = reference.start(1);
  std::vector<Hypothesis> live(1), finished;
  std::vector<int32_t> tokens = {static_cast<int32_t>(generation.decoder_start_id)};
  while (true) {
    const Rows logits = reference.decode(encoded, tokens, state);
    const std::vector<Candidate> candidates =
        best_candidates(logits, live, size_t{2} * options.beam_size, generation, options);
    std::vector<Hypothesis> next;
    std::vector<uint32_t> parents;
    tokens.clear();
    for (size_t rank = 0; rank < candidates.size() && next.size() < options.beam_size; ++rank) {
      const Candidate& candidate = candidates[rank];
      Hypothesis child = extend(live[candidate.parent], candidate, options);
      if (candidate.token == end) {
        if (rank < options.beam_size) finish(std::move(child), options.beam_size, finished);
        continue;
      }
      next.push_back(std::move(child));
      parents.push_back(candidate.parent);
      tokens.push_back(candidate.token);
    }
    if (next.empty()) return finished;
    if (finished.size() == options.beam_size && finished.back().score >= next[0].score) return finished;
    state = state.select(parents);
    live = std::move(next);
  }
}

}  // namespace

SearchOptions default_search(const ModelSpec& spec) {
  const GenerationSpec& generation = spec.generation;
  SearchOptions options;
  options.beam_size = std::max(1u, generation.beam_size);
  options.min_target_tokens = generation.min_target_tokens;
  options.max_target_tokens = generation.max_target_tokens;
  if (options.max_target_tokens == 0 || options.max_target_tokens > spec.decoder.positions.rows)
    options.max_target_tokens = spec.decoder.positions.rows;
  options.length_penalty = generation.length_penalty;
  options.word_penalty = generation.word_penalty;
  return options;
}

double length_normalized_score(double log_prob, size_t n, const SearchOptions& options) {
  const double length = static_cast<double>(n), penalty = double{options.length_penalty};
  const double exponent = std::clamp(penalty * exact_log(length), -kLargestExponent, kLargestExponent);
  return (log_prob - double{options.word_penalty} * length) / (penalty == 1 ? length : exact_exp(exponent));
}

std::vector<Hypothesis> search(const Reference& reference, std::span<const int32_t> source,
                               const SearchOptions& options) {
  if (options.max_target_tokens < 1 || options.max_target_tokens > reference.spec().decoder.positions.rows)
    throw Error("max_target_tokens {}: expected 1..{}, the decoder's positions", options.max_target_tokens,
                reference.spec().decoder.positions.rows);
  if (options.beam_size < 1 || options.n_best < 1 || options.n_best > options.beam_size)
    throw Error("n_best {} of beam size {}: expected 1..beam size", options.n_best, options.beam_size);
  const EncodedSource encoded = reference.encode(source);
  std::vector<Hypothesis> best =
      options.beam_size == 1 ? std::vector{greedy(reference, encoded, options)} : beam(reference, encoded, options);
  if (best.empty() || best[0].tokens.empty())
    throw Error("nothing can be generated: every token id is suppressed, or the logits are not finite");
  best.resize(std::min<size_t>(best.size(), options.n_best));
  return best;
}

std::vector<double> token_log_probs(const Reference& reference, std::span<const int32_t> source,
                                    std::span<const int32_t> target, const SearchOptions& options) {
  const Rows logits = reference.teacher_forced_logits(reference.encode(source), target);
  std::vector<double> along(target.size());
  for (size_t i = 0; i < target.size(); ++i) {
    const std::vector<double> log_probs = constrained(row_of(logits, i), reference.spec().generation, options, i + 1);
    if (target[i] < 0 || static_cast<size_t>(target[i]) >= log_probs.size())
      throw Error("token id {}: expected one below the vocabulary's size, {}", target[i], log_probs.size());
    along[i] = log_probs[static_cast<size_t>(target[i])];
  }
  return along;
}

}  // namespace goldcrest::converter
