// SPDX-License-Identifier: Apache-2.0
// Files that hold a shortlist: Marian's lex.*.bin and lex.s2t, CTranslate2's vmap.txt. Each function throws Error with
// the file's name and the problem.
#pragma once

#include <filesystem>
#include <string>
#include <vector>
#include "spec/spec.h"

namespace goldcrest::converter {
// Reads any of these for a model; the contents tell the format. A lex.s2t is read with the default options. Adds to the
// model's warnings.
ShortlistSpec read_shortlist(const std::filesystem::path& path, ModelSpec& spec);

// True if the file begins as Marian's binary does.
bool is_binary_shortlist(const std::filesystem::path& path);

// The numbers of ids of a model: those of the checkpoint, and a start row if there is one.
struct ShortlistBounds {
  uint32_t source_ids = 0, target_ids = 0;
};

// Reads Marian's binary after a check of its checksum. Marian rounds the candidates of a batch up to a multiple of 8
// for its kernels; this engine does not need that.
ShortlistSpec read_binary_shortlist(const std::filesystem::path& path, const ShortlistBounds& bounds);

// Entries of the vocabularies with their ids, to look texts up.
struct ShortlistTexts {
  const TokenizerSpec &source, &target;
};

// The numbers in marian-decoder's --shortlist FILE FIRST BEST THRESHOLD for a text file.
struct LexicalOptions {
  uint32_t first = 100, best = 100;  // the first ids, always; the most probable ones of each source id
  double threshold = 0;              // each of the best ones must be more probable
};

// Lines "TARGET SOURCE PROBABILITY", as fast_align and extract-lex write lex.s2t. A piece that a vocabulary lacks
// becomes its unknown id, as in Marian; the search never chooses the target's unknown id.
ShortlistSpec read_lexical_shortlist(
    const std::filesystem::path& path, const ShortlistTexts& texts, const LexicalOptions& options);

// Lines "SOURCE PIECES<tab>TARGET PIECES", each list separated by spaces. Nothing before the tab means always. N-grams
// with a piece that the source lacks never occur, and targets that the vocabulary lacks are never chosen. Both are left
// out, and a warning counts them.
ShortlistSpec read_vocabulary_map(
    const std::filesystem::path& path, const ShortlistTexts& texts, std::vector<std::string>& warnings);
}  // namespace goldcrest::converter
