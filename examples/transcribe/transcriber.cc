// SPDX-License-Identifier: Apache-2.0
#include "transcriber.h"

#include <algorithm>
#include <chrono>

#include "goldcrest/decoding.h"
#include "goldcrest/speech.h"
#include "host/messages.h"
#include "host/model_texts.h"

namespace {

constexpr uint32_t kLeastWindowRows = 750;

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
  if (!options_.language.empty()) problem = language_prompt(session_, options_.language, &prompt_);
  options_.limits.max_prefix_tokens = static_cast<uint32_t>(prompt_.size());
  if (problem.empty()) problem = set_limits();
  if (problem.empty()) problem = session_.start({options_.kernels, false, false, false, {}, {}}, options_.limits);
  if (problem.empty()) tokens_.resize(session_.memory().limits.max_target_tokens);
  return problem;
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

// Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::run(const std::vector<int16_t>& samples, std::string* text) {
  goldcrest_engine* const engine = session_.engine();
  int64_t status = goldcrest_begin_audio(engine, samples.data(), samples.size());
  if (status >= 0 && !prompt_.empty()) status = goldcrest_set_prefix(engine, 0, prompt_.data(), prompt_.size(), 0);
  // An interrupt stops the search that it finds. One that came before, while input was read, stops no search.
  const bool is_last = is_interrupted();
  while (status >= 0 && status != GOLDCREST_DONE && (is_last || !is_interrupted()))
    status = goldcrest_step(engine, nullptr);
  goldcrest_result result = {};
  if (status == GOLDCREST_DONE) status = goldcrest_get_result(engine, 0, 0, &result);
  if (result.was_cut != 0) cut_ = goldcrest::cut_problem(session_.info(), session_.memory().limits, result.n_tokens);
  if (status >= 0) status = goldcrest_get_agreed(engine, 0, tokens_.data(), tokens_.size());
  return status < 0 ? status : session_.append_text(tokens_.data(), static_cast<uint32_t>(status), text);
}

std::string Transcriber::transcribe(const std::vector<int16_t>& samples, std::string* text) {
  const auto begin = std::chrono::steady_clock::now();
  text->clear();
  cut_.clear();
  const int64_t status = run(samples, text);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (status < 0) return session_.describe(status);
  text->erase(0, text->find_first_not_of(' '));  // Whisper's texts begin with a space
  return "";
}
