// SPDX-License-Identifier: Apache-2.0
// The list decides ids and the unknown id; the model, if there is one, decides types and scores.
#include "tokenizers/vocabulary.h"
#include <algorithm>
#include <unordered_map>
#include "base/bounds.h"
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
void check_vocabulary(const Vocabulary& vocabulary) {
  const size_t n = vocabulary.id_to_text.size();
  if (n == 0) throw Error("{}: no entries", vocabulary.where);
  if (n > INT32_MAX) throw Error("{}: {} entries are too many", vocabulary.where, n);
  if (vocabulary.unknown_id >= n)
    throw Error("{}: the unknown id is {}, expected below the {} entries", vocabulary.where, vocabulary.unknown_id, n);
  for (const uint32_t id : vocabulary.control_ids)
    if (id >= n) throw Error("{}: the special id {} is not below the {} entries", vocabulary.where, id, n);
  std::unordered_map<std::string_view, size_t> ids;
  for (size_t id = 0; id < n; ++id) {
    const std::string& text = vocabulary.id_to_text[id];
    if (text.size() > kMaxPieceBytes) {
      throw Error("{}: the entry of id {}, {}, has {} bytes, expected at most {}", vocabulary.where, id,
          in_quotes(text), text.size(), kMaxPieceBytes);
    }
    const auto [place, is_new] = ids.try_emplace(text, id);
    if (!is_new && !text.empty())
      throw Error("{}: the ids {} and {} have the same text {}", vocabulary.where, place->second, id, in_quotes(text));
  }
}

// Returns the type of an entry for which there is no SentencePiece model.
PieceType listed_type(const Vocabulary& vocabulary, uint32_t id, PieceType otherwise) {
  const std::vector<uint32_t>& control = vocabulary.control_ids;
  if (id == vocabulary.unknown_id) return PieceType::kUnknown;
  if (vocabulary.id_to_text[id].empty()) return PieceType::kControl;
  return std::find(control.begin(), control.end(), id) != control.end() ? PieceType::kControl : otherwise;
}

bool is_language_code(const std::string& text) {
  return text.size() > 4 && text.starts_with(">>") && text.ends_with("<<");
}

TokenizerSpec list_tokenizer(const Vocabulary& vocabulary, TokenizerKind kind) {
  check_vocabulary(vocabulary);
  TokenizerSpec spec;
  spec.kind = kind;
  spec.vocab_size = static_cast<uint32_t>(vocabulary.id_to_text.size());
  spec.unknown_id = vocabulary.unknown_id;
  spec.add_dummy_prefix = spec.remove_extra_whitespace = spec.escape_whitespace = false;
  spec.unknown_surface = "\u2047";
  for (uint32_t id = 0; id < spec.vocab_size; ++id)
    spec.pieces.push_back({vocabulary.id_to_text[id], 0, listed_type(vocabulary, id, PieceType::kNormal)});
  return spec;
}
}  // namespace

TokenizerSpec combine_with_vocabulary(const TokenizerSpec& model, const Vocabulary& vocabulary) {
  check_vocabulary(vocabulary);
  std::unordered_map<std::string_view, const Piece*> left;  // the model's pieces that are not yet in the vocabulary
  for (const Piece& piece : model.pieces) left.emplace(piece.text, &piece);

  TokenizerSpec spec = model;
  spec.pieces.clear();
  spec.vocab_size = static_cast<uint32_t>(vocabulary.id_to_text.size());
  spec.unknown_id = vocabulary.unknown_id;
  for (uint32_t id = 0; id < spec.vocab_size; ++id) {
    const std::string& text = vocabulary.id_to_text[id];
    const auto of_model = left.find(text);
    if (of_model == left.end()) {
      spec.pieces.push_back({text, 0, listed_type(vocabulary, id, PieceType::kSurface)});
    } else {
      spec.pieces.push_back(*of_model->second);
      left.erase(of_model);
    }
    spec.language_codes = spec.language_codes || is_language_code(text);
  }
  for (const Piece& piece : model.pieces) {
    const bool proposed =
        piece.type == PieceType::kNormal || piece.type == PieceType::kUserDefined || piece.type == PieceType::kUnused;
    if (proposed && left.contains(piece.text)) spec.pieces.push_back(piece);
  }
  return spec;
}

TokenizerSpec word_tokenizer(const Vocabulary& vocabulary) { return list_tokenizer(vocabulary, TokenizerKind::kWord); }

TokenizerSpec subword_tokenizer(const SubwordCodes& codes, const Vocabulary& vocabulary) {
  TokenizerSpec spec = list_tokenizer(vocabulary, TokenizerKind::kSubword);
  spec.add_dummy_prefix = spec.whitespace_as_suffix = spec.remove_extra_whitespace = true;
  spec.merges = codes.merges;
  spec.word_end_apart = codes.word_end_apart;
  for (uint32_t id = 0; id < spec.vocab_size; ++id) {
    Piece& piece = spec.pieces[id];
    if (piece.type != PieceType::kNormal) continue;
    if (piece.text.find(' ') != std::string::npos) {
      throw Error("{}: the entry of id {}, {}, has a space; subword-nmt's have none", vocabulary.where, id,
          in_quotes(piece.text));
    }
    if (is_language_code(piece.text)) piece.type = PieceType::kSurface;
    spec.language_codes = spec.language_codes || piece.type == PieceType::kSurface;
  }
  const auto is_of_words = [](const Piece& piece) { return piece.type == PieceType::kNormal; };
  if (std::none_of(spec.pieces.begin(), spec.pieces.end(), is_of_words)) {
    throw Error("{}: none of its {} entries is a word or a part of one: they are special tokens and language codes",
        vocabulary.where, spec.vocab_size);
  }
  return spec;
}

TokenizerSpec character_tokenizer(const Vocabulary& vocabulary) {
  return list_tokenizer(vocabulary, TokenizerKind::kCharacter);
}
}  // namespace goldcrest::converter
