// SPDX-License-Identifier: Apache-2.0
// Computes once what SentencePiece computes each time it loads a model: tries, score bounds, byte ids.
#include "tokenizers/pack_tokenizer.h"
#include <algorithm>
#include <cfloat>
#include <iterator>
#include <map>
#include "base/bounds.h"
#include "host/wording.h"
#include "model/tokenizer_view.h"
#include "spec/error.h"
#include "spec/subword_entry.h"
#include "text/normalizer.h"
#include "tokenizers/byte_piece.h"
#include "tokenizers/charsmap.h"
#include "tokenizers/double_array_builder.h"

namespace goldcrest::converter {
namespace {
// The first byte of a string: found in the text, or in the normalized text.
constexpr char kInText = 1, kInNormalized = 2;
constexpr uint32_t kStripLeft = 1u << 24, kStripRight = 1u << 25, kSingleWord = 1u << 26;

// The characters that \w of the crate regex takes (Unicode 16: alphabetic, marks, digits, connectors, joiners), as the
// crate tokenizers 0.23 finds words: the distances of the places where a run of them begins or ends, from 0 on.
// clang-format off
constexpr uint32_t kWords[] = {
    48, 10, 7, 26, 4, 1, 1, 26, 47, 1, 10, 1, 4, 1, 5, 23, 1, 31, 1, 458, 4, 12, 14, 5, 7, 1, 1, 1, 17, 117, 1, 2, 2,
    4, 1, 1, 6, 1, 1, 3, 1, 1, 1, 20, 1, 83, 1, 139, 1, 173, 1, 38, 2, 1, 6, 41, 8, 45, 1, 1, 1, 2, 1, 2, 1, 1, 8, 27,
    4, 4, 29, 11, 5, 74, 4, 102, 1, 8, 2, 10, 1, 19, 2, 1, 16, 59, 2, 101, 14, 54, 4, 1, 2, 1, 2, 46, 18, 28, 4, 11, 5,
    24, 1, 6, 8, 75, 1, 129, 2, 10, 1, 19, 1, 8, 2, 2, 2, 22, 1, 7, 1, 1, 3, 4, 2, 9, 2, 2, 2, 4, 8, 1, 4, 2, 1, 5, 2,
    12, 10, 1, 1, 1, 2, 3, 1, 6, 4, 2, 2, 22, 1, 7, 1, 2, 1, 2, 1, 2, 2, 1, 1, 5, 4, 2, 2, 3, 3, 1, 7, 4, 1, 1, 7, 16,
    11, 3, 1, 9, 1, 3, 1, 22, 1, 7, 1, 2, 1, 5, 2, 10, 1, 3, 1, 3, 2, 1, 15, 4, 2, 10, 9, 7, 1, 3, 1, 8, 2, 2, 2, 22,
    1, 7, 1, 2, 1, 5, 2, 9, 2, 2, 2, 3, 7, 3, 4, 2, 1, 5, 2, 10, 1, 1, 16, 2, 1, 6, 3, 3, 1, 4, 3, 2, 1, 1, 1, 2, 3, 2,
    3, 3, 3, 12, 4, 5, 3, 3, 1, 4, 2, 1, 6, 1, 14, 10, 16, 13, 1, 3, 1, 23, 1, 16, 2, 9, 1, 3, 1, 4, 7, 2, 1, 3, 2, 1,
    2, 4, 2, 10, 16, 4, 1, 8, 1, 3, 1, 23, 1, 10, 1, 5, 2, 9, 1, 3, 1, 4, 7, 2, 6, 2, 1, 4, 2, 10, 1, 3, 12, 13, 1, 3,
    1, 51, 1, 3, 1, 5, 5, 4, 7, 5, 2, 10, 10, 6, 1, 3, 1, 18, 3, 24, 1, 9, 1, 1, 2, 7, 3, 1, 4, 6, 1, 1, 1, 8, 6, 10,
    2, 2, 13, 58, 5, 15, 1, 10, 39, 2, 1, 1, 1, 5, 1, 24, 1, 1, 1, 23, 2, 5, 1, 1, 1, 7, 1, 10, 2, 4, 32, 1, 23, 2, 6,
    10, 11, 1, 1, 1, 1, 1, 4, 10, 1, 36, 4, 20, 1, 18, 1, 36, 9, 1, 57, 74, 6, 78, 2, 38, 1, 1, 5, 1, 2, 43, 1, 333, 1,
    4, 2, 7, 1, 1, 1, 4, 2, 41, 1, 4, 2, 33, 1, 4, 2, 7, 1, 1, 1, 4, 2, 15, 1, 57, 1, 4, 2, 67, 2, 3, 32, 16, 16, 86,
    2, 6, 3, 620, 2, 17, 1, 26, 5, 75, 3, 11, 7, 22, 9, 22, 11, 20, 12, 13, 1, 3, 1, 2, 12, 84, 3, 1, 4, 2, 2, 10, 33,
    3, 1, 11, 6, 89, 7, 43, 5, 70, 10, 31, 1, 12, 4, 12, 10, 40, 2, 5, 11, 44, 4, 26, 6, 10, 38, 28, 4, 63, 1, 29, 2,
    11, 6, 10, 13, 1, 8, 31, 49, 77, 3, 10, 17, 9, 12, 116, 12, 56, 8, 10, 3, 49, 2, 11, 5, 43, 2, 3, 16, 3, 1, 39, 5,
    534, 2, 6, 2, 38, 2, 6, 2, 8, 1, 1, 1, 1, 1, 1, 1, 31, 2, 53, 1, 7, 1, 1, 3, 3, 1, 7, 3, 4, 2, 6, 4, 13, 5, 3, 1,
    7, 15, 2, 49, 2, 19, 1, 28, 1, 13, 1, 16, 13, 51, 33, 17, 1, 4, 1, 2, 10, 1, 1, 3, 5, 6, 1, 1, 1, 1, 1, 1, 4, 1,
    11, 2, 4, 5, 5, 4, 1, 17, 41, 813, 52, 1814, 229, 6, 9, 12, 38, 1, 1, 5, 1, 2, 56, 7, 1, 15, 24, 9, 7, 1, 7, 1, 7,
    1, 7, 1, 7, 1, 7, 1, 7, 1, 7, 1, 32, 47, 1, 469, 3, 25, 15, 1, 5, 2, 5, 4, 86, 2, 2, 2, 3, 1, 90, 1, 4, 5, 43, 1,
    94, 17, 32, 48, 16, 512, 6592, 64, 22157, 67, 46, 2, 269, 3, 28, 20, 51, 1, 10, 1, 115, 37, 9, 2, 103, 2, 67, 2, 2,
    1, 1, 1, 8, 21, 54, 4, 1, 19, 52, 12, 70, 10, 10, 6, 24, 3, 1, 1, 49, 2, 36, 12, 29, 3, 65, 14, 11, 6, 31, 1, 55,
    9, 14, 2, 10, 6, 23, 3, 73, 24, 3, 2, 16, 2, 5, 10, 6, 2, 6, 2, 6, 9, 7, 1, 7, 1, 43, 1, 14, 6, 123, 1, 2, 2, 10,
    6, 11172, 12, 23, 4, 49, 8452, 366, 2, 106, 38, 7, 12, 5, 5, 12, 1, 13, 1, 5, 1, 1, 1, 2, 1, 2, 1, 108, 33, 363,
    18, 64, 2, 54, 40, 12, 4, 16, 16, 16, 3, 2, 24, 3, 32, 5, 1, 135, 19, 10, 7, 26, 4, 1, 1, 26, 11, 89, 3, 6, 2, 6,
    2, 6, 2, 3, 35, 12, 1, 26, 1, 19, 1, 2, 1, 15, 2, 14, 34, 123, 69, 53, 136, 1, 130, 29, 3, 49, 15, 1, 31, 32, 13,
    30, 5, 43, 5, 30, 2, 36, 4, 8, 1, 5, 42, 158, 2, 10, 6, 36, 4, 36, 4, 40, 8, 52, 12, 11, 1, 15, 1, 7, 1, 2, 1, 11,
    1, 15, 1, 7, 1, 2, 3, 52, 12, 311, 9, 22, 10, 8, 24, 6, 1, 42, 1, 9, 69, 6, 2, 1, 1, 44, 1, 2, 3, 1, 2, 23, 10, 23,
    9, 31, 65, 19, 1, 2, 10, 22, 10, 26, 70, 56, 6, 2, 64, 4, 1, 2, 5, 8, 1, 3, 1, 29, 2, 3, 4, 1, 32, 29, 3, 29, 35,
    8, 1, 30, 25, 54, 10, 22, 10, 19, 13, 18, 110, 73, 55, 51, 13, 51, 13, 40, 8, 10, 6, 38, 3, 5, 1, 23, 250, 42, 1,
    2, 3, 2, 16, 3, 55, 33, 10, 1, 8, 33, 31, 22, 42, 21, 27, 23, 9, 71, 31, 16, 9, 60, 7, 1, 13, 25, 7, 10, 6, 53, 1,
    10, 4, 4, 8, 36, 2, 1, 9, 69, 4, 4, 1, 13, 1, 1, 35, 18, 1, 37, 6, 4, 62, 7, 1, 1, 1, 4, 1, 15, 1, 10, 7, 59, 5,
    10, 6, 4, 1, 8, 2, 2, 2, 22, 1, 7, 1, 2, 1, 5, 1, 10, 2, 2, 2, 3, 2, 1, 6, 1, 5, 7, 2, 7, 3, 5, 11, 10, 1, 1, 2, 1,
    1, 38, 1, 10, 1, 1, 2, 1, 1, 4, 1, 8, 13, 2, 29, 75, 5, 10, 4, 4, 30, 70, 1, 1, 8, 10, 166, 54, 2, 9, 23, 6, 34,
    65, 3, 1, 11, 10, 38, 57, 7, 10, 6, 20, 28, 27, 2, 15, 4, 10, 6, 7, 185, 59, 101, 74, 21, 8, 2, 1, 2, 8, 1, 2, 1,
    30, 1, 2, 2, 9, 12, 10, 70, 8, 2, 46, 2, 8, 1, 2, 27, 63, 8, 1, 8, 74, 3, 1, 18, 73, 199, 33, 15, 10, 6, 9, 1, 45,
    1, 9, 15, 10, 24, 30, 2, 22, 1, 14, 73, 7, 1, 2, 1, 44, 3, 1, 1, 2, 1, 9, 8, 10, 6, 6, 1, 2, 1, 37, 1, 2, 1, 6, 7,
    10, 310, 23, 9, 17, 1, 41, 3, 5, 13, 11, 85, 1, 79, 922, 102, 111, 17, 196, 2636, 97, 15, 1072, 16, 22, 10, 3995,
    5, 583, 6841, 58, 1734, 569, 7, 31, 1, 10, 6, 79, 1, 10, 6, 30, 2, 5, 11, 55, 9, 4, 12, 10, 9, 21, 5, 19, 432, 45,
    3, 10, 198, 64, 128, 75, 4, 57, 7, 17, 64, 2, 1, 2, 11, 2, 14, 6136, 8, 1238, 41, 10, 8935, 4, 1, 7, 1, 2, 1, 291,
    15, 1, 29, 3, 2, 1, 14, 4, 8, 396, 2308, 107, 5, 13, 3, 9, 7, 10, 3, 2, 4177, 10, 518, 46, 2, 23, 542, 5, 3, 6, 8,
    8, 2, 7, 30, 4, 148, 3, 443, 85, 1, 71, 1, 2, 2, 1, 2, 2, 2, 4, 1, 12, 1, 1, 1, 7, 1, 65, 1, 4, 2, 8, 1, 7, 1, 28,
    1, 4, 1, 5, 1, 1, 3, 7, 1, 340, 2, 25, 1, 25, 1, 31, 1, 25, 1, 31, 1, 25, 1, 31, 1, 25, 1, 31, 1, 25, 1, 8, 2, 50,
    512, 55, 4, 50, 8, 1, 14, 1, 22, 5, 1, 15, 1104, 31, 6, 6, 213, 7, 1, 17, 2, 7, 1, 2, 1, 5, 5, 62, 33, 1, 112, 45,
    3, 14, 2, 10, 4, 1, 321, 31, 17, 58, 470, 42, 214, 43, 485, 7, 1, 4, 1, 2, 1, 15, 1, 197, 11, 7, 41, 76, 4, 10,
    1190, 4, 1, 27, 1, 2, 1, 1, 2, 1, 1, 10, 1, 4, 1, 1, 1, 1, 6, 1, 4, 1, 1, 1, 1, 1, 1, 3, 1, 2, 1, 1, 2, 1, 1, 1, 1,
    1, 1, 1, 1, 1, 1, 2, 1, 1, 2, 4, 1, 7, 1, 4, 1, 4, 1, 1, 1, 10, 1, 17, 5, 3, 1, 5, 1, 17, 628, 26, 6, 26, 6, 26,
    2662, 10, 1030, 42720, 32, 4154, 6, 222, 2, 5762, 14, 7473, 15, 622, 2466, 542, 1506, 4939, 5, 4192, 712016, 240};
// clang-format on

// The bytes of UTF-8, from the highest one down.
uint32_t key_of(uint32_t code) {
  const auto last_bits = [code](uint32_t shift) { return 0x80 | (code >> shift & 0x3F); };
  if (code < 0x80) return code << 24;
  if (code < 0x800) return (0xC0 | code >> 6) << 24 | last_bits(0) << 16;
  if (code < 0x10000) return (0xE0 | code >> 12) << 24 | last_bits(6) << 16 | last_bits(0) << 8;
  return (0xF0 | code >> 18) << 24 | last_bits(12) << 16 | last_bits(6) << 8 | last_bits(0);
}

bool uses(const TokenizerSpec& spec, bool AddedToken::*flag) { return std::ranges::any_of(spec.added, flag); }

// Python also strips the four separators from U+001C on.
std::vector<uint32_t> runs_of_spaces(const TokenizerSpec& spec) {
  std::vector<uint32_t> runs;
  if (!uses(spec, &AddedToken::strip_left) && !uses(spec, &AddedToken::strip_right)) return runs;
  for (const uint32_t code : kWhiteSpace) runs.push_back(key_of(spec.added_by_items && code == 0x20 ? 0x1C : code));
  return runs;
}

std::vector<uint32_t> runs_of_letters(const TokenizerSpec& spec) {
  std::vector<uint32_t> runs;
  if (spec.added_by_items || !uses(spec, &AddedToken::single_word)) return runs;
  uint32_t code = 0;
  for (const uint32_t distance : kWords) runs.push_back(key_of(code += distance));
  return runs;
}

// The text as the engine makes it of every text.
std::string normalized(const PackedTokenizer& packed, bool keep_last_space, const std::string& text) {
  TokenizerView view = {};
  view.normalizer_trie = packed.normalizer_trie.data();
  view.normalizer_trie_units = static_cast<uint32_t>(packed.normalizer_trie.size());
  view.normalizer_text = packed.normalizer_text.data();
  view.normalizer_text_bytes = static_cast<uint32_t>(packed.normalizer_text.size());
  const uint32_t flags = keep_last_space ? kAddedKeepSpace : 0;
  view.added = &flags;
  std::string out(text.size() * kMaxRuleBytes, '\0');
  const TextSpan span = {reinterpret_cast<const uint8_t*>(text.data()), static_cast<uint32_t>(text.size())};
  const int n = rewrite(view, span, reinterpret_cast<uint8_t*>(out.data()), static_cast<uint32_t>(out.size()));
  out.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return out;
}
}  // namespace

void check_added_tokens(const TokenizerSpec& spec) {
  for (const AddedToken& token : spec.added) {
    if (!token.text.empty() && token.text.size() < kMaxPieceBytes && token.text.find('\0') == std::string::npos &&
        token.id < spec.vocab_size)
      continue;
    throw Error("the added token {} of id {}: expected 1 to {} bytes without NUL, and an id below {}",
        in_quotes(token.text), token.id, kMaxPieceBytes - 1, spec.vocab_size);
  }
}

void pack_added_tokens(const TokenizerSpec& spec, PackedTokenizer& packed) {
  std::map<std::string, uint32_t> strings;
  // The space at the end of a part is told in its normalized text.
  bool has_normalized = spec.added_keep_last_space;
  size_t most = 0;
  for (const AddedToken& token : spec.added) {
    const bool is_late = token.normalized && !spec.added_by_items;
    const std::string text = is_late ? normalized(packed, spec.added_keep_last_space, token.text) : token.text;
    if (text.empty()) continue;
    has_normalized = has_normalized || is_late;
    most = std::max(most, text.size());
    // If two tokens are normalized to one text, the last one is found. The crate takes any.
    strings[(is_late ? kInNormalized : kInText) + text] = token.id | (token.strip_left ? kStripLeft : 0) |
                                                          (token.strip_right ? kStripRight : 0) |
                                                          (token.single_word ? kSingleWord : 0);
  }
  if (strings.empty()) return;
  const std::vector<uint32_t> spaces = runs_of_spaces(spec), letters = runs_of_letters(spec);
  const bool by_items = spec.added_by_items && (!spaces.empty() || uses(spec, &AddedToken::single_word));
  packed.added = {static_cast<uint32_t>(most) | (has_normalized ? kAddedNormalized : 0) |
                      (spec.added_keep_last_space ? kAddedKeepSpace : 0) | (by_items ? kAddedByItems : 0),
      static_cast<uint32_t>(spaces.size()), static_cast<uint32_t>(letters.size())};
  packed.added.insert(packed.added.end(), spaces.begin(), spaces.end());
  packed.added.insert(packed.added.end(), letters.begin(), letters.end());
  std::vector<TrieEntry> entries;
  for (const auto& [text, value] : strings) entries.push_back({text, value});
  const std::vector<uint32_t> trie = build_double_array(std::move(entries));
  packed.added.insert(packed.added.end(), trie.begin(), trie.end());
}

namespace {
// unigram_model.h of SentencePiece v0.1.97: kUnkPenalty.
constexpr float kUnknownPenalty = 10.0f;

constexpr bool same(PieceType a, goldcrest::PieceType b) { return static_cast<int>(a) == static_cast<int>(b); }
static_assert(same(PieceType::kNormal, goldcrest::PieceType::kNormal) &&
              same(PieceType::kUnknown, goldcrest::PieceType::kUnknown) &&
              same(PieceType::kControl, goldcrest::PieceType::kControl) &&
              same(PieceType::kUserDefined, goldcrest::PieceType::kUserDefined) &&
              same(PieceType::kUnused, goldcrest::PieceType::kUnused) &&
              same(PieceType::kByte, goldcrest::PieceType::kByte) &&
              same(PieceType::kSurface, goldcrest::PieceType::kSurface));

bool is_scored(TokenizerKind kind) { return kind != TokenizerKind::kWord && kind != TokenizerKind::kCharacter; }

// Returns a part of a word, with the space that ends the word. Language codes stand before all words.
std::string symbol_of(const Piece& piece) {
  if (piece.type == PieceType::kSurface) return piece.text;
  return goes_on(piece.text) ? std::string(without_mark(piece.text)) : piece.text + " ";
}

// For kSubword: replaces the entries by symbols, and adds the merges as further entries.
TokenizerSpec with_merges(TokenizerSpec spec) {
  if (spec.kind != TokenizerKind::kSubword) return spec;
  for (Piece& piece : spec.pieces) piece.text = symbol_of(piece);
  for (size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const Merge& merge = spec.merges[rank];
    spec.pieces.push_back({merge.left + " " + merge.right, -static_cast<float>(rank), PieceType::kUnused});
  }
  if (spec.word_end_apart) spec.pieces.push_back({" ", 0, PieceType::kUnused});
  return spec;
}

void check(const TokenizerSpec& spec) {
  if (spec.vocab_size > spec.pieces.size() || spec.unknown_id >= spec.vocab_size) {
    throw Error("tokenizer: {} pieces, {} of them in the vocabulary, and the unknown id {}", spec.pieces.size(),
        spec.vocab_size, spec.unknown_id);
  }
  const size_t n = spec.pieces.size() + spec.merges.size();
  if (n > INT32_MAX) throw Error("tokenizer: {} pieces are too many", n);
}

// The segmenter finds no added token that the vocabulary lacks. But transformers' tokenizers in Python, which split by
// items, take a run of unknown characters for the token that it equals, special or not.
void set_types_of_added(TokenizerSpec& spec) {
  for (const AddedToken& token : spec.added) {
    PieceType& type = spec.pieces[token.id].type;
    if (spec.added_by_items && type == PieceType::kControl) type = PieceType::kSurface;
    if (!spec.added_by_items && type == PieceType::kSurface) type = PieceType::kControl;
  }
}

// True for pieces that text can contain. A trie's strings end at a NUL, so a surface with a NUL is left out; only its
// id is used.
bool is_in_trie(const Piece& piece) {
  switch (piece.type) {
    case PieceType::kNormal:
    case PieceType::kUserDefined:
    case PieceType::kUnused:
    case PieceType::kSurface: return piece.text.find('\0') == std::string::npos;
    default: return false;
  }
}

void pack_trie(const TokenizerSpec& spec, PackedTokenizer* packed) {
  std::vector<TrieEntry> entries;
  for (uint32_t entry = 0; entry < spec.pieces.size(); ++entry) {
    const Piece& piece = spec.pieces[entry];
    if (!is_in_trie(piece)) continue;
    entries.push_back({piece.text, entry});
    packed->max_piece_bytes = std::max(packed->max_piece_bytes, static_cast<uint32_t>(piece.text.size()));
  }
  packed->trie = build_double_array(std::move(entries));
  if (packed->max_piece_bytes > kMaxPieceBytes)
    throw Error("tokenizer: a piece has {} bytes, expected at most {}", packed->max_piece_bytes, kMaxPieceBytes);
}

// unigram_model.cc, Model::Model: bounds over the normal pieces, the upper one at least FLT_MIN.
void pack_scores(const TokenizerSpec& spec, PackedTokenizer* packed) {
  float least = FLT_MAX;
  packed->max_score = FLT_MIN;
  for (const Piece& piece : spec.pieces) {
    packed->score.push_back(piece.score);
    if (piece.type != PieceType::kNormal) continue;
    least = std::min(least, piece.score);
    packed->max_score = std::max(packed->max_score, piece.score);
  }
  packed->unknown_score = (least == FLT_MAX ? 0 : least) - kUnknownPenalty;  // ByT5 has no normal piece
}

void pack_byte_ids(const TokenizerSpec& spec, PackedTokenizer* packed) {
  packed->byte_ids.assign(256, spec.unknown_id);
  for (uint32_t id = 0; id < spec.vocab_size; ++id) {
    const Piece& piece = spec.pieces[id];
    const auto byte = parse_byte_piece(piece.text);
    if (piece.type == PieceType::kByte && byte) packed->byte_ids[*byte] = id;
  }
}

bool is_task(const std::string& text) {
  return text == "<|translate|>" || text == "<|transcribe|>" || text == "<|nospeech|>" || text == "<|nocaptions|>" ||
         text == "<|startofprev|>";
}

// Returns what the detokenizer prints for a piece, except for U+2581; for an entry of a language or a task of Whisper,
// which prints nothing, its name, by which programs find it.
std::string printed_text(const TokenizerSpec& spec, const Piece& piece) {
  switch (piece.type) {
    case PieceType::kControl:
      return spec.byte_level && (is_language_entry(piece.text) || is_task(piece.text)) ? piece.text : "";
    case PieceType::kUnknown: return spec.unknown_surface + (spec.kind == TokenizerKind::kSubword ? " " : "");
    case PieceType::kByte:
      if (spec.byte_level) return piece.text;
      if (const auto byte = parse_byte_piece(piece.text)) return std::string(1, static_cast<char>(*byte));
      return "";
    default:
      if (spec.kind != TokenizerKind::kSubword) return piece.text;
      return piece.type == PieceType::kSurface ? piece.text + " " : symbol_of(piece);
  }
}
}  // namespace

bool is_language_entry(const std::string& text) {
  if (text.size() < 6 || text.size() > 7 || !text.starts_with("<|") || !text.ends_with("|>")) return false;
  return std::all_of(text.begin() + 2, text.end() - 2, [](char c) { return c >= 'a' && c <= 'z'; });
}

PackedTokenizer pack_tokenizer(const TokenizerSpec& given) {
  check(given);
  TokenizerSpec spec = with_merges(given);
  check_added_tokens(spec);
  set_types_of_added(spec);
  PackedTokenizer packed;
  packed.kind = spec.kind;
  packed.vocab_size = spec.vocab_size;
  packed.n_pieces = static_cast<uint32_t>(spec.pieces.size());
  pack_trie(spec, &packed);
  if (is_scored(spec.kind)) pack_scores(spec, &packed);
  for (const Piece& piece : spec.pieces) {
    packed.type.push_back(static_cast<uint8_t>(piece.type));
    packed.has_user_defined = packed.has_user_defined || piece.type == PieceType::kUserDefined;
  }
  if (spec.byte_fallback) pack_byte_ids(spec, &packed);
  Charsmap map = split_charsmap(spec.precompiled_charsmap, "tokenizer");
  packed.normalizer_trie = std::move(map.trie);
  packed.normalizer_text = std::move(map.text);
  packed.unknown_id = spec.unknown_id;
  packed.byte_fallback = spec.byte_fallback;
  packed.add_dummy_prefix = spec.add_dummy_prefix;
  packed.remove_extra_whitespace = spec.remove_extra_whitespace;
  packed.escape_whitespace = spec.escape_whitespace;
  packed.whitespace_as_suffix = spec.whitespace_as_suffix;
  packed.language_codes = spec.language_codes;
  pack_added_tokens(spec, packed);
  return packed;
}

PackedDetokenizer pack_detokenizer(const TokenizerSpec& spec) {
  check(spec);
  PackedDetokenizer packed;
  packed.kind = spec.kind;
  packed.n_pieces = spec.vocab_size;
  packed.add_dummy_prefix = spec.add_dummy_prefix;
  packed.remove_extra_whitespace = spec.remove_extra_whitespace;
  packed.text_offset.push_back(0);
  for (uint32_t id = 0; id < spec.vocab_size; ++id) {
    const Piece& piece = spec.pieces[id];
    packed.text += printed_text(spec, piece);
    if (packed.text.size() > INT32_MAX) throw Error("tokenizer: the pieces have more than {} bytes", INT32_MAX);
    packed.text_offset.push_back(static_cast<uint32_t>(packed.text.size()));
    packed.type.push_back(static_cast<uint8_t>(piece.type));
  }
  return packed;
}
}  // namespace goldcrest::converter
