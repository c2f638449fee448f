// SPDX-License-Identifier: Apache-2.0
// Merges neighbours, best score first, like bpe_model.cc of SentencePiece v0.1.97 (SampleEncode with alpha 0). For
// kSubword it follows apply_bpe.py of subword-nmt 0.3.8 (encode), which merges a pair everywhere before it looks for
// the next. The index of a symbol's first byte identifies it; each symbol has at most one pair, with the symbol after
// it. A tournament tree over the pairs replaces the queue, so memory is fixed and no entry is ever stale.
#include "base/exact_floats.h"
#include "text/bpe.h"
#include <string.h>
#include "base/arithmetic.h"
#include "base/bounds.h"
#include "base/build_options.h"
#include "base/status.h"
#include "text/normalizer.h"
#include "text/piece_lookup.h"

namespace goldcrest {
namespace {
constexpr uint16_t kFrozen = 0x8000;     // in a symbol's length: a user-defined piece, never merged
constexpr uint32_t kLeastKey = 0x10000;  // smaller keys are no pairs: times of merges, or 0

// Maps floats to integers from kLeastKey on, in the same order. -0 counts as 0; a NaN has a fixed place.
uint32_t order_key(float score) {
  uint32_t bits = 0;
  memcpy(&bits, &score, sizeof(bits));
  if (bits == 0x80000000u) bits = 0;
  const uint32_t key = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return larger(key, kLeastKey);
}

// kSubword: returns the entry that merges two symbols; kNoEntry if there is none. `both` has their texts with a space
// between them.
uint32_t find_merge(const TokenizerView& view, TextSpan both, uint32_t n_left) {
  if (both.n >= smaller(view.max_piece_bytes, kMaxPieceBytes)) return kNoEntry;
  const DoubleArray trie = piece_trie(view);
  uint32_t node = 0, entry = 0;
  for (uint32_t i = 0; i < both.n; ++i) {
    if (i == n_left && !step_trie(trie, ' ', &node)) return kNoEntry;
    if (!step_trie(trie, both.bytes[i], &node)) return kNoEntry;
  }
  return view_trie_value(trie, node, &entry) && entry < view.n_pieces ? entry : kNoEntry;
}

class Merger {
 public:
  // key, length and tree: [n] for text.n = n bytes.
  Merger(const TokenizerView& view, TextSpan text, uint32_t* key, uint16_t* length, uint16_t* tree)
      : view_(view), text_(text), key_(key), length_(length), tree_(tree) {}

  void run();
  int write(TokenWriter* writer);
 private:
  uint32_t symbol_bytes(uint32_t begin) const { return length_[begin] & ~kFrozen; }
  bool is_frozen(uint32_t begin) const { return (length_[begin] & kFrozen) != 0; }
  uint32_t previous(uint32_t begin) const { return begin - (length_[begin - 1] & ~kFrozen); }
  bool is_subword() const { return goldcrest::is_subword(view_.kind); }
  void set_symbol(uint32_t begin, uint32_t n, uint16_t frozen);

  uint32_t winner(uint32_t node) const { return node >= text_.n ? node - text_.n : tree_[node]; }
  uint32_t best_pair() const { return text_.n == 1 ? 0 : tree_[1]; }
  uint32_t next_equal(uint32_t begin, uint32_t key) const;
  void play(uint32_t node);
  void set_key(uint32_t begin, uint32_t key);

  uint32_t pair_key(uint32_t begin) const;
  void split_into_chars();
  bool word_ends_stand_apart() const;
  void join_word_ends();
  void merge(uint32_t begin, uint32_t time);
  uint32_t merge_equal(uint32_t time);
  bool split_unused(uint32_t begin);

  const TokenizerView& view_;
  const TextSpan text_;
  uint32_t* key_;     // [n] of the pair that starts at this byte; at the seam of merged symbols, the merge's time 1..n
  uint16_t* length_;  // [n] bytes of the symbol that starts or ends at this byte
  uint16_t* tree_;    // [n] node i holds the better of nodes 2i and 2i + 1; node n + j is byte j
};

void Merger::set_symbol(uint32_t begin, uint32_t n, uint16_t frozen) {
  length_[begin] = static_cast<uint16_t>(n | frozen);
  length_[begin + n - 1] = length_[begin];
}

// The larger key wins; among equal keys the one further left.
void Merger::play(uint32_t node) {
  const uint32_t a = winner(2 * node), b = winner(2 * node + 1);
  const bool a_wins = key_[a] != key_[b] ? key_[a] > key_[b] : a < b;
  tree_[node] = static_cast<uint16_t>(a_wins ? a : b);
}

void Merger::set_key(uint32_t begin, uint32_t key) {
  key_[begin] = key;
  for (uint32_t node = (text_.n + begin) / 2; node > 0; node /= 2) play(node);
}

// Returns the next pair with this key after `begin`; text_.n if there is none. No key may be larger.
uint32_t Merger::next_equal(uint32_t begin, uint32_t key) const {
  uint32_t next = text_.n;
  const auto offer = [&](uint32_t node) {
    const uint32_t place = winner(node);
    if (place < next && key_[place] == key) next = place;
  };
  for (uint32_t low = text_.n + begin + 1, high = 2 * text_.n; low < high; low /= 2, high /= 2) {
    if (low % 2 != 0) offer(low++);
    if (high % 2 != 0) offer(--high);
  }
  return next;
}

// Returns the key of the pair of the symbol at `begin` and the next symbol; 0 if they do not merge.
uint32_t Merger::pair_key(uint32_t begin) const {
  const uint32_t n_left = symbol_bytes(begin), middle = begin + n_left;
  if (middle >= text_.n || is_frozen(begin) || is_frozen(middle)) return 0;
  const TextSpan piece = {text_.bytes + begin, n_left + symbol_bytes(middle)};
  const uint32_t entry = is_subword() ? find_merge(view_, piece, n_left) : find_piece(view_, piece);
  if (entry == kNoEntry || piece_type(view_, entry) == PieceType::kSurface) return 0;
  return order_key(view_.score[entry]);
}

void Merger::split_into_chars() {
  for (uint32_t begin = 0; begin < text_.n;) {
    const uint32_t n_user_defined = user_defined_bytes(view_, text_.from(begin));
    const uint32_t n = n_user_defined > 0 ? n_user_defined : first_char_bytes(text_.from(begin));
    set_symbol(begin, n, n_user_defined > 0 ? kFrozen : uint16_t{0});
    begin += n;
  }
}

// kSubword: returns whether a word's end is a symbol of its own until merging ends.
bool Merger::word_ends_stand_apart() const {
  const uint8_t space = ' ';
  return find_piece(view_, {&space, 1}) != kNoEntry;
}

// kSubword: joins the space that ends a word to the symbol before it, for good.
void Merger::join_word_ends() {
  for (uint32_t i = 0; i < text_.n; ++i)
    if (text_.bytes[i] == ' ') key_[i] = 0;
  for (uint32_t begin = 0; begin < text_.n; begin += symbol_bytes(begin)) {
    const uint32_t n = symbol_bytes(begin);
    if (begin + n < text_.n && text_.bytes[begin + n] == ' ' && !is_frozen(begin)) set_symbol(begin, n + 1, 0);
  }
}

void Merger::merge(uint32_t begin, uint32_t time) {
  const uint32_t n_left = symbol_bytes(begin), middle = begin + n_left;
  set_key(middle, time);
  set_symbol(begin, n_left + symbol_bytes(middle), 0);
  if (begin > 0) set_key(previous(begin), pair_key(previous(begin)));
  set_key(begin, pair_key(begin));
}

// kSubword: merges the best pair everywhere, from left to right; a merge changes no equal pair further right. Returns
// the time of the last merge.
uint32_t Merger::merge_equal(uint32_t time) {
  uint32_t begin = best_pair();
  const uint32_t key = key_[begin];
  merge(begin, time);
  while ((begin = next_equal(begin, key)) < text_.n) merge(begin, ++time);
  return time;
}

void Merger::run() {
  split_into_chars();
  if (is_subword() && !word_ends_stand_apart()) join_word_ends();
  for (uint32_t i = 0; i < text_.n; ++i) key_[i] = 0;
  for (uint32_t begin = 0; begin < text_.n; begin += symbol_bytes(begin)) key_[begin] = pair_key(begin);
  for (uint32_t node = text_.n - 1; node > 0; --node) play(node);
  for (uint32_t time = 1; key_[best_pair()] >= kLeastKey; ++time)
    if (is_subword()) time = merge_equal(time);
    else merge(best_pair(), time);
  if (is_subword()) join_word_ends();
}

// Splits a symbol that is an unused piece back into the two symbols of its last merge. Returns false for other symbols.
bool Merger::split_unused(uint32_t begin) {
  const TextSpan piece = {text_.bytes + begin, symbol_bytes(begin)};
  const uint32_t entry = find_piece(view_, piece);
  if (entry == kNoEntry || piece_type(view_, entry) != PieceType::kUnused) return false;
  uint32_t n_left = 0, latest = 0;
  for (uint32_t i = 1; i < piece.n; ++i) {
    if (key_[begin + i] <= latest) continue;
    latest = key_[begin + i];
    n_left = i;
  }
  if (n_left == 0) return false;  // one character
  set_symbol(begin, n_left, 0);
  set_symbol(begin + n_left, piece.n - n_left, 0);
  return true;
}

int Merger::write(TokenWriter* writer) {
  for (uint32_t begin = 0; begin < text_.n;) {
    if (split_unused(begin)) continue;
    const TextSpan piece = {text_.bytes + begin, symbol_bytes(begin)};
    const uint32_t entry = find_piece(view_, piece);
    const bool known = entry != kNoEntry && piece_type(view_, entry) != PieceType::kSurface;
    writer->set_text(piece);
    // With kSubword each unknown symbol gets an id, rather than one id for a run.
    GOLDCREST_TRY(known || is_subword() ? writer->put_entry(known ? entry : kNoEntry) : writer->put_unknown(piece));
    begin += piece.n;
  }
  return writer->finish_run();
}
}  // namespace

int tokenize_bpe(const TokenizerView& view, TextSpan text, void* scratch, size_t scratch_bytes, TokenWriter* writer) {
  size_t capacity = scratch_bytes / kBpeScratchPerByte;
  if (capacity > kBpeMaxNormalizedBytes) capacity = kBpeMaxNormalizedBytes;
  uint32_t* const key = static_cast<uint32_t*>(scratch);
  uint16_t* const length = reinterpret_cast<uint16_t*>(key + capacity);
  uint16_t* const tree = length + capacity;
  uint8_t* const normalized = reinterpret_cast<uint8_t*>(tree + capacity);

  const int n_or_error = normalize(view, text, normalized, static_cast<uint32_t>(capacity));
  if (n_or_error <= 0) return n_or_error;
  Merger merger(view, {normalized, static_cast<uint32_t>(n_or_error)}, key, length, tree);
  merger.run();
  return merger.write(writer);
}
}  // namespace goldcrest
