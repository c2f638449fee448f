// SPDX-License-Identifier: Apache-2.0
#include "dialects/hugging_face/special_texts.h"

#include "sources/values/value.h"

namespace goldcrest::converter {
namespace {

// Reads a setting of tokenizer_config.json that is a text, or an object with its text as "content".
std::string token_text(const Config& tokenizer, const char* key, const std::string& usual) {
  const Value* value = tokenizer.find(key);
  if (value != nullptr && value->is_map()) return tokenizer.object_or_empty(key).text_or("content", usual);
  return tokenizer.text_or(key, usual);
}

}  // namespace

SpecialTexts read_special_texts(const Config& tokenizer, const SpecialTexts& usual) {
  return {token_text(tokenizer, "unk_token", usual.unknown), token_text(tokenizer, "eos_token", usual.end),
          token_text(tokenizer, "pad_token", usual.pad)};
}

}  // namespace goldcrest::converter
