// SPDX-License-Identifier: Apache-2.0
// Answers questions of programs about the texts of a model and their languages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>
#include "goldcrest/goldcrest.h"
#include "goldcrest/tokens.h"
#include "host/session.h"

// Both return the codes of a model that goldcrest_model_info has accepted; none if it has only one language there.

std::vector<std::string> source_languages(const void* model, size_t model_bytes);
std::vector<std::string> target_languages(const void* model, size_t model_bytes);

// Returns a message if the model lacks one of these languages (empty: not asked for), with those that it has; else an
// empty string. These functions take a session whose file is a model.
std::string languages_problem(const goldcrest::Session& session, const std::string& source, const std::string& target);

// Returns a message if texts need a language that is neither asked for nor the model's default, or "" if they do not.
std::string missing_language(const goldcrest::Session& session, const std::string& source, const std::string& target);

// The entries of a speech model that are no text: languages, and the ids of tasks and of silence; -1: none.
struct SpeechEntries {
  std::vector<std::string> codes;  // the languages'
  std::vector<int32_t> ids;        // the languages'
  int32_t translate = -1, transcribe = -1, no_speech = -1, previous = -1;

  // Returns the code of a language's id; "" for another id.
  std::string code_of(int32_t id) const;
};
SpeechEntries speech_entries(const goldcrest::Session& session);

// The language and the task of a speech model.
struct SpeechTask {
  std::string language;     // the speech's, or several with commas between; empty: the file's, or what the model hears
  bool translates = false;  // into English
};

// The prompt with which a speech model does a task.
struct TaskPrompt {
  // The language's id (-1: what it hears), then what follows it in the file's prompt; none if the model knows only this
  // language.
  std::vector<int32_t> ids;
  std::vector<int32_t> languages;  // among which it chooses, if the task names several
};

// Returns a message if the model lacks a language or the task.
std::string task_prompt(const goldcrest::Session& session, const SpeechTask& task, TaskPrompt* prompt);

// Returns a warning if the vocabulary lacks the >>xxx<< that a text begins with, or "". has_code: the tokenizer puts
// the code of a chosen language before texts. Replaces the engine's sources.
std::string code_warning(goldcrest::Session* session, bool has_code, const std::string& text);

// Chooses the first language of each side of the model's table that has no default.
int choose_first_languages(goldcrest_engine* engine, const void* model, size_t model_bytes);

// Words after which a full stop does not end a sentence, as goldcrest_part_options takes them. The lists were written
// for this project.

// The list of a language, by a code such as "de", "deu" or "de_DE"; the lists of all languages together, for a code
// that has none and for an empty one.
std::string abbreviations_of(std::string_view language);

// The words of a file's text, without the full stops that they end with.
std::string abbreviations_in(std::string_view text);

// Makes ids of target texts: of a prefix, of a lexicon's entries. A model file has a tokenizer for sources only, so
// this cuts a text into pieces that the detokenizer writes. The session must outlive it.
class TextCutter {
 public:
  explicit TextCutter(const goldcrest::Session& session);

  // *ids <- the fewest pieces of the target whose text is `text`; of equally few, those with the longest first piece.
  // Bytes that no piece has are byte pieces. If pieces are words: those between spaces. Returns an error, or an empty
  // string.
  std::string cut(const std::string& text, std::vector<int32_t>* ids) const;

  // The same by the merges of a BPE, whose pieces are numbered in the order of their merges: the ids that a model of
  // speech was trained on.
  std::string cut_by_merges(const std::string& text, std::vector<int32_t>* ids) const;
 private:
  bool merge_part(std::string_view part, std::vector<int32_t>* ids) const;
  void add(const goldcrest_token& token);
  std::string cut_words(const std::string& text, std::vector<int32_t>* ids) const;
  static std::string no_pieces(const std::string& text);

  std::unordered_map<std::string_view, int32_t> ids_;
  size_t longest_ = 0;
  std::string problem_;  // what is wrong with the file
  bool has_pieces_ = false, has_words_ = false, adds_space_ = false;
  bool has_bytes_ = true;  // all pieces are bytes, and a space is one
};
