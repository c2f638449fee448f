// SPDX-License-Identifier: Apache-2.0
#include "transcriber.h"

#include <algorithm>
#include <chrono>

#include "../support/interrupt.h"
#include "../support/languages.h"
#include "../support/messages.h"
#include "goldcrest/decoding.h"
#include "goldcrest/speech.h"
#include "host/limits_problem.h"

namespace {

constexpr uint32_t kLeastWindowRows = 750;

}  // namespace

std::string Transcriber::fail(int64_t status) const { return describe_error(status, detail_); }

// Turns seconds into encoder rows.
std::string Transcriber::set_limits() {
  goldcrest_limits& limits = options_.limits;
  const uint64_t first = info_.fixed_window != 0 ? info_.row_samples : info_.first_row_samples;
  if (options_.max_seconds > 0) {
    const uint64_t samples = static_cast<uint64_t>(options_.max_seconds * info_.sample_rate);
    if (samples < first) return "--max-seconds: less than the model's first row takes";
    const uint64_t rows = (samples - first) / info_.row_samples + 1;
    limits.max_source_tokens = static_cast<uint32_t>(std::min<uint64_t>(rows, info_.max_source_positions));
  }
  const uint64_t rows = limits.max_source_tokens > 0 ? limits.max_source_tokens : info_.limits.max_source_tokens;
  max_samples_ = static_cast<size_t>(first + (rows - 1) * info_.row_samples);
  return goldcrest::limits_problem(info_, limits);
}

std::string Transcriber::start() {
  std::string problem = model_.open(options_.model);
  if (problem.empty()) problem = pool_.start(options_.limits.threads);
  if (problem.empty()) problem = kernels_problem(options_.kernels);
  if (!problem.empty()) return problem;
  int status = goldcrest_model_info(model_.bytes(), model_.size(), &info_, &detail_);
  if (status < 0) return describe_model_error(status, detail_, model_.bytes(), model_.size());
  if (info_.sample_rate == 0) return "the model takes no samples; goldcrest-translate runs models of text";
  if (!info_.has_detokenizer) return "the model has no detokenizer, so its tokens have no text";
  options_.limits.threads = pool_.threads();
  if (!options_.language.empty()) problem = language_prompt(model_.bytes(), model_.size(), options_.language, &prompt_);
  options_.limits.max_prefix_tokens = static_cast<uint32_t>(prompt_.size());
  if (problem.empty()) problem = set_limits();
  if (!problem.empty()) return problem;
  goldcrest_config config = {};
  config.limits = options_.limits;
  goldcrest_memory memory = {};
  status = goldcrest_plan_memory(model_.bytes(), model_.size(), &config.limits, &memory, nullptr, nullptr, &detail_);
  if (status < 0) return fail(status);
  arena_bytes_ = memory.arena_bytes;
  tokens_.resize(memory.limits.max_target_tokens);
  arena_ = allocate_arena(arena_bytes_);
  if (!arena_) return "no memory for an arena of " + std::to_string(arena_bytes_) + " bytes";
  config.model = model_.bytes();
  config.model_bytes = model_.size();
  config.arena = arena_.get();
  config.arena_bytes = static_cast<size_t>(arena_bytes_);
  config.verify = GOLDCREST_VERIFY_FULL;
  config.kernels = options_.kernels.empty() ? nullptr : options_.kernels.c_str();
  config.detail = &detail_;
  config.parallel_for = pool_.parallel_for();
  config.parallel_context = pool_.context();
  status = goldcrest_init(&engine_, &config);
  return status < 0 ? fail(status) : "";
}

std::string Transcriber::warning() const {
  const uint32_t rows =
      options_.limits.max_source_tokens > 0 ? options_.limits.max_source_tokens : info_.limits.max_source_tokens;
  if (info_.fixed_window == 0 || rows >= kLeastWindowRows) return "";
  const uint64_t seconds = static_cast<uint64_t>(kLeastWindowRows) * info_.row_samples / info_.sample_rate;
  return "a window of " + std::to_string(rows) + " rows: Whisper repeats itself in windows of fewer than 750, " +
         std::to_string(seconds) + " s";
}

// Returns a negative status, or GOLDCREST_OK.
int64_t Transcriber::run(const std::vector<int16_t>& samples, std::string* text) {
  int status = goldcrest_begin_audio(engine_, samples.data(), samples.size());
  if (status >= 0 && !prompt_.empty()) status = goldcrest_set_prefix(engine_, 0, prompt_.data(), prompt_.size(), 0);
  // An interrupt stops the search that it finds. One that came before, while input was read, stops no search.
  const bool is_last = is_interrupted();
  while (status >= 0 && status != GOLDCREST_DONE && (is_last || !is_interrupted()))
    status = goldcrest_step(engine_, nullptr);
  if (status >= 0) status = goldcrest_get_agreed(engine_, 0, tokens_.data(), tokens_.size());
  if (status < 0) return status;
  const uint32_t n_tokens = static_cast<uint32_t>(status);
  goldcrest_text_state state = {};
  char piece[4096];
  for (uint32_t i = 0; i <= n_tokens; ++i) {
    const size_t n = i < n_tokens ? 1 : 0;  // none: what waits in the state
    const int64_t bytes = goldcrest_detokenize(engine_, &state, tokens_.data() + i, n, piece, sizeof piece);
    if (bytes < 0) return bytes;
    text->append(piece, static_cast<size_t>(bytes));
  }
  return GOLDCREST_OK;
}

std::string Transcriber::transcribe(const std::vector<int16_t>& samples, std::string* text) {
  const auto begin = std::chrono::steady_clock::now();
  text->clear();
  const int64_t status = run(samples, text);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (status < 0) return fail(status);
  text->erase(0, text->find_first_not_of(' '));  // Whisper's texts begin with a space
  return "";
}
