// SPDX-License-Identifier: Apache-2.0
// A model and an engine that turn samples into text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "goldcrest/goldcrest.h"
#include "goldcrest/voice.h"
#include "host/session.h"
#include "host/speech/word_times.h"

// The text that a model wrote of some samples, and how sure it was.
struct Transcription {
  std::string text = {};
  std::string cut = {};    // why a limit ended it; empty: the model ended it
  double avg_logprob = 0;  // mean log-probability of its tokens
  double temperature = 0;  // of the sampling; 0: it was searched
  bool repeats = false;    // its last tokens are a loop
  bool uncertain = false;  // it repeats or is unlikely, and no temperature gave a better text
  std::vector<int32_t> tokens = {};  // without prompt and end
  std::vector<goldcrest::host::TimedWord> words = {};  // if asked for; seconds from the first sample
};

struct TranscriberOptions {
  std::string model, kernels;
  std::string language;     // empty: the model's, or what it hears
  bool translates = false;  // into English
  goldcrest_limits limits = {};
  double max_seconds = 0;  // 0: the model's
  bool no_guards = false;  // the first text counts
  bool finds_words = false;
};

class Transcriber {
 public:
  explicit Transcriber(const TranscriberOptions& options) : options_(options) {}

  // Opens the model and starts the engine. Returns an empty string, or the reason of the failure.
  std::string start();

  // Returns a warning about the limits, or an empty string.
  std::string warning() const;

  uint32_t sample_rate() const { return session_.info().sample_rate; }
  size_t max_samples() const { return max_samples_; }  // that the engine takes at once
  size_t min_samples() const { return session_.info().fixed_window != 0 ? 1 : session_.info().first_row_samples; }
  uint64_t arena_bytes() const { return session_.memory().arena_bytes; }
  double seconds() const { return seconds_; }  // that the engine took

  // Starts a stream of the file's voice detector. Returns false if it has none.
  bool begin_voice(goldcrest_voice* voice) const {
    return goldcrest_voice_begin(voice, session_.engine()) == GOLDCREST_OK;
  }

  // *made <- what min_samples() to max_samples() samples say; what is certain of it if an interrupt comes. A text that
  // is unlikely or repeats itself is made again by sampling, at rising temperatures, if it `is_final`; such a text has
  // words. It adds to seconds(). Returns an empty string, or the reason of the failure.
  std::string transcribe(const std::vector<int16_t>& samples, bool is_final, Transcription* made);

 private:
  std::string set_limits();
  int64_t give_prompt();
  int64_t hear_language();
  int64_t set_search(float temperature);
  int64_t run(const std::vector<int16_t>& samples, bool is_final, Transcription* made);
  int64_t run_again(const std::vector<int16_t>& samples, Transcription* made);

  TranscriberOptions options_;
  goldcrest::Session session_;
  std::vector<int32_t> prompt_;  // of the language and the task that the user chose; -1: the language that is heard
  std::vector<int32_t> tokens_;  // of the current text
  size_t max_samples_ = 0;
  double seconds_ = 0;
};
