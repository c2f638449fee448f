// SPDX-License-Identifier: Apache-2.0
// sentencepiece_model.proto at v0.1.97 gives the field numbers; model_interface.cc (InitializePieces) lists what a
// model must have.
#include "tokenizers/sentencepiece_model.h"
#include <array>
#include <bit>
#include <cmath>
#include <unordered_set>
#include "base/bounds.h"
#include "host/printable.h"
#include "host/wording.h"
#include "sources/files/input_file.h"
#include "spec/error.h"
#include "text/utf8.h"
#include "tokenizers/byte_piece.h"
#include "tokenizers/charsmap.h"

namespace goldcrest::converter {
void ProtobufField::require(WireType expected, const std::string& where) const {
  if (type == expected) return;
  throw Error("{}: field {} has wire type {}, expected {}: this is not a SentencePiece model, or it is damaged", where,
      number, static_cast<int>(type), static_cast<int>(expected));
}

bool ProtobufField::as_bool(const std::string& where) const { return as_integer(where) != 0; }

uint64_t ProtobufField::as_integer(const std::string& where) const {
  require(WireType::kVarint, where);
  return integer;
}

float ProtobufField::as_float(const std::string& where) const {
  require(WireType::kFixed32, where);
  return std::bit_cast<float>(static_cast<uint32_t>(integer));
}

std::string_view ProtobufField::as_bytes(const std::string& where) const {
  require(WireType::kBytes, where);
  return bytes;
}

void ProtobufReader::require_bytes(uint64_t n) const {
  if (n <= rest_.size()) return;
  throw Error(
      "{}: a field needs {} bytes where {} are left: the file is truncated or no SentencePiece model; "
      "download it again",
      where_, n, rest_.size());
}

uint64_t ProtobufReader::read_little_endian(size_t n_bytes) {
  require_bytes(n_bytes);
  uint64_t value = 0;
  for (size_t i = 0; i < n_bytes; ++i) value |= uint64_t{static_cast<uint8_t>(rest_[i])} << (8 * i);
  rest_.remove_prefix(n_bytes);
  return value;
}

uint64_t ProtobufReader::read_varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint64_t byte = read_little_endian(1);
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw Error("{}: a number has more than ten bytes: this is not a SentencePiece model, or it is damaged", where_);
}

bool ProtobufReader::next(ProtobufField* field) {
  if (rest_.empty()) return false;
  const uint64_t tag = read_varint();
  *field = {};
  field->type = static_cast<WireType>(tag & 7);
  field->number = static_cast<uint32_t>(tag >> 3);
  if (field->number == 0 || tag >> 32 != 0)
    throw Error("{}: a field has the number {}: this is not a SentencePiece model, or it is damaged", where_, tag >> 3);
  switch (field->type) {
    case WireType::kVarint: field->integer = read_varint(); return true;
    case WireType::kFixed64: field->integer = read_little_endian(8); return true;
    case WireType::kFixed32: field->integer = read_little_endian(4); return true;
    case WireType::kBytes: {
      const uint64_t n = read_varint();
      require_bytes(n);
      field->bytes = rest_.substr(0, n);
      rest_.remove_prefix(n);
      return true;
    }
  }
  throw Error("{}: field {} has the unknown wire type {}: this is not a SentencePiece model, or it is damaged", where_,
      field->number, tag & 7);
}

namespace {
constexpr uint64_t kMaxFileBytes = uint64_t{256} << 20;

enum ModelType : uint64_t { kModelUnigram = 1, kModelBpe = 2, kModelWord = 3, kModelCharacter = 4 };

struct Parsed {
  TokenizerSpec spec;
  uint64_t model_type = kModelUnigram;
  bool has_trainer = false, has_normalizer = false;
};

bool is_one_char(const std::string& text) { return char_bytes(static_cast<uint8_t>(text[0])) == text.size(); }

static_assert(static_cast<int>(PieceType::kNormal) == 1 && static_cast<int>(PieceType::kByte) == 6,
    "the numbers of sentencepiece_model.proto");

Piece parse_piece(std::string_view message, const std::string& where, size_t id) {
  Piece piece;
  ProtobufReader reader(message, where);
  for (ProtobufField field; reader.next(&field);) {
    if (field.number == 1) piece.text = field.as_bytes(where);
    if (field.number == 2) piece.score = field.as_float(where);
    if (field.number == 3) {
      const uint64_t type = field.as_integer(where);
      if (type < 1 || type > 6) throw Error("{}: piece {} has the type {}, expected 1 to 6", where, id, type);
      piece.type = static_cast<PieceType>(type);
    }
  }
  if (piece.text.empty()) throw Error("{}: piece {} has no text: the file is damaged", where, id);
  if (piece.text.size() > kMaxPieceBytes)
    throw Error("{}: piece {} has {} bytes, expected at most {}", where, id, piece.text.size(), kMaxPieceBytes);
  if (!is_utf8(piece.text) || piece.text.find('\0') != std::string::npos) {
    throw Error(
        "{}: piece {}, {}, is not UTF-8 or has a NUL byte: the file is damaged", where, id, in_quotes(piece.text));
  }
  if (!(std::abs(piece.score) <= kMaxPieceScore)) {
    throw Error("{}: piece {}, {}, has the score {}, expected a number from {} to {}", where, id, in_quotes(piece.text),
        piece.score, -kMaxPieceScore, kMaxPieceScore);
  }
  return piece;
}

void parse_trainer(std::string_view message, const std::string& where, Parsed* parsed) {
  ProtobufReader reader(message, where);
  for (ProtobufField field; reader.next(&field);) {
    if (field.number == 3) parsed->model_type = field.as_integer(where);
    if (field.number == 24) parsed->spec.whitespace_as_suffix = field.as_bool(where);
    if (field.number == 35) parsed->spec.byte_fallback = field.as_bool(where);
    if (field.number == 44) parsed->spec.unknown_surface = field.as_bytes(where);
  }
  parsed->has_trainer = true;
}

void parse_normalizer(std::string_view message, const std::string& where, Parsed* parsed) {
  ProtobufReader reader(message, where);
  for (ProtobufField field; reader.next(&field);) {
    if (field.number == 2) parsed->spec.precompiled_charsmap = field.as_bytes(where);
    if (field.number == 3) parsed->spec.add_dummy_prefix = field.as_bool(where);
    if (field.number == 4) parsed->spec.remove_extra_whitespace = field.as_bool(where);
    if (field.number == 5) parsed->spec.escape_whitespace = field.as_bool(where);
  }
  split_charsmap(parsed->spec.precompiled_charsmap, where);  // only for its checks
  parsed->has_normalizer = true;
}

void refuse_denormalizer(std::string_view message, const std::string& where) {
  ProtobufReader reader(message, where);
  for (ProtobufField field; reader.next(&field);) {
    if (field.number == 2 && !field.as_bytes(where).empty()) {
      throw Error(
          "{}: the model rewrites its output (denormalizer_spec.precompiled_charsmap), which is not supported", where);
    }
  }
}

void check_pieces(const TokenizerSpec& spec, const std::string& where) {
  std::unordered_set<std::string_view> texts;
  std::array<bool, 256> has_byte = {};
  size_t n_unknown = 0, n_normal = 0;
  for (size_t id = 0; id < spec.pieces.size(); ++id) {
    const Piece& piece = spec.pieces[id];
    if (!texts.insert(piece.text).second) throw Error("{}: the piece {} occurs twice", where, in_quotes(piece.text));
    n_unknown += piece.type == PieceType::kUnknown;
    n_normal += piece.type == PieceType::kNormal;
    if (piece.type != PieceType::kByte) continue;
    const std::optional<uint8_t> byte = parse_byte_piece(piece.text);
    if (!byte)
      throw Error("{}: the byte piece {} of id {}: expected <0x00> to <0xFF>", where, in_quotes(piece.text), id);
    has_byte[*byte] = true;
  }
  if (n_unknown != 1) throw Error("{}: {} pieces are of the type unknown, expected one", where, n_unknown);
  if (n_normal == 0) throw Error("{}: none of {} pieces is an ordinary one", where, spec.pieces.size());
  for (size_t byte = 0; spec.byte_fallback && byte < 256; ++byte)
    if (!has_byte[byte]) throw Error("{}: byte_fallback is set and the piece <0x{:02X}> is missing", where, byte);
}

TokenizerKind tokenizer_kind(const Parsed& parsed, const std::string& where) {
  switch (parsed.model_type) {
    case kModelUnigram: return TokenizerKind::kUnigram;
    case kModelBpe: return TokenizerKind::kBpe;
    case kModelCharacter:
      for (const Piece& piece : parsed.spec.pieces) {
        if (piece.type == PieceType::kNormal && !is_one_char(piece.text)) {
          throw Error(
              "{}: the piece {} of a character model has more than one character", where, in_quotes(piece.text));
        }
      }
      return TokenizerKind::kBpe;
    case kModelWord:
      throw Error(
          "{}: SentencePiece models of whole words (model_type WORD) are not supported; unigram, BPE and "
          "character models are",
          where);
    default:
      throw Error("{}: trainer_spec.model_type is {}, expected 1 (unigram), 2 (BPE) or 4 (character)", where,
          parsed.model_type);
  }
}
}  // namespace

TokenizerSpec parse_sentencepiece_model(std::string_view bytes, const std::string& where) {
  Parsed parsed;
  ProtobufReader reader(bytes, where);
  for (ProtobufField field; reader.next(&field);) {
    if (field.number == 1)
      parsed.spec.pieces.push_back(parse_piece(field.as_bytes(where), where, parsed.spec.pieces.size()));
    if (field.number == 2) parse_trainer(field.as_bytes(where), where, &parsed);
    if (field.number == 3) parse_normalizer(field.as_bytes(where), where, &parsed);
    if (field.number == 5) refuse_denormalizer(field.as_bytes(where), where);
  }
  TokenizerSpec& spec = parsed.spec;
  if (spec.pieces.empty()) throw Error("{}: no pieces: this is not a SentencePiece model", where);
  if (!parsed.has_trainer || !parsed.has_normalizer) {
    throw Error("{}: {} is missing after {} pieces: the file is truncated; download it again", where,
        parsed.has_trainer ? "normalizer_spec" : "trainer_spec", spec.pieces.size());
  }
  check_pieces(spec, where);
  spec.kind = tokenizer_kind(parsed, where);
  spec.vocab_size = static_cast<uint32_t>(spec.pieces.size());
  while (spec.pieces[spec.unknown_id].type != PieceType::kUnknown) ++spec.unknown_id;
  return spec;
}

TokenizerSpec read_sentencepiece_model(const std::filesystem::path& path) {
  return parse_sentencepiece_model(read_small_file(path, kMaxFileBytes), path.string());
}

std::string read_model_prefix(const std::filesystem::path& path) {
  const std::string bytes = read_small_file(path, kMaxFileBytes), where = path.string();
  std::string prefix;
  ProtobufReader reader(bytes, where);
  for (ProtobufField field; reader.next(&field);) {
    if (field.number != 2) continue;
    ProtobufReader trainer(field.as_bytes(where), where);
    for (ProtobufField setting; trainer.next(&setting);)
      if (setting.number == 2) prefix = setting.as_bytes(where);
  }
  return prefix;
}
}  // namespace goldcrest::converter
