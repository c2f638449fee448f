// SPDX-License-Identifier: Apache-2.0
// Computes once what SentencePiece computes each time it loads a model: tries, score bounds, byte ids.
#include "tokenizers/pack_tokenizer.h"

#include <algorithm>
#include <cfloat>

#include "base/bounds.h"
#include "model/tokenizer_view.h"
#include "spec/error.h"
#include "spec/subword_entry.h"
#include "tokenizers/byte_piece.h"
#include "tokenizers/charsmap.h"
#include "tokenizers/double_array_builder.h"
#include "tokenizers/pack_added_tokens.h"

namespace goldcrest::converter {
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
    case PieceType::kSurface:
      return piece.text.find('\0') == std::string::npos;
    default:
      return false;
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
  if (packed->max_piece_bytes > kMaxPieceBytes) {
    throw Error("tokenizer: a piece has {} bytes, expected at most {}", packed->max_piece_bytes, kMaxPieceBytes);
  }
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

// Returns what the detokenizer prints for a piece, except for U+2581; for an entry of a language, which prints nothing,
// its name, by which programs find it.
std::string printed_text(const TokenizerSpec& spec, const Piece& piece) {
  switch (piece.type) {
    case PieceType::kControl:
      return spec.byte_level && is_language_entry(piece.text) ? piece.text : "";
    case PieceType::kUnknown:
      return spec.unknown_surface + (spec.kind == TokenizerKind::kSubword ? " " : "");
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
