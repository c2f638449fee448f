// SPDX-License-Identifier: Apache-2.0
// A thin C++ wrapper of goldcrest.h: no allocation, no exceptions, no state of its own. goldcrest.h documents each
// call.
#pragma once

#include "goldcrest/decoding.h"
#include "goldcrest/goldcrest.h"
#include "goldcrest/inspection.h"
#include "goldcrest/languages.h"
#include "goldcrest/sentences.h"
#include "goldcrest/speech.h"

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

// The sentences of a text one after another, with the white space and line ends between them. A sentence that proves
// too long for the engine can be cut further.
class SentenceReader {
 public:
  constexpr SentenceReader(const char* text, size_t bytes, const goldcrest_part_options& options)
      : text_(text), bytes_(bytes), options_(options), max_bytes_(options.max_bytes) {}

  // Goes to the next sentence. The last time there may be only space before the text's end: then false, and bytes() is
  // 0.
  bool next() {
    space_ = begin_ = begin_ + sentence_bytes_;
    sentence_bytes_ = 0;
    for (goldcrest_part part = {}; take(&part) > GOLDCREST_PART_NONE; begin_ += part.bytes) {
      if (part.kind != GOLDCREST_PART_SENTENCE) continue;
      sentence_bytes_ = part.bytes;
      return true;
    }
    return false;
  }

  // Cuts the sentence further, into pieces of at most half of its bytes: next() gives the rest. False where it is a
  // single character.
  bool shorten() {
    if (sentence_bytes_ < 2 || (options_.max_bytes > 0 && sentence_bytes_ > options_.max_bytes)) return false;
    if (begin_ + sentence_bytes_ > cut_end_) cut_end_ = begin_ + sentence_bytes_;
    options_.max_bytes = sentence_bytes_ / 2;
    const size_t whole = sentence_bytes_;
    goldcrest_part part = {};
    if (take(&part) > GOLDCREST_PART_NONE) sentence_bytes_ = part.bytes;
    return sentence_bytes_ < whole;
  }

  const char* space() const { return text_ + space_; }  // before the sentence; [space_bytes()]
  size_t space_bytes() const { return begin_ - space_; }
  const char* sentence() const { return text_ + begin_; }  // [bytes()]
  size_t bytes() const { return sentence_bytes_; }
 private:
  int take(goldcrest_part* part) {
    if (begin_ >= cut_end_) {
      cut_end_ = 0;
      options_.max_bytes = max_bytes_;
    }
    return goldcrest_next_part(text_ + begin_, (cut_end_ > 0 ? cut_end_ : bytes_) - begin_, &options_, part);
  }

  const char* text_;
  size_t bytes_;
  goldcrest_part_options options_;
  size_t max_bytes_;
  size_t space_ = 0, begin_ = 0, sentence_bytes_ = 0;
  size_t cut_end_ = 0;  // end of the sentence that is being cut further; 0: none
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
  Status set_sampling(const goldcrest_sampling& sampling) { return Status(goldcrest_set_sampling(engine_, &sampling)); }
  Status set_alternatives(uint32_t n, float min_prob) {
    return Status(goldcrest_set_alternatives(engine_, n, min_prob));
  }
  Status set_sequences(const goldcrest_sequences& sequences) {
    return Status(goldcrest_set_sequences(engine_, &sequences));
  }
  Status set_stream(uint32_t sentence, uint32_t stream) {
    return Status(goldcrest_set_stream(engine_, sentence, stream));
  }
  Status set_lexicon(const goldcrest_lexicon* lexicon) { return Status(goldcrest_set_lexicon(engine_, lexicon)); }
  Status set_languages(const char* source, const char* target) {
    return Status(goldcrest_set_languages(engine_, source, target));
  }
  Status begin(const int32_t* source, size_t n) { return Status(goldcrest_begin(engine_, source, n)); }
  Status begin(const char* text, size_t bytes) { return Status(goldcrest_begin_text(engine_, text, bytes)); }
  Status add(const int32_t* source, size_t n) { return Status(goldcrest_add(engine_, source, n)); }
  Status add(const char* text, size_t bytes) { return Status(goldcrest_add_text(engine_, text, bytes)); }
  Status begin(const int16_t* samples, size_t n) { return Status(goldcrest_begin_audio(engine_, samples, n)); }
  Status add(const int16_t* samples, size_t n) { return Status(goldcrest_add_audio(engine_, samples, n)); }
  Status begin(const float* features, size_t n) { return Status(goldcrest_begin_features(engine_, features, n)); }
  Status add(const float* features, size_t n) { return Status(goldcrest_add_features(engine_, features, n)); }
  Status score(uint32_t sentence, const int32_t* target, size_t n) {
    return Status(goldcrest_score(engine_, sentence, target, n));
  }
  Status set_prefix(uint32_t sentence, const int32_t* ids, size_t n, uint32_t flags) {
    return Status(goldcrest_set_prefix(engine_, sentence, ids, n, flags));
  }
  Status agreed(uint32_t sentence, int32_t* ids, size_t capacity) const {
    return Status(goldcrest_get_agreed(engine_, sentence, ids, capacity));
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
  Status transcribe(const int16_t* samples, size_t n, char* out, size_t out_bytes) {
    return Status(goldcrest_transcribe(engine_, samples, n, out, out_bytes));
  }
  // Translates a text sentence by sentence; white space and line ends stay as they are. `parts` says how the text is
  // cut. A sentence above the engine's limits is cut further; one that gives no token is left out. out gets a
  // terminating zero. Returns the bytes without it, or the error that goldcrest_translate returns for a sentence; what
  // comes before that sentence is there, and of ERROR_TRUNCATED what fits.
  Status translate_text(
      const char* text, size_t bytes, const goldcrest_part_options& parts, char* out, size_t out_bytes) {
    if (engine_ == nullptr || text == nullptr || out == nullptr || out_bytes == 0)
      return Status(GOLDCREST_ERROR_ARGUMENT);
    SentenceReader reader(text, bytes, parts);
    size_t used = 0;
    out[0] = '\0';
    for (bool more = true; more;) {
      more = reader.next();
      if (reader.space_bytes() >= out_bytes - used) return Status(GOLDCREST_ERROR_TRUNCATED);
      for (size_t i = 0; i < reader.space_bytes(); ++i) out[used + i] = reader.space()[i];
      used += reader.space_bytes();
      out[used] = '\0';
      if (!more) break;
      const int64_t n = translate_sentence(reader, out + used, out_bytes - used);
      if (n < 0 && n != GOLDCREST_ERROR_ARGUMENT) return Status(n);
      if (n > 0) used += static_cast<size_t>(n);
      out[used] = '\0';
    }
    return Status(static_cast<int64_t>(used));
  }
  Status self_test(goldcrest_detail& detail) { return Status(goldcrest_self_test(engine_, &detail)); }
  int search_again() { return goldcrest_search_again(engine_); }
  void reset() { goldcrest_reset(engine_); }
  const char* kernels_name() const { return goldcrest_kernels_name(engine_); }
  goldcrest_engine* get() const { return engine_; }
 private:
  int64_t translate_sentence(SentenceReader& reader, char* out, size_t out_bytes) {
    int64_t n = goldcrest_translate(engine_, reader.sentence(), reader.bytes(), out, out_bytes);
    while (n == GOLDCREST_ERROR_TOO_LONG && reader.shorten())
      n = goldcrest_translate(engine_, reader.sentence(), reader.bytes(), out, out_bytes);
    return n;
  }

  goldcrest_engine* engine_ = nullptr;
};
}  // namespace goldcrest
