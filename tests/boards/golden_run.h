// SPDX-License-Identifier: Apache-2.0
// Computes the golden hash (FORMAT.md, "Self-test") of a model on the board: an engine goes through the first
// validation words, one step at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include "goldcrest/goldcrest.h"
#include "model_golden.h"

namespace goldcrest::test {
class GoldenRun {
 public:
  // Places an engine in `arena`, which has MODEL_GOLDEN_ARENA_BYTES, and runs the model's self-test. Returns a status.
  int start(uint8_t* arena, const char* kernels, goldcrest_step_size step_size);

  // The same with an existing engine of that model. Returns a status.
  int take(goldcrest_engine* engine);

  // Runs one step of the engine. Returns GOLDCREST_DONE after the last word, before that a positive number, or an
  // error.
  int step();

  // Prints the error that `status` is about. Returns false.
  bool report(int status) const;

  uint64_t hash() const { return hash_; }
  uint32_t n_words() const { return n_words_; }
  uint32_t n_tokens() const { return n_tokens_; }
  goldcrest_engine* engine() const { return engine_; }
 private:
  bool has_next_word();

  goldcrest_engine* engine_ = nullptr;
  goldcrest_detail detail_ = {};
  std::string_view lines_, word_;  // the lines to come, the current word
  bool at_work_ = false;
  uint64_t hash_ = 0;
  uint32_t n_words_ = 0, n_tokens_ = 0;
};

// The host's hash for the same words.
uint64_t expected_golden_hash();
}  // namespace goldcrest::test
