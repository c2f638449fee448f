// SPDX-License-Identifier: Apache-2.0
#include "dialects/hugging_face/special_tokens.h"
#include <algorithm>
#include <set>
#include "dialects/hugging_face/side_files.h"
#include "dialects/text/tokenizer_json.h"
#include "dialects/text/vocabulary_file.h"
#include "host/text_lines.h"
#include "host/wording.h"
#include "sources/values/json_text.h"
#include "spec/error.h"
#include "tokenizers/byte_piece.h"

namespace goldcrest::converter {
namespace {
constexpr uint32_t kMaxEntries = 1u << 24;

// Reads a setting that is a text, or an object with its text as "content".
std::string token_text(const Config& tokenizer, const char* key, const std::string& usual) {
  const Value* value = tokenizer.find(key);
  if (value != nullptr && value->is_map()) return tokenizer.object_or_empty(key).text_or("content", usual);
  return tokenizer.text_or(key, usual);
}

// A special token: its text in the vocabulary, and the setting with its id.
struct SpecialToken {
  const char* role;
  std::string text;
  const char* setting;
  uint32_t id;
};

// Names the token, and both ids with their files.
std::string describe_contradiction(
    const Checkpoint& checkpoint, const Vocabulary& vocabulary, uint32_t found, const SpecialToken& token) {
  const Config generation = side_config(checkpoint, "generation_config.json");
  const Config& home = generation.has(token.setting) ? generation : checkpoint.config;
  const std::string& other = vocabulary.id_to_text[token.id];
  return format_text("{}: {} {} has the id {}, but {} is {}{}", vocabulary.where, token.role, in_quotes(token.text),
      found, home.where(token.setting), token.id,
      other.empty() ? ", which has no text" : ", which is " + in_quotes(other));
}

std::vector<AddedToken> read_decoder(const Config& config) {
  std::vector<AddedToken> tokens;
  const Value* decoder = config.find("added_tokens_decoder");
  if (decoder == nullptr || !decoder->is_map()) return tokens;
  for (const auto& [key, entry] : decoder->members()) {
    const ParsedIds id = read_id_list(key, kMaxEntries);
    if (id.ids.size() != 1 || !id.bad.empty() || !entry.is_map())
      throw Error("{}: {} is not an id with an object", config.where("added_tokens_decoder"), in_quotes(key));
    tokens.push_back(
        parse_added_token(Config(entry, config.where(key), config.path()), static_cast<uint32_t>(id.ids[0])));
  }
  return tokens;
}

std::vector<AddedToken> read_list(const Config& json) {
  std::vector<AddedToken> tokens;
  const Value* list = json.find("added_tokens");
  for (size_t i = 0; list != nullptr && list->is_list() && i < list->size(); ++i) {
    const Config entry((*list)[i], json.where("added_tokens"), json.path());
    tokens.push_back(parse_added_token(entry, entry.count("id", 0, kMaxEntries)));
  }
  return tokens;
}

// The oldest form has ids by text, without flags.
std::vector<AddedToken> read_ids(const std::filesystem::path& path) {
  std::vector<AddedToken> tokens;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return tokens;
  const Value ids = read_json_object(path);
  for (const auto& [text, id] : ids.members()) {
    if (!id.is_natural() || id.natural() > kMaxEntries)
      throw Error("{}: the id of {} is no integer from 0 to {}", path.string(), in_quotes(text), kMaxEntries);
    tokens.push_back({text, static_cast<uint32_t>(id.natural())});
  }
  return tokens;
}

std::set<std::string> texts_with_roles(const Config& config) {
  std::set<std::string> texts = {"<unk>", "<s>", "</s>", "<pad>", "<mask>"};
  for (const char* key : {"unk_token", "bos_token", "eos_token", "pad_token", "cls_token", "sep_token", "mask_token"})
    texts.insert(token_text(config, key, ""));
  return texts;
}

// Names the entry of a token in the vocabulary.
void name_entry(const std::string& where, const AddedToken& token, TokenizerSpec& tokenizer) {
  if (token.id >= tokenizer.vocab_size) {
    throw Error(
        "{}: the added token {} has the id {}, but the checkpoint's vocabulary has {} entries; expected "
        "model.resize_token_embeddings(len(tokenizer)) before model and tokenizer were saved",
        where, in_quotes(token.text), token.id, tokenizer.vocab_size);
  }
  Piece& piece = tokenizer.pieces[token.id];
  const auto byte = parse_byte_piece(piece.text);
  if (byte && token.text == std::string(1, static_cast<char>(*byte))) return;  // an entry of ByT5
  if (!piece.text.empty() && piece.text != token.text) {
    throw Error(
        "{}: the added token {} has the id {}, which the vocabulary gives to {}; copy all files of the tokenizer "
        "from one folder",
        where, in_quotes(token.text), token.id, in_quotes(piece.text));
  }
  if (piece.text.empty()) piece = {token.text, 0, PieceType::kSurface};
  if (token.special) piece.type = PieceType::kControl;
}
}  // namespace

SpecialTexts read_special_texts(const Config& tokenizer, const SpecialTexts& usual) {
  return {token_text(tokenizer, "unk_token", usual.unknown), token_text(tokenizer, "eos_token", usual.end),
      token_text(tokenizer, "pad_token", usual.pad)};
}

void check_special_ids(
    const Checkpoint& checkpoint, const Vocabulary& targets, const SpecialTexts& special, ModelSpec& spec) {
  const GenerationSpec& search = spec.generation;
  const std::vector<uint32_t>& more_ends = search.rules.more_end_ids;
  const auto end = find_id(targets, special.end);
  if (end && *end != search.end_id && std::ranges::find(more_ends, *end) == more_ends.end()) {
    throw Error("{}; expected the same id in both: copy both files from where the checkpoint came from",
        describe_contradiction(
            checkpoint, targets, *end, {"the end token", special.end, "eos_token_id", search.end_id}));
  }
  const auto pad = find_id(targets, special.pad);
  if (!pad || !search.pad_id || *pad == *search.pad_id) return;
  spec.warnings.push_back(describe_contradiction(checkpoint, targets, *pad,
                              {"the padding token", special.pad, "pad_token_id", *search.pad_id}) +
                          "; if texts come out wrong, copy both files from where the checkpoint came from");
}

std::vector<AddedToken> read_added_tokens(const Checkpoint& checkpoint) {
  std::vector<AddedToken> tokens = read_decoder(side_config(checkpoint, "tokenizer_config.json"));
  if (tokens.empty()) tokens = read_list(side_config(checkpoint, "tokenizer.json"));
  if (tokens.empty()) tokens = read_ids(side_file(checkpoint, "added_tokens.json"));
  std::ranges::sort(tokens, {}, &AddedToken::id);
  return tokens;
}

void set_added_tokens(const Checkpoint& checkpoint, std::vector<AddedToken> tokens, const LanguagesSpec& languages,
    TokenizerSpec& tokenizer) {
  const std::set<std::string> roles = texts_with_roles(side_config(checkpoint, "tokenizer_config.json"));
  std::erase_if(tokens, [&](const AddedToken& token) {
    const auto is_it = [&token](const Language& entry) { return entry.source == token.id || entry.target == token.id; };
    // A table without a row for a special token has none of its kind (mT5's sentinels).
    return roles.contains(token.text) || std::ranges::any_of(languages.entries, is_it) ||
           (token.special && token.id >= tokenizer.vocab_size);
  });
  for (const AddedToken& token : tokens) name_entry(checkpoint.directory.string(), token, tokenizer);
  tokenizer.added = std::move(tokens);
}
}  // namespace goldcrest::converter
