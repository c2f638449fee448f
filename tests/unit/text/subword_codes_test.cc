// SPDX-License-Identifier: Apache-2.0
// Files of merges: versions, what subword-nmt takes and what it refuses, damage; and their vocabularies.
#include "tokenizers/subword_codes.h"

#include <gtest/gtest.h>

#include "base/bounds.h"
#include "spec/error.h"
#include "spec/format_text.h"
#include "unit/text/test_tokenizer.h"

namespace goldcrest::test {
namespace {

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

std::string message_of(const std::string& content) {
  try {
    parse_subword_codes(content, "codes");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SubwordCodes, Versions) {
  for (const char* version : {"#version: 0.2\n", "#version: 0.2.0\r\n", "#version: 0.2.0.0 \n"}) {
    EXPECT_FALSE(parse_subword_codes(std::string(version) + "a b\n", "codes").word_end_apart) << version;
  }
  for (const char* version : {"", "#version: 0.1\n", "#version: 0.1.0\n"}) {
    EXPECT_TRUE(parse_subword_codes(std::string(version) + "a b\n", "codes").word_end_apart) << version;
  }
  EXPECT_EQ(message_of("#version: 0.3\na b\n"),
            "codes: line 1: the version is \"0.3\", and codes of versions 0.1 and 0.2 are read");
  EXPECT_EQ(message_of("#version:\na b\n"),
            "codes: line 1: the version is \"\", and codes of versions 0.1 and 0.2 are read");
  EXPECT_EQ(message_of("#version: 2\na b\n"),
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
  EXPECT_EQ(message_of("t h 120\nth e\n"),
            "codes: line 2: found \"th e\", expected two symbols with a space between them, and a count");
  EXPECT_EQ(message_of("t h 120\nth e x\n"),
            "codes: line 2: found \"th e x\", expected two symbols with a space between them, and a count");
}

TEST(SubwordCodes, RefusesWhatIsNoMerge) {
  const auto found = [](int line, const std::string& what) {
    return converter::format_text("codes: line {}: found \"{}\", expected two symbols with a space between them", line,
                                  what);
  };
  EXPECT_EQ(message_of(""), "codes: the file is empty; download it again");
  EXPECT_EQ(message_of("\n"), found(1, ""));
  EXPECT_EQ(message_of("#version: 0.2"), found(2, ""));
  EXPECT_EQ(message_of("#version: 0.2\n"), found(2, ""));
  EXPECT_EQ(message_of("#version: 0.2\na b\nabc\n"), found(3, "abc"));
  EXPECT_EQ(message_of("a b\n\nc d\n"), found(2, ""));
  EXPECT_EQ(message_of("a b\na  b\n"), found(2, "a  b"));
  EXPECT_EQ(message_of("a b\na b c\n"), found(2, "a b c"));
  EXPECT_EQ(message_of("a b 1 2\n"), found(1, "a b 1 2"));
  EXPECT_EQ(message_of("a b\na b 7\n"), found(2, "a b 7"));
  EXPECT_EQ(message_of("<!DOCTYPE html>\n<html>\n"), found(2, "<html>"));
  EXPECT_EQ(message_of("a b\na \xFF\n"),
            "codes: line 2, \"a \xFF\", is not UTF-8 or has a NUL byte: the file is damaged");
  EXPECT_EQ(message_of(std::string("a \0\n", 4)),
            "codes: line 1, \"a \\x00\", is not UTF-8 or has a NUL byte: the file is damaged");
  EXPECT_EQ(message_of("a b\na " + std::string(kMaxPieceBytes - 1, 'b')),
            "codes: line 2 has 4097 bytes, expected at most 4096");
  EXPECT_EQ(message_of("a " + std::string(kMaxPieceBytes - 2, 'b')), "no error");
  for (const char* line : {"a</w> b", "</w </w>></w>", "</w >", "a</w> b</w>", "</w> a"}) {
    EXPECT_EQ(message_of(line),
              converter::format_text(
                  "codes: line 1, \"{}\", makes a text with </w> in it, which stands for a word's end", line));
  }
}

TEST(SubwordCodes, SurvivesCutsAndDamageAnywhere) {
  for (const char* name : {"codes", "codes_0_1"}) {
    const std::string bytes = read_bytes(source_path(std::string("tests/data/subword/") + name));
    size_t n_refused = 0;
    for (size_t n = 0; n < bytes.size(); ++n) {
      n_refused += message_of(bytes.substr(0, n)) != "no error";
      for (const int change : {1, 8, 32, 128}) {
        std::string damaged = bytes;
        damaged[n] = static_cast<char>(damaged[n] ^ change);
        n_refused += message_of(damaged) != "no error";
      }
    }
    EXPECT_GT(n_refused, 1000u) << name;
  }
}

TEST(SubwordVocabulary, RefusesEntriesWithASpace) {
  const converter::SubwordCodes codes = parse_subword_codes("a b\n", "codes");
  try {
    converter::subword_tokenizer(codes, {"vocabulary", {"<unk>", "a b"}, 0, {}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "vocabulary: the entry of id 1, \"a b\", has a space; subword-nmt's have none");
  }
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

}  // namespace
}  // namespace goldcrest::test
