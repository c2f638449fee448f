// SPDX-License-Identifier: Apache-2.0
// Tokenizers of models whose texts are cut by subword-nmt's merges. Their vocabulary has the pieces as subword-nmt
// prints them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>
#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {
struct SubwordSide {
  const SubwordCodes* codes;
  const Vocabulary* vocabulary;
};

// Returns the tokenizer of one side. Throws Error and warns as set_subword_tokenizers does.
TokenizerSpec checked_subword_tokenizer(const SubwordSide& side, std::vector<std::string>& warnings);

// Sets both tokenizers of the spec; the sides may be one. Counts the entries of a vocabulary that are neither
// characters nor made by a merge. If they are more than half, vocabulary and merges belong to different models: throws
// Error. Warns from a quarter on.
void set_subword_tokenizers(const SubwordSide& source, const SubwordSide& target, ModelSpec& spec);

// Merges of subword-nmt and of fastBPE: codes, train.codes, codes.en, bpecodes, source.bpe, and Argos Translate's
// bpe.model.
bool is_codes_name(const std::string& name);

// A SentencePiece model, by is_sentencepiece_name.
bool is_pieces_name(const std::string& name);

// Returns the indices of the source's and the target's file, which may be the same; nothing if `names` is empty. If
// they cannot be told apart, throws an Error that begins with `where` and names their kind ("SentencePiece models
// cuts").
std::optional<std::pair<size_t, size_t>> source_and_target_files(
    const std::vector<std::string>& names, const std::string& what_cuts, const std::string& where);

// Warns that texts are cut only at spaces.
std::string words_warning(const std::string& checkpoint, const std::string& vocabulary);
}  // namespace goldcrest::converter
