// SPDX-License-Identifier: Apache-2.0
// Vocabulary, special ids and prompt of Whisper (src/models/whisper.cc and python/ctranslate2/specs/whisper_spec.py at
// 0d8bcd36). Searches are greedy here, as Whisper's own and transformers' are.
#include "dialects/ctranslate2/ctranslate2.h"
#include "dialects/speech/parts.h"
#include "dialects/text/vocabulary_file.h"
#include "sources/values/value.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
std::vector<uint32_t> whisper_id_list(const Config& config, const char* key) {
  const Value* const list = config.find(key);
  if (list == nullptr) return {};
  if (!list->is_list()) throw Error("{} is a JSON {}, expected an array", config.where(key), list->type_name());
  std::vector<uint32_t> ids;
  for (const Value& id : *list) {
    if (!id.is_natural() || id.natural() > UINT32_MAX)
      throw Error("{} has an element that is not a token id", config.where(key));
    ids.push_back(static_cast<uint32_t>(id.natural()));
  }
  return ids;
}

Vocabulary read_whisper_entries(const CTranslate2Files& files, uint32_t n_ids, ModelSpec& spec) {
  for (const char* name : {"vocabulary.json", "vocabulary.txt"}) {
    if (!files.model.has(name)) continue;
    if (!files.model.is_zip()) spec.tokenizer_files.emplace_back(files.model.where(name));
    return parse_vocabulary(files.model.read(name, kMaxVocabularyBytes), files.model.where(name), n_ids);
  }
  throw Error("{}: is missing, and so is vocabulary.txt: copy it from where the model came from",
      files.model.where("vocabulary.json"));
}
}  // namespace

void read_ctranslate2_whisper(
    const CTranslate2Files& files, const Config& config, const OpenChoices& options, ModelSpec& spec) {
  const uint32_t n_ids = spec.decoder.embedding->rows;
  const Vocabulary vocabulary = read_whisper_entries(files, n_ids, spec);
  const WhisperIds ids = find_whisper_ids(vocabulary, n_ids >= kFirstMultilingual);
  spec.generation.rules.force_end = false;
  spec.generation.alignment_heads = whisper_alignment_heads(config, spec.decoder);
  finish_whisper(
      ids, {whisper_id_list(config, "suppress_ids"), whisper_id_list(config, "suppress_ids_begin")}, options, spec);
  spec.target_tokenizer = speech_tokenizer(vocabulary, spec.decoder.embedding->rows, SpeechText::kByteLevel);
}
}  // namespace goldcrest::converter
