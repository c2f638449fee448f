// SPDX-License-Identifier: Apache-2.0
// Tokenizers of T5's families: SentencePiece's own ids with sentinels after them, or bytes
// (transformers/models/{t5/tokenization_t5.py,byt5/tokenization_byt5.py} at v4.57).
#include <algorithm>
#include <cctype>
#include <optional>
#include "base/bounds.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/hugging_face/special_tokens.h"
#include "dialects/hugging_face/t5.h"
#include "host/wording.h"
#include "spec/error.h"
#include "tokenizers/segmenter.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kUsualSentinels = 100;  // the default of extra_ids
// ByT5's entries: <pad>, </s>, <unk>, the bytes, and as many sentinels as its published models have.
constexpr uint32_t kFirstByte = 3, kBytes = 256, kByteSentinels = 125;

Piece control(std::string text) { return {std::move(text), 0, PieceType::kControl}; }
std::string sentinel(uint32_t i) { return format_text("<extra_id_{}>", i); }

// All 256 bytes, without any change of a text.
TokenizerSpec byte_tokenizer(uint32_t vocab_size) {
  TokenizerSpec tokenizer;
  tokenizer.kind = TokenizerKind::kBpe;
  tokenizer.vocab_size = vocab_size;
  tokenizer.byte_fallback = true;
  tokenizer.add_dummy_prefix = tokenizer.remove_extra_whitespace = tokenizer.escape_whitespace = false;
  tokenizer.unknown_id = 2;
  tokenizer.unknown_surface = "";
  tokenizer.pieces = {control("<pad>"), control("</s>"), {"<unk>", 0, PieceType::kUnknown}};
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (uint32_t byte = 0; byte < kBytes; ++byte)
    tokenizer.pieces.push_back(
        {std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">", 0, PieceType::kByte});
  for (uint32_t i = 0; tokenizer.pieces.size() < vocab_size; ++i)
    tokenizer.pieces.push_back(control(i < kByteSentinels ? sentinel(i) : ""));
  return tokenizer;
}

// Rows after the last entry that the tokenizer knows are padding of the table.
void pad_entries(uint32_t vocab_size, TokenizerSpec& tokenizer) {
  while (tokenizer.pieces.size() < vocab_size) tokenizer.pieces.push_back(control(""));
  tokenizer.vocab_size = vocab_size;
}

// Returns the id of the last entry with a name, plus 1.
uint32_t add_sentinels(uint32_t n_sentinels, uint32_t vocab_size, TokenizerSpec& tokenizer) {
  const uint32_t n_pieces = tokenizer.vocab_size;
  // A table without room for all of them has none (mT5).
  const uint32_t named = n_pieces + n_sentinels <= vocab_size ? n_pieces + n_sentinels : n_pieces;
  for (uint32_t id = n_pieces; id < named; ++id) tokenizer.pieces.push_back(control(sentinel(named - 1 - id)));
  pad_entries(vocab_size, tokenizer);
  return named;
}

// Returns the xx of MADLAD's entries <2xx>; else "".
std::string target_of(const Piece& piece) {
  constexpr std::string_view kBefore = "<2";
  const std::string& text = piece.text;
  if (piece.type != PieceType::kUserDefined || !text.starts_with(kBefore) || !text.ends_with(">")) return "";
  std::string code = text.substr(kBefore.size(), text.size() - kBefore.size() - 1);
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  return std::ranges::all_of(code, fits) ? code : "";
}

// Reads MADLAD's target languages, which stand before a text as the tokenizer cuts "<2xx> text": after a piece of a
// space. The entries are user-defined, so that every text may contain one.
void read_targets(const TokenizerSpec& tokenizer, LanguagesSpec& languages) {
  for (uint32_t id = 0; id < tokenizer.vocab_size; ++id) {
    std::string code = target_of(tokenizer.pieces[id]);
    if (!code.empty()) languages.entries.push_back({std::move(code), std::nullopt, id});
  }
  if (languages.entries.empty()) return;
  std::vector<int32_t> ids = Segmenter(tokenizer).encode("<2" + languages.entries[0].code + ">");
  ids.pop_back();
  languages.introduction = {ids.begin(), ids.end()};
  languages.target_place = LanguagePlace::kBeforeText;
}

// T5Tokenizer finds its sentinels even if no file lists them.
std::vector<AddedToken> with_sentinels(const TokenizerSpec& tokenizer, std::vector<AddedToken> tokens) {
  for (uint32_t id = 0; id < tokenizer.vocab_size; ++id) {
    const std::string& text = tokenizer.pieces[id].text;
    const bool is_listed = std::ranges::find(tokens, id, &AddedToken::id) != tokens.end();
    if (!is_listed && text.starts_with("<extra_id_") && tokenizer.pieces[id].type == PieceType::kControl)
      tokens.push_back({text, id, false, false, false, false, true});
  }
  return tokens;
}

std::string end_text(const Checkpoint& checkpoint) {
  return read_special_texts(side_config(checkpoint, "tokenizer_config.json"), {"<unk>", "</s>", "<pad>"}).end;
}
}  // namespace

bool reads_bytes(const Checkpoint& checkpoint) {
  const Config tokenizer = side_config(checkpoint, "tokenizer_config.json");
  const std::string own = checkpoint.config.text_or("tokenizer_class", "");
  if (tokenizer.text_or("tokenizer_class", own).starts_with("ByT5Tokenizer")) return true;
  return !TextFiles(checkpoint, "spiece.model").has_any() &&
         checkpoint.config.count_or("vocab_size", 0, 0, UINT32_MAX) == kFirstByte + kBytes + kByteSentinels;
}

uint32_t chronos_positions(const Config& config) {
  const Value* settings = config.find("chronos_config");
  if (settings == nullptr) return 0;
  return Config(*settings, config.where("chronos_config"), {}).count("context_length", 1, kMaxPositions - 1) + 1;
}

void read_t5_text(const Checkpoint& checkpoint, uint32_t vocab_size, ModelSpec& spec) {
  spec.generation.source_suffix = {spec.generation.end_id};
  if (chronos_positions(checkpoint.config) != 0) return;
  if (reads_bytes(checkpoint)) {
    if (vocab_size < kFirstByte + kBytes) {
      throw Error("{} is {}, expected at least {}: ByT5 has an entry for each byte behind three others",
          checkpoint.config.where("vocab_size"), vocab_size, kFirstByte + kBytes);
    }
    TokenizerSpec bytes = byte_tokenizer(vocab_size);
    bytes.added_by_items = true;
    set_added_tokens(checkpoint, read_added_tokens(checkpoint), {}, bytes);
    spec.source_tokenizer = spec.target_tokenizer = std::move(bytes);
    spec.generation.unknown_id = 2;
    return;
  }
  TextFiles files(checkpoint, "spiece.model");
  if (checkpoint.is_shape && !files.has_any()) return;
  TokenizerSpec tokenizer;
  uint32_t named = 0;
  if (files.has_pieces()) {
    tokenizer = read_sentencepiece_model(files.pieces());
    require_room(files.pieces(), tokenizer.vocab_size, vocab_size);
    const Config settings = side_config(checkpoint, "tokenizer_config.json");
    named = add_sentinels(settings.count_or("extra_ids", kUsualSentinels, 0, 1000), vocab_size, tokenizer);
    spec.tokenizer_files = {files.pieces()};
    set_added_tokens(checkpoint, with_sentinels(tokenizer, read_added_tokens(checkpoint)), {}, tokenizer);
    files.compare(tokenizer, spec.warnings);
  } else {
    const std::optional<TokenizerSpec> read = files.read_json(spec, AroundText{{}, {end_text(checkpoint)}});
    if (!read) return;
    tokenizer = *read;
    while (tokenizer.pieces.size() > vocab_size && tokenizer.pieces.back().type == PieceType::kControl)
      tokenizer.pieces.pop_back();
    named = static_cast<uint32_t>(tokenizer.pieces.size());
    require_room(files.json(), named, vocab_size);
    pad_entries(vocab_size, tokenizer);
    set_added_tokens(checkpoint, std::move(tokenizer.added), {}, tokenizer);
  }
  for (uint32_t id = named; id < vocab_size; ++id)
    if (tokenizer.pieces[id].text.empty()) spec.generation.suppressed_ids.push_back(id);
  spec.generation.unknown_id = tokenizer.unknown_id;
  read_targets(tokenizer, spec.languages);
  spec.source_tokenizer = spec.target_tokenizer = std::move(tokenizer);
}
}  // namespace goldcrest::converter
