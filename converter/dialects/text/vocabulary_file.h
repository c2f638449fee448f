// SPDX-License-Identifier: Apache-2.0
// Vocabularies as checkpoints have them: an object or a list in JSON or YAML, or a text with one entry a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sources/values/value.h"
#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {

// An object from text to id, or an array of texts in the order of ids. The result has n_ids entries (the embedding's
// rows), with an empty text where the list has none. Throws Error on an id out of range and on two texts with one id.
Vocabulary vocabulary_of_json(const Value& json, uint32_t n_ids, const std::string& where);

// A .json, .yml or .yaml file as above, or any other file with one text a line.
Vocabulary read_vocabulary(const std::filesystem::path& path, uint32_t n_ids);
// The same from the file's bytes.
Vocabulary parse_vocabulary(const std::string& content, const std::filesystem::path& path, uint32_t n_ids);
constexpr uint64_t kMaxVocabularyBytes = uint64_t{32} << 20;

// By its ending: .spm or .model.
bool is_sentencepiece_name(const std::string& name);

// Two files' names, of which the first has "src" or "source", the second "trg", "tgt" or "target".
bool is_source_and_target(const std::string& source, const std::string& target);

// The ids that such a file, or a SentencePiece model (.spm, .model), needs.
uint64_t count_entries(const std::filesystem::path& path);

std::optional<uint32_t> find_id(const Vocabulary& vocabulary, const std::string& text);
// Throws Error naming `role` ("the unknown token") when the text is not there.
uint32_t require_id(const Vocabulary& vocabulary, const std::string& text, const std::string& role);

// Whether the id has no text of a language: a gap, the unknown id, a control id or a language's code (>>xxx<<).
bool is_special(const Vocabulary& vocabulary, uint32_t id);

// Ids without a text.
size_t count_gaps(const Vocabulary& vocabulary);

}  // namespace goldcrest::converter
