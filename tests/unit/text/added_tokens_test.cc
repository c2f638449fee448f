// SPDX-License-Identifier: Apache-2.0
// Texts with added tokens get the ids that transformers 5.24 gives them (tests/peers/added_tokens.py --record).
#include "text/added_tokens.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include "spec/error.h"
#include "support/rng.h"
#include "tokenizers/sentencepiece_model.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test { namespace {
using converter::AddedToken;
using converter::PieceType;
using converter::TokenizerSpec;

// Gives the tokenizer a vocabulary entry for the token.
void add_token(TokenizerSpec& spec, const AddedToken& token) {
  while (spec.pieces.size() <= token.id) spec.pieces.push_back({"", 0, PieceType::kControl});
  if (spec.pieces[token.id].text.empty()) spec.pieces[token.id] = {token.text, 0, PieceType::kSurface};
  spec.vocab_size = static_cast<uint32_t>(spec.pieces.size());
  spec.added.push_back(token);
}

TokenizerSpec spec_of(const nlohmann::json& recorded) {
  TokenizerSpec spec =
      converter::read_sentencepiece_model(source_path("tests/data/" + recorded["model"].get<std::string>()));
  spec.added_by_items = recorded["kind"] == "items";
  spec.added_keep_last_space = recorded["kind"] == "spaces";
  for (const nlohmann::json& token : recorded["tokens"]) {
    add_token(spec,
        {token["text"], token["id"], token["lstrip"], token["rstrip"], token["single_word"], token["normalized"]});
  }
  return spec;
}

TEST(AddedTokens, HaveTheIdsOfTransformers) {
  size_t n = 0;
  for (const nlohmann::json& recorded :
      nlohmann::json::parse(read_bytes(source_path("tests/data/added_tokens.json")))) {
    const TestTokenizer tokenizer(spec_of(recorded));
    for (const auto& [text, ids] : recorded["texts"].items()) {
      EXPECT_EQ(tokenizer.encode(text), ids.get<std::vector<int32_t>>())
          << recorded["model"] << ", " << recorded["kind"] << ": " << shown(text);
      ++n;
    }
  }
  EXPECT_GT(n, 150u);
}

TokenizerSpec small_spec() {
  return {.kind = converter::TokenizerKind::kUnigram,
      .vocab_size = 4,
      .pieces = {{"<unk>", 0, PieceType::kUnknown}, {"\u2581", -3}, {"a", -4}, {"b", -4}}};
}

TEST(AddedTokens, TakeTheSpacesAndStandApartAsTheirFlagsSay) {
  TokenizerSpec spec = small_spec();
  add_token(spec, {"<l>", 4, true});
  add_token(spec, {"<r>", 5, false, true});
  add_token(spec, {"w", 6, false, false, true});
  spec.added_keep_last_space = true;
  const TestTokenizer tokenizer(spec);
  const std::vector<std::pair<std::string, std::vector<int32_t>>> cases = {
      {"a <l> b", {1, 2, 4, 1, 3}},          // the space before it is the token's, the one after it a word's
      {"a <r> b", {1, 2, 1, 5, 1, 3}},       // a part that ends with a space keeps it
      {"a w b", {1, 2, 1, 6, 1, 3}},         // a word of its own
      {"aw b", {1, 2, 0, 1, 3}},             // not after a letter
      {"a w\u0301b", {1, 2, 1, 0, 3}},       // nor before a mark, which belongs to the letter
      {"a w\u2009b", {1, 2, 1, 6, 1, 0, 3}}  // a thin space is no part of a word
  };
  for (const auto& [text, ids] : cases) EXPECT_EQ(tokenizer.encode(text), ids) << text;
}

// Returns the ids of builds without GOLDCREST_ADDED_WORDS.
std::vector<int32_t> encode_without_words(const TestTokenizer& tokenizer, const std::string& text) {
  const TokenizerView view = tokenizer.view();
  const ScratchSize size = tokenizer_scratch(view);
  const auto most = static_cast<uint32_t>(16 * text.size());
  const size_t scratch_bytes = size.constant + size.per_byte * most;
  std::vector<float> scratch(scratch_bytes / sizeof(float) + 1);
  std::vector<int32_t> ids(48 * text.size() + 8);
  TokenWriter writer(view, ids.data(), static_cast<uint32_t>(ids.size()));
  const TextSpan span = {reinterpret_cast<const uint8_t*>(text.data()), static_cast<uint32_t>(text.size())};
  const TokenizeArgs args = {&view, text.data(), text.size(), scratch.data(), scratch_bytes, ids.data(), ids.size()};
  EXPECT_GE(tokenize_added(args, span, kItemsFixed + kItemsPerByte * most, &writer), 0) << shown(text);
  ids.resize(writer.n_ids());
  return ids;
}

TEST(AddedTokens, WithoutFlagsAreFoundInBothWays) {
  const char* const parts[] = {"a", "b", " ", "  ", "<x>", "<xy>", "A", "ab", "\u00e9", "\xff", "<", "w"};
  Rng rng(62);
  for (const auto& [normalized, keeps_space] : {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
    TokenizerSpec spec = small_spec();
    spec.added_keep_last_space = keeps_space;
    add_token(spec, {"<x>", 4, false, false, false, normalized});
    add_token(spec, {"<xy>", 5});
    add_token(spec, {"ab", 6, false, false, false, normalized});
    EXPECT_FALSE(needs_added_words(converter::pack_tokenizer(spec).added.data()));
    const TestTokenizer tokenizer(spec);
    for (int i = 0; i < 2000; ++i) {
      std::string text;
      for (uint32_t n = rng.below(12); n > 0; --n) text += parts[rng.below(std::size(parts))];
      EXPECT_EQ(encode_without_words(tokenizer, text), tokenizer.encode(text)) << shown(text);
    }
  }
}

// Boards refuse what needs GOLDCREST_ADDED_WORDS.
TEST(AddedTokens, SayWhatNeedsWords) {
  const auto needs = [](const AddedToken& token, bool by_items, bool keeps_space) {
    TokenizerSpec spec = small_spec();
    add_token(spec, token);
    spec.added_by_items = by_items;
    spec.added_keep_last_space = keeps_space;
    return needs_added_words(converter::pack_tokenizer(spec).added.data());
  };
  for (const bool by_items : {false, true}) {
    EXPECT_FALSE(needs({"<x>", 4}, by_items, false));
    EXPECT_TRUE(needs({"<x>", 4, true}, by_items, false));
    EXPECT_TRUE(needs({"<x>", 4, false, true}, by_items, false));
    EXPECT_TRUE(needs({"<x>", 4, false, false, true}, by_items, false));
  }
  EXPECT_FALSE(needs({"<x>", 4, false, false, false, true}, false, false));
  EXPECT_FALSE(needs({"<x>", 4}, false, true)) << "of T5's and NLLB's SentencePiece models";
}

TEST(AddedTokens, ArePrintedUnlessTheyAreSpecial) {
  TokenizerSpec spec = small_spec();
  add_token(spec, {"<x>", 4});
  add_token(spec, {"<y>", 5, false, false, false, false, true});
  spec.pieces[5].type = PieceType::kControl;  // as converters mark special tokens
  const TestTokenizer tokenizer(spec);
  EXPECT_EQ(tokenizer.encode("a<x><y>b"), (std::vector<int32_t>{1, 2, 4, 5, 1, 3}));
  EXPECT_EQ(tokenizer.decode({1, 2, 4, 5, 1, 3}), "a<x> b");
}

TEST(AddedTokens, WithoutTextOrRowAreRefused) {
  for (const AddedToken& bad : {AddedToken{"", 3}, AddedToken{"x", 9}, AddedToken{std::string("x\0y", 3), 3}}) {
    TokenizerSpec spec = small_spec();
    spec.added = {bad};
    EXPECT_THROW(converter::pack_tokenizer(spec), converter::Error) << bad.text;
  }
}
}}  // namespace goldcrest::test
