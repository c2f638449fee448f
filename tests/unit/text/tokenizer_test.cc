// SPDX-License-Identifier: Apache-2.0
// Memory to the byte, limits, and the kinds and rules that SentencePiece itself does not have.
#include "text/tokenizer.h"
#include <chrono>
#include "goldcrest/goldcrest.h"
#include "support/test.h"
#include "text/bpe.h"
#include "tokenizers/sentencepiece_model.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test { namespace {
using converter::TokenizerSpec;
using converter::Vocabulary;
using Ids = std::vector<int32_t>;

constexpr uint8_t kGuard = 0xA5;
constexpr size_t kGuardBytes = 64;

TokenizerSpec read_tokenizer(const std::string& name) {
  if (name.starts_with("codes")) return subword_spec(name);
  return converter::read_sentencepiece_model(source_path("tests/data/" + name + ".model"));
}

// Tokenizes with exactly this much scratch and room for exactly max_ids. Fails the test if a byte around them changes.
int tokenize_guarded(const TokenizerView& view, const std::string& text, size_t scratch_bytes, size_t max_ids) {
  std::vector<uint8_t> scratch(scratch_bytes + 2 * kGuardBytes, kGuard);
  std::vector<int32_t> ids(max_ids + 2 * kGuardBytes, 0x55555555);
  const int status = tokenize({&view, text.data(), text.size(), scratch.data() + kGuardBytes, scratch_bytes,
      ids.data() + kGuardBytes, max_ids});
  const auto is_guard = [](uint8_t byte) { return byte == kGuard; };
  EXPECT_TRUE(std::all_of(scratch.begin(), scratch.begin() + kGuardBytes, is_guard));
  EXPECT_TRUE(std::all_of(scratch.end() - kGuardBytes, scratch.end(), is_guard));
  for (size_t i = 0; i < kGuardBytes; ++i) {
    EXPECT_EQ(ids[i], 0x55555555);
    EXPECT_EQ(ids[kGuardBytes + max_ids + i], 0x55555555);
  }
  return status;
}

size_t scratch_for(const TokenizerView& view, size_t max_source_bytes) {
  const ScratchSize size = tokenizer_scratch(view);
  return size.constant + size.per_byte * max_source_bytes;
}

TEST(TokenizerScratch, IsTheDocumentedSize) {
  const auto is = [](goldcrest::TokenizerKind kind, uint32_t constant, uint32_t per_byte) {
    const ScratchSize size = tokenizer_scratch({.kind = kind});
    return size.constant == constant && size.per_byte == per_byte;
  };
  EXPECT_TRUE(is(goldcrest::TokenizerKind::kUnigram, 62, 21));
  EXPECT_TRUE(is(goldcrest::TokenizerKind::kBpe, 72, 27));
  EXPECT_TRUE(is(goldcrest::TokenizerKind::kWord, 0, 0));
  EXPECT_TRUE(is(goldcrest::TokenizerKind::kCharacter, 0, 0));
  EXPECT_TRUE(is(goldcrest::TokenizerKind::kSubword, 72, 27));
}

// Spaces and bad bytes grow threefold: without a rule that lengthens it, no text grows more.
TEST(TokenizerScratch, SufficesForEveryTextThatNoRuleLengthens) {
  for (const char* name : {"bpe_bytes", "unigram_bytes", "char", "codes", "codes_0_1"}) {  // models without a map
    const TestTokenizer tokenizer(read_tokenizer(name));
    const TokenizerView view = tokenizer.view();
    for (const std::string& line : all_lines()) {
      const Ids expected = tokenizer.encode(line);
      EXPECT_EQ(tokenize_guarded(view, line, scratch_for(view, line.size()), expected.size()),
          static_cast<int>(expected.size()))
          << name << ": " << shown(line);
    }
  }
}

TEST(TokenizerScratch, AnyOtherSizeGivesTheSameIdsOrTooLong) {
  for (const char* name : {"bpe_bytes", "unigram_rules", "codes"}) {
    const TestTokenizer tokenizer(read_tokenizer(name));
    const std::string text = "Is \xEF\xB7\xBA  this\xFF the\xE3\x80\x80thing \xEF\xAC\x81n?";
    const int n = static_cast<int>(tokenizer.encode(text).size());
    size_t n_too_long = 0;
    for (size_t bytes = 0; bytes < 1200; ++bytes) {
      const int status = tokenize_guarded(tokenizer.view(), text, bytes / 4 * 4, static_cast<size_t>(n));
      EXPECT_TRUE(status == n || status == GOLDCREST_ERROR_TOO_LONG) << status;
      n_too_long += status != n;
    }
    EXPECT_GT(n_too_long, 100u);
    EXPECT_LT(n_too_long, 1000u);
  }
}

TEST(Tokenize, WritesNoMoreIdsThanThereIsRoomFor) {
  for (const char* name : {"bpe_bytes", "unigram_rules", "char", "codes"}) {
    const TestTokenizer tokenizer(read_tokenizer(name));
    const std::string text = "some sentence \xF0\x9F\x98\x80 or other";
    const size_t n = tokenizer.encode(text).size();
    for (size_t max_ids = 0; max_ids < n; ++max_ids) {
      EXPECT_EQ(tokenize_guarded(tokenizer.view(), text, scratch_for(tokenizer.view(), text.size()), max_ids),
          GOLDCREST_ERROR_TOO_LONG);
    }
  }
}

TEST(Tokenize, GivesBackATextOfKnownCharacters) {
  for (const char* name : {"bpe_bytes", "unigram_bytes"}) {
    const TestTokenizer tokenizer(read_tokenizer(name));
    for (const std::string& line : valid_lines()) EXPECT_EQ(tokenizer.decode(tokenizer.encode(line)), line);
  }
}

Vocabulary word_list() {
  return {"words", {"<pad>", "<unk>", "the", "cat", "sat", "</s>", "\xC3\xA9t\xC3\xA9", ""}, 1, {0, 5}};
}

TEST(TokenizeWords, SplitsAtAsciiWhiteSpaceOnly) {
  const TestTokenizer tokenizer(converter::word_tokenizer(word_list()));
  EXPECT_EQ(tokenizer.encode("the cat  sat\t\xC3\xA9t\xC3\xA9\r\n"), (Ids{2, 3, 4, 6}));
  EXPECT_EQ(tokenizer.encode(" The cat\xC2\xA0sat the"), (Ids{1, 1, 2}));
  EXPECT_EQ(tokenizer.encode("</s> <pad> \xFF"), (Ids{1, 1, 1}));
  EXPECT_EQ(tokenizer.encode(std::string("the\0cat cat", 11)), (Ids{1, 3}));
  EXPECT_EQ(tokenizer.encode(" \t\v\f\r\n"), Ids{});
  EXPECT_EQ(tokenizer.encode(""), Ids{});
}

// Compares with a loop over the text's bytes, on hostile lines, too; every word of the data is an entry.
TEST(TokenizeWords, LooksUpEachWordOfEveryLine) {
  const auto words_of = [](const std::string& line) {
    std::vector<std::string> words = {""};
    for (const char byte : line)
      if (std::string(" \t\n\v\f\r").find(byte) == std::string::npos) words.back() += byte;
      else if (!words.back().empty()) words.emplace_back();
    if (words.back().empty()) words.pop_back();
    return words;
  };
  std::map<std::string, int32_t> ids = {{"<unk>", 0}, {"</s>", 1}};
  Vocabulary vocabulary = {"words", {"<unk>", "</s>"}, 0, {1}};
  for (const std::string& line : valid_lines()) {
    for (const std::string& word : words_of(line))
      if (ids.emplace(word, vocabulary.id_to_text.size()).second) vocabulary.id_to_text.push_back(word);
  }
  ids.erase("</s>");  // a text never gives a control entry
  const TestTokenizer tokenizer(converter::word_tokenizer(vocabulary));
  for (const std::string& line : all_lines()) {
    Ids expected;
    for (const std::string& word : words_of(line)) expected.push_back(ids.contains(word) ? ids.at(word) : 0);
    ASSERT_EQ(tokenizer.encode(line), expected) << shown(line);
  }
}

TEST(TokenizeCharacters, GivesOneIdForEachCodePoint) {
  const TestTokenizer tokenizer(
      converter::character_tokenizer({"characters", {"<s>", "?", "a", "b", "\xC3\xA9", " ", "ab"}, 1, {0}}));
  EXPECT_EQ(tokenizer.encode("ab \xC3\xA9"), (Ids{2, 3, 5, 4}));
  EXPECT_EQ(tokenizer.encode("xy\xF0\x9F\x98\x80\xE2\x96"), (Ids{1, 1, 1, 1, 1}));
  EXPECT_EQ(tokenizer.encode(std::string("a\0b", 3)), (Ids{2, 1, 3}));
  const TestTokenizer with_replacement(
      converter::character_tokenizer({"characters", {"<unk>", "a", "\xEF\xBF\xBD"}, 0, {}}));
  EXPECT_EQ(with_replacement.encode("a\xFF\xEF\xBF\xBDz"), (Ids{1, 2, 2, 0}));
}

// A small Marian vocabulary: the model's pieces in another order, codes, and words that the model lacks.
TokenizerSpec marian_spec(const std::string& model) {
  const TokenizerSpec spec = read_tokenizer(model);
  Vocabulary vocabulary = {"vocab.json", {"</s>", "<unk>", ">>fra<<", "\xE4\xBD\xA0\xE5\xA5\xBD", ">>x<<"}, 1, {0}};
  for (size_t id = spec.pieces.size(); id-- > 0;) {
    const std::string& text = spec.pieces[id].text;
    if (text != "</s>" && text != "<unk>" && text != "<s>") vocabulary.id_to_text.push_back(text);
  }
  vocabulary.id_to_text.push_back("<pad>");
  vocabulary.control_ids.push_back(static_cast<uint32_t>(vocabulary.id_to_text.size() - 1));
  return converter::combine_with_vocabulary(spec, vocabulary);
}

Ids joined(Ids first, const Ids& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST(LanguageCodes, ALeadingEntryBecomesOneId) {
  for (const char* model : {"unigram_rules", "bpe_rules"}) {
    const TestTokenizer tokenizer(marian_spec(model));
    ASSERT_TRUE(tokenizer.view().language_codes);
    EXPECT_EQ(tokenizer.encode(">>fra<< How are you?"), joined({2}, tokenizer.encode(" How are you?")));
    EXPECT_EQ(tokenizer.encode(">>x<<How"), joined({4}, tokenizer.encode("How")));
    EXPECT_EQ(tokenizer.encode(">>fra<<"), Ids{2});
    EXPECT_EQ(tokenizer.encode(">>fra<<>>x<<")[0], 2);
    for (const char* other : {">>deu<< How", " >>fra<< How", ">>fra< How", "How >>fra<<", ">><<", ">>fra", ">>"}) {
      const Ids ids = tokenizer.encode(other);
      EXPECT_EQ(std::count(ids.begin(), ids.end(), 2), 0) << other;
    }
  }
}

TEST(Surfaces, AWholeRunOfUnknownsIsLookedUp) {
  for (const char* model : {"unigram_rules", "bpe_rules"}) {
    const TestTokenizer tokenizer(marian_spec(model));
    const auto middle = [&](const std::string& run) {
      const Ids ids = tokenizer.encode("e" + run + "e");
      EXPECT_GE(ids.size(), 3u);
      return Ids(ids.end() - 2, ids.end() - 1);
    };
    EXPECT_EQ(middle("\xE4\xBD\xA0\xE5\xA5\xBD"), Ids{3});
    EXPECT_EQ(middle("\xE4\xBD\xA0"), Ids{1});
    EXPECT_EQ(middle("\xE4\xBD\xA0\xE5\xA5\xBD\xE4\xBD\xA0"), Ids{1});
  }
}

TEST(Surfaces, APieceOutsideTheVocabularyGivesTheUnknownIdAlone) {
  TokenizerSpec spec = read_tokenizer("bpe_rules");
  Vocabulary vocabulary = {"vocab.json", {"<unk>", "</s>"}, 0, {1}};  // no ordinary piece
  const TestTokenizer tokenizer(converter::combine_with_vocabulary(spec, vocabulary));
  const TestTokenizer own(spec);
  EXPECT_EQ(tokenizer.encode("How are you?"), Ids(own.encode("How are you?").size(), 0));
}

TEST(Tokenize, RefusesIdsThatTheFileHasOutOfRange) {
  const TestTokenizer tokenizer(read_tokenizer("unigram_rules"));
  TokenizerView view = tokenizer.view();
  view.unknown_id = view.vocab_size;
  const std::string text = "\xE4\xBD\xA0";
  EXPECT_EQ(tokenize_guarded(view, text, scratch_for(view, text.size()), 9), GOLDCREST_ERROR_MODEL_CORRUPT);
}

// Merge order and ties on models that are small enough to follow by hand, and the longest text.

using converter::Piece;
using converter::PieceType;
using Ids = std::vector<int32_t>;

// Pieces get the ids 1, 2, ...; 0 is unknown.
TestTokenizer bpe_of(std::vector<Piece> pieces) {
  converter::TokenizerSpec spec = {
      .kind = converter::TokenizerKind::kBpe, .pieces = {{"<unk>", 0, PieceType::kUnknown}}};
  spec.pieces.insert(spec.pieces.end(), pieces.begin(), pieces.end());
  spec.vocab_size = static_cast<uint32_t>(spec.pieces.size());
  spec.add_dummy_prefix = spec.remove_extra_whitespace = spec.escape_whitespace = false;
  return TestTokenizer(spec);
}

TEST(Bpe, MergesTheBestPairFirstAndOfEqualOnesTheLeft) {
  const TestTokenizer better_right = bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -2}, {"bc", -1}});
  EXPECT_EQ(better_right.encode("abc"), (Ids{1, 5}));
  const TestTokenizer equal = bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -1}, {"bc", -1}});
  EXPECT_EQ(equal.encode("abc"), (Ids{4, 3}));
  const TestTokenizer zeros = bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -0.0f}, {"bc", 0.0f}});
  EXPECT_EQ(zeros.encode("abc"), (Ids{4, 3}));
  const TestTokenizer overlapping = bpe_of({{"a", -9}, {"aa", -1}, {"aaa", -2}});
  EXPECT_EQ(overlapping.encode("aaaaa"), (Ids{2, 3}));
}

TEST(Bpe, MergesCharactersThatAreNoPieces) {
  const TestTokenizer tokenizer = bpe_of({{"xy", -1}});
  EXPECT_EQ(tokenizer.encode("xyx"), (Ids{1, 0}));
  EXPECT_EQ(tokenizer.encode("zxyzz"), (Ids{0, 1, 0}));  // a run of unknowns is one id
}

TEST(Bpe, NeverMergesUserDefinedPieces) {
  const TestTokenizer tokenizer = bpe_of({{"a", -9}, {"b", 0, PieceType::kUserDefined}, {"ab", -1}, {"ba", -1}});
  EXPECT_EQ(tokenizer.encode("aba"), (Ids{1, 2, 1}));
}

TEST(Bpe, SplitsUnusedPiecesWhereTheyWerePutTogether) {
  const TestTokenizer tokenizer =
      bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -1}, {"abc", -2, PieceType::kUnused}, {"bc", -3}});
  EXPECT_EQ(tokenizer.encode("abc"), (Ids{4, 3}));
  const TestTokenizer twice =
      bpe_of({{"a", -9}, {"b", -9}, {"c", -9}, {"ab", -1, PieceType::kUnused}, {"abc", -2, PieceType::kUnused}});
  EXPECT_EQ(twice.encode("abcabc"), (Ids{1, 2, 3, 1, 2, 3}));
}

TEST(Bpe, TakesTextsUpToItsLimitInAboutLinearTime) {
  const TestTokenizer tokenizer(converter::read_sentencepiece_model(source_path("tests/data/bpe_bytes.model")));
  const TokenizerView view = tokenizer.view();
  std::vector<uint32_t> scratch(kBpeScratchPerByte * 70000 / 4);
  std::vector<int32_t> ids(70000);
  const auto run = [&](const std::string& text) {
    return tokenize({&view, text.data(), text.size(), scratch.data(), scratch.size() * 4, ids.data(), ids.size()});
  };
  // The dummy prefix takes 3 bytes.
  const std::string longest(kBpeMaxNormalizedBytes - 3, 'e');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_GT(run(longest), 1000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));  // O(n^2) would take minutes
  EXPECT_EQ(run(longest + "e"), GOLDCREST_ERROR_TOO_LONG);
}
}}  // namespace goldcrest::test
