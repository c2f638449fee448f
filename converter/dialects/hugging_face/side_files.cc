// SPDX-License-Identifier: Apache-2.0
#include "dialects/hugging_face/side_files.h"
#include "dialects/text/tokenizer_json.h"
#include "host/wording.h"
#include "sources/values/value.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
bool has_entry(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error) || std::filesystem::is_symlink(path, error);
}
}  // namespace

std::filesystem::path side_file(const Checkpoint& checkpoint, const char* name) {
  std::error_code error;
  const std::filesystem::path beside_config = checkpoint.config.path().parent_path() / name;
  const bool is_there =
      !std::filesystem::exists(checkpoint.directory / name, error) && std::filesystem::exists(beside_config, error);
  return is_there ? beside_config : checkpoint.directory / name;
}

Config side_config(const Checkpoint& checkpoint, const char* name) {
  const std::filesystem::path path = side_file(checkpoint, name);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return Config(Value::map(), path.string(), path);
  return Config(path);
}

TextFiles::TextFiles(const Checkpoint& checkpoint, const char* pieces_name)
    : pieces_(side_file(checkpoint, pieces_name)),
      json_(side_file(checkpoint, "tokenizer.json")),
      has_pieces_(has_entry(pieces_)),
      has_json_(has_entry(json_)) {}

std::optional<TokenizerSpec> TextFiles::read_json(ModelSpec& spec, const std::optional<AroundText>& expected) const {
  if (!has_json_) {
    throw Error(
        "{}: is missing, and so is tokenizer.json; copy one of them from the repository of the checkpoint or of the "
        "model that it was tuned from",
        pieces_.string());
  }
  JsonTokenizer read = read_tokenizer_json(json_);
  if (read.is_byte_level) {
    spec.warnings.push_back(
        json_.string() + ": is byte-level BPE, which is not read: the file takes and gives token ids (--ids)");
    return std::nullopt;
  }
  if (expected && read.has_template && (read.before != expected->before || read.behind != expected->behind)) {
    constexpr size_t kMostShown = 4;
    throw Error("{}: post_processor puts {} before a text and {} behind it, expected {} and {}", json_.string(),
        list_in_quotes(read.before, kMostShown), list_in_quotes(read.behind, kMostShown),
        list_in_quotes(expected->before, kMostShown), list_in_quotes(expected->behind, kMostShown));
  }
  spec.tokenizer_files = {json_};
  return std::move(read.spec);
}

void TextFiles::compare(const TokenizerSpec& tokenizer, std::vector<std::string>& warnings) const {
  if (!has_json_) return;
  JsonTokenizer read;
  try {
    read = read_tokenizer_json(json_);
    if (read.is_byte_level) throw Error("{}: is byte-level BPE", json_.string());
  } catch (const Error& error) {
    warnings.push_back(format_text("{}; it was not compared with {}", error.what(), pieces_.filename().string()));
    return;
  }
  check_same_ids({pieces_.string(), &tokenizer}, {json_.filename().string(), &read.spec});
}

void require_room(const std::filesystem::path& tokenizer, uint64_t n_entries, uint32_t vocab_size) {
  if (n_entries <= vocab_size) return;
  throw Error(
      "{}: has {} pieces, but the checkpoint's vocabulary has {} entries, expected at least {}: it is another model's",
      tokenizer.string(), n_entries, vocab_size, n_entries);
}
}  // namespace goldcrest::converter
