// SPDX-License-Identifier: Apache-2.0
// Stem, special ids and prompt of Whisper, which all of its checkpoints share.
#pragma once

#include <string>
#include <vector>

#include "dialects/dialect.h"
#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {

constexpr uint32_t kWhisperRate = 16000;        // samples a second
constexpr uint32_t kWhisperKernel = 3;          // of both convolutions
constexpr uint32_t kFirstMultilingual = 51865;  // entries of the smallest multilingual vocabulary
constexpr uint32_t kLeastWhisperRows = 750;     // a shorter window makes these models loop

struct LanguageEntry {
  std::string code;  // "en"
  uint32_t id = 0;
};

// The ids of special entries. Timestamps follow no_timestamps.
struct WhisperIds {
  uint32_t end = 0, start = 0, transcribe = 0, no_timestamps = 0;
  std::vector<LanguageEntry> languages;  // of a multilingual model, ascending by id; else empty
};

// Finds the ids by their texts, "<|startoftranscript|>" and so on. Throws Error naming a text that is missing.
WhisperIds find_whisper_ids(const Vocabulary& vocabulary, bool is_multilingual);

// Returns the ids of OpenAI's vocabularies by their number of entries, for a shape without a tokenizer. A language has
// no code then.
WhisperIds usual_whisper_ids(uint32_t n_ids);

// Returns the stem of two convolutions over `bands` mel bands.
FrontendSpec whisper_frontend(uint32_t bands, LinearSpec first, LinearSpec second);

// Fits the model to the user's choices: the window, the language, the prompt. Leaves out the entries of timestamps.
// `stored` are ids that the checkpoint never generates, and those that it does not begin with. Throws Error for a
// language that the model lacks.
struct WhisperSuppressed {
  std::vector<uint32_t> always, at_first;
};
void finish_whisper(const WhisperIds& ids, const WhisperSuppressed& stored, const OpenChoices& options,
                    ModelSpec& spec);

}  // namespace goldcrest::converter
