// SPDX-License-Identifier: Apache-2.0
// Files that hold a shortlist: Marian's lex.*.bin and lex.s2t, CTranslate2's vmap.txt. Each throws Error with the
// file's name and what is wrong.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spec/shortlist.h"
#include "spec/spec.h"

namespace goldcrest::converter {

// Any of these, told by its contents, for a model: lex.s2t with the options' defaults. Adds to the model's warnings.
ShortlistSpec read_shortlist(const std::filesystem::path& path, ModelSpec& spec);

// Whether a file begins as Marian's binary does.
bool is_binary_shortlist(const std::filesystem::path& path);

// Ids that a model has: those of the checkpoint and that of a start row.
struct ShortlistBounds {
  uint32_t source_ids = 0, target_ids = 0;
};

// Marian's binary, its checksum verified. Marian rounds the candidates of a batch up to a multiple of 8 for its
// kernels; here nothing needs it.
ShortlistSpec read_binary_shortlist(const std::filesystem::path& path, const ShortlistBounds& bounds);

// What texts are looked up in: entries of the vocabularies, each with its id.
struct ShortlistTexts {
  const TokenizerSpec &source, &target;
};

// What marian-decoder's --shortlist FILE FIRST BEST THRESHOLD asks of a text file.
struct LexicalOptions {
  uint32_t first = 100, best = 100;  // the first ids, always; the most probable ones of each source id
  double threshold = 0;              // of which each is more probable than this
};

// Lines "TARGET SOURCE PROBABILITY", as fast_align and extract-lex write lex.s2t. Pieces that a vocabulary lacks are
// its unknown id, as in Marian, whose target's is never chosen.
ShortlistSpec read_lexical_shortlist(const std::filesystem::path& path, const ShortlistTexts& texts,
                                     const LexicalOptions& options);

// Lines "SOURCE PIECES<tab>TARGET PIECES", each list with spaces between; before the tab nothing: always. N-grams with
// a piece that the source lacks never occur, and targets that the target lacks are never chosen: both are left out, and
// counted in a warning.
ShortlistSpec read_vocabulary_map(const std::filesystem::path& path, const ShortlistTexts& texts,
                                  std::vector<std::string>& warnings);

}  // namespace goldcrest::converter
