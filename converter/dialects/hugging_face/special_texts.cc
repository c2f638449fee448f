// SPDX-License-Identifier: Apache-2.0
#include "dialects/hugging_face/special_texts.h"

#include <algorithm>

#include "dialects/hugging_face/side_files.h"
#include "dialects/text/vocabulary_file.h"
#include "sources/messages/messages.h"
#include "sources/values/value.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

// A special token: its text in the vocabulary, and the setting with its id.
struct SpecialToken {
  const char* role;
  std::string text;
  const char* setting;
  uint32_t id;
};

// Names the token, and both ids with their files.
std::string describe_contradiction(const Checkpoint& checkpoint, const Vocabulary& vocabulary, uint32_t found,
                                   const SpecialToken& token) {
  const Config generation = side_config(checkpoint, "generation_config.json");
  const Config& home = generation.has(token.setting) ? generation : checkpoint.config;
  const std::string& other = vocabulary.id_to_text[token.id];
  return format_text("{}: {} {} has the id {}, but {} is {}{}", vocabulary.where, token.role, in_quotes(token.text),
                     found, home.where(token.setting), token.id,
                     other.empty() ? ", which has no text" : ", which is " + in_quotes(other));
}

}  // namespace

std::string token_text(const Config& tokenizer, const char* key, const std::string& usual) {
  const Value* value = tokenizer.find(key);
  if (value != nullptr && value->is_map()) return tokenizer.object_or_empty(key).text_or("content", usual);
  return tokenizer.text_or(key, usual);
}

SpecialTexts read_special_texts(const Config& tokenizer, const SpecialTexts& usual) {
  return {token_text(tokenizer, "unk_token", usual.unknown), token_text(tokenizer, "eos_token", usual.end),
          token_text(tokenizer, "pad_token", usual.pad)};
}

void check_special_ids(const Checkpoint& checkpoint, const Vocabulary& targets, const SpecialTexts& special,
                       ModelSpec& spec) {
  const GenerationSpec& search = spec.generation;
  const std::vector<uint32_t>& more_ends = search.rules.more_end_ids;
  const auto end = find_id(targets, special.end);
  if (end && *end != search.end_id && std::ranges::find(more_ends, *end) == more_ends.end()) {
    throw Error("{}; expected the same id in both: copy both files from where the checkpoint came from",
                describe_contradiction(checkpoint, targets, *end,
                                       {"the end token", special.end, "eos_token_id", search.end_id}));
  }
  const auto pad = find_id(targets, special.pad);
  if (!pad || !search.pad_id || *pad == *search.pad_id) return;
  spec.warnings.push_back(describe_contradiction(checkpoint, targets, *pad,
                                                 {"the padding token", special.pad, "pad_token_id", *search.pad_id}) +
                          "; if texts come out wrong, copy both files from where the checkpoint came from");
}

}  // namespace goldcrest::converter
