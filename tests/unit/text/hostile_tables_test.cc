// SPDX-License-Identifier: Apache-2.0
// Any contents of a file's tokenizer arrays give ids in range or an error. The sanitizers see no read outside the
// arrays.
#include <gtest/gtest.h>
#include "goldcrest/goldcrest.h"
#include "text/detokenizer.h"
#include "tokenizers/sentencepiece_model.h"
#include "unit/text/damaged_tables.h"

namespace goldcrest::test { namespace {
void run_damaged(const converter::PackedTokenizer& packed, const std::string& text) {
  const TokenizerView view = view_of(packed);
  const ScratchSize size = tokenizer_scratch(view);
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
  for (const converter::PackedTokenizer& good : good_tables()) {
    for (uint32_t seed = 0; seed < 400; ++seed) {
      Damage by(seed);
      converter::PackedTokenizer packed = good;
      damage(&by, &packed);
      for (int i = 0; i < 4; ++i) run_damaged(packed, lines[by.below(lines.size())].substr(0, 200));
      if (packed.kind == converter::TokenizerKind::kUnigram) packed.kind = converter::TokenizerKind::kCharacter;
      if (packed.kind == converter::TokenizerKind::kBpe) packed.kind = converter::TokenizerKind::kWord;
      if (packed.kind == converter::TokenizerKind::kSubword) packed.kind = converter::TokenizerKind::kBpe;
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
    packed.kind = static_cast<converter::TokenizerKind>(by.below(5));
    std::vector<int32_t> ids(by.below(30));
    for (int32_t& id : ids) id = static_cast<int32_t>(by.below(packed.n_pieces));
    std::vector<char> out(by.below(400));
    goldcrest_text_state state = {};
    const int64_t n = detokenize(view_of(packed), &state, ids.data(), ids.size(), out.data(), out.size());
    EXPECT_TRUE(n == GOLDCREST_ERROR_TRUNCATED || (n >= 0 && n <= static_cast<int64_t>(out.size())));
    EXPECT_LT(state.n_pending, 4);
  }
}
}}  // namespace goldcrest::test
