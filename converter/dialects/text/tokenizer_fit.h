// SPDX-License-Identifier: Apache-2.0
// Whether SentencePiece models belong to a checkpoint's vocabularies: what is surely another model's is refused, what
// may be is warned of. A vocabulary that was cut to its most frequent entries lacks many pieces and is a right one.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tokenizers/vocabulary.h"

namespace goldcrest::converter {

// One side's SentencePiece model and the vocabulary that gives its pieces their ids.
struct PiecesOf {
  std::filesystem::path path;  // of the model
  const TokenizerSpec* model;
  const Vocabulary* vocabulary;
  std::string language;  // that the checkpoint names; may be empty
};

// More than half of the ids without a text are refused, fewer warned of.
void check_gaps(const Vocabulary& vocabulary, std::vector<std::string>& warnings);

// Warns where the vocabulary has fewer than half of the pieces.
void check_pieces(const PiecesOf& side, std::vector<std::string>& warnings);

// Entries that are pieces of no side can be neither read nor written: right checkpoints have few, since Marian makes a
// vocabulary of what its SentencePiece models made of texts. More than half are refused, more than a quarter warned of.
void check_entries(const Vocabulary& vocabulary, const std::vector<PiecesOf>& sides,
                   std::vector<std::string>& warnings);

// Two models of two languages that are in each other's place: by the languages that OPUS-MT's trainer put into the
// models, or by separate vocabularies that fit the other way round.
void refuse_swapped(const PiecesOf& source, const PiecesOf& target);

// All of the above of two models, whose vocabularies may be one.
void check_both(const PiecesOf& source, const PiecesOf& target, std::vector<std::string>& warnings);

}  // namespace goldcrest::converter
