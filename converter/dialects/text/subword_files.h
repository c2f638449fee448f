// SPDX-License-Identifier: Apache-2.0
// Recognises, by their names, the files next to a checkpoint that cut its texts into pieces.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace goldcrest::converter {

// Merges of subword-nmt and of fastBPE: codes, train.codes, codes.en, bpecodes, source.bpe, and Argos Translate's
// bpe.model.
bool is_codes_name(const std::string& name);

// A SentencePiece model, by is_sentencepiece_name.
bool is_pieces_name(const std::string& name);

// Returns the indices of the source's and the target's file, which may be the same; nothing if `names` is empty. If
// they cannot be told apart, throws an Error that begins with `where` and names their kind ("SentencePiece models
// cuts").
std::optional<std::pair<size_t, size_t>> source_and_target_files(const std::vector<std::string>& names,
                                                                 const std::string& what_cuts,
                                                                 const std::string& where);

// Warns that texts are cut only at spaces.
std::string words_warning(const std::string& checkpoint, const std::string& vocabulary);

}  // namespace goldcrest::converter
