// SPDX-License-Identifier: Apache-2.0
// subword-nmt's merges: answers of subword-nmt, and cases that are small enough to follow by hand.
#include <chrono>
#include <random>
#include "base/bounds.h"
#include "goldcrest/goldcrest.h"
#include "spec/format_text.h"
#include "spec/trim_vocabulary.h"
#include "support/expect_error.h"
#include "text/bpe.h"
#include "text/detokenizer.h"
#include "tokenizers/subword_codes.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test { namespace {
using Ids = std::vector<int32_t>;
using Strings = std::vector<std::string>;

// Entries have the ids from 2 on; 0 is unknown, 1 the end.
converter::TokenizerSpec spec_of(const std::string& codes, const Strings& entries) {
  Strings all = {"<unk>", "</s>"};
  all.insert(all.end(), entries.begin(), entries.end());
  return converter::subword_tokenizer(converter::parse_subword_codes(codes, "codes"), {"vocabulary", all, 0, {1}});
}

// Cuts a text and returns the entries with spaces between them.
std::string cut(const converter::TokenizerSpec& spec, const std::string& text) {
  Strings entries;
  for (const int32_t id : TestTokenizer(spec).encode(text))
    entries.push_back(spec.pieces[static_cast<size_t>(id)].text);
  return converter::join_text(entries, " ");
}

class Golden : public testing::TestWithParam<const char*> {};

// Each line has a text, a tab, and the ids of apply_bpe.py of subword-nmt 0.3.8.
TEST_P(Golden, GivesSubwordNmtsIds) {
  const TestTokenizer tokenizer(subword_spec(GetParam()));
  const Strings lines = subword_file(std::string(GetParam()) + ".golden");
  EXPECT_GT(lines.size(), 80u);
  for (const std::string& line : lines) {
    const size_t tab = line.rfind('\t');
    const Ids ids = tokenizer.encode(line.substr(0, tab));
    EXPECT_EQ(converter::join_text(ids, " "), line.substr(tab + 1)) << shown(line);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Golden, testing::Values("codes", "codes_0_1", "codes_pairs"),
    [](const auto& codes) { return std::string(codes.param); });

const Strings kLetters = {"a@@", "b@@", "c@@", "a", "b", "c"};

converter::TokenizerSpec letters_and(const std::string& merges, const Strings& more) {
  Strings entries = kLetters;
  entries.insert(entries.end(), more.begin(), more.end());
  return spec_of("#version: 0.2\n" + merges, entries);
}

TEST(Subword, TheFirstMergeOfTheFileComesFirst) {
  const converter::TokenizerSpec spec = letters_and("b c</w>\na b\n", {"bc", "ab@@"});
  EXPECT_EQ(cut(spec, "abc"), "a@@ bc");
  EXPECT_EQ(cut(spec, "abcc"), "ab@@ c@@ c");
}

// "abc" is both a + bc and ab + c: the pair decides, not the text that it makes.
TEST(Subword, OneTextOfTwoPairs) {
  const Strings entries = {"ab@@", "bc@@", "abc@@", "abc", "abb@@"};
  EXPECT_EQ(cut(letters_and("b c\na b\nab c\n", entries), "abca"), "a@@ bc@@ a");
  EXPECT_EQ(cut(letters_and("b c\na b\nab c\na bc\n", entries), "abca"), "abc@@ a");
  EXPECT_EQ(cut(letters_and("ab c\na bc\nb b\nb c\na b\n", entries), "abcbba"), "abc@@ <unk> a")
      << "bb comes first, then bc";
}

// b + c is merged in both places before a + bc is tried, although a + bc comes earlier in the file.
TEST(Subword, AMergeIsMadeEverywhereBeforeTheNext) {
  const converter::TokenizerSpec spec = letters_and("bc b\nb c\n", {"bc@@", "bcb@@", "bcb", "bc"});
  EXPECT_EQ(cut(spec, "bcbca"), "bc@@ bc@@ a");
  EXPECT_EQ(cut(spec, "bcba"), "bcb@@ a");
}

TEST(Subword, OverlappingPairsFromTheLeft) {
  const converter::TokenizerSpec spec = letters_and("a a\n", {"aa@@"});
  EXPECT_EQ(cut(spec, "aaaaab"), "aa@@ aa@@ a@@ b");
  EXPECT_EQ(cut(spec, "aaa"), "aa@@ a") << "the last character is another symbol";
}

TEST(Subword, AWordEndsInItsLastCharacterOrApart) {
  const Strings entries = {"a@@", "b@@", "ab@@", "ab", "a", "b"};
  EXPECT_EQ(cut(spec_of("#version: 0.2\na b\n", entries), "ab aba"), "a@@ b ab@@ a");
  EXPECT_EQ(cut(spec_of("#version: 0.2\na b</w>\n", entries), "ab aba"), "ab a@@ b@@ a");
  EXPECT_EQ(cut(spec_of("a b\n", entries), "ab aba"), "ab ab@@ a");
  EXPECT_EQ(cut(spec_of("#version: 0.1\na b\n", entries), "ab aba"), "ab ab@@ a");
  EXPECT_EQ(cut(spec_of("b </w>\na b\n", entries), "ab aba"), "a@@ b ab@@ a") << "the pair is a + b";
  EXPECT_EQ(cut(spec_of("b </w>\na b</w>\n", entries), "ab aba"), "ab a@@ b@@ a");
}

// A vocabulary without "b", the symbol "ab" and the character U+20AC.
TEST(Subword, EachUnknownSymbolKeepsItsPlace) {
  const converter::TokenizerSpec spec = spec_of("#version: 0.2\na b\n", {"a@@", "a", "c"});
  EXPECT_EQ(cut(spec, "abb\u20AC\u20ACc b"), "<unk> <unk> <unk> <unk> c <unk>");
  EXPECT_EQ(cut(spec, "a\xFFz\xE2\x82"), "a@@ <unk> <unk> <unk> <unk>") << "each bad byte is U+FFFD";
  EXPECT_EQ(cut(spec_of("#version: 0.2\na b\n", {"\uFFFD"}), "\xFF"), "\uFFFD");
}

TEST(Subword, WordsAreBetweenSpaces) {
  const converter::TokenizerSpec spec = letters_and("a b\n", {"\t@@", "\u2581"});
  EXPECT_EQ(cut(spec, "  a   b "), "a b");
  EXPECT_EQ(cut(spec, "\r\n a\r\n"), "a");
  EXPECT_EQ(cut(spec, "a\tb"), "a@@ \t@@ b") << "no space, as for subword-nmt";
  EXPECT_EQ(cut(spec, "a\u00A0b \u2581"), "a@@ <unk> b \u2581");
  for (const char* nothing : {"", " ", "   ", "\n", " \r\n "}) EXPECT_EQ(cut(spec, nothing), "");
  EXPECT_EQ(cut(spec, "</s> a"), "<unk> <unk> <unk> <unk> a") << "a text never gives a control entry";
}

TEST(Subword, MarksInTheText) {
  const converter::TokenizerSpec spec = letters_and("@ @</w>\n", {"@@@", "@", "@@"});
  EXPECT_EQ(cut(spec, "@@ a@@ @@@ @"), "@@ a@@ @@ @@@ @@ @");
  EXPECT_EQ(TestTokenizer(spec).decode(TestTokenizer(spec).encode("@@ a@@ @@@ @")), "@@ a@@ @@@ @");
}

TEST(Subword, ACodeOfALanguageStandsBeforeTheWords) {
  const converter::TokenizerSpec spec = letters_and("a b\n", {">>fra<<", ">>x<<"});
  EXPECT_EQ(cut(spec, ">>fra<< a"), ">>fra<< a");
  EXPECT_EQ(cut(spec, ">>x<<a"), ">>x<< a");
  EXPECT_EQ(cut(spec, "a >>x<<"), "a <unk> <unk> <unk> <unk> <unk>");
  EXPECT_EQ(TestTokenizer(spec).decode({8, 5}), ">>fra<< a");
}

TEST(Subword, EntriesBecomeTextAtEverySplit) {
  const TestTokenizer tokenizer(letters_and("a b\n", {"abc@@", "abc", "\u00E9t\u00E9", "@@"}));
  const DetokenizerView view = tokenizer.detokenizer_view();
  const std::vector<std::pair<Ids, std::string>> cases = {{{2, 3, 7, 5}, "abc a"}, {{7, 1}, "c"},
      {{2, 1, 9, 1, 1, 10, 1}, "aabc \u00E9t\u00E9"}, {{5, 8}, "a abc"}, {{2, 0, 0, 5}, "a\u2047 \u2047 a"},
      {{11, 11, 2}, "@@ @@ a"}, {{1}, ""}, {{}, ""}};
  for (const auto& [ids, expected] : cases) {
    EXPECT_EQ(tokenizer.decode(ids), expected);
    for (size_t cut = 0; cut <= ids.size(); ++cut) {
      goldcrest_text_state state = {};
      std::string text(40, '\0');
      int64_t n = cut == 0 ? 0 : detokenize(view, &state, ids.data(), cut, text.data(), text.size());
      const auto room = [&] { return text.size() - static_cast<size_t>(n); };
      for (size_t i = cut; i < ids.size(); ++i) n += detokenize(view, &state, &ids[i], 1, text.data() + n, room());
      n += detokenize(view, &state, nullptr, 0, text.data() + n, room());
      EXPECT_EQ(text.substr(0, static_cast<size_t>(n)), expected);
      EXPECT_EQ(state.n_pending, 0);
    }
    for (size_t capacity = 0; capacity < expected.size(); ++capacity) {
      goldcrest_text_state state = {};
      char out[40];
      EXPECT_EQ(detokenize(view, &state, ids.data(), ids.size(), out, capacity), GOLDCREST_ERROR_TRUNCATED);
    }
  }
}

TEST(Subword, GivesBackATextOfKnownCharacters) {
  for (const char* codes : {"codes", "codes_0_1"}) {
    converter::TokenizerSpec spec = subword_spec(codes);
    const TestTokenizer tokenizer(spec);
    size_t compared = 0;
    for (const std::string& line : valid_lines()) {
      const Ids ids = tokenizer.encode(line);
      if (std::ranges::count(ids, 0) > 0) continue;
      EXPECT_EQ(tokenizer.decode(ids), line);
      ++compared;
    }
    EXPECT_GT(compared, 100u) << codes;
  }
}

// As subword-nmt with --vocabulary, splits entries that are not in the vocabulary again, merge by merge.
TEST(Subword, WhatATrimmedVocabularyLacksIsSplitAgain) {
  const converter::TokenizerSpec whole =
      letters_and("a b\nab c\nc c\na b</w>\nc ab</w>\n", {"ab@@", "abc@@", "cc@@", "ab", "cab"});
  const converter::ModelSpec spec = tokenizer_only(whole);
  const auto trimmed = [&](const std::vector<uint32_t>& removed) {
    converter::KeptIds kept = {{}, {0}};
    for (uint32_t id = 0; id < whole.vocab_size; ++id)
      if (std::ranges::find(removed, id) == removed.end()) kept.source.push_back(id);
    return *converter::trim_vocabulary(spec, kept).source_tokenizer;
  };
  EXPECT_EQ(cut(whole, "abca cccab ccab"), "abc@@ a cc@@ cab cc@@ ab");
  EXPECT_EQ(cut(trimmed({9}), "abca cccab ccab"), "ab@@ c@@ a cc@@ cab cc@@ ab");
  EXPECT_EQ(cut(trimmed({8, 9}), "abca abcb"), "a@@ b@@ c@@ a a@@ b@@ c@@ b");
  EXPECT_EQ(cut(trimmed({10, 12}), "abca cccab ccab"), "abc@@ a c@@ c@@ c@@ ab c@@ c@@ ab");
  EXPECT_EQ(cut(trimmed({11, 12}), "cab"), "c@@ a@@ b");
  EXPECT_EQ(cut(trimmed({2, 8, 9}), "abca"), "<unk> b@@ c@@ a") << "a character without an entry";
  const converter::TokenizerSpec apart = spec_of("a b\nab </w>\nc ab</w>\n", {"a@@", "b@@", "c@@", "b", "ab", "cab"});
  converter::KeptIds kept = {{0, 1, 2, 3, 4, 5, 6}, {0}};
  EXPECT_EQ(cut(*converter::trim_vocabulary(tokenizer_only(apart), kept).source_tokenizer, "cab ab"), "c@@ ab ab");
  kept.source = {0, 1, 2, 3, 4, 5};
  EXPECT_EQ(
      cut(*converter::trim_vocabulary(tokenizer_only(apart), kept).source_tokenizer, "cab ab"), "c@@ a@@ b a@@ b");
}

TEST(Subword, TakesTextsUpToItsLimitInAboutLinearTime) {
  const TestTokenizer tokenizer(subword_spec("codes_pairs"));
  const TokenizerView view = tokenizer.view();
  std::vector<uint32_t> scratch(kBpeScratchPerByte * 70000 / 4);
  Ids ids(70000);
  const auto run = [&](const std::string& text) {
    return tokenize({&view, text.data(), text.size(), scratch.data(), scratch.size() * 4, ids.data(), ids.size()});
  };
  std::mt19937 generator(1);
  // The space that ends the word takes 1 byte.
  std::string longest(kBpeMaxNormalizedBytes - 1, 'a');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_GT(run(longest), 1000);
  EXPECT_EQ(run(longest + "a"), GOLDCREST_ERROR_TOO_LONG);
  for (char& letter : longest) letter = "abc"[generator() % 3];
  EXPECT_GT(run(longest), 1000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));  // O(n^2) would take minutes
}

// Files of merges: versions, what subword-nmt takes and what it refuses, damage; and their vocabularies.

using converter::Error;
using converter::Merge;
using converter::parse_subword_codes;

// Returns "ab c|a b_": left and right of each merge, with _ for a word's end.
std::string merges_of(const std::string& content) {
  std::vector<std::string> merges;
  for (const Merge& merge : parse_subword_codes(content, "codes").merges) {
    std::string right = merge.right;
    if (right.ends_with(' ')) right.back() = '_';
    merges.push_back(converter::format_text("{} {}", merge.left, right));
  }
  return converter::join_text(merges, "|");
}

std::string codes_message(const std::string& content) {
  return error_of([&] { parse_subword_codes(content, "codes"); });
}

TEST(SubwordCodes, Versions) {
  for (const char* version : {"#version: 0.2\n", "#version: 0.2.0\r\n", "#version: 0.2.0.0 \n"})
    EXPECT_FALSE(parse_subword_codes(std::string(version) + "a b\n", "codes").word_end_apart) << version;
  for (const char* version : {"", "#version: 0.1\n", "#version: 0.1.0\n"})
    EXPECT_TRUE(parse_subword_codes(std::string(version) + "a b\n", "codes").word_end_apart) << version;
  EXPECT_EQ(codes_message("#version: 0.3\na b\n"),
      "codes: line 1: the version is \"0.3\", and codes of versions 0.1 and 0.2 are read");
  EXPECT_EQ(codes_message("#version:\na b\n"),
      "codes: line 1: the version is \"\", and codes of versions 0.1 and 0.2 are read");
  EXPECT_EQ(codes_message("#version: 2\na b\n"),
      "codes: line 1: the version is \"2\", and codes of versions 0.1 and 0.2 are read");
  EXPECT_EQ(merges_of("#versio b\n"), "#versio b");
}

TEST(SubwordCodes, LinesAsThePeerReadsThem) {
  EXPECT_EQ(merges_of("#version: 0.2\na b</w>\n\u00E9 t\nab </w>\n"), "a b_|\u00E9 t|ab _");
  EXPECT_EQ(merges_of("#version: 0.2\r\na b</w>\r\n c d \r\n"), "a b_|c d");
  EXPECT_EQ(merges_of("a b\n\n\n"), "a b");
  EXPECT_EQ(merges_of("a b"), "a b");
  EXPECT_EQ(merges_of("#version: 0.2\na b\nc d\na b\na b</w>\n"), "a b|c d|a b_") << "the first occurrence counts";
  EXPECT_EQ(merges_of("# c\na\tb \u00A0\n"), "# c|a\tb \u00A0");
}

// fastBPE's files have no version, and a count in every line.
TEST(SubwordCodes, FilesWithCounts) {
  EXPECT_EQ(merges_of("t h 120\nth e</w> 99\nth 3 1\n"), "t h|th e_|th 3");
  EXPECT_FALSE(parse_subword_codes("t h 120\n", "codes").word_end_apart);
  EXPECT_EQ(codes_message("t h 120\nth e\n"),
      "codes: line 2: found \"th e\", expected two symbols with a space between them, and a count");
  EXPECT_EQ(codes_message("t h 120\nth e x\n"),
      "codes: line 2: found \"th e x\", expected two symbols with a space between them, and a count");
}

TEST(SubwordCodes, RefusesWhatIsNoMerge) {
  const auto found = [](int line, const std::string& what) {
    return converter::format_text(
        "codes: line {}: found \"{}\", expected two symbols with a space between them", line, what);
  };
  EXPECT_EQ(codes_message(""), "codes: the file is empty; download it again");
  EXPECT_EQ(codes_message("\n"), found(1, ""));
  EXPECT_EQ(codes_message("#version: 0.2"), found(2, ""));
  EXPECT_EQ(codes_message("#version: 0.2\n"), found(2, ""));
  EXPECT_EQ(codes_message("#version: 0.2\na b\nabc\n"), found(3, "abc"));
  EXPECT_EQ(codes_message("a b\n\nc d\n"), found(2, ""));
  EXPECT_EQ(codes_message("a b\na  b\n"), found(2, "a  b"));
  EXPECT_EQ(codes_message("a b\na b c\n"), found(2, "a b c"));
  EXPECT_EQ(codes_message("a b 1 2\n"), found(1, "a b 1 2"));
  EXPECT_EQ(codes_message("a b\na b 7\n"), found(2, "a b 7"));
  EXPECT_EQ(codes_message("<!DOCTYPE html>\n<html>\n"), found(2, "<html>"));
  EXPECT_EQ(
      codes_message("a b\na \xFF\n"), "codes: line 2, \"a \xFF\", is not UTF-8 or has a NUL byte: the file is damaged");
  EXPECT_EQ(codes_message(std::string("a \0\n", 4)),
      "codes: line 1, \"a \\x00\", is not UTF-8 or has a NUL byte: the file is damaged");
  EXPECT_EQ(codes_message("a b\na " + std::string(kMaxPieceBytes - 1, 'b')),
      "codes: line 2 has 4097 bytes, expected at most 4096");
  EXPECT_EQ(codes_message("a " + std::string(kMaxPieceBytes - 2, 'b')), "no error");
  for (const char* line : {"a</w> b", "</w </w>></w>", "</w >", "a</w> b</w>", "</w> a"}) {
    EXPECT_EQ(codes_message(line),
        converter::format_text(
            "codes: line 1, \"{}\", makes a text with </w> in it, which stands for a word's end", line));
  }
}

TEST(SubwordCodes, SurvivesCutsAndDamageAnywhere) {
  for (const char* name : {"codes", "codes_0_1"}) {
    const std::string bytes = read_bytes(source_path(std::string("tests/data/subword/") + name));
    size_t n_refused = 0;
    for (size_t n = 0; n < bytes.size(); ++n) {
      n_refused += codes_message(bytes.substr(0, n)) != "no error";
      for (const int change : {1, 8, 32, 128}) {
        std::string damaged = bytes;
        damaged[n] = static_cast<char>(damaged[n] ^ change);
        n_refused += codes_message(damaged) != "no error";
      }
    }
    EXPECT_GT(n_refused, 1000u) << name;
  }
}

TEST(SubwordVocabulary, RefusesEntriesWithASpace) {
  const converter::SubwordCodes codes = parse_subword_codes("a b\n", "codes");
  EXPECT_EQ(error_of([&] {
    converter::subword_tokenizer(codes, {"vocabulary", {"<unk>", "a b"}, 0, {}});
  }),
      "vocabulary: the entry of id 1, \"a b\", has a space; subword-nmt's have none");
}

TEST(SubwordVocabulary, MergesAreFurtherEntries) {
  const converter::TokenizerSpec spec = converter::subword_tokenizer(
      parse_subword_codes("b c\nab c</w>\n", "codes"), {"vocabulary", {"<unk>", "bc@@", "b", ">>x<<", ""}, 0, {}});
  const converter::PackedTokenizer packed = converter::pack_tokenizer(spec);
  EXPECT_EQ(packed.vocab_size, 5u);
  EXPECT_EQ(packed.n_pieces, 5u + 2 + 1);  // 1: the word's end of version 0.1
  EXPECT_EQ(packed.score, (std::vector<float>{0, 0, 0, 0, 0, 0, -1, 0}));
  EXPECT_EQ(packed.type, (std::vector<uint8_t>{2, 1, 1, 7, 3, 5, 5, 5}));
  EXPECT_EQ(packed.max_piece_bytes, 5u);
  EXPECT_TRUE(packed.language_codes);
  EXPECT_EQ(converter::pack_detokenizer(spec).text, "\u2047 bcb >>x<< ");
}
}}  // namespace goldcrest::test
