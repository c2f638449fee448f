// SPDX-License-Identifier: Apache-2.0
// The session of the Python package: a mapped model with its threads and engine, and the job that runs in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "goldcrest/goldcrest.hpp"
#include "host/lexicon.h"
#include "host/messages.h"
#include "host/session.h"
#include "host/text_lines.h"

struct Hypothesis {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<float> attention;        // [ids][ids of the source]
  std::vector<float> token_log_probs;  // [ids]
  float score;                         // of a target that is scored: its log-probability
  uint32_t was_cut;                    // a limit of tokens ended it
};

struct Sentence {
  size_t input = 0;   // its input's index in the job
  std::string space;  // before it
  std::vector<int32_t> source;
  std::vector<std::string> pieces;  // of goldcrest::Session::tokenize
  uint32_t stream = 0;              // its number in the job: of the random numbers of sampling
  std::vector<Hypothesis> found;    // best first
};

// The ways to cut a text. A line and a sentence of only white space have no sources; kTokens reads it like any text.
// kTarget: ids with which the results of the input before begin, or its target to score.
enum Mode { kLine = 0, kSentences = 1, kTokens = 2, kIds = 3, kTarget = 4 };

struct Input {
  std::string text;
  int mode = kLine;
  std::vector<Sentence> sentences;
  std::vector<int32_t> target;
  std::string end;      // the space behind the last sentence
  std::string problem;  // the input's error, if the job goes on without it
};

// A text that is cut into sentences: each stands behind the language code that the text begins with.
struct Reading {
  std::string code;
  goldcrest::SentenceReader reader;
  std::string no_tokens;  // the error of a sentence without tokens
};

// Options of a job.
struct goldcrest_python_job {
  uint32_t n_best, attention;  // attention not 0: of this layer and head, -1 for the mean of all
  int32_t attention_layer, attention_head;
  uint32_t token_scores,
      scores_targets;              // not 0: scores of tokens; scores the targets of its inputs instead of a search
  uint32_t prefix_flags, streams;  // of goldcrest_set_prefix; not 0: sets the sentences' streams
  uint32_t keeps_going;            // not 0: an input that is refused keeps its error, and the others go on
  double deadline;                 // seconds for the sentences of a batch; 0: none
};

struct Job {
  goldcrest_python_job options = {};
  std::vector<Input> inputs;
  size_t n_read = 0;  // inputs whose ids are known
  std::optional<Reading> reading;
  bool is_ordered = false;
  std::vector<Sentence*> order;              // longest first: a batch has sentences of like lengths
  size_t n_done = 0, n_batch = 0, n_in = 0;  // sentences: of earlier batches, in the engine, of those collected
  int status = GOLDCREST_WORKING;            // of the batch
  std::chrono::steady_clock::time_point batch_begin;
  bool is_stopped = false;  // the batch, by the deadline
};

struct goldcrest_session : goldcrest::Session {
  std::string path, abbreviations, message;
  Options options = {"", false, false, true, {}, {}};
  std::string missing_language;      // the error of a text; empty: the engine knows its language
  bool has_code = false;             // each source begins with the code of a target language
  bool has_warned_of_end = false;    // of a source of ids without the model's end
  std::deque<std::string> warnings;  // that Python has not fetched
  std::optional<TextCutter> cutter;
  std::vector<int32_t> cut;                   // what goldcrest_python_cut found
  std::vector<int16_t> clip;                  // what goldcrest_python_read_wav found
  std::vector<std::vector<int32_t>> entries;  // of a lexicon that is not made yet
  goldcrest::LexiconSpec lexicon;
  Job job;
};

// Runs `work`, which returns a message or an empty string. Returns 0, or -1 with the message in the session.
template <typename Work>
int guard(goldcrest_session* session, const Work& work) {
  try {
    session->message = work();
    return session->message.empty() ? 0 : -1;
  } catch (const std::exception& exception) {
    session->message = describe_exception(exception, session->path);
    return -1;
  }
}
