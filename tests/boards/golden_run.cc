// SPDX-License-Identifier: Apache-2.0
#include "boards/golden_run.h"
#include <cstdio>
#include <cstdlib>
#include "base/hash.h"

extern "C" {
extern const char golden_words[], golden_words_end[];  // lines "word TAB pronunciation"
extern const char golden_hash[];                       // 16 hexadecimal digits and a line feed
}

namespace goldcrest::test {
uint64_t expected_golden_hash() { return std::strtoull(golden_hash, nullptr, 16); }

int GoldenRun::start(uint8_t* arena, const char* kernels, goldcrest_step_size step_size) {
  *this = {};
  goldcrest_config config = {.model = model_golden,
      .model_bytes = MODEL_GOLDEN_BYTES,
      .arena = arena,
      .arena_bytes = MODEL_GOLDEN_ARENA_BYTES,
      .limits = MODEL_GOLDEN_LIMITS,
      .step_size = step_size,
      .kernels = kernels,
      .detail = &detail_};
  goldcrest_engine* engine = nullptr;
  int status = goldcrest_init(&engine, &config);
  if (status >= 0) status = goldcrest_self_test(engine, &detail_);
  return status < 0 ? status : take(engine);
}

int GoldenRun::take(goldcrest_engine* engine) {
  engine_ = engine;
  lines_ = std::string_view(golden_words, static_cast<size_t>(golden_words_end - golden_words));
  word_ = {};
  at_work_ = false;
  hash_ = kHashStart;
  n_words_ = n_tokens_ = 0;
  goldcrest_search search = {.beam_size = 1, .flags = GOLDCREST_SEARCH_HASH_LOGITS};
  return goldcrest_set_search(engine, &search);
}

// Moves to the next line with another word; a word with several pronunciations counts once.
bool GoldenRun::has_next_word() {
  const std::string_view previous = word_;
  while (n_words_ < GOLDCREST_GOLDEN_WORDS && !lines_.empty()) {
    const std::string_view line = lines_.substr(0, lines_.find('\n'));
    lines_.remove_prefix(line.size() < lines_.size() ? line.size() + 1 : line.size());
    word_ = line.substr(0, line.find('\t'));
    if (word_ != previous) return true;
  }
  return false;
}

int GoldenRun::step() {
  int status = GOLDCREST_OK;
  if (!at_work_) {
    if (!has_next_word()) return GOLDCREST_DONE;
    status = goldcrest_begin_text(engine_, word_.data(), word_.size());
    at_work_ = true;
  }
  if (status >= 0) status = goldcrest_step(engine_, nullptr);
  if (status != GOLDCREST_DONE) return status;

  goldcrest_result result = {};
  status = goldcrest_get_result(engine_, 0, 0, &result);
  hash_ = hash_halves(hash_, result.logits_hash);
  n_tokens_ += result.n_tokens;
  ++n_words_;
  at_work_ = false;
  return status < 0 ? status : GOLDCREST_WORKING;
}

bool GoldenRun::report(int status) const {
  std::printf("word %u: %s, %s (%d)\n", static_cast<unsigned>(n_words_), goldcrest_status_string(status),
      detail_.message != nullptr ? detail_.message : "", static_cast<int>(detail_.index));
  return false;
}
}  // namespace goldcrest::test
