// SPDX-License-Identifier: Apache-2.0
// Files beside a checkpoint that cut its texts into pieces, by their names.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace goldcrest::converter {

// Merges of subword-nmt and of fastBPE; Argos Translate calls them bpe.model.
bool is_codes_name(const std::string& name);

// A SentencePiece model, as is_sentencepiece_name has it.
bool is_pieces_name(const std::string& name);

// Which of these SentencePiece models are the source's and the target's, one or two; nothing of none. Throws Error,
// which begins with `where`, when they cannot be told apart.
std::optional<std::pair<size_t, size_t>> source_and_target_pieces(const std::vector<std::string>& names,
                                                                  const std::string& where);

// That texts are cut at spaces alone: without SentencePiece models, or with merges that are not applied.
std::string words_warning(const std::string& checkpoint, const std::string& vocabulary);
std::string codes_warning(const std::string& codes, const std::string& vocabulary);

}  // namespace goldcrest::converter
