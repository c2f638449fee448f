// SPDX-License-Identifier: Apache-2.0
// Checks that SentencePiece models belong to a checkpoint's vocabularies. A clear mismatch is refused, a possible one
// gives a warning. A vocabulary that was cut to its most frequent entries lacks many pieces and is valid.
#pragma once

#include <filesystem>
#include <string>
#include <vector>
#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {
// One side's SentencePiece model and the vocabulary that gives its pieces their ids.
struct PiecesOf {
  std::filesystem::path path;  // the model's
  const TokenizerSpec* model;
  const Vocabulary* vocabulary;
  std::string language;  // as the checkpoint names it; may be empty
};

// Throws Error if more than half of the ids have no text, and warns of fewer.
void check_gaps(const Vocabulary& vocabulary, std::vector<std::string>& warnings);

// Warns if the vocabulary has fewer than half of the pieces.
void check_pieces(const PiecesOf& side, std::vector<std::string>& warnings);

// Entries that are pieces of neither side can be neither read nor written. Valid checkpoints have few, because Marian
// builds a vocabulary from texts that its SentencePiece models have cut. Throws Error for more than half, and warns
// from a quarter on.
void check_entries(
    const Vocabulary& vocabulary, const std::vector<PiecesOf>& sides, std::vector<std::string>& warnings);

// Throws Error if the models of two languages are swapped. The languages that OPUS-MT's trainer put into the models
// show it, or separate vocabularies that fit the other way round.
void refuse_swapped(const PiecesOf& source, const PiecesOf& target);

// Runs all of the checks above on two models, which may share a vocabulary.
void check_both(const PiecesOf& source, const PiecesOf& target, std::vector<std::string>& warnings);
}  // namespace goldcrest::converter
