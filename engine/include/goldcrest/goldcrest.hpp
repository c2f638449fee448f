// SPDX-License-Identifier: Apache-2.0
// A thin C++ wrapper of goldcrest.h: no allocation, no exceptions, no state of its own. goldcrest.h documents each
// call.
#pragma once

#include "goldcrest/goldcrest.h"
#include "goldcrest/inspection.h"
#include "goldcrest/languages.h"

namespace goldcrest {

// The result of a call: an error, or a non-negative value.
class [[nodiscard]] Status {
 public:
  explicit Status(int64_t value) : value_(value) {}
  bool ok() const { return value_ >= 0; }
  int64_t value() const { return value_; }  // a count or index, or the goldcrest_status
  const char* message() const { return goldcrest_status_string(value_ < 0 ? static_cast<int>(value_) : GOLDCREST_OK); }

 private:
  int64_t value_;
};

// The outcome of one step.
class [[nodiscard]] Step {
 public:
  Step(int status, int32_t token) : status_(status), token_(token) {}
  bool ok() const { return status_ >= 0; }
  bool done() const { return status_ == GOLDCREST_DONE || status_ < 0; }
  const int32_t* token() const { return status_ == GOLDCREST_TOKEN ? &token_ : nullptr; }
  Status status() const { return Status(status_); }

 private:
  int status_;
  int32_t token_;
};

// A handle to an engine in the caller's arena.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&& other) noexcept : engine_(other.engine_) { other.engine_ = nullptr; }
  Engine& operator=(Engine&& other) noexcept {
    engine_ = other.engine_;
    if (this != &other) other.engine_ = nullptr;
    return *this;
  }

  Status init(const goldcrest_config& config) { return Status(goldcrest_init(&engine_, &config)); }
  Status set_search(const goldcrest_search& search) { return Status(goldcrest_set_search(engine_, &search)); }
  Status set_languages(const char* source, const char* target) {
    return Status(goldcrest_set_languages(engine_, source, target));
  }
  Status begin(const int32_t* source, size_t n) { return Status(goldcrest_begin(engine_, source, n)); }
  Status begin(const char* text, size_t bytes) { return Status(goldcrest_begin_text(engine_, text, bytes)); }
  Status add(const int32_t* source, size_t n) { return Status(goldcrest_add(engine_, source, n)); }
  Status add(const char* text, size_t bytes) { return Status(goldcrest_add_text(engine_, text, bytes)); }
  Status score(uint32_t sentence, const int32_t* target, size_t n) {
    return Status(goldcrest_score(engine_, sentence, target, n));
  }
  Status run() { return Status(goldcrest_run(engine_)); }
  Step step() {
    int32_t token = -1;
    const int status = goldcrest_step(engine_, &token);
    return Step(status, token);
  }
  Status result(uint32_t sentence, uint32_t rank, goldcrest_result& result) const {
    return Status(goldcrest_get_result(engine_, sentence, rank, &result));
  }
  Status alignment(const goldcrest_alignment& wanted, float* weights, size_t n_weights) const {
    return Status(goldcrest_get_alignment(engine_, &wanted, weights, n_weights));
  }
  Status detokenize(goldcrest_text_state& state, const int32_t* tokens, size_t n, char* out, size_t out_bytes) const {
    return Status(goldcrest_detokenize(engine_, &state, tokens, n, out, out_bytes));
  }
  Status translate(const char* text, size_t bytes, char* out, size_t out_bytes) {
    return Status(goldcrest_translate(engine_, text, bytes, out, out_bytes));
  }
  Status self_test(goldcrest_detail& detail) { return Status(goldcrest_self_test(engine_, &detail)); }
  void reset() { goldcrest_reset(engine_); }
  const char* kernels_name() const { return goldcrest_kernels_name(engine_); }
  goldcrest_engine* get() const { return engine_; }

 private:
  goldcrest_engine* engine_ = nullptr;
};

}  // namespace goldcrest
