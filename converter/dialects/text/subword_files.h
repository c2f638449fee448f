// SPDX-License-Identifier: Apache-2.0
// Files beside a checkpoint that cut its texts into pieces, by their names.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace goldcrest::converter {

// Merges of subword-nmt and of fastBPE: codes, train.codes, codes.en, bpecodes, source.bpe, bpe.model (Argos
// Translate's).
bool is_codes_name(const std::string& name);

// A SentencePiece model, as is_sentencepiece_name has it.
bool is_pieces_name(const std::string& name);

// Which of these files are the source's and the target's, one or two; nothing of none. Throws Error, which begins with
// `where` and names what they are ("SentencePiece models cuts"), when they cannot be told apart.
std::optional<std::pair<size_t, size_t>> source_and_target_files(const std::vector<std::string>& names,
                                                                 const std::string& what_cuts,
                                                                 const std::string& where);

// That texts are cut at spaces alone.
std::string words_warning(const std::string& checkpoint, const std::string& vocabulary);

}  // namespace goldcrest::converter
