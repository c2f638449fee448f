// SPDX-License-Identifier: Apache-2.0
// goldcrest_next_part on texts: where sentences end, where long ones are cut, that nothing is lost, how much
// it reads.
#include "goldcrest/sentences.h"
#include "host/model_texts.h"
#include "support/test.h"
#include "text/characters.h"
#include "text/utf8.h"
#include "unit/text/counted.h"
#include "unit/text/parts.h"

namespace goldcrest::test { namespace {
using Sentences = std::vector<std::string>;

size_t character_bytes(std::string_view text) { return read_character(text.data(), text.size()).n(); }

TEST(Sentences, EndAtAMarkSpaceAndNoSmallLetter) {
  EXPECT_EQ(sentences_of("One. Two! Three? Four", {}), (Sentences{"One.", "Two!", "Three?", "Four"}));
  EXPECT_EQ(sentences_of("It is 3.5 km. so what", {}), (Sentences{"It is 3.5 km. so what"}));
  EXPECT_EQ(sentences_of("Really?! \"Yes.\" (No.) Done...  End", {}),
      (Sentences{"Really?!", "\"Yes.\"", "(No.)", "Done...", "End"}));
  EXPECT_EQ(sentences_of("\"Run!\" he said. \xE2\x80\x9EKomm!\xE2\x80\x9C, rief er. Ja", {}),
      (Sentences{"\"Run!\" he said.", "\xE2\x80\x9EKomm!\xE2\x80\x9C, rief er.", "Ja"}));
  EXPECT_EQ(sentences_of("\u00AB Viens ! \u00BB Il part. \u00BBKomm!\u00AB Er ging.", {}),
      (Sentences{"\u00AB Viens ! \u00BB", "Il part.", "\u00BBKomm!\u00AB", "Er ging."}));
  EXPECT_EQ(sentences_of("Wait . . . what? 12 men. \xC2\xBFQu\xC3\xA9? \xC3\xA9l", {}),
      (Sentences{"Wait . . . what?", "12 men.", "\xC2\xBFQu\xC3\xA9? \xC3\xA9l"}));
  EXPECT_EQ(
      sentences_of("1. Wash. 2. Cook. 1932. Was good", {}), (Sentences{"1. Wash.", "2. Cook.", "1932.", "Was good"}));
}

TEST(Sentences, OfOtherScripts) {
  EXPECT_EQ(sentences_of("駅はどこ？わかりません。「はい。」と言った。次", {}),
      (Sentences{"駅はどこ？", "わかりません。", "「はい。」と言った。", "次"}));
  EXPECT_EQ(sentences_of("أين المحطة؟ لا أعرف. यह है। वह है॥ Да. Нет! вот", {}),
      (Sentences{"أين المحطة؟", "لا أعرف.", "यह है।", "वह है॥", "Да.", "Нет! вот"}));
}

TEST(Sentences, DoNotEndBehindAbbreviationsAndInitials) {
  const std::string text = "See Dr. Fox, J. R. Roe and J.-P. Li (U.S. Army). Dr. No. No. 5 of the U. S.";
  EXPECT_EQ(sentences_of(text, {"Dr no#"}),
      (Sentences{"See Dr. Fox, J. R. Roe and J.-P. Li (U.S. Army).", "Dr. No.", "No. 5 of the U. S."}));
  EXPECT_EQ(sentences_of(text, {}),
      (Sentences{"See Dr.", "Fox, J. R. Roe and J.-P. Li (U.S. Army).", "Dr.", "No.", "No.", "5 of the U. S."}));
  EXPECT_EQ(sentences_of("In der Ackerstr. Vier, am 3. Mai, \xC3\xB6s. Wein, \xC3\x96s. Bier. Um 10. Ja",
                {"-str\n#\t\xC3\xB6s"}),
      (Sentences{"In der Ackerstr. Vier, am 3. Mai, \xC3\xB6s. Wein, \xC3\x96s. Bier.", "Um 10. Ja"}));
  // A unit after a number ends one; in front of a number it does not.
  EXPECT_EQ(sentences_of("In 5 min. Go. In 5 min. 30 s. In min. Ja", {"min"}),
      (Sentences{"In 5 min.", "Go.", "In 5 min. 30 s.", "In min. Ja"}));
}

TEST(Parts, AreSpaceAndLineEndsToo) {
  const std::vector<Part> parts = parts_of(
      " Go.\t \xC2\xA0"
      "B\r\n\n \r\xE2\x80\xA8"
      "C ",
      {});
  std::string kinds;
  for (const Part& part : parts) kinds += "-SsL"[part.kind];
  EXPECT_EQ(kinds, "sSsSLLsLLSs");
  goldcrest_part part = {7, 7};
  EXPECT_EQ(goldcrest_next_part(nullptr, 0, nullptr, &part), GOLDCREST_PART_NONE);
  EXPECT_EQ(part.bytes + part.kind, 0u);
}

TEST(Parts, RefuseNoText) {
  const goldcrest_part_options no_list = {nullptr, 1, 0};
  goldcrest_part part = {};
  EXPECT_EQ(goldcrest_next_part("a", 1, nullptr, nullptr), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_next_part(nullptr, 1, nullptr, &part), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(goldcrest_next_part("a", 1, &no_list, &part), GOLDCREST_ERROR_ARGUMENT);
}

TEST(Parts, OfALongSentenceAreCutAtClauseMarksThenAtSpacesThenAnywhere) {
  EXPECT_EQ(sentences_of("We came, we saw; then we went home.", {"", 20}),
      (Sentences{"We came, we saw;", "then we went home."}));
  EXPECT_EQ(sentences_of("Oh, we went home by the last train.", {"", 20}),
      (Sentences{"Oh, we went home by", "the last train."}));
  EXPECT_EQ(sentences_of("1,000,000,000 of them", {"", 15}), (Sentences{"1,000,000,000", "of them"}));
  EXPECT_EQ(sentences_of("abcdefghij", {"", 4}), (Sentences{"abcd", "efgh", "ij"}));
  EXPECT_EQ(sentences_of("\xC3\xA9\xC3\xA9\xC3\xA9", {"", 3}), (Sentences{"\xC3\xA9", "\xC3\xA9", "\xC3\xA9"}));
  EXPECT_EQ(sentences_of("\xF0\x9F\x98\x80!", {"", 1}), (Sentences{"\xF0\x9F\x98\x80", "!"}));
  EXPECT_EQ(sentences_of("这座桥很长，建造用了六年", {"", 24}), (Sentences{"这座桥很长，", "建造用了六年"}));
  EXPECT_EQ(sentences_of("One two. Three", {"", 8}), (Sentences{"One two.", "Three"}));
  EXPECT_EQ(parts_of("\r\n", {"", 1}).size(), 2u);
}

std::vector<std::string> lines_of_all_languages() {
  std::vector<std::string> lines;
  for (const char* name : {"held_out.txt", "tuning.txt", "other_languages.txt"}) {
    std::ifstream file(std::string(GOLDCREST_SOURCE_DIR "/tests/data/sentences/") + name);
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line.front() != '#') lines.push_back(line);
  }
  return lines;
}

TEST(Parts, JoinToTheText) {
  const std::vector<std::string> lines = lines_of_all_languages();
  ASSERT_GE(lines.size(), 1000u);
  for (const std::string& line : lines) {
    for (const size_t max_bytes : {0, 1, 2, 7, 16, 40})
      EXPECT_EQ(parts_problem(line, {"Dr #", max_bytes}, character_bytes), "") << line;
    EXPECT_EQ(sentences_of(line, {}).front().front(), line.front());
  }
}

// A text of what matters to the cutter, of damaged lines, and of any bytes.
std::string fuzzed_text(Rng& rng, const std::vector<std::string>& lines) {
  static const std::vector<std::string> pieces = {".", "!", "?", "...", " ", "  ", "\n", "\r\n", "\r", "\t", "\u00A0",
      "a", "B", "\u00E9", "\u0416", "Dr", "z.B", "1", "23", ",", ";", "-", "\u2014", "\"", "\u00BB", "\u00AB", ")", "(",
      "\u3002", "\u300D", "\u3068", "\uFF01", "\u2028", "\xE2\x80", "\xFF", "\xC0\x80", std::string(1, '\0'),
      "\xF0\x9F\x98\x80", "\u2026", "'", "\u201C", "\u0964"};
  std::string text;
  const uint32_t n = rng.below(24), kind = rng.below(4);
  for (uint32_t i = 0; i < n; ++i)
    if (kind == 0) text += static_cast<char>(rng.below(256));
    else text += pieces[rng.below(static_cast<uint32_t>(pieces.size()))];
  if (kind == 1) {
    std::string line = lines[rng.below(static_cast<uint32_t>(lines.size()))];
    line[rng.below(static_cast<uint32_t>(line.size()))] = static_cast<char>(rng.below(256));
    text += line;
  }
  return text;
}

TEST(Parts, OfFuzzedTextsJoinToThem) {
  const std::vector<std::string> lines = lines_of_all_languages();
  Rng rng(38);
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = fuzzed_text(rng, lines);
    const size_t max_bytes = rng.below(3) == 0 ? 0 : rng.below(20);
    ASSERT_EQ(parts_problem(text, {"Dr z.B no# -b #", max_bytes}, character_bytes), "") << i;
  }
}

// The bound that the header states for all calls for a text.
uint64_t most_reads(std::string_view text) {
  const auto n_marks =
      std::count_if(text.begin(), text.end(), [](char c) { return std::string_view(".!?").find(c) < 3; });
  return 4 * text.size() + 250 * static_cast<uint64_t>(n_marks) + 8;
}

TEST(Parts, AreFoundWithLinearWork) {
  constexpr size_t kMegabyte = 1 << 20;
  std::vector<std::string> texts = {std::string(kMegabyte, 'a'), std::string(kMegabyte, ' '),
      std::string(kMegabyte, '\n'), std::string(kMegabyte, '\0'), std::string(kMegabyte, '\xFF'),
      std::string(kMegabyte, '"')};
  for (const std::string unit : {". ", "a. ", "a.  b", "A. ", ", ", "a, ", "a b", ".\"", "1. ", ", a", "(", "\r"}) {
    std::string text;
    while (text.size() < kMegabyte / 8) text += unit;
    texts.push_back(text);
  }
  for (size_t period : {3u, 100u, 1000u, 5000u}) {  // a clause mark, a space, then nothing to cut at
    std::string text;
    while (text.size() < kMegabyte / 8) text += "aa, b " + std::string(period, 'c') + ".";
    texts.push_back(text);
  }
  for (const std::string& text : texts) {
    for (const size_t max_bytes : {size_t{0}, size_t{1}, size_t{16}, size_t{1000}, kMegabyte}) {
      characters_read = 0;
      EXPECT_EQ(parts_problem(text, {"Dr #", max_bytes}, character_bytes), "");
      const uint64_t of_the_check = text.size() / 4;  // character_bytes, of parts that are too long
      EXPECT_LE(characters_read, most_reads(text) + (max_bytes == 1 ? of_the_check : 0))
          << text.substr(0, 12) << " " << max_bytes;
    }
  }
}

// The boundaries of tests/data/sentences, found with the programs' abbreviations; next to them those that the rule "end
// mark, space, capital" finds.

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

// The paragraphs of a language, which follow its name in the file.
std::vector<Paragraph> read_paragraphs(const std::string& name, const std::string& language) {
  std::ifstream file(GOLDCREST_SOURCE_DIR "/tests/data/sentences/" + name);
  std::vector<Paragraph> paragraphs(1);
  bool is_wanted = false;
  for (std::string line; std::getline(file, line);) {
    const bool names_language = line.rfind("# ", 0) == 0;
    if (names_language) is_wanted = line == "# " + language;
    if (names_language || !is_wanted) continue;
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
      for (const Paragraph& paragraph : read_paragraphs(half + std::string(".txt"), language)) {
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
}}  // namespace goldcrest::test
