// SPDX-License-Identifier: Apache-2.0
// The file's layout: huggingface/tokenizers at v0.22, tokenizers/src/tokenizer/serialization.rs and src/decoders. The
// characters of bytes: transformers/convert_slow_tokenizer.py at v5.23, bytes_to_unicode.
#include <algorithm>
#include <array>
#include <map>
#include "dialects/speech/parts.h"
#include "host/printable.h"
#include "host/wording.h"
#include "sources/values/json_text.h"
#include "spec/error.h"
#include "tokenizers/byte_piece.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kNoByte = 256, kByteCharacters = 512;

// The byte that each code point below 512 stands for. Printable bytes stand for themselves, the others follow 255.
std::array<uint32_t, kByteCharacters> bytes_of_characters() {
  std::array<uint32_t, kByteCharacters> bytes;
  bytes.fill(kNoByte);
  uint32_t next = 256;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    bytes[is_printable ? byte : next++] = byte;
  }
  return bytes;
}

// Returns the bytes of an entry; nothing if a character stands for none.
std::optional<std::string> decode_bytes(const std::string& text) {
  static const std::array<uint32_t, kByteCharacters> kOfCharacter = bytes_of_characters();
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    uint32_t character = static_cast<uint8_t>(text[i]);
    if (character >= 0x80) {
      if ((character & 0xe0) != 0xc0 || i + 1 == text.size()) return std::nullopt;
      character = (character & 0x1f) << 6 | (static_cast<uint8_t>(text[++i]) & 0x3f);
    }
    if (character >= kByteCharacters || kOfCharacter[character] == kNoByte) return std::nullopt;
    bytes += static_cast<char>(kOfCharacter[character]);
  }
  return bytes;
}

bool is_written_as_special(const std::string& text) {
  return text.size() >= 4 && text.starts_with("<|") && text.ends_with("|>");
}

std::string type_of(const Value* part) {
  const Value* const type = part == nullptr ? nullptr : part->find("type");
  return type == nullptr || !type->is_text() ? "" : type->text();
}

// Throws Error unless the decoder, and all of a sequence's decoders, are among `known`.
void check_decoder(const std::string& where, const Value* decoder, const std::vector<std::string>& known) {
  if (decoder == nullptr || decoder->is_null()) return;
  const std::string type = type_of(decoder);
  const Value* const parts = decoder->find("decoders");
  if (type == "Sequence" && parts != nullptr && parts->is_list()) {
    for (const Value& part : *parts) check_decoder(where, &part, known);
    return;
  }
  if (std::ranges::find(known, type) != known.end()) return;
  throw Error("{}: the decoder {} is not supported here; expected {}", where, in_quotes(type),
      list_in_quotes(known, known.size()));
}
}  // namespace

Vocabulary read_tokenizer_json(const std::filesystem::path& path, uint32_t n_ids, SpeechText text) {
  const Value file = read_json_object(path);
  const std::string where = path.string();
  const Value* const model = file.find("model");
  const Value* const entries = model == nullptr ? nullptr : model->find("vocab");
  if (type_of(model) != "BPE" || entries == nullptr || !entries->is_map()) {
    throw Error(
        "{}: found a model of the type {}; expected \"BPE\" with a \"vocab\"", where, in_quotes(type_of(model)));
  }
  const bool is_byte_level = text == SpeechText::kByteLevel;
  check_decoder(where, file.find("decoder"),
      is_byte_level ? std::vector<std::string>{"ByteLevel"}
                    : std::vector<std::string>{"Replace", "ByteFallback", "Fuse", "Strip", "Metaspace"});
  Vocabulary vocabulary;
  vocabulary.where = where;
  vocabulary.id_to_text.resize(n_ids);
  for (const auto& [entry, id] : entries->members()) {
    if (!id.is_natural() || id.natural() >= n_ids) {
      throw Error("{}: {} has the id {}, expected one below {}, the rows of the model's table", where,
          in_quotes(printable(entry)), write_json(id), n_ids);
    }
    std::string& known = vocabulary.id_to_text[id.natural()];
    if (!known.empty()) {
      throw Error("{}: {} and {} have the same id, {}", where, in_quotes(printable(known)), in_quotes(printable(entry)),
          id.natural());
    }
    known = entry;
  }
  const Value* const added = file.find("added_tokens");
  for (const Value& token : added == nullptr ? Value::list() : *added) {
    const Value *const id = token.find("id"), *const content = token.find("content"),
                       *const special = token.find("special");
    if (id == nullptr || !id->is_natural() || content == nullptr || !content->is_text())
      throw Error("{}: \"added_tokens\" has an element without \"id\" and \"content\"", where);
    if (id->natural() >= n_ids) {
      throw Error("{}: {} has the id {}, expected one below {}, the rows of the model's table", where,
          in_quotes(content->text()), id->natural(), n_ids);
    }
    const auto place = static_cast<uint32_t>(id->natural());
    vocabulary.id_to_text[place] = content->text();
    vocabulary.added_ids.push_back(place);
    if (special != nullptr && special->is_flag() && special->flag()) vocabulary.control_ids.push_back(place);
  }
  return vocabulary;
}

TokenizerSpec speech_tokenizer(const Vocabulary& vocabulary, uint32_t n_ids, SpeechText text) {
  const bool is_byte_level = text == SpeechText::kByteLevel;
  TokenizerSpec spec;
  spec.kind = TokenizerKind::kBpe;
  spec.vocab_size = n_ids;
  spec.byte_level = is_byte_level;
  spec.byte_fallback = true;
  spec.add_dummy_prefix = !is_byte_level;
  spec.remove_extra_whitespace = false;
  spec.unknown_id = vocabulary.unknown_id;
  spec.unknown_surface = "";
  std::vector<uint32_t> control = vocabulary.control_ids;
  std::ranges::sort(control);
  for (uint32_t id = 0; id < n_ids; ++id) {
    const std::string& entry = vocabulary.id_to_text[id];
    if (entry.empty() || std::ranges::binary_search(control, id) || is_written_as_special(entry)) {
      spec.pieces.push_back({entry, 0, PieceType::kControl});
    } else if (std::ranges::find(vocabulary.added_ids, id) != vocabulary.added_ids.end()) {
      spec.pieces.push_back({entry, 0, is_byte_level ? PieceType::kByte : PieceType::kNormal});
    } else if (is_byte_level) {
      const std::optional<std::string> bytes = decode_bytes(entry);
      if (!bytes) {
        throw Error("{}: entry {} is {}, which has a character that stands for no byte", vocabulary.where, id,
            in_quotes(printable(entry)));
      }
      spec.pieces.push_back({*bytes, 0, PieceType::kByte});
    } else {
      spec.pieces.push_back({entry, 0, parse_byte_piece(entry) ? PieceType::kByte : PieceType::kNormal});
    }
  }
  return spec;
}
}  // namespace goldcrest::converter
