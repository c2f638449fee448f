// SPDX-License-Identifier: Apache-2.0
// Reads tokenizer.json, the file of Hugging Face's tokenizers, where its parts compute what SentencePiece does:
// Unigram, BPE with byte fallback, and BPE that was made from a SentencePiece model. Every other part is refused by
// name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>
#include "dialects/config.h"
#include "sources/values/value.h"
#include "spec/spec.h"

namespace goldcrest::converter {
// Merges of a tokenizer.json that was made from a SentencePiece BPE model.

// Gives each piece the score by which SentencePiece merges its parts: the higher, the earlier. Throws Error unless the
// merges are those that a SentencePiece model has: all ways to make a piece of two others, best piece first.
void score_by_merges(const Value* merges, const std::string& where,
    const std::unordered_map<std::string, uint32_t>& ids, TokenizerSpec& spec);

struct JsonTokenizer {
  bool is_byte_level = false;  // byte-level BPE, which is not read: the rest is empty
  TokenizerSpec spec;          // with the ids of the file, special tokens among them
  bool has_template = false;
  std::vector<std::string> before, behind;  // special tokens around a text, by the template
};

// Reads an entry of "added_tokens" of tokenizer.json or of "added_tokens_decoder" of tokenizer_config.json.
AddedToken parse_added_token(const Config& entry, uint32_t id);

// Throws Error that names the file, the key, its value, and what is known.
JsonTokenizer read_tokenizer_json(const std::filesystem::path& path);

struct NamedTokenizer {
  std::string where;
  const TokenizerSpec* spec;
};

// Throws Error with the line if the two give different ids to one of 1,000 lines, which are made of the pieces of the
// first one.
void check_same_ids(const NamedTokenizer& pieces, const NamedTokenizer& json);
}  // namespace goldcrest::converter
