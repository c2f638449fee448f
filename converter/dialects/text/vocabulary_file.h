// SPDX-License-Identifier: Apache-2.0
// Vocabularies as checkpoints store them: an object or a list in JSON or YAML, or a text with one entry per line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>
#include "sources/values/value.h"
#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {
// `json` is an object from text to id, or an array of texts in the order of ids. The result has n_ids entries (the
// embedding's rows), with an empty text for an id that the list lacks. Throws Error on an id out of range and on two
// texts with one id.
Vocabulary vocabulary_of_json(const Value& json, uint32_t n_ids, const std::string& where);

// Reads a .json, .yml or .yaml file as above, or any other file with one text per line.
Vocabulary read_vocabulary(const std::filesystem::path& path, uint32_t n_ids);
// Does the same with the file's bytes.
Vocabulary parse_vocabulary(const std::string& content, const std::filesystem::path& path, uint32_t n_ids);
constexpr uint64_t kMaxVocabularyBytes = uint64_t{32} << 20;

// True for names that end in .spm or .model.
bool is_sentencepiece_name(const std::string& name);

// True if the first name has "src" or "source", and the second "trg", "tgt" or "target".
bool is_source_and_target(const std::string& source, const std::string& target);

// Returns the number of ids that such a file, or a SentencePiece model (.spm, .model), needs.
uint64_t count_entries(const std::filesystem::path& path);

std::optional<uint32_t> find_id(const Vocabulary& vocabulary, const std::string& text);
// Throws Error naming `role` ("the unknown token") if the text is missing.
uint32_t require_id(const Vocabulary& vocabulary, const std::string& text, const std::string& role);

// True if the id is no text of a language: a gap, the unknown id, a control id or a language code (>>xxx<<).
bool is_special(const Vocabulary& vocabulary, uint32_t id);

// Returns the number of ids without a text.
size_t count_gaps(const Vocabulary& vocabulary);
}  // namespace goldcrest::converter
