// SPDX-License-Identifier: Apache-2.0
// Tables of a tokenizer or a detokenizer with any of their values changed, on any text.
#include <type_traits>
#include "fuzz/script.h"
#include "fuzz/text_checks.h"
#include "unit/text/damaged_tables.h"

namespace goldcrest::test {
namespace {
struct Tables {
  converter::PackedTokenizer tokenizer;
  converter::PackedDetokenizer detokenizer;
};

std::vector<Tables> all_good_tables() {
  std::vector<Tables> all;
  for (const converter::TokenizerSpec& spec : good_specs())
    all.push_back({converter::pack_tokenizer(spec), converter::pack_detokenizer(spec)});
  return all;
}

template <typename Container> void change_element(Script& script, Container& values) {
  if (values.empty()) return;
  auto& value = values[script.half() % values.size()];
  const uint32_t bits = script.one_in(4) ? script.word() : script.below(1024);
  if constexpr (std::is_same_v<typename Container::value_type, float>) std::memcpy(&value, &bits, sizeof value);
  else value = static_cast<typename Container::value_type>(bits);
}

void change_tokenizer(Script& script, converter::PackedTokenizer& tables) {
  switch (script.below(10)) {
    case 0: return change_element(script, tables.score);
    case 1: return change_element(script, tables.type);
    case 2: return change_element(script, tables.byte_ids);
    case 3: return change_element(script, tables.normalizer_trie);
    case 4: return change_element(script, tables.normalizer_text);
    case 5: tables.vocab_size = 1 + script.below(700); return;
    case 6: tables.max_piece_bytes = script.one_in(4) ? script.word() : script.below(32); return;
    case 7: {
      bool* const flags[] = {&tables.add_dummy_prefix, &tables.remove_extra_whitespace, &tables.escape_whitespace,
          &tables.whitespace_as_suffix, &tables.language_codes, &tables.has_user_defined};
      bool& flag = *flags[script.below(6)];
      flag = !flag;
      return;
    }
    case 8: {
      if (tables.added.empty()) return;
      const uint32_t spaces = tables.added[kAddedSpaces], letters = tables.added[kAddedLetters];
      change_element(script, tables.added);
      tables.added[kAddedSpaces] = spaces;  // the validator checks them
      tables.added[kAddedLetters] = letters;
      return;
    }
    default: return change_element(script, tables.trie);
  }
}

void change_detokenizer(Script& script, converter::PackedDetokenizer& tables) {
  switch (script.below(4)) {
    case 0: return change_element(script, tables.text_offset);
    case 1: return change_element(script, tables.text);
    case 2: return change_element(script, tables.type);
    default: tables.kind = static_cast<converter::TokenizerKind>(script.below(5)); return;
  }
}

// Only some kinds have scores. Changes a kind with scores to another with them, or one without to another without.
void change_kind(Script& script, converter::PackedTokenizer& tables) {
  const auto kind = static_cast<converter::TokenizerKind>(script.below(5));
  if (!tables.score.empty() &&
      (tables.kind == converter::TokenizerKind::kSubword) == (kind == converter::TokenizerKind::kSubword))
    tables.kind = kind;
}
}  // namespace

void run_input(Script script) {
  static const std::vector<Tables> good = all_good_tables();
  const Tables& tables = good[script.below(static_cast<uint32_t>(good.size()))];
  const uint32_t changes = script.below(64);
  if (script.one_in(4)) {
    converter::PackedDetokenizer detokenizer = tables.detokenizer;
    for (uint32_t i = 0; i < changes; ++i) change_detokenizer(script, detokenizer);
    std::vector<int32_t> ids(script.below(32));
    for (int32_t& id : ids) id = static_cast<int32_t>(script.half() % detokenizer.n_pieces);
    checked_text(view_of(detokenizer), ids);
    return;
  }
  converter::PackedTokenizer tokenizer = tables.tokenizer;
  if (script.one_in(4)) change_kind(script, tokenizer);
  for (uint32_t i = 0; i < changes; ++i) change_tokenizer(script, tokenizer);
  checked_ids(view_of(tokenizer), script.rest());
}
}  // namespace goldcrest::test
