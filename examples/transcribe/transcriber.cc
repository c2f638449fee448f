// SPDX-License-Identifier: Apache-2.0
#include "transcriber.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "goldcrest/decoding.h"
#include "goldcrest/speech.h"
#include "host/messages.h"
#include "host/model_texts.h"

namespace {

constexpr uint32_t kLeastWindowRows = 750;

// A text that is less likely, or whose last ids repeat themselves more, is doubtful.     openai/whisper, whisper.cpp
constexpr double kLeastLogprob = -1.0, kLeastEntropy = 2.4;
constexpr size_t kEntropyTokens = 32;
constexpr double kTemperatures[] = {0.2, 0.4, 0.6, 0.8, 1.0};
constexpr uint32_t kMostSampled = 64;  // ids that a token is drawn of

// Returns the entropy of the last ids in nats; that of a text without repetitions if there are fewer.
double entropy_of(const std::vector<int32_t>& tokens, size_t n) {
  if (n <= kEntropyTokens) return std::log(static_cast<double>(kEntropyTokens));
  std::map<int32_t, double> counts;
  for (size_t i = n - kEntropyTokens; i < n; ++i) counts[tokens[i]] += 1.0 / kEntropyTokens;
  double entropy = 0;
  for (const auto& [token, share] : counts) entropy -= share * std::log(share);
  return entropy;
}

}  // namespace

// Turns seconds into encoder rows.
std::string Transcriber::set_limits() {
  goldcrest_limits& limits = options_.limits;
  const uint64_t first =
      session_.info().fixed_window != 0 ? session_.info().row_samples : session_.info().first_row_samples;
  if (options_.max_seconds > 0) {
    const uint64_t samples = static_cast<uint64_t>(options_.max_seconds * session_.info().sample_rate);
    if (samples < first) return "--max-seconds: less than the model's first row takes";
    const uint64_t rows = (samples - first) / session_.info().row_samples + 1;
    limits.max_source_tokens = static_cast<uint32_t>(std::min<uint64_t>(rows, session_.info().max_source_positions));
  }
  const uint64_t rows =
      limits.max_source_tokens > 0 ? limits.max_source_tokens : session_.info().limits.max_source_tokens;
  max_samples_ = static_cast<size_t>(first + (rows - 1) * session_.info().row_samples);
  return goldcrest::limits_problem(session_.info(), limits);
}

std::string Transcriber::start() {
  std::string problem = session_.open(options_.model, options_.limits.threads);
  if (problem.empty()) problem = kernels_problem(options_.kernels);
  if (problem.empty()) problem = session_.read_info();
  if (!problem.empty()) return problem;
  if (session_.info().sample_rate == 0) return "the model takes no samples; goldcrest-translate runs models of text";
  if (!session_.info().has_detokenizer) return "the model has no detokenizer, so its tokens have no text";
  if (!options_.language.empty() || options_.translates)
    problem = task_prompt(session_, {options_.language, options_.translates}, &prompt_);
  options_.limits.max_prefix_tokens = static_cast<uint32_t>(prompt_.size());
  options_.limits.max_sampled = options_.no_guards ? 0 : kMostSampled;
  if (options_.finds_words) goldcrest::host::ask_for_words(session_, &options_.limits);
  if (problem.empty()) problem = set_limits();
  if (problem.empty()) problem = session_.start({options_.kernels, false, false, false, {}, {}}, options_.limits);
  if (!problem.empty()) return problem;
  tokens_.resize(session_.memory().limits.max_target_tokens);
  const int64_t status = options_.no_guards ? int64_t{GOLDCREST_OK} : set_search(0);
  return status < 0 ? session_.describe(status) : "";
}

std::string Transcriber::warning() const {
  const uint32_t rows = options_.limits.max_source_tokens > 0 ? options_.limits.max_source_tokens
                                                              : session_.info().limits.max_source_tokens;
  if (session_.info().fixed_window == 0 || rows >= kLeastWindowRows) return "";
  const uint64_t seconds =
      static_cast<uint64_t>(kLeastWindowRows) * session_.info().row_samples / session_.info().sample_rate;
  return "a window of " + std::to_string(rows) + " rows: Whisper repeats itself in windows of fewer than 750, " +
         std::to_string(seconds) + " s";
}

// temperature 0: the best text is searched. Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::set_search(float temperature) {
  goldcrest_engine* const engine = session_.engine();
  goldcrest_search search = {};
  search.flags = GOLDCREST_SEARCH_SCORES;
  if (temperature == 0) {
    const int status = goldcrest_set_sampling(engine, nullptr);
    return status < 0 ? status : goldcrest_set_search(engine, &search);
  }
  search.beam_size = 1;
  goldcrest_sampling sampling = {};
  sampling.temperature = temperature;
  sampling.top_k = kMostSampled;
  sampling.top_p = 1;
  const int status = goldcrest_set_search(engine, &search);
  return status < 0 ? status : goldcrest_set_sampling(engine, &sampling);
}

// Returns the id of the language that a first step of the search hears, or a negative status.
int64_t Transcriber::hear_language() {
  goldcrest_engine* const engine = session_.engine();
  int64_t status = GOLDCREST_OK;
  while (status >= 0 && status != GOLDCREST_TOKEN && status != GOLDCREST_DONE) status = goldcrest_step(engine, nullptr);
  int32_t language = 0;
  if (status >= 0) status = goldcrest_get_agreed(engine, 0, &language, 1);
  if (status >= 0) status = goldcrest_search_again(engine);
  return status < 0 ? status : language;
}

// Gives the stored samples their prompt. Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::give_prompt() {
  if (prompt_.empty()) return GOLDCREST_OK;
  std::vector<int32_t> prompt = prompt_;
  const int64_t heard = prompt.front() < 0 ? hear_language() : prompt.front();
  if (heard < 0) return heard;
  prompt.front() = static_cast<int32_t>(heard);
  return goldcrest_set_prefix(session_.engine(), 0, prompt.data(), prompt.size(), 0);
}

// Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::run(const std::vector<int16_t>& samples, bool is_final, Transcription* made) {
  goldcrest_engine* const engine = session_.engine();
  int64_t status = give_prompt();
  // An interrupt stops the search that it finds. One that came before, while input was read, stops no search.
  const bool is_last = is_interrupted();
  while (status >= 0 && status != GOLDCREST_DONE && (is_last || !is_interrupted()))
    status = goldcrest_step(engine, nullptr);
  goldcrest_result result = {};
  const bool is_done = status == GOLDCREST_DONE;
  if (is_done) status = goldcrest_get_result(engine, 0, 0, &result);
  if (result.was_cut != 0)
    made->cut = goldcrest::cut_problem(session_.info(), session_.memory().limits, result.n_tokens);
  if (status >= 0) status = goldcrest_get_agreed(engine, 0, tokens_.data(), tokens_.size());
  if (status < 0) return status;
  const auto n = static_cast<uint32_t>(status);
  if (is_done) {
    made->tokens.assign(result.tokens + result.n_prefix, result.tokens + result.n_tokens);
    if (!made->tokens.empty() && made->tokens.back() == session_.info().end_id) made->tokens.pop_back();
    made->avg_logprob = static_cast<double>(result.log_prob) / std::max(1u, result.n_tokens - result.n_prefix);
    made->repeats = entropy_of(tokens_, n) < kLeastEntropy;
    made->uncertain = made->repeats || made->avg_logprob < kLeastLogprob;
  }
  status = session_.append_text(tokens_.data(), n, &made->text);
  if (status < 0 || !is_done || !is_final || !options_.finds_words) return status;
  return goldcrest::host::find_words(session_, samples.size(), &made->words);
}

// Samples until a text is likely; else the first one stays, or the first that does not repeat itself. The draws are the
// same on every machine.
int64_t Transcriber::run_again(const std::vector<int16_t>& samples, Transcription* made) {
  int64_t status = GOLDCREST_OK;
  for (const double temperature : kTemperatures) {
    if (!made->uncertain || is_interrupted()) break;
    Transcription other;
    other.temperature = temperature;
    status = goldcrest_search_again(session_.engine());
    if (status >= 0) status = set_search(static_cast<float>(temperature));
    if (status >= 0) status = run(samples, true, &other);
    if (status < 0) break;
    if (!other.uncertain || (made->repeats && !other.repeats)) *made = other;
  }
  const int64_t restored = set_search(0);
  return status < 0 ? status : restored;
}

std::string Transcriber::transcribe(const std::vector<int16_t>& samples, bool is_final, Transcription* made) {
  const auto begin = std::chrono::steady_clock::now();
  *made = {};
  int64_t status = goldcrest_begin_audio(session_.engine(), samples.data(), samples.size());
  if (status >= 0) status = run(samples, is_final, made);
  if (options_.no_guards) made->uncertain = false;
  if (status >= 0 && is_final && made->uncertain) status = run_again(samples, made);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (status < 0) return session_.describe(status);
  made->text.erase(0, made->text.find_first_not_of(' '));  // Whisper's texts begin with a space
  return "";
}
