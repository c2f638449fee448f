// SPDX-License-Identifier: Apache-2.0
// Forces the engine along a prefix by writing the prefix's token where the engine keeps its own choice.
#include "naive_search.h"
#include "api/engine.h"
#include "support/test.h"

namespace goldcrest::test {
namespace {
constexpr double kNever = -std::numeric_limits<double>::infinity();

EngineSetup forced_setup(uint32_t max_target_tokens, TracedRows* traced) {
  EngineSetup setup = logits_setup(traced);
  setup.limits.max_target_tokens = max_target_tokens;
  setup.limits.beam_size = 1;
  return setup;
}

// log(sum of e^value) over the tokens that may be chosen.
double log_sum_exp(const std::vector<double>& values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

void subtract(double amount, std::vector<double>& values) {
  for (double& value : values) value -= amount;
}

uint32_t most_tokens(const PrefixLogits& logits, const NaiveOptions& options) {
  const size_t extra = options.rules.max_extra_tokens;
  const float factor = options.rules.max_length_factor;
  uint32_t most = options.search.max_target_tokens;
  if (extra != 0) most = static_cast<uint32_t>(std::min<size_t>(most, logits.source_tokens() + extra));
  if (factor != 0) {
    const float product = std::ceil(factor * static_cast<float>(logits.source_tokens()));
    most = std::min(most, static_cast<uint32_t>(product));
  }
  return most;
}

std::vector<uint32_t> end_ids(const NaiveOptions& options) {
  std::vector<uint32_t> ids = options.rules.more_end_ids;
  ids.push_back(options.end_id);
  return ids;
}

bool ends(const PrefixLogits& logits, const NaiveOptions& options, const std::vector<int32_t>& tokens) {
  const std::vector<uint32_t> ids = end_ids(options);
  return tokens.size() == most_tokens(logits, options) ||
         std::find(ids.begin(), ids.end(), static_cast<uint32_t>(tokens.back())) != ids.end();
}

bool completes(const std::vector<int32_t>& text, int32_t last, const std::vector<int32_t>& sequence) {
  std::vector<int32_t> longer = text;
  longer.push_back(last);
  return longer.size() >= sequence.size() && std::equal(sequence.rbegin(), sequence.rend(), longer.rbegin());
}

// Sequences, after the tokens of a text.
void apply_sequences(const converter::SequencesSpec& sequences, const std::vector<int32_t>& source,
    const std::vector<int32_t>& text, std::vector<double>& values) {
  const std::ptrdiff_t n = sequences.no_repeat_source_ngram;
  for (size_t id = 0; id < values.size(); ++id) {
    const int32_t last = static_cast<int32_t>(id);
    for (const converter::SequenceSpec& sequence : sequences.list)
      if (completes(text, last, {sequence.ids.begin(), sequence.ids.end()})) values[id] += double{sequence.bias};
    for (std::ptrdiff_t end = n; n > 0 && end <= std::ssize(source); ++end)
      if (completes(text, last, {source.begin() + end - n, source.begin() + end})) values[id] = kNever;
  }
}

// Biases, repetition penalty and n-grams, after the tokens of a text.
void apply_rules(const converter::RulesSpec& rules, const std::vector<int32_t>& text, std::vector<double>& values) {
  for (const auto& [id, bias] : rules.biases) values[id] += bias;
  for (size_t id = 0; id < values.size(); ++id) {
    if (std::find(text.begin(), text.end(), static_cast<int32_t>(id)) == text.end()) continue;
    values[id] = values[id] < 0 ? values[id] * rules.repetition_penalty : values[id] / rules.repetition_penalty;
  }
  const size_t n = rules.no_repeat_ngram;
  for (size_t id = 0; id < values.size() && n > 0; ++id) {
    std::vector<int32_t> longer = text;
    longer.push_back(static_cast<int32_t>(id));
    if (longer.size() <= n) continue;
    const std::vector<int32_t> last(longer.end() - static_cast<ptrdiff_t>(n), longer.end());
    if (std::search(longer.begin(), longer.end() - 1, last.begin(), last.end()) != longer.end() - 1)
      values[id] = kNever;
  }
}

// Log-probabilities of the n-th generated token (from 1) after a prefix.
std::vector<double> next_log_probs(
    PrefixLogits& logits, const NaiveOptions& options, const std::vector<int32_t>& prefix) {
  const uint32_t n = static_cast<uint32_t>(prefix.size()) + 1;
  const bool forces_end = options.rules.force_end && n >= most_tokens(logits, options);
  if (forces_end || (n == 1 && options.forced_first_id >= 0)) {
    std::vector<double> forced(logits.vocab_size(), kNever);
    forced[forces_end ? options.end_id : static_cast<uint32_t>(options.forced_first_id)] = 0;
    return forced;
  }
  const std::vector<float>& given = logits.after(prefix);
  std::vector<double> values(given.begin(), given.end());
  if (!options.candidates.empty()) values.assign(given.size(), kNever);
  for (const uint32_t id : options.candidates) values[id] = double{given[id]};
  const double sum = log_sum_exp(values);
  const bool is_greedy = options.search.beam_size == 1;
  if (!is_greedy) subtract(sum, values);
  std::vector<int32_t> text = {static_cast<int32_t>(options.start_id)};
  text.insert(text.end(), prefix.begin(), prefix.end());
  apply_sequences(options.sequences, logits.source(), text, values);
  apply_rules(options.rules, text, values);
  for (const uint32_t id : options.suppressed_ids) values[id] = kNever;
  for (const uint32_t id : end_ids(options))
    if (n < options.search.min_target_tokens) values[id] = kNever;
  if (options.allowed) {
    std::vector<double> allowed(values.size(), kNever);
    for (const uint32_t id : options.allowed(prefix)) allowed[id] = values[id];
    values = allowed;
  }
  if (std::ranges::count(values, kNever) == static_cast<ptrdiff_t>(values.size())) return values;
  const bool changed = options.rules.repetition_penalty != 1 || !options.rules.biases.empty() ||
                       options.sequences != converter::SequencesSpec{};
  if (options.allowed || options.rules.renormalize || (is_greedy && changed)) subtract(log_sum_exp(values), values);
  else if (is_greedy) subtract(sum, values);
  return values;
}

// (log_prob - word_penalty * n) / penalty, n tokens
double score_of(double log_prob, size_t n_tokens, const NaiveOptions& options) {
  const double n = static_cast<double>(n_tokens);
  const double base = options.rules.length_penalty_kind == GOLDCREST_LENGTH_WU ? (5 + n) / 6 : n;
  return (log_prob - double{options.search.word_penalty} * n) / std::pow(base, double{options.search.length_penalty});
}

NaiveHypothesis extended(const NaiveHypothesis& parent, int32_t token, double log_prob, const NaiveOptions& options) {
  NaiveHypothesis child = parent;
  child.tokens.push_back(token);
  child.log_prob += log_prob;
  child.score = score_of(child.log_prob, child.tokens.size(), options);
  return child;
}

// Returns whether the best of `live` can still enter a full list of finished ones.
bool can_still_improve(const std::vector<NaiveHypothesis>& live, const std::vector<NaiveHypothesis>& finished,
    const NaiveOptions& options, uint32_t most) {
  const goldcrest_early_stopping stopping = options.rules.early_stopping;
  if (stopping == GOLDCREST_STOP_FULL) return false;
  const bool is_later = stopping == GOLDCREST_STOP_NEVER && options.search.length_penalty > 0;
  return score_of(live[0].log_prob, is_later ? most : live[0].tokens.size(), options) > finished.back().score;
}
}  // namespace

EngineSetup logits_setup(TracedRows* rows) {
  EngineSetup setup = {.trace_context = rows};
  setup.trace = [](void* context, const char* name, int32_t, uint32_t row, const float* values, uint32_t count) {
    if (std::string_view(name) != "logits") return;
    TracedRows& to = *static_cast<TracedRows*>(context);
    if (to.size() <= row) to.resize(row + 1);
    to[row].insert(to[row].end(), values, values + count);
  };
  return setup;
}

PrefixLogits::PrefixLogits(std::span<const uint8_t> model, std::vector<int32_t> source, uint32_t max_target_tokens)
    : source_(std::move(source)), engine_(model, forced_setup(max_target_tokens, &traced_)) {
  engine_.change_search([&](goldcrest_search& search) {
    search.min_target_tokens = search.max_target_tokens = max_target_tokens;  // nothing ends the search earlier
    search.max_extra_tokens = UINT32_MAX;
    search.max_length_factor = HUGE_VALF;
  });
}

// Runs greedy search, but replaces its choices by the prefix.
void PrefixLogits::decode_along(const std::vector<int32_t>& prefix) {
  traced_.clear();
  if (goldcrest_begin(engine_.get(), source_.data(), source_.size()) < 0) throw std::runtime_error("begin");
  int32_t token = 0;
  for (size_t position = 0; position <= prefix.size();) {
    const int status = goldcrest_step(engine_.get(), &token);
    if (status < 0 || status == GOLDCREST_DONE) throw std::runtime_error("the search ended");
    if (status != GOLDCREST_TOKEN) continue;
    if (position < prefix.size()) {
      const SentenceView view = sentence_view(engine_.get()->buffers, 0);
      view.tokens[engine_.get()->step.position * view.n_slots] = prefix[position];
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
    // All continuations of all hypotheses, by parent and token; a stable sort keeps this order among equals.
    std::vector<NaiveHypothesis> continuations;
    for (const NaiveHypothesis& parent : live) {
      const std::vector<double> log_probs = next_log_probs(logits, options, parent.tokens);
      for (size_t token = 0; token < log_probs.size(); ++token) {
        if (log_probs[token] == kNever) continue;
        continuations.push_back(extended(parent, static_cast<int32_t>(token), log_probs[token], options));
      }
    }
    std::stable_sort(continuations.begin(), continuations.end(),
        [](const NaiveHypothesis& a, const NaiveHypothesis& b) { return a.log_prob > b.log_prob; });
    live.clear();
    const size_t n_candidates = (1 + end_ids(options).size()) * beam_size;
    for (size_t rank = 0; rank < std::min(n_candidates, continuations.size()); ++rank) {
      const bool is_end = ends(logits, options, continuations[rank].tokens);
      if (is_end && rank < beam_size) finished.push_back(continuations[rank]);
      if (!is_end && live.size() < beam_size) live.push_back(continuations[rank]);
    }
    std::stable_sort(finished.begin(), finished.end(), better_score);
    if (finished.size() > beam_size) finished.resize(beam_size);
    if (!live.empty() && finished.size() == beam_size &&
        !can_still_improve(live, finished, options, most_tokens(logits, options)))
      live.clear();
  }
  return finished;
}

NaiveHypothesis naive_greedy_search(PrefixLogits& logits, const NaiveOptions& options) {
  NaiveHypothesis text;
  do {
    const std::vector<double> log_probs = next_log_probs(logits, options, text.tokens);
    const auto best = std::max_element(log_probs.begin(), log_probs.end());
    text = extended(text, static_cast<int32_t>(best - log_probs.begin()), *best, options);
  } while (!ends(logits, options, text.tokens));
  return text;
}

std::vector<NaiveHypothesis> naive_results(const ModelSpec& spec, const goldcrest_search& search,
    const std::vector<int32_t>& source, const std::function<void(NaiveOptions&)>& change) {
  ModelSpec plain = spec;
  plain.generation.rules = {};
  plain.generation.sequences = {};
  plain.shortlist.reset();
  const FileImage file = tiny_file(plain);
  PrefixLogits logits(file.span(), source, search.max_target_tokens + 1);
  NaiveOptions options = {search, spec.generation.end_id, -1, spec.generation.suppressed_ids};
  options.rules = spec.generation.rules;
  options.sequences = spec.generation.sequences;
  options.start_id = spec.generation.decoder_start_id;
  if (change) change(options);
  if (search.beam_size == 1) return {naive_greedy_search(logits, options)};
  return naive_beam_search(logits, options);
}

std::vector<Translation> engine_results(const ModelSpec& spec, const goldcrest_search& search,
    const std::vector<int32_t>& source, const goldcrest_sequences* sequences) {
  const FileImage file = tiny_file(spec);
  EngineSetup setup = {
      .limits = {
          .max_target_tokens = search.max_target_tokens, .beam_size = search.beam_size, .n_best = search.beam_size}};
  TestEngine engine(file.span(), setup);
  engine.set_search(search);
  if (sequences != nullptr) {
    EXPECT_EQ(goldcrest_set_sequences(engine.get(), sequences), GOLDCREST_OK) << engine.detail().message;
  }
  std::vector<Translation> found = engine.run(std::span(&source, 1)).at(0);
  EXPECT_TRUE(engine.memory_intact());
  return found;
}

void expect_same(
    const std::vector<Translation>& found, const std::vector<NaiveHypothesis>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "hypothesis " << i);
    EXPECT_EQ(found[i].tokens, expected[i].tokens);
    EXPECT_NEAR(found[i].log_prob, expected[i].log_prob, tolerance);
    EXPECT_NEAR(found[i].score, expected[i].score, tolerance * std::max(1.0, std::fabs(expected[i].score)));
  }
}
}  // namespace goldcrest::test
