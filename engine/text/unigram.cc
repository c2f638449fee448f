// SPDX-License-Identifier: Apache-2.0
// Runs Viterbi over byte positions, like unigram_model.cc of SentencePiece v0.1.97 (EncodeOptimized). For each position
// it stores the best score of a path that ends there, and the length of the path's last piece. It does not store ids,
// but finds them again in the trie.
#include "base/exact_floats.h"
#include "text/unigram.h"
#include "base/status.h"
#include "text/normalizer.h"
#include "text/piece_lookup.h"

namespace goldcrest {
namespace {
struct Paths {
  float* score;      // [n + 1] of the best path that ends at a position
  uint16_t* length;  // [n + 1] bytes of its last piece; 0: no path ends here yet
};

bool is_proposed(const TokenizerView& view, uint32_t entry) {
  const PieceType type = piece_type(view, entry);
  return type == PieceType::kNormal || type == PieceType::kUserDefined;
}

// SentencePiece computes this in double for every piece type, and compares paths before it rounds to float.
double piece_score(const TokenizerView& view, uint32_t entry, uint32_t n) {
  if (piece_type(view, entry) != PieceType::kUserDefined) return static_cast<double>(view.score[entry]);
  return static_cast<double>(static_cast<float>(n) * view.max_score) - 0.1;
}

// The first of equal paths stays: the one whose last piece starts earliest.
void offer_path(const Paths& paths, uint32_t end, uint32_t n, double score) {
  if (paths.length[end] != 0 && !(score > static_cast<double>(paths.score[end]))) return;
  paths.score[end] = static_cast<float>(score);
  paths.length[end] = static_cast<uint16_t>(n);
}

// Extends the best path to `begin` by every piece that starts there.
void extend_path(const TokenizerView& view, TextSpan text, uint32_t begin, uint32_t n_char, const Paths& paths) {
  const DoubleArray trie = piece_trie(view);
  const TextSpan rest = text.from(begin);
  const uint32_t most = piece_search_bytes(view, rest);
  const float so_far = paths.score[begin];
  bool covers_char = false;
  uint32_t node = 0, entry = 0;
  for (uint32_t n = 1; n <= most && step_trie(trie, rest.bytes[n - 1], &node); ++n) {
    if (!view_trie_value(trie, node, &entry) || entry >= view.n_pieces || !is_proposed(view, entry)) continue;
    offer_path(paths, begin + n, n, piece_score(view, entry, n) + static_cast<double>(so_far));
    covers_char = covers_char || n == n_char;
  }
  if (!covers_char) offer_path(paths, begin + n_char, n_char, static_cast<double>(view.unknown_score + so_far));
}

// Moves the lengths of the best path's pieces from their ends to their starts, in place.
void reverse_best_path(uint32_t n, uint16_t* length) {
  uint32_t end = n;
  uint16_t last = length[n];
  while (end > 0) {
    const uint32_t begin = end - last;
    const uint16_t before = length[begin];
    length[begin] = last;
    last = before;
    end = begin;
  }
}

int write_pieces(const TokenizerView& view, TextSpan text, const uint16_t* length, TokenWriter* writer) {
  for (uint32_t begin = 0; begin < text.n; begin += length[begin]) {
    const TextSpan piece = {text.bytes + begin, length[begin]};
    const uint32_t entry = find_piece(view, piece);
    const bool known = entry != kNoEntry && is_proposed(view, entry);
    writer->set_text(piece);
    GOLDCREST_TRY(known ? writer->put_entry(entry) : writer->put_unknown(piece));
  }
  return writer->finish_run();
}
}  // namespace

int tokenize_unigram(
    const TokenizerView& view, TextSpan text, void* scratch, size_t scratch_bytes, TokenWriter* writer) {
  if (scratch_bytes < kUnigramScratchFixed) return GOLDCREST_ERROR_TOO_LONG;
  size_t capacity = (scratch_bytes - kUnigramScratchFixed) / kUnigramScratchPerByte;
  if (capacity > INT32_MAX) capacity = INT32_MAX;
  const Paths paths = {
      static_cast<float*>(scratch), reinterpret_cast<uint16_t*>(static_cast<float*>(scratch) + capacity + 1)};
  uint8_t* const normalized = reinterpret_cast<uint8_t*>(paths.length + capacity + 1);

  const int n_or_error = normalize(view, text, normalized, static_cast<uint32_t>(capacity));
  GOLDCREST_TRY(n_or_error);
  const TextSpan sentence = {normalized, static_cast<uint32_t>(n_or_error)};
  for (uint32_t i = 0; i <= sentence.n; ++i) paths.length[i] = 0;
  paths.score[0] = 0.0f;
  for (uint32_t begin = 0; begin < sentence.n;) {
    const uint32_t n_char = first_char_bytes(sentence.from(begin));
    extend_path(view, sentence, begin, n_char, paths);
    begin += n_char;
  }
  reverse_best_path(sentence.n, paths.length);
  return write_pieces(view, sentence, paths.length, writer);
}
}  // namespace goldcrest
