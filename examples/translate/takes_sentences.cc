// SPDX-License-Identifier: Apache-2.0
#include "takes_sentences.h"

#include "model/model_view.h"

bool takes_sentences(const void* model) {
  using goldcrest::TokenizerKind;
  goldcrest::TokenizerView tokenizer = {};
  if (!goldcrest::view_tokenizer(model, &tokenizer)) return false;
  return tokenizer.kind != TokenizerKind::kWord && tokenizer.kind != TokenizerKind::kCharacter;
}
