// SPDX-License-Identifier: Apache-2.0
// Sources on their way through a session's engine: cut out of texts, searched in batches, collected as results.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>
#include "goldcrest/decoding.h"
#include "goldcrest/goldcrest.hpp"
#include "host/session.h"

namespace goldcrest::host {
// A result of a search, or a target that was scored.
struct Found {
  std::string text;  // empty if the search has no texts
  std::vector<int32_t> ids;
  std::vector<float> attention;        // [ids][ids of the source]; empty, as the next, if the search has none
  std::vector<float> token_log_probs;  // [ids]
  std::vector<size_t> ends;            // [ids] bytes of the text up to the end of each; empty without Options::aligns
  float score = 0, log_prob = 0;
  uint32_t n_outputs = 0;  // see goldcrest_result
  bool was_cut = false;    // a limit of tokens ended it
};

// A text, a sentence of it, a clip, or an image.
struct Sentence {
  size_t input = 0;                      // the index of its text, for the caller
  std::string space = {};                // before it in the text
  size_t begin = 0, bytes = 0;           // its place in the text
  std::vector<int32_t> source = {};      // none: there is nothing to search
  std::vector<int16_t> samples = {};     // a clip, which has no ids
  std::vector<float> features = {};      // an image: its feature rows
  std::vector<std::string> pieces = {};  // from Session::tokenize
  std::vector<int32_t> target = {};      // with which its results begin, or which is scored
  std::vector<int32_t> draft = {};       // for goldcrest_set_draft; only in a batch of one
  std::vector<int32_t> suppressed = {};  // goldcrest_sequences.ids for this sentence, instead of Options::sequences
  uint32_t n_again = 0;                  // searches that Options::again wanted after the first
  uint32_t stream = 0;                   // its number: of the random numbers of sampling
  std::vector<Found> found = {};         // best first
  std::string problem = {};              // what the engine said; then nothing is found
  bool is_stopped = false;               // found[0] is what was certain when its search was stopped

  size_t size() const { return source.size() + samples.size() + features.size(); }
};

// Cuts a text into sentences that the engine takes. The code of a language with which the text begins precedes each.
class TextReader {
 public:
  // The text and the abbreviations must outlive it. takes_code: the text may begin with a code.
  TextReader(const Session& session, std::string_view text, const std::string& abbreviations, bool takes_code);

  // Fills in space, place and source of the next sentence; *status <- Session::tokenize's. A sentence that gives no
  // token has GOLDCREST_ERROR_ARGUMENT. Returns false after the last sentence; then the space is that at the end of the
  // text.
  bool next(Session* session, Sentence* sentence, int* status);
 private:
  const char* text_;
  std::string_view code_;
  SentenceReader reader_;
};

// Searches sentences in batches, those with the most tokens first, so that the sentences of a batch end at about the
// same time. The engine has its search, its lexicon and its languages already.
class SentenceSearch {
 public:
  struct Options {
    uint32_t n_best = 1;
    bool has_text = true;         // results have texts, if the model has a detokenizer
    bool token_scores = false;    // needs limits.inspection, as the next does
    bool scores_targets = false;  // instead of a search
    bool has_attention = false;   // from this layer and head, -1 for the mean of all; needs limits.alignment_layers
    int32_t attention_layer = -1, attention_head = -1;
    uint32_t prefix_flags = 0;  // for goldcrest_set_prefix
    bool has_streams = false;   // for goldcrest_set_stream
    double deadline = 0;        // seconds for the sentences of a batch; 0: none
    // Returns whether a sentence needs attention and the ends of its tokens, once its text is found; as has_attention.
    std::function<bool(const Sentence& sentence)> aligns = {};
    // Looks at a sentence that was searched. Returns true if it changed its prefix and wants another search.
    std::function<bool(Sentence* sentence)> again = {};
    // Set both as the engine has them, if `again` is given: a sentence that it wants again is searched with at most two
    // hypotheses.
    const goldcrest_sequences* sequences = nullptr;  // null: none, or the file's
    const goldcrest_search* search = nullptr;
  };

  // Takes the place of an earlier search. The sentences must outlive it; those without a source stay as they are.
  void begin(const Options& options, std::vector<Sentence*> sentences);
  bool is_done() const { return n_batch_ == 0 && n_done_ == order_.size(); }
  double share_done() const { return static_cast<double>(n_done_) / static_cast<double>(order_.size()); }

  // Does a bounded amount of work: stores a batch, makes a step, or collects a sentence. Returns the sentence that is
  // finished with this call: with what was found, or with a problem. The others of its batch go on without a sentence
  // that the engine refuses. Call it until the search is done.
  Sentence* work(Session* session);

  // Stops the batch in the engine, as the deadline does. Its sentences get what is certain.
  void stop();
  // Returns the first sentence of the batch in the engine; null if it has none.
  Sentence* running() const { return n_batch_ == 0 ? nullptr : order_[n_done_]; }
 private:
  int store(Session* session, uint32_t index, const Sentence& sentence) const;
  Sentence* store_batch(Session* session);
  int set_own(Session* session, const Sentence& sentence);
  int64_t collect(const Session& session, Sentence* sentence) const;
  int64_t collect_certain(const Session& session, Sentence* sentence) const;

  Options options_;
  std::vector<Sentence*> order_;
  size_t n_done_ = 0, n_batch_ = 0, n_in_ = 0;  // sentences: of earlier batches, in the engine, of those collected
  int status_ = GOLDCREST_OK;                   // the batch's
  bool is_stopped_ = false;                     // the batch
  bool has_own_ = false;                        // the engine has the search and the sequences of such a sentence
  std::chrono::steady_clock::time_point batch_begin_;
};
}  // namespace goldcrest::host
