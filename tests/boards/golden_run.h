// SPDX-License-Identifier: Apache-2.0
// The golden hash (FORMAT.md, "Self-test") of a model on the board: an engine that goes through the first validation
// words, one step at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "goldcrest/goldcrest.h"
#include "model_golden.h"

namespace goldcrest::test {

class GoldenRun {
 public:
  // Places an engine in `arena`, of MODEL_GOLDEN_ARENA_BYTES, and passes the model's self-test. Returns a status.
  int start(uint8_t* arena, const char* kernels, goldcrest_step_size step_size);

  // The same with an engine of that model that is there already. Returns a status.
  int take(goldcrest_engine* engine);

  // One step of the engine: GOLDCREST_DONE after the last word, else positive, or an error.
  int step();

  // Prints which error `status` is about. False.
  bool report(int status) const;

  uint64_t hash() const { return hash_; }
  uint32_t n_words() const { return n_words_; }
  uint32_t n_tokens() const { return n_tokens_; }
  goldcrest_engine* engine() const { return engine_; }

 private:
  bool has_next_word();

  goldcrest_engine* engine_ = nullptr;
  goldcrest_detail detail_ = {};
  std::string_view lines_, word_;  // the lines still to come, the word at work
  bool at_work_ = false;
  uint64_t hash_ = 0;
  uint32_t n_words_ = 0, n_tokens_ = 0;
};

// What the host computed for the same words.
uint64_t expected_golden_hash();

}  // namespace goldcrest::test
