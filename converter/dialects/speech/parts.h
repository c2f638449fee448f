// SPDX-License-Identifier: Apache-2.0
// Parts of speech models: detokenizers (byte_level.cc), rotary positions (rotary.cc), and the stem, special ids and
// prompt that all checkpoints of Whisper share (whisper_parts.cc).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>
#include "dialects/config.h"
#include "dialects/dialect.h"
#include "spec/spec.h"
#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {
// Ids of speech models become bytes, and no text becomes ids.
enum class SpeechText {
  kByteLevel,     // GPT-2's: a piece is bytes, each written as one printable character
  kByteFallback,  // SentencePiece's: a piece is text, or one byte written as <0x41>
};

// Reads a tokenizer.json with n_ids ids at most. Its special added tokens become control ids. Throws Error naming a
// part that would change a text.
Vocabulary read_tokenizer_json(const std::filesystem::path& path, uint32_t n_ids, SpeechText text);

// Returns a tokenizer of the first n_ids entries for results only. Entries like <|en|> are control entries too. Throws
// Error naming an entry that is no such piece.
TokenizerSpec speech_tokenizer(const Vocabulary& vocabulary, uint32_t n_ids, SpeechText text);

// Rotary positions in the file's form: a head's columns c and c + half turn together, and half is a multiple of 16.
// This is what a checkpoint has: columns 2 i and 2 i + 1 of each head turn together, by position * base^(-2 i /
// turned). Its other columns stay.
struct InterleavedRotary {
  uint32_t d_head = 0;
  uint32_t turned = 0;  // columns of a head, even
  double base = 10000;
};

// Returns a head's width in the file's form. Columns that stay fill the places between those that turn.
uint32_t halved_width(const InterleavedRotary& rotary);

// Puts the outputs of queries and keys into that form, and widens all heads to halved_width with zeros.
void halve_pairs(const InterleavedRotary& rotary, uint32_t n_heads, AttentionSpec& attention);
// Widens the heads of an attention that does not turn.
void widen_heads(const InterleavedRotary& rotary, uint32_t n_heads, AttentionSpec& attention);

// Returns the table of the first `positions` positions.
RotarySpec halved_rotary(const InterleavedRotary& rotary, uint32_t positions);

constexpr uint32_t kWhisperRate = 16000;        // samples a second
constexpr uint32_t kWhisperKernel = 3;          // in both convolutions
constexpr uint32_t kFirstMultilingual = 51865;  // entries of the smallest multilingual vocabulary
constexpr uint32_t kWhisperTimes = 1501;        // entries of timestamps: 0 to 30 s
constexpr uint32_t kLeastWhisperRows = 750;     // a shorter window makes these models loop

struct LanguageEntry {
  std::string code;  // "en"
  uint32_t id = 0;
};

// The ids of special entries.
struct WhisperIds {
  uint32_t end = 0, start = 0, no_timestamps = 0;
  uint32_t n_kept = 0;               // entries that a file has: those of timestamps are dropped if they are the last
  std::vector<uint32_t> timestamps;  // ascending; those among the entries that are kept
  std::vector<LanguageEntry> languages;  // a multilingual model's, ascending by id; else empty
  // The prompt after the start: the language that the user asks for or that the model hears, if it is open; the rest.
  bool language_is_open = false;
  std::vector<uint32_t> prompt;
};

// Finds the ids by their texts, "<|startoftranscript|>" and so on. The prompt's task is to transcribe. Throws Error
// naming a text that is missing.
WhisperIds find_whisper_ids(const Vocabulary& vocabulary, bool is_multilingual);

// Returns the ids of OpenAI's vocabularies by their number of entries, for a shape without a tokenizer. A language has
// no code then.
WhisperIds usual_whisper_ids(uint32_t n_ids);

// Returns the stem of two convolutions over `bands` mel bands.
FrontendSpec whisper_frontend(uint32_t bands, LinearSpec first, LinearSpec second);

// Returns the heads that follow the speech, layer * n_heads + head: those of the setting alignment_heads,
// [[LAYER, HEAD], ...]; without it those of the upper half of the layers, as in openai/whisper.
std::vector<uint32_t> whisper_alignment_heads(const Config& config, const StackSpec& decoder);

// Fits the model to the user's choices: the window, the language, the prompt. Leaves out the entries of timestamps.
// `stored` are ids that the checkpoint never generates, and those that it does not begin with. Throws Error for a
// language that the model lacks.
struct WhisperSuppressed {
  std::vector<uint32_t> always, at_first;
  uint32_t max_first_timestamp = 50;  // the latest time of a text's begin, in rows
};
void finish_whisper(
    const WhisperIds& ids, const WhisperSuppressed& stored, const OpenChoices& options, ModelSpec& spec);
}  // namespace goldcrest::converter
