// SPDX-License-Identifier: Apache-2.0
// A model and an engine that turn samples into text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "goldcrest/voice.h"
#include "host/model_texts.h"
#include "host/session.h"
#include "host/speech/key_terms.h"
#include "host/speech/phrases.h"
#include "host/speech/word_times.h"

// A part of a text. Times are seconds from the first sample.
struct Segment {
  double begin = 0, end = 0;
  std::string text = {};
  std::vector<int32_t> tokens = {};                    // without prompt, times and end
  std::vector<goldcrest::host::TimedWord> words = {};  // if asked for
};

// A model's text of some samples, and how sure it was.
struct Transcription {
  std::vector<Segment> segments = {};  // one without a text's own times
  size_t n_heard = 0;                  // samples that they cover
  std::string text = {};
  std::string cut = {};              // why a limit ended it; empty: the model ended it
  double avg_logprob = 0;            // mean log-probability of its tokens
  double no_speech = -1;             // the probability that nobody speaks; below 0: the model does not say
  std::string language = {};         // the model was told it or heard it; empty: it knows one
  double language_probability = -1;  // among several that the user named; below 0: not chosen so
  double temperature = 0;            // the sampling's; 0: it was searched
  uint32_t rank = 0;                 // its number among samples drawn at once
  bool repeats = false;              // its last tokens are a loop
  bool uncertain = false;            // it repeats or is unlikely, and no temperature gave a better text
};

// Leaves out segments that take no time: the model made them up.     openai/whisper
void drop_instants(Transcription* made);

// A text is a partial one, or that of an utterance, or one with times of its own, which the model cuts where it sees
// fit.
enum class Purpose { kPartial, kUtterance, kWindow };

struct TranscriberOptions {
  std::string model, kernels;
  std::string language;     // empty: the model's, or what it hears; or several, as fr,de
  bool translates = false;  // into English
  goldcrest_limits limits = {};
  double max_seconds = 0;  // 0: the model's
  bool no_guards = false;  // the first text counts
  uint32_t best_of = 1;    // texts that are sampled at once; the likeliest counts. Each takes memory
  bool finds_words = false;
  bool drafts = false;           // a text is like the partial one before it, which makes it faster
  std::string prompt;            // the model reads this text before each of its own; empty: none
  bool reads_last_text = false;  // and its last text
  std::string key_terms;         // a file of terms that are likelier than the model thinks; empty: none
  std::string phrases;           // a file of the only texts that may be heard; empty: any
  bool takes_requests = false;   // for set_request
};

// A caller asks this of the texts that follow.
struct TextRequest {
  SpeechTask task = {};
  bool finds_words = false;
  std::vector<std::string> key_terms = {};
  std::string prompt = {};  // read before the text, by models that can
};

class Transcriber {
 public:
  explicit Transcriber(const TranscriberOptions& options) : options_(options) {}

  // Opens the model and starts the engine. Returns an empty string, or the reason of the failure.
  std::string start();

  // Takes another task, words and terms for the texts that follow. Returns why it cannot, or "".
  std::string set_request(const TextRequest& request);

  const goldcrest::Session& session() const { return session_; }

  // Returns a warning about the limits, or an empty string.
  std::string warning() const;

  uint32_t sample_rate() const { return session_.info().sample_rate; }
  size_t max_samples() const { return max_samples_; }  // the engine takes at most these at once
  size_t min_samples() const { return session_.info().fixed_window != 0 ? 1 : session_.info().first_row_samples; }
  uint64_t arena_bytes() const { return session_.memory().arena_bytes; }
  double seconds() const { return seconds_; }  // the engine took this much sound

  // Starts a stream of the file's voice detector. Returns false if it has none.
  bool begin_voice(goldcrest_voice* voice) const {
    return goldcrest_voice_begin(voice, session_.engine()) == GOLDCREST_OK;
  }

  // Returns whether the file has ids that stand for times.
  bool has_timestamps() const { return session_.traits().first_timestamp != 0; }

  // *made <- what min_samples() to max_samples() samples say; what is certain of it if an interrupt comes. A text that
  // is unlikely or repeats itself is made again by sampling, at rising temperatures, unless it is partial. It adds to
  // seconds(). Returns an empty string, or the reason of the failure.
  std::string transcribe(const std::vector<int16_t>& samples, Purpose purpose, Transcription* made);
 private:
  std::string set_limits();
  bool reads_context() const { return !prompt_.empty() || !last_text_.empty(); }
  std::string set_prompt(const std::string& text);
  void keep_last_text(const Transcription& made);
  int64_t give_prompt(Transcription* made);
  int64_t hear_language(Transcription* made);
  int64_t choose_language(Transcription* made);
  int64_t set_search(double temperature);
  int64_t run(size_t n_samples, Transcription* made);
  int64_t run_again(size_t n_samples, Transcription* made);
  int64_t take_text(const goldcrest_result& result, size_t n_samples, Transcription* made);
  int64_t find_words(const std::vector<int32_t>& prompt, size_t n_samples, Transcription* made);
  int64_t hear_silence();
  int64_t search_phrases(std::vector<int32_t>* ids);
  int64_t hear_phrase(const std::vector<int32_t>& prompt, size_t n_samples, Transcription* made);
  int64_t spell_terms(const std::vector<int32_t>& prompt, Segment* segment, double* gain);
  int64_t log_prob_of(std::vector<int32_t> target, const std::vector<int32_t>* text, double* log_prob);

  TranscriberOptions options_;
  goldcrest::Session session_;
  TaskPrompt task_;  // the language and the task that the user chose
  SpeechEntries entries_;
  Phrases phrases_;
  KeyTerms key_terms_;
  std::vector<int32_t> prompt_, last_text_;  // ids that the model reads before a text
  uint32_t most_context_ = 0;                // at most this many
  uint32_t beam_size_ = 1;                   // searches without terms have this many beams
  int32_t heard_language_ = -1;              // the current samples' id
  double no_speech_ = -1;                    // the probability that nobody speaks in them
  bool is_encoded_ = false;
  std::vector<int32_t> draft_;   // ids of the last partial text
  std::vector<int32_t> tokens_;  // the current text's
  Purpose purpose_ = Purpose::kUtterance;
  size_t max_samples_ = 0;
  double seconds_ = 0;
};
