// SPDX-License-Identifier: Apache-2.0
// Text in and text out through the C API: limits, truncation, states after an error. text/ has the tokenizers' own
// tests.
#include "goldcrest/tokens.h"
#include "support/engine_fixture.h"
#include "support/test.h"
#include "support/tiny_model.h"

namespace goldcrest::test { namespace {
using converter::TokenizerKind;

constexpr uint32_t kMaxTextIds = 8, kMaxBytes = 20;

FileImage text_file(TokenizerKind kind) {
  ModelSpec spec = tiny_spec(odd_tiny_options());
  add_tokenizers(kind, spec);
  return tiny_file(spec);
}

EngineSetup setup_of_texts() {
  return {.limits = {.max_source_tokens = kMaxTextIds, .max_source_bytes = kMaxBytes, .batch = 2}};
}

std::vector<int32_t> stored_source(const TestEngine& engine, uint32_t sentence) {
  const int32_t* ids = nullptr;
  const int n = goldcrest_get_source(engine.get(), sentence, &ids);
  return n < 0 ? std::vector<int32_t>() : std::vector<int32_t>(ids, ids + n);
}

// Turns ids into text by the file's letters: id 2 is U+0100.
std::string letters_of(const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) {
    if (id == 1) text += " \u2047 ";
    if (id < 2) continue;
    const int code = 0x100 + id - 2;
    text += {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
  }
  return text;
}

TEST(Text, BecomesIdsWithTheSuffix) {
  const FileImage file = text_file(TokenizerKind::kCharacter);
  TestEngine engine(file.span(), setup_of_texts());
  ASSERT_EQ(goldcrest_begin_text(engine.get(), "abz", 3), 0);
  EXPECT_EQ(stored_source(engine, 0), (std::vector<int32_t>{2, 3, 1, 0}));
  ASSERT_EQ(goldcrest_add_text(engine.get(), "p", 1), 1);
  EXPECT_EQ(stored_source(engine, 1), (std::vector<int32_t>{17, 0}));
  EXPECT_EQ(stored_source(engine, 0), (std::vector<int32_t>{2, 3, 1, 0}));
  EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  ASSERT_EQ(goldcrest_begin_text(engine.get(), nullptr, 0), 0) << "an empty text is only the suffix";
  EXPECT_EQ(stored_source(engine, 0), (std::vector<int32_t>{0}));
}

TEST(Text, LimitsAreErrorsAndNeverCutSilently) {
  const FileImage file = text_file(TokenizerKind::kCharacter);
  TestEngine engine(file.span(), setup_of_texts());
  const std::string bytes(kMaxBytes + 1, 'a');
  EXPECT_EQ(goldcrest_begin_text(engine.get(), bytes.data(), bytes.size()), GOLDCREST_ERROR_TOO_LONG);
  EXPECT_STREQ(engine.detail().message, "text: more bytes than limits.max_source_bytes");
  EXPECT_EQ(goldcrest_begin_text(engine.get(), bytes.data(), kMaxTextIds), GOLDCREST_ERROR_TOO_LONG);
  EXPECT_STREQ(engine.detail().message, "text: more tokens than limits.max_source_tokens");
  EXPECT_EQ(engine.detail().index, static_cast<int32_t>(kMaxTextIds));
  EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_ERROR_STATE) << "nothing was stored";
  ASSERT_EQ(goldcrest_begin_text(engine.get(), bytes.data(), kMaxTextIds - 1), 0);
  EXPECT_EQ(goldcrest_add_text(engine.get(), bytes.data(), kMaxTextIds), GOLDCREST_ERROR_TOO_LONG);
  EXPECT_EQ(stored_source(engine, 0).size(), kMaxTextIds) << "the first source stays";
  EXPECT_EQ(goldcrest_add_text(engine.get(), "b", 1), 1);
  EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  EXPECT_TRUE(engine.memory_intact());
}

// The tokenizer's scratch shares its memory with encoder and decoder. It must not reach buffers that always live.
TEST(Text, TheScratchOfTheTokenizerIsItsOwn) {
  const FileImage file = text_file(TokenizerKind::kUnigram);
  EngineSetup setup = setup_of_texts();
  setup.limits.max_source_bytes = 6;
  TestEngine engine(file.span(), setup);
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(goldcrest_begin_text(engine.get(), "abc", 3), 0);
    const std::vector<int32_t> first = stored_source(engine, 0);
    ASSERT_EQ(goldcrest_add_text(engine.get(), "\xff\xff\xff\xff\xff\xff", 6), 1);
    EXPECT_EQ(stored_source(engine, 0), first);
    EXPECT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  }
  EXPECT_TRUE(engine.memory_intact());
}

TEST(Translate, EveryBufferSizeGivesWholeCharacters) {
  const FileImage file = text_file(TokenizerKind::kCharacter);
  TestEngine engine(file.span(), setup_of_texts());
  ASSERT_EQ(goldcrest_begin_text(engine.get(), "hello", 5), 0);
  ASSERT_EQ(goldcrest_run(engine.get()), GOLDCREST_DONE);
  const std::string expected = letters_of(engine.results(0).at(0).tokens);
  ASSERT_GE(expected.size(), 4u);
  for (size_t size = 0; size <= expected.size() + 3; ++size) {
    GuardedBuffer<char> out(size);
    const int64_t status = goldcrest_translate(engine.get(), "hello", 5, out.get(), size);
    if (size == 0) {
      EXPECT_EQ(status, GOLDCREST_ERROR_ARGUMENT);
    } else if (size > expected.size()) {
      ASSERT_EQ(status, static_cast<int64_t>(expected.size()));
      EXPECT_EQ(std::string(out.get()), expected);
    } else {
      EXPECT_EQ(status, GOLDCREST_ERROR_TRUNCATED);
      EXPECT_STREQ(engine.detail().message, "out: too small for the text");
      const std::string written = out.get();
      EXPECT_TRUE(expected.starts_with(written));
      EXPECT_EQ(written.size() % 2, 0u) << "half a character";
      EXPECT_GE(written.size() + 2, size - 1) << "the part that fits is written";
    }
  }
  EXPECT_EQ(goldcrest_translate(engine.get(), "hello", 5, nullptr, 10), GOLDCREST_ERROR_ARGUMENT);
}

TEST(Translate, PassesErrorsOn) {
  const FileImage file = text_file(TokenizerKind::kCharacter);
  TestEngine engine(file.span(), setup_of_texts());
  char out[64] = "before";
  EXPECT_EQ(goldcrest_translate(engine.get(), "aaaaaaaaaaaa", 12, out, sizeof out), GOLDCREST_ERROR_TOO_LONG);
  EXPECT_STREQ(out, "");
  EXPECT_STREQ(engine.detail().message, "text: more tokens than limits.max_source_tokens");
  EXPECT_GE(goldcrest_translate(engine.get(), "aaa", 3, out, sizeof out), 0);
}

TEST(Translate, SaysThatAModelHasNoDetokenizer) {
  ModelSpec spec = tiny_spec(odd_tiny_options());
  add_tokenizers(TokenizerKind::kCharacter, spec);
  spec.target_tokenizer.reset();
  const FileImage file = tiny_file(spec);
  TestEngine engine(file.span(), setup_of_texts());
  char out[64] = "before";
  EXPECT_EQ(goldcrest_translate(engine.get(), "aaa", 3, out, sizeof out), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_STREQ(engine.detail().message, "detokenize: the model has no detokenizer");
  EXPECT_STREQ(out, "");
}

TEST(Detokenize, ChecksItsArguments) {
  const FileImage file = text_file(TokenizerKind::kCharacter);
  TestEngine engine(file.span(), setup_of_texts());
  goldcrest_text_state state = {};
  char out[16];
  const int32_t tokens[] = {2, 3};
  EXPECT_EQ(goldcrest_detokenize(engine.get(), nullptr, tokens, 2, out, 16), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_detokenize(engine.get(), &state, nullptr, 2, out, 16), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_detokenize(engine.get(), &state, tokens, 2, nullptr, 16), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_detokenize(engine.get(), &state, tokens, 2, nullptr, 0), GOLDCREST_ERROR_TRUNCATED);
  EXPECT_EQ(goldcrest_detokenize(engine.get(), &state, tokens, 2, out, 3), GOLDCREST_ERROR_TRUNCATED);
  EXPECT_STREQ(engine.detail().message, "out: too small for the text");
  for (const int32_t bad : {-1, 37, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(goldcrest_detokenize(engine.get(), &state, &bad, 1, out, 16), GOLDCREST_ERROR_TOKEN_RANGE) << bad;
    EXPECT_STREQ(engine.detail().message, "tokens: id outside the vocabulary");
  }
  goldcrest_text_state made_up = {.n_pending = 4};
  EXPECT_EQ(goldcrest_detokenize(engine.get(), &made_up, tokens, 2, out, 16), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_STREQ(engine.detail().message, "state: no call has left it");
  EXPECT_EQ(goldcrest_detokenize(engine.get(), &state, tokens, 2, out, 4), 4);
  EXPECT_EQ(std::string(out, 4), letters_of({2, 3}));
  EXPECT_EQ(goldcrest_detokenize(engine.get(), &state, nullptr, 0, out, 16), 0);

  const FileImage without = tiny_file(tiny_spec(odd_tiny_options()));
  TestEngine silent(without.span(), {});
  EXPECT_EQ(goldcrest_detokenize(silent.get(), &state, tokens, 2, out, 16), GOLDCREST_ERROR_UNSUPPORTED);
  EXPECT_STREQ(silent.detail().message, "detokenize: the model has no detokenizer");
}

struct SeenToken {
  int32_t id;
  uint32_t kind;
  std::string text;
  bool operator==(const SeenToken&) const = default;
};

// The tokens of a text, whose ids must be those of goldcrest_begin_text.
std::vector<SeenToken> tokens_of(const TestEngine& engine, const std::string& text) {
  std::vector<SeenToken> seen;
  const auto add = [](void* to, const goldcrest_token* token) {
    static_cast<std::vector<SeenToken>*>(to)->push_back({token->id, token->kind, {token->text, token->text_bytes}});
  };
  EXPECT_EQ(goldcrest_begin_text(engine.get(), text.data(), text.size()), 0);
  const std::vector<int32_t> expected = stored_source(engine, 0);
  EXPECT_EQ(goldcrest_begin_tokens(engine.get(), text.data(), text.size(), add, &seen), 0);
  EXPECT_EQ(stored_source(engine, 0), expected);
  std::vector<int32_t> ids;
  for (const SeenToken& token : seen) ids.push_back(token.id);
  EXPECT_EQ(ids, expected);
  return seen;
}

TEST(Tokens, HaveTheTextsOfTheSource) {
  constexpr uint32_t kNormal = GOLDCREST_TOKEN_NORMAL, kUnknown = GOLDCREST_TOKEN_UNKNOWN;
  const SeenToken end = {0, GOLDCREST_TOKEN_CONTROL, ""};
  const FileImage letters = text_file(TokenizerKind::kCharacter), pieces = text_file(TokenizerKind::kUnigram),
                  words = text_file(TokenizerKind::kWord);
  const TestEngine of_letters(letters.span(), setup_of_texts()), of_pieces(pieces.span(), setup_of_texts()),
      of_words(words.span(), setup_of_texts());
  EXPECT_EQ(tokens_of(of_letters, "a\u00e9b"),
      (std::vector<SeenToken>{{2, kNormal, "a"}, {1, kUnknown, "\u00e9"}, {3, kNormal, "b"}, end}));
  EXPECT_EQ(tokens_of(of_words, "b  xyz a"),
      (std::vector<SeenToken>{{3, kNormal, "b"}, {1, kUnknown, "xyz"}, {2, kNormal, "a"}, end}));
  EXPECT_EQ(tokens_of(of_pieces, "a\u00e9\u2603b"),  // a run of unknown characters is one token
      (std::vector<SeenToken>{
          {1, kUnknown, "\u2581"}, {2, kNormal, "a"}, {1, kUnknown, "\u00e9\u2603"}, {3, kNormal, "b"}, end}));
  EXPECT_EQ(tokens_of(of_pieces, ""), std::vector<SeenToken>{end});
  EXPECT_EQ(goldcrest_begin_tokens(of_letters.get(), "ab", 2, nullptr, nullptr), 0);
  const std::string many(kMaxTextIds, 'a');
  EXPECT_EQ(
      goldcrest_begin_tokens(of_letters.get(), many.data(), many.size(), nullptr, nullptr), GOLDCREST_ERROR_TOO_LONG);
  EXPECT_EQ(goldcrest_begin_tokens(nullptr, "ab", 2, nullptr, nullptr), GOLDCREST_ERROR_ARGUMENT);
}

TEST(Tokens, TakeTheirPlaceInAText) {
  const FileImage file = text_file(TokenizerKind::kCharacter);
  TestEngine engine(file.span(), setup_of_texts());
  goldcrest_text_state state = {};
  char out[16];
  const goldcrest_token token = {-1, GOLDCREST_TOKEN_UNKNOWN, "\u2603", 3};
  EXPECT_EQ(goldcrest_detokenize_token(engine.get(), &state, &token, out, 2), GOLDCREST_ERROR_TRUNCATED);
  EXPECT_STREQ(engine.detail().message, "out: too small for the text");
  EXPECT_EQ(state.started, 0);
  EXPECT_EQ(goldcrest_detokenize_token(engine.get(), &state, &token, out, 3), 3);
  EXPECT_EQ(std::string(out, 3), "\u2603");
  EXPECT_EQ(state.started, 1);
  const goldcrest_token bad = {0, 0, nullptr, 1};
  EXPECT_EQ(goldcrest_detokenize_token(engine.get(), &state, &bad, out, 16), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_detokenize_token(engine.get(), &state, nullptr, out, 16), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_detokenize_token(engine.get(), nullptr, &token, out, 16), GOLDCREST_ERROR_ARGUMENT);
}
}}  // namespace goldcrest::test
