// SPDX-License-Identifier: Apache-2.0
#include "dialects/hugging_face/added_tokens.h"

#include <algorithm>
#include <set>

#include "dialects/hugging_face/side_files.h"
#include "dialects/hugging_face/special_texts.h"
#include "dialects/text/tokenizer_json.h"
#include "sources/messages/messages.h"
#include "sources/values/json_text.h"
#include "spec/error.h"
#include "spec/id_list.h"
#include "tokenizers/byte_piece.h"

namespace goldcrest::converter {
namespace {

constexpr uint32_t kMaxEntries = 1u << 24;

std::vector<AddedToken> read_decoder(const Config& config) {
  std::vector<AddedToken> tokens;
  const Value* decoder = config.find("added_tokens_decoder");
  if (decoder == nullptr || !decoder->is_map()) return tokens;
  for (const auto& [key, entry] : decoder->members()) {
    const IdList id = read_id_list(key, kMaxEntries);
    if (id.ids.size() != 1 || !id.bad.empty() || !entry.is_map()) continue;
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
  for (const auto& [text, id] : read_json_object(path).members()) {
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
  if (byte && token.text == std::string(1, static_cast<char>(*byte))) return;  // ByT5 has it
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
