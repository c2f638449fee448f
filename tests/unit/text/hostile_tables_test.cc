// SPDX-License-Identifier: Apache-2.0
// Any content of a file's tokenizer arrays either gives ids in range or an error; with sanitizers, no read outside
// them.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <type_traits>

#include "goldcrest/goldcrest.h"
#include "text/detokenizer.h"
#include "tokenizers/sentencepiece_model.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test {
namespace {

class Damage {
 public:
  explicit Damage(uint32_t seed) : generator_(seed) {}

  uint32_t below(size_t n) { return static_cast<uint32_t>(generator_() % n); }

  template <typename Container>
  void apply(Container* values) {
    using Value = typename Container::value_type;
    if (values->empty() || below(2) == 0) return;
    const uint32_t n_changes = below(3) == 0 ? 1 + below(values->size()) : 1 + below(8);
    for (uint32_t i = 0; i < n_changes; ++i) {
      Value& value = (*values)[below(values->size())];
      const uint32_t bits = below(2) == 0 ? static_cast<uint32_t>(generator_()) : below(700);
      if constexpr (std::is_same_v<Value, float>) {
        std::memcpy(&value, &bits, sizeof(value));
      } else {
        value = static_cast<Value>(bits);
      }
    }
  }

  void apply(bool* flag) { *flag = *flag != (below(8) == 0); }

 private:
  std::mt19937 generator_;
};

void damage(Damage* by, converter::PackedTokenizer* packed) {
  by->apply(&packed->trie);
  by->apply(&packed->score);
  by->apply(&packed->type);
  by->apply(&packed->byte_ids);
  by->apply(&packed->normalizer_trie);
  by->apply(&packed->normalizer_text);
  for (bool* flag : {&packed->add_dummy_prefix, &packed->remove_extra_whitespace, &packed->escape_whitespace,
                     &packed->whitespace_as_suffix, &packed->language_codes, &packed->has_user_defined}) {
    by->apply(flag);
  }
  if (by->below(4) == 0) packed->max_piece_bytes = by->below(2) == 0 ? 0xFFFFFFFF : by->below(20);
  if (by->below(4) == 0) packed->vocab_size = 1 + by->below(700);
}

void run_damaged(const converter::PackedTokenizer& packed, const std::string& text) {
  const TokenizerView view = view_of(packed);
  const ScratchSize size = tokenizer_scratch(view.kind);
  const size_t scratch_bytes = size.constant + size.per_byte * text.size();
  std::vector<uint32_t> scratch(scratch_bytes / 4 + 1);
  std::vector<int32_t> ids(2 * text.size() + 4);
  const int n = tokenize({&view, text.data(), text.size(), scratch.data(), scratch_bytes, ids.data(), ids.size()});
  if (n < 0) {
    EXPECT_TRUE(n == GOLDCREST_ERROR_TOO_LONG || n == GOLDCREST_ERROR_MODEL_CORRUPT) << n;
    return;
  }
  ASSERT_LE(static_cast<size_t>(n), ids.size());
  for (int i = 0; i < n; ++i) EXPECT_TRUE(ids[i] >= 0 && static_cast<uint32_t>(ids[i]) < view.vocab_size);
}

TEST(HostileTables, TokenizersStayInBounds) {
  const std::vector<std::string> lines = random_lines(2, 300);
  for (const char* name : {"bpe_bytes", "bpe_rules", "unigram_rules", "unigram_bytes"}) {
    const converter::PackedTokenizer good = converter::pack_tokenizer(
        converter::read_sentencepiece_model(source_path(std::string("tests/data/") + name + ".model")));
    for (uint32_t seed = 0; seed < 400; ++seed) {
      Damage by(seed);
      converter::PackedTokenizer packed = good;
      damage(&by, &packed);
      for (int i = 0; i < 4; ++i) run_damaged(packed, lines[by.below(lines.size())].substr(0, 200));
      if (packed.kind == converter::TokenizerKind::kUnigram) packed.kind = converter::TokenizerKind::kCharacter;
      if (packed.kind == converter::TokenizerKind::kBpe) packed.kind = converter::TokenizerKind::kWord;
      run_damaged(packed, lines[by.below(lines.size())].substr(0, 200));
    }
  }
}

TEST(HostileTables, DetokenizersStayInBounds) {
  const converter::PackedDetokenizer good =
      converter::pack_detokenizer(converter::read_sentencepiece_model(source_path("tests/data/bpe_bytes.model")));
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Damage by(seed);
    converter::PackedDetokenizer packed = good;
    by.apply(&packed.text_offset);
    by.apply(&packed.text);
    by.apply(&packed.type);
    packed.kind = static_cast<converter::TokenizerKind>(by.below(4));
    std::vector<int32_t> ids(by.below(30));
    for (int32_t& id : ids) id = static_cast<int32_t>(by.below(packed.n_pieces));
    std::vector<char> out(by.below(400));
    goldcrest_text_state state = {};
    const int64_t n = detokenize(view_of(packed), &state, ids.data(), ids.size(), out.data(), out.size());
    EXPECT_TRUE(n == GOLDCREST_ERROR_TRUNCATED || (n >= 0 && n <= static_cast<int64_t>(out.size())));
    EXPECT_LT(state.n_pending, 4);
  }
}

}  // namespace
}  // namespace goldcrest::test
