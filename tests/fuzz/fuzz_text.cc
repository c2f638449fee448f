// SPDX-License-Identifier: Apache-2.0
// Any bytes as text through the tokenizers of good models, and back.
#include "fuzz/script.h"
#include "fuzz/text_checks.h"
#include "host/printable.h"
#include "unit/text/damaged_tables.h"

namespace goldcrest::test {
namespace {
std::vector<TestTokenizer> good_tokenizers() {
  std::vector<TestTokenizer> tokenizers;
  for (const converter::TokenizerSpec& spec : good_specs()) tokenizers.emplace_back(spec);
  // The tokenizers without scores, on the same vocabularies.
  for (const auto kind : {converter::TokenizerKind::kWord, converter::TokenizerKind::kCharacter}) {
    const converter::Vocabulary vocabulary = {
        "words", {"</s>", "<unk>", ">>de<<", "a", "b", "\xC3\xA9", "the", "\xE2\x82\xAC"}, 1, {0}};
    tokenizers.emplace_back(
        kind == converter::TokenizerKind::kWord ? word_tokenizer(vocabulary) : character_tokenizer(vocabulary));
  }
  return tokenizers;
}
}  // namespace

void run_input(Script script) {
  static const std::vector<TestTokenizer> tokenizers = good_tokenizers();
  const TestTokenizer& tokenizer = tokenizers[script.below(static_cast<uint32_t>(tokenizers.size()))];
  const std::vector<int32_t> ids = checked_ids(tokenizer.view(), script.rest());
  const std::string text = checked_text(tokenizer.detokenizer_view(), ids);
  require(is_utf8(text), "detokenize: UTF-8 if all pieces are UTF-8");
}
}  // namespace goldcrest::test
