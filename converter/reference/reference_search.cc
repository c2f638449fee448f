// SPDX-License-Identifier: Apache-2.0
// Log-probabilities in double, then argmax, or the best continuations of all live hypotheses.
#include "reference/reference_search.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include "math/deterministic_math.h"
#include "spec/error.h"
#include "spec/spec.h"

namespace goldcrest::converter {
namespace {
constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kLargestExponent = 700;  // exact_exp takes no larger one

// log(sum of e^value). Returns NaN if a value is neither finite nor kNever.
double log_sum_exp(const std::vector<double>& values) {
  const auto is_good = [](double value) { return std::isfinite(value) || value == kNever; };
  if (!std::all_of(values.begin(), values.end(), is_good)) return std::numeric_limits<double>::quiet_NaN();
  const double largest = *std::max_element(values.begin(), values.end());
  if (largest == kNever) return 0;
  double sum = 0;
  for (const double value : values)
    if (value - largest >= -kLargestExponent) sum += exact_exp(value - largest);  // smaller terms vanish next to e^0
  return largest + exact_log(sum);
}

void subtract(double amount, std::vector<double>& values) {
  for (double& value : values) value -= amount;
}

bool is_end(const GenerationSpec& generation, const RulesSpec& rules, int32_t token) {
  const auto id = static_cast<uint32_t>(token);
  return id == generation.end_id || std::ranges::find(rules.more_end_ids, id) != rules.more_end_ids.end();
}

constexpr int32_t kFirstChoice = -1;

// The options of the search of one source.
struct SourceOptions : SearchOptions {
  std::span<const int32_t> source = {};  // a text's ids
  std::vector<int32_t> forced = {};  // ids of the model's prompt and of the prefix; kFirstChoice: the best first choice
  size_t n_uncounted = 0;            // the ids among these that are in no length
};

// Adds a sequence's bias to the value of its last id if the others are the last of `past`. T: the type of ids.
template <typename T>
void bias_completion(std::span<const T> ids, double bias, std::span<const int32_t> past, std::vector<double>& values) {
  const std::span<const T> others = ids.first(ids.size() - 1);
  if (others.size() > past.size()) return;
  const auto is_same = [](T a, int32_t b) { return static_cast<int32_t>(a) == b; };
  if (std::ranges::equal(others, past.last(others.size()), is_same)) values[static_cast<size_t>(ids.back())] += bias;
}

void apply_sequences(const SequencesSpec& sequences, std::span<const int32_t> source, std::span<const int32_t> past,
    std::vector<double>& values) {
  for (const SequenceSpec& sequence : sequences.list)
    bias_completion(std::span(sequence.ids), double{sequence.bias}, past, values);
  const size_t n = sequences.no_repeat_source_ngram;
  for (size_t end = n; n != 0 && end <= source.size(); ++end)
    bias_completion(source.subspan(end - n, n), kNever, past, values);
}

// Changes the values of the token that follows `past`, which includes the start token.
void apply_rules(const SequencesSpec& sequences, const SourceOptions& options, std::span<const int32_t> past,
    std::vector<double>& values) {
  const RulesSpec& rules = options.rules;
  for (const auto& [id, bias] : rules.biases) values[id] += double{bias};
  apply_sequences(sequences, options.source, past, values);
  if (rules.repetition_penalty != 1) {
    const double penalty = double{rules.repetition_penalty};
    for (const int32_t token : std::set<int32_t>(past.begin(), past.end())) {
      double& value = values[static_cast<size_t>(token)];
      value = value < 0 ? value * penalty : value / penalty;
    }
  }
  const size_t n = rules.no_repeat_ngram;
  if (n == 0 || past.size() < n) return;
  const auto last = past.last(n - 1);
  for (size_t first = 0; first + n <= past.size(); ++first)
    if (std::ranges::equal(past.subspan(first, n - 1), last)) values[static_cast<size_t>(past[first + n - 1])] = kNever;
}

double score_of(const Hypothesis& hypothesis, size_t n, const SourceOptions& options) {
  return length_normalized_score(hypothesis.log_prob, n - options.n_uncounted, options);
}

uint32_t best_of(const std::vector<uint32_t>& ids, const std::vector<double>& values) {
  return *std::ranges::max_element(ids, {}, [&](uint32_t id) { return values[id]; });
}

// Returns the log-probabilities of the token that follows `tokens`, after rules and constraints. Greedy search changes
// logits, beams log-probabilities. Tokens that constraints remove still count in the soft-max, unless the rules
// renormalize.
std::vector<double> constrained(std::span<const float> logits, const GenerationSpec& generation,
    const SourceOptions& options, std::span<const int32_t> tokens) {
  const RulesSpec& rules = options.rules;
  const size_t n = tokens.size() + 1;
  std::vector<double> values(logits.begin(), logits.end());
  const std::vector<double> logits_of_row = values;
  const double raw_sum = log_sum_exp(values);
  const bool is_greedy = options.beam_size == 1;
  if (!is_greedy) subtract(raw_sum, values);
  std::vector<int32_t> past = {static_cast<int32_t>(generation.decoder_start_id)};
  past.insert(past.end(), tokens.begin(), tokens.end());
  apply_rules(generation.sequences, options, past, values);
  for (const uint32_t id : generation.suppressed_ids) values[id] = kNever;
  if (n == options.forced.size() + 1)
    for (const uint32_t id : generation.prompt.first_suppressed_ids) values[id] = kNever;
  if (n < options.min_target_tokens + options.n_uncounted) {
    values[generation.end_id] = kNever;
    for (const uint32_t id : rules.more_end_ids) values[id] = kNever;
  }
  const bool has_biases = !rules.biases.empty() || generation.sequences != SequencesSpec{};
  if (rules.renormalize || (is_greedy && (rules.repetition_penalty != 1 || has_biases)))
    subtract(log_sum_exp(values), values);
  else if (is_greedy) subtract(raw_sum, values);
  const auto force = [&](uint32_t id) {
    std::fill(values.begin(), values.end(), kNever);
    values[id] = 0;
  };
  if (n <= options.forced.size()) {
    const int32_t id = options.forced[n - 1];
    force(id == kFirstChoice ? best_of(generation.prompt.first_choices, logits_of_row) : static_cast<uint32_t>(id));
  }
  if (n >= options.max_target_tokens && rules.force_end) force(generation.end_id);
  return values;
}

// Adds the ids with which results begin.
void add_forced(const GenerationSpec& generation, SourceOptions& options) {
  if (options.prefix.empty() || options.prefix_behind_prompt) {
    if (!generation.prompt.first_choices.empty()) options.forced.push_back(kFirstChoice);
    options.forced.insert(
        options.forced.end(), generation.prompt.forced_ids.begin(), generation.prompt.forced_ids.end());
    options.n_uncounted = options.forced.size();
    if (generation.forced_first_id) options.forced.push_back(static_cast<int32_t>(*generation.forced_first_id));
  }
  options.forced.insert(options.forced.end(), options.prefix.begin(), options.prefix.end());
  if (!options.prefix_in_lengths) options.n_uncounted += options.prefix.size();
}

// Adapts the options to one source. The length of a result with its prompt and prefix is within the positions.
SourceOptions bounded(const ModelSpec& spec, const SearchOptions& wanted, const Source& source, size_t n_source) {
  SourceOptions options = {wanted, source.ids};
  add_forced(spec.generation, options);
  const uint32_t extra = options.rules.max_extra_tokens;
  if (extra != 0)
    options.max_target_tokens =
        static_cast<uint32_t>(std::min<uint64_t>(options.max_target_tokens, uint64_t{n_source} + extra));
  const float product = options.rules.max_length_factor * static_cast<float>(n_source);
  if (product > 0 && product < static_cast<float>(options.max_target_tokens))
    options.max_target_tokens = std::max(
        static_cast<uint32_t>(std::ceil(product)), spec.encoder.frontend ? std::min(3u, options.max_target_tokens) : 0);
  size_t most = options.max_target_tokens + options.n_uncounted;
  if (!options.prefix.empty()) most = std::max(most, options.forced.size() + 1);
  options.max_target_tokens = static_cast<uint32_t>(std::min<size_t>(most, spec.decoder.positions.rows));
  if (!options.prefix.empty() && options.forced.size() >= options.max_target_tokens)
    throw Error("prefix: {} ids with the prompt; expected fewer than the {} positions", options.forced.size(),
        options.max_target_tokens);
  return options;
}

// A token that continues hypothesis `parent`; log_prob belongs to the whole hypothesis.
struct Candidate {
  double log_prob;
  uint32_t parent;
  int32_t token;
};

bool ranks_before(const Candidate& a, const Candidate& b) {
  return std::tuple(-a.log_prob, a.parent, a.token) < std::tuple(-b.log_prob, b.parent, b.token);
}

// Returns the best `count` continuations of all live hypotheses, best first; fewer if the constraints leave fewer.
std::vector<Candidate> best_candidates(const Logits& logits, const std::vector<Hypothesis>& live, size_t count,
    const GenerationSpec& generation, const SourceOptions& options) {
  std::vector<Candidate> candidates;
  for (size_t parent = 0; parent < live.size(); ++parent) {
    const std::vector<double> log_probs = constrained(logits.row(parent), generation, options, live[parent].tokens);
    for (size_t token = 0; token < log_probs.size(); ++token)
      if (log_probs[token] > kNever)
        candidates.push_back(
            {live[parent].log_prob + log_probs[token], static_cast<uint32_t>(parent), static_cast<int32_t>(token)});
  }
  count = std::min(count, candidates.size());
  std::partial_sort(
      candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(count), candidates.end(), ranks_before);
  candidates.resize(count);
  return candidates;
}

Hypothesis extend(const Hypothesis& parent, const Candidate& candidate, const SourceOptions& options) {
  Hypothesis child = parent;
  child.tokens.push_back(candidate.token);
  child.log_prob = candidate.log_prob;
  child.score = score_of(child, child.tokens.size(), options);
  return child;
}

// The input of a search: the source, and its candidate ids; none: all ids.
struct SearchedSource {
  EncodedSource encoded;
  std::vector<uint32_t> candidates;
};

std::vector<uint32_t> candidates_within(const ModelSpec& spec, std::span<const int32_t> source, uint32_t most) {
  if (!spec.shortlist || most == 0) return {};
  std::vector<uint32_t> ends = spec.generation.rules.more_end_ids;
  ends.push_back(spec.generation.end_id);
  std::vector<uint32_t> ids = candidates_of(*spec.shortlist, source, ends);
  return ids.size() <= most ? ids : std::vector<uint32_t>{};
}

// Returns the logits of the next tokens, kNever for ids that are no candidates: [hypotheses, target vocab_size].
Logits decode(
    const Reference& reference, const SearchedSource& source, std::span<const int32_t> tokens, DecoderState& state) {
  Logits logits = reference.decode(source.encoded, tokens, state);
  if (source.candidates.empty()) return logits;
  std::vector<float> left(logits.values.size(), -std::numeric_limits<float>::infinity());
  for (size_t row = 0; row < left.size(); row += logits.ids)
    for (const uint32_t id : source.candidates) left[row + id] = logits.values[row + id];
  logits.values = std::move(left);
  return logits;
}

Hypothesis greedy(const Reference& reference, const SearchedSource& source, const SourceOptions& options) {
  const GenerationSpec& generation = reference.spec().generation;
  DecoderState state = reference.start(1);
  Hypothesis hypothesis;
  int32_t token = static_cast<int32_t>(generation.decoder_start_id);
  do {
    const Logits logits = decode(reference, source, {&token, 1}, state);
    const std::vector<Candidate> best = best_candidates(logits, {hypothesis}, 1, generation, options);
    if (best.empty()) break;
    hypothesis = extend(hypothesis, best[0], options);
    token = best[0].token;
  } while (!is_end(generation, options.rules, token) && hypothesis.tokens.size() < options.max_target_tokens);
  return hypothesis;
}

// Keeps the beam_size best. In a tie the hypothesis that finished first wins.
void finish(Hypothesis hypothesis, uint32_t beam_size, std::vector<Hypothesis>& finished) {
  const auto place = std::upper_bound(finished.begin(), finished.end(), hypothesis,
      [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  finished.insert(place, std::move(hypothesis));
  if (finished.size() > beam_size) finished.pop_back();
}

// True if the best live hypothesis could still beat the worst of beam_size finished ones.
bool can_still_improve(const Hypothesis& best, const std::vector<Hypothesis>& finished, const SourceOptions& options) {
  const goldcrest_early_stopping stopping = options.rules.early_stopping;
  if (finished.size() < options.beam_size) return true;
  if (stopping == GOLDCREST_STOP_FULL) return false;
  const bool at_any_length = stopping == GOLDCREST_STOP_NEVER && options.length_penalty > 0;
  const size_t n = at_any_length ? options.max_target_tokens : best.tokens.size();
  return finished.back().score < score_of(best, n, options);
}

// Stops when no live hypothesis is left or the best of them cannot win any more. An end token counts only among the
// beam_size best candidates.
std::vector<Hypothesis> beam(const Reference& reference, const SearchedSource& source, const SourceOptions& options) {
  const GenerationSpec& generation = reference.spec().generation;
  const size_t n_candidates = (2 + options.rules.more_end_ids.size()) * options.beam_size;
  DecoderState state = reference.start(1);
  std::vector<Hypothesis> live(1), finished;
  std::vector<int32_t> tokens = {static_cast<int32_t>(generation.decoder_start_id)};
  while (true) {
    const Logits logits = decode(reference, source, tokens, state);
    const std::vector<Candidate> candidates = best_candidates(logits, live, n_candidates, generation, options);
    std::vector<Hypothesis> next;
    std::vector<uint32_t> parents;
    tokens.clear();
    for (size_t rank = 0; rank < candidates.size() && next.size() < options.beam_size; ++rank) {
      const Candidate& candidate = candidates[rank];
      Hypothesis child = extend(live[candidate.parent], candidate, options);
      if (is_end(generation, options.rules, candidate.token) || child.tokens.size() == options.max_target_tokens) {
        if (rank < options.beam_size) finish(std::move(child), options.beam_size, finished);
        continue;
      }
      next.push_back(std::move(child));
      parents.push_back(candidate.parent);
      tokens.push_back(candidate.token);
    }
    if (next.empty() || !can_still_improve(next[0], finished, options)) return finished;
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
  options.rules = generation.rules;
  if (spec.shortlist) options.max_candidates = spec.projection.weight->rows;
  return options;
}

double length_normalized_score(double log_prob, size_t n, const SearchOptions& options) {
  const double length = static_cast<double>(n), penalty = double{options.length_penalty};
  const double base = options.rules.length_penalty_kind == GOLDCREST_LENGTH_WU ? (5 + length) / 6 : length;
  const double exponent = std::clamp(penalty * exact_log(base), -kLargestExponent, kLargestExponent);
  return (log_prob - double{options.word_penalty} * length) / (penalty == 1 ? base : exact_exp(exponent));
}

std::vector<Hypothesis> search(const Reference& reference, const Source& source, const SearchOptions& options) {
  if (options.max_target_tokens < 1 || options.max_target_tokens > reference.spec().decoder.positions.rows)
    throw Error("max_target_tokens {}: expected 1..{}, the decoder's positions", options.max_target_tokens,
        reference.spec().decoder.positions.rows);
  if (options.beam_size < 1 || options.n_best < 1 || options.n_best > options.beam_size)
    throw Error("n_best {} of beam size {}: expected 1..beam size", options.n_best, options.beam_size);
  const SearchedSource searched = {
      reference.encode(source), candidates_within(reference.spec(), source.ids, options.max_candidates)};
  const SourceOptions of_source = bounded(reference.spec(), options, source, searched.encoded.rows);
  std::vector<Hypothesis> best = options.beam_size == 1 ? std::vector{greedy(reference, searched, of_source)}
                                                        : beam(reference, searched, of_source);
  if (best.empty() || best[0].tokens.empty())
    throw Error("nothing can be generated: every token id is suppressed, or the logits are not finite");
  best.resize(std::min<size_t>(best.size(), options.n_best));
  return best;
}

std::vector<double> token_log_probs(
    const Reference& reference, const Source& source, std::span<const int32_t> target, const SearchOptions& options) {
  const EncodedSource encoded = reference.encode(source);
  const Logits logits = reference.teacher_forced_logits(encoded, target);
  const SourceOptions of_source = bounded(reference.spec(), options, source, encoded.rows);
  std::vector<double> along(target.size());
  for (size_t i = 0; i < target.size(); ++i) {
    const std::vector<double> log_probs =
        constrained(logits.row(i), reference.spec().generation, of_source, target.first(i));
    if (target[i] < 0 || static_cast<size_t>(target[i]) >= log_probs.size())
      throw Error("token id {}: expected one below the vocabulary's size, {}", target[i], log_probs.size());
    along[i] = log_probs[static_cast<size_t>(target[i])];
  }
  return along;
}
}  // namespace goldcrest::converter
