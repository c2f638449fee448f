// SPDX-License-Identifier: Apache-2.0
// MarianTokenizer's files: vocab.json, target_vocab.json, source.spm, target.spm, tokenizer_config.json
// (transformers/models/marian/tokenization_marian.py).
#include "dialects/hugging_face/marian.h"
#include "dialects/hugging_face/side_files.h"
#include "dialects/hugging_face/special_tokens.h"
#include "dialects/text/tokenizer_fit.h"
#include "dialects/text/vocabulary_file.h"
#include "spec/error.h"
#include "tokenizers/sentencepiece_model.h"

namespace goldcrest::converter {
namespace {

std::filesystem::path tokenizer_file(const Checkpoint& checkpoint, const char* name) {
  std::filesystem::path path = side_file(checkpoint, name);
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !std::filesystem::is_symlink(path, error)) {
    throw Error(
        "{}: is missing; a Marian checkpoint has source.spm, target.spm and vocab.json (and target_vocab.json with "
        "separate vocabularies): copy it from where the checkpoint came from",
        path.string());
  }
  return path;
}

Vocabulary marian_vocabulary(const std::filesystem::path& path, uint32_t n_ids, const SpecialTexts& special,
                             std::vector<std::string>& warnings) {
  Vocabulary vocabulary = read_vocabulary(path, n_ids);
  vocabulary.unknown_id = require_id(vocabulary, special.unknown, "the unknown token");
  vocabulary.control_ids.push_back(require_id(vocabulary, special.end, "the end token"));
  if (const auto pad = find_id(vocabulary, special.pad)) vocabulary.control_ids.push_back(*pad);
  check_gaps(vocabulary, warnings);
  return vocabulary;
}

bool has_tokenizer(const std::filesystem::path& directory) {
  std::error_code error;
  for (const char* name : {"vocab.json", "source.spm", "target.spm"}) {
    if (!std::filesystem::exists(directory / name, error)) return false;
  }
  return true;
}

}  // namespace

void read_marian_text(const Checkpoint& checkpoint, uint32_t source_vocab_size, uint32_t target_vocab_size,
                      ModelSpec& spec) {
  if (checkpoint.is_shape && !has_tokenizer(checkpoint.directory)) {
    spec.generation.source_suffix = {spec.generation.end_id};
    return;
  }
  const Config tokenizer = side_config(checkpoint, "tokenizer_config.json");
  const SpecialTexts special = read_special_texts(tokenizer, {"<unk>", "</s>", "<pad>"});
  spec.source_language = tokenizer.text_or("source_lang", "");
  spec.target_language = tokenizer.text_or("target_lang", "");

  const std::filesystem::path vocabulary_path = tokenizer_file(checkpoint, "vocab.json");
  const Vocabulary source = marian_vocabulary(vocabulary_path, source_vocab_size, special, spec.warnings);
  spec.tokenizer_files = {vocabulary_path};
  const bool is_separate = tokenizer.flag_or("separate_vocabs", false);
  Vocabulary separate;
  if (is_separate) {
    const std::filesystem::path path = tokenizer_file(checkpoint, "target_vocab.json");
    separate = marian_vocabulary(path, target_vocab_size, special, spec.warnings);
    spec.tokenizer_files.push_back(path);
  }
  const Vocabulary& target = is_separate ? separate : source;
  if (target.id_to_text.size() != target_vocab_size) {
    throw Error(
        "{}: the decoder's vocabulary has {} entries, the encoder's {}, but there is no target_vocab.json: "
        "expected \"separate_vocabs\": true in tokenizer_config.json",
        checkpoint.directory.string(), target_vocab_size, source_vocab_size);
  }
  check_special_ids(checkpoint, target, special, spec);
  const std::filesystem::path source_path = tokenizer_file(checkpoint, "source.spm"),
                              target_path = tokenizer_file(checkpoint, "target.spm");
  const TokenizerSpec source_model = read_sentencepiece_model(source_path),
                      target_model = read_sentencepiece_model(target_path);
  const PiecesOf source_pieces = {source_path, &source_model, &source, spec.source_language};
  const PiecesOf target_pieces = {target_path, &target_model, &target, spec.target_language};
  check_both(source_pieces, target_pieces, spec.warnings);
  spec.tokenizer_files.insert(spec.tokenizer_files.end(), {source_path, target_path});
  spec.source_tokenizer = combine_with_vocabulary(source_model, source);
  spec.target_tokenizer = combine_with_vocabulary(target_model, target);
  for (TokenizerSpec* const side : {&*spec.source_tokenizer, &*spec.target_tokenizer}) {
    side->added_by_items = true;
    set_added_tokens(checkpoint, read_added_tokens(checkpoint), {}, *side);
  }
  spec.generation.unknown_id = target.unknown_id;
  // MarianTokenizer ends a source with the end token of the vocabulary that it reads the source with.
  spec.generation.source_suffix = {require_id(source, special.end, "the end token")};
}

}  // namespace goldcrest::converter
