// SPDX-License-Identifier: Apache-2.0
// The boundaries of tests/data/sentences, found with the programs' abbreviations; next to them those that the rule "end
// mark, space, capital" finds.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "examples/support/abbreviations.h"
#include "text/characters.h"
#include "unit/text/parts.h"

namespace goldcrest::test {
namespace {

using Boundaries = std::set<size_t>;  // bytes before each

struct Paragraph {
  std::string text;
  Boundaries boundaries;
};

struct Score {
  size_t marked = 0, found = 0, both = 0;

  void add(const Boundaries& expected, const Boundaries& actual) {
    marked += expected.size();
    found += actual.size();
    for (const size_t boundary : actual) both += expected.count(boundary);
  }
  double recall() const { return 100.0 * static_cast<double>(both) / static_cast<double>(marked); }
  double precision() const { return 100.0 * static_cast<double>(both) / static_cast<double>(found); }
};

std::vector<Paragraph> read_paragraphs(const std::string& name) {
  std::ifstream file(GOLDCREST_SOURCE_DIR "/tests/data/sentences/" + name);
  std::vector<Paragraph> paragraphs(1);
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) {
      paragraphs.emplace_back();
      continue;
    }
    Paragraph& last = paragraphs.back();
    if (!last.text.empty()) {
      last.boundaries.insert(last.text.size());
      last.text += ' ';
    }
    last.text += line;
  }
  return paragraphs;
}

Boundaries split(const std::string& text, const std::string& abbreviations) {
  Boundaries boundaries;
  size_t end = 0;
  for (const Part& part : parts_of(text, {abbreviations})) {
    end += part.text.size();
    if (part.kind == GOLDCREST_PART_SENTENCE && end < text.size()) boundaries.insert(end);
  }
  return boundaries;
}

// The rule: end marks, closing quotes and brackets, a space, a capital.
Boundaries split_by_rule(const std::string& text) {
  Boundaries boundaries;
  bool after_mark = false;
  for (size_t i = 0; i < text.size();) {
    const Character c = read_character(text.data() + i, text.size() - i);
    const Character next = read_character(text.data() + i + c.n(), text.size() - i - c.n());
    if (after_mark && c.is(kSpace) && letter_case(next.code()) == Case::kUpper) boundaries.insert(i);
    after_mark = c.is(kEndMark) || (after_mark && c.is(kCloser));
    i += c.n();
  }
  return boundaries;
}

// It holds what a simple rule stumbles over: a full stop within a sentence, a decimal, a quote.
bool is_hard(const Paragraph& paragraph) {
  for (size_t i = 0; i + 1 < paragraph.text.size(); ++i) {
    const Character c = read_character(paragraph.text.data() + i, paragraph.text.size() - i);
    const char next = paragraph.text[i + 1];
    const bool is_point = c.code() == '.' || c.code() == ',';
    if (is_point && next >= '0' && next <= '9') return true;
    if (c.is(kEndMark) && next == ' ' && paragraph.boundaries.count(i + 1) == 0) return true;
    if (c.is(kCloser) && c.is(kOpener) && c.code() != '\'' && c.code() != 0x2019) return true;
  }
  return false;
}

TEST(MarkedSentences, AreFound) {
  size_t n_paragraphs = 0, n_hard = 0;
  for (const std::string half : {"held_out", "tuning"}) {
    Score with_list, with_all_lists, by_rule;
    for (const std::string language : {"de", "en", "es", "fr", "ru"}) {
      for (const Paragraph& paragraph : read_paragraphs(language + '_' + half + ".txt")) {
        ++n_paragraphs;
        n_hard += is_hard(paragraph) ? 1 : 0;
        with_list.add(paragraph.boundaries, split(paragraph.text, abbreviations_of(language)));
        with_all_lists.add(paragraph.boundaries, split(paragraph.text, abbreviations_of("")));
        by_rule.add(paragraph.boundaries, split_by_rule(paragraph.text));
      }
    }
    const auto print = [&](const char* name, const Score& score) {
      std::printf("%s, %s: %zu boundaries, %.1f %% found, %.1f %% of those found are right\n", half.c_str(), name,
                  score.marked, score.recall(), score.precision());
    };
    print("list of the language", with_list);
    print("all lists", with_all_lists);
    print("end mark, space, capital", by_rule);
    EXPECT_GE(with_list.recall(), 97) << half;
    EXPECT_GE(with_list.precision(), 97) << half;
    EXPECT_GE(with_all_lists.precision(), 97) << half;
    EXPECT_LT(by_rule.precision(), with_list.precision()) << half;
  }
  EXPECT_GE(n_paragraphs, 500u);
  EXPECT_GE(n_hard, 200u);
}

TEST(Abbreviations, AreThoseOfALanguageOrAll) {
  EXPECT_EQ(abbreviations_of("de"), abbreviations_of("deu"));
  EXPECT_EQ(abbreviations_of("de_DE"), abbreviations_of("DE"));
  EXPECT_NE(abbreviations_of("de"), abbreviations_of("en"));
  EXPECT_EQ(abbreviations_of(""), abbreviations_of("mt"));
  EXPECT_GT(abbreviations_of("").size(), 3000u);
  EXPECT_EQ(abbreviations_in("Dr.\n e.g. \nno#."), "Dr  e.g  no#");
}

}  // namespace
}  // namespace goldcrest::test
