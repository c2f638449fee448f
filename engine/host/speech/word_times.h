// SPDX-License-Identifier: Apache-2.0
// Finds when the words of a result were said. The attention of some heads of the decoder follows the speech; a path of
// least cost through it (dynamic time warping) gives each id its rows of sound, as in openai/whisper's timing.py at
// 20250625. Memory: two bits for each id and row, two floats for each head and row: 180 kB for 30 s of Whisper base.
#pragma once

#include <cstdint>
#include <string>
#include <vector>
#include "host/session.h"

namespace goldcrest::host {
// A word with its punctuation. Texts of words, one after another, are the text of the result.
struct TimedWord {
  std::string text;
  double begin, end;   // seconds from the clip's first sample
  double probability;  // the mean of its ids'
  uint32_t n_ids;
};

// A segment to which the model gives times of its own, in seconds from the clip's first sample.
struct TimedPart {
  uint32_t n_ids;
  double begin, end;
};

// A text of ids, without an end, that follows a prompt.
struct SpokenText {
  std::vector<int32_t> prompt, ids;
  std::vector<TimedPart> parts = {};  // they cover all ids; empty: the text has no times of its own
  double latest = 0;                  // seconds; parts end here at most
  bool is_result = true;              // the search is done; else the decoder reads it once more
};

// Cuts a pause from the first words of each part, and from its last, as openai/whisper's add_word_timestamps does.
// median: the words' usual seconds; latest: none ends later.
void cut_pauses(double median, double latest, const std::vector<TimedPart>& parts, std::vector<TimedWord>* words);

// Adds to *limits what find_words needs.
void ask_for_words(const Session& session, goldcrest_limits* limits);

// *words <- those that a clip of n_samples says, which has this text. Call it after DONE, with limits of ask_for_words.
// A model with a fixed window decodes the text once more, which replaces the result. Returns a negative status, or
// GOLDCREST_OK.
// Where parts have times, words do not go from one into the next, and pauses are cut from their ends.
int64_t find_words(const Session& session, const SpokenText& said, size_t n_samples, std::vector<TimedWord>* words);
}  // namespace goldcrest::host
