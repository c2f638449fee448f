// SPDX-License-Identifier: Apache-2.0
// The session of the Python package: a mapped model with its threads and engine, and the job that runs in it.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "host/lexicon.h"
#include "host/marks/glossary.h"
#include "host/marks/keep_patterns.h"
#include "host/marks/marked_text.h"
#include "host/messages.h"
#include "host/model_texts.h"
#include "host/sentence_search.h"
#include "host/session.h"

// The ways to cut a text. A line and a sentence of only white space have no sources; kTokens reads it like any text.
// kTarget: ids with which the results of the input before begin, or its target to score.
// kMarks, kHtml: added to the first two for a text with marks, or a document, which gives an input for each of its
// texts.
enum Mode { kLine = 0, kSentences = 1, kTokens = 2, kIds = 3, kTarget = 4, kMarks = 8, kHtml = 16 };

struct Input {
  std::string text;
  int mode = kLine;
  std::vector<goldcrest::host::Sentence> sentences;
  std::vector<int32_t> target;
  std::optional<goldcrest::host::MarkedText> marked;  // `text` with its marks
  std::string end;                                    // the space after the last sentence
  std::string problem;                                // the input's error, if the job goes on without it
};

// A text that is cut into sentences.
struct Reading {
  goldcrest::host::TextReader reader;
  std::string no_tokens;  // the error of a sentence without tokens
};

// Options of a job.
struct goldcrest_python_job {
  uint32_t n_best, attention;  // attention not 0: of this layer and head, -1 for the mean of all
  int32_t attention_layer, attention_head;
  uint32_t token_scores,
      scores_targets;              // not 0: scores of tokens; scores the targets of its inputs instead of a search
  uint32_t prefix_flags, streams;  // for goldcrest_set_prefix; not 0: sets the sentences' streams
  uint32_t keeps_going;            // not 0: an input that is refused keeps its error, and the others go on
  const goldcrest_search* search;  // the engine's
  const goldcrest_sequences* sequences;  // those of the engine, or null
  double deadline;                       // seconds for the sentences of a batch; 0: none
};

struct Job {
  goldcrest_python_job options = {};
  std::vector<Input> inputs;
  size_t n_read = 0;  // inputs whose ids are known
  std::optional<Reading> reading;
  std::optional<goldcrest::host::SentenceSearch> search;  // none before all inputs are read
};

struct goldcrest_session : goldcrest::Session {
  std::string path, abbreviations, message;
  Options options = {"", false, false, true, {}, {}};
  std::string missing_language;      // the error of a text; empty: the engine knows its language
  bool has_code = false;             // each source begins with the code of a target language
  bool has_warned_of_end = false;    // about a source of ids without the model's end
  std::deque<std::string> warnings;  // Python has not fetched these
  std::optional<TextCutter> cutter;
  goldcrest::host::KeepPatterns keep;
  std::optional<goldcrest::host::Glossary> glossary;
  std::string joined;                         // the last result of an input with marks
  std::vector<int32_t> cut;                   // what goldcrest_python_cut found
  std::vector<int16_t> clip;                  // what goldcrest_python_read_wav found
  std::vector<std::vector<int32_t>> entries;  // the entries of a lexicon that is not made yet
  goldcrest::LexiconSpec lexicon;
  Job job;
};

// Runs `work`, which returns a message or an empty string. Returns 0, or -1 with the message in the session.
template <typename Work> int guard(goldcrest_session* session, const Work& work) {
  try {
    session->message = work();
    return session->message.empty() ? 0 : -1;
  } catch (const std::exception& exception) {
    session->message = describe_exception(exception, session->path);
    return -1;
  }
}
