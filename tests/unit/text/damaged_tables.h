// SPDX-License-Identifier: Apache-2.0
// Seeded damage to a tokenizer's packed tables.
#pragma once

#include <random>
#include <type_traits>
#include "tokenizers/sentencepiece_model.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test {
// Tokenizers of every kind that has tables.
inline std::vector<converter::TokenizerSpec> good_specs() {
  std::vector<converter::TokenizerSpec> specs;
  for (const char* name : {"bpe_bytes", "bpe_rules", "unigram_rules", "unigram_bytes"})
    specs.push_back(converter::read_sentencepiece_model(source_path(std::string("tests/data/") + name + ".model")));
  for (const char* name : {"codes", "codes_0_1"}) specs.push_back(subword_spec(name));
  // Added tokens with all flags, split by places and by items.
  for (const bool by_items : {false, true}) {
    converter::TokenizerSpec spec = specs[by_items ? 1 : 2];
    spec.added = {
        {"a", spec.vocab_size - 1, true}, {"a b", 7, false, true, true, !by_items}, {"e", 9, true, true, true}};
    spec.added_by_items = by_items;
    spec.added_keep_last_space = !by_items;
    specs.push_back(spec);
  }
  return specs;
}

// Their tables as the converter makes them.
inline std::vector<converter::PackedTokenizer> good_tables() {
  std::vector<converter::PackedTokenizer> tables;
  for (const converter::TokenizerSpec& spec : good_specs()) tables.push_back(converter::pack_tokenizer(spec));
  return tables;
}

class Damage {
 public:
  explicit Damage(uint32_t seed) : generator_(seed) {}

  uint32_t below(size_t n) { return static_cast<uint32_t>(generator_() % n); }

  template <typename Container> void apply(Container* values) {
    using Value = typename Container::value_type;
    if (values->empty() || below(2) == 0) return;
    const uint32_t n_changes = below(3) == 0 ? 1 + below(values->size()) : 1 + below(8);
    for (uint32_t i = 0; i < n_changes; ++i) {
      Value& value = (*values)[below(values->size())];
      const uint32_t bits = below(2) == 0 ? static_cast<uint32_t>(generator_()) : below(700);
      if constexpr (std::is_same_v<Value, float>) std::memcpy(&value, &bits, sizeof(value));
      else value = static_cast<Value>(bits);
    }
  }

  void apply(bool* flag) { *flag = *flag != (below(8) == 0); }
 private:
  std::mt19937 generator_;
};

// The validator checks the sizes of the runs.
inline void damage_added(Damage* by, converter::PackedTokenizer* packed) {
  if (packed->added.empty()) return;
  const std::vector<uint32_t> good = packed->added;
  by->apply(&packed->added);
  packed->added[kAddedSpaces] = good[kAddedSpaces];
  packed->added[kAddedLetters] = good[kAddedLetters];
}

inline void damage(Damage* by, converter::PackedTokenizer* packed) {
  by->apply(&packed->trie);
  by->apply(&packed->score);
  by->apply(&packed->type);
  by->apply(&packed->byte_ids);
  by->apply(&packed->normalizer_trie);
  by->apply(&packed->normalizer_text);
  damage_added(by, packed);
  for (bool* flag : {&packed->add_dummy_prefix, &packed->remove_extra_whitespace, &packed->escape_whitespace,
           &packed->whitespace_as_suffix, &packed->language_codes, &packed->has_user_defined})
    by->apply(flag);
  if (by->below(4) == 0) packed->max_piece_bytes = by->below(2) == 0 ? 0xFFFFFFFF : by->below(20);
  if (by->below(4) == 0) packed->vocab_size = 1 + by->below(700);
}
}  // namespace goldcrest::test
