// SPDX-License-Identifier: Apache-2.0
// Marks of texts: what patterns find, where HTML is cut, and where tags stand in a translation whose alignment is
// given.
#include "host/marks/html.h"
#include "host/marks/keep_patterns.h"
#include "host/marks/marked_text.h"
#include "support/test.h"

namespace goldcrest::host { namespace {
std::vector<std::string> found(const KeepPatterns& patterns, const std::string& text) {
  std::vector<std::string> result;
  for (size_t at = 0; at < text.size();) {
    const KeepPatterns::Match match = patterns.find(text, at);
    if (match.bytes == 0) break;
    result.push_back(text.substr(match.begin, match.bytes));
    at = match.begin + match.bytes;
  }
  return result;
}

TEST(KeepPatterns, FindTheLongestOfTheFirst) {
  const struct {
    std::string pattern, text;
    std::vector<std::string> found;
  } cases[] = {{"a+b?", "xaab aa b", {"aab", "aa"}}, {"[A-Z]\\d*-\\d+", "A-7 B12-34 C12", {"A-7", "B12-34"}},
      {"[^ a]x", "ax bx  x", {"bx"}}, {"\\[\\w+]", "see [note_1], [é] and []", {"[note_1]", "[é]"}},
      {"#\\S*", "a #b# c", {"#b#"}}, {"a.c", "abc ac aéc", {"abc"}}, {"[]-]x", "]x -x", {"]x", "-x"}}};
  for (const auto& one : cases) {
    KeepPatterns patterns;
    ASSERT_EQ(patterns.add(one.pattern), "");
    EXPECT_EQ(found(patterns, one.text), one.found) << one.pattern;
  }
  KeepPatterns built_in;
  built_in.add_built_in();
  const std::vector<std::string> kept = {"{name}", "%s", "%1$d", "<x id=1/>", "https://a.org/b?c=1",
      "me@mail.example.org", "{{count}}", "${user}", "%(n)s", "%.2f", "www.a.org"};
  std::string text = "Costs 100 %, a < b, me @ home.";
  for (const std::string& one : kept) text += " (" + one + "), ";
  EXPECT_EQ(found(built_in, text), kept);
}

TEST(KeepPatterns, RefuseWhatTheyCannotMean) {
  for (const char* const pattern :
      {"", "a*", "a?b*", ".", ".+", "\\S+", "[^<]", "\\w", "(a)", "a|b", "^a", "+", "[ab", "a\\", "a{2}", "é+"}) {
    KeepPatterns patterns;
    EXPECT_NE(patterns.add(pattern), "") << pattern;
    EXPECT_TRUE(patterns.empty());
  }
  EXPECT_NE(KeepPatterns().add(std::string(64, 'a')), "");
  EXPECT_EQ(KeepPatterns().add(std::string(63, 'a')), "");
}

TEST(KeepPatterns, HostileTextsTakeBoundedWork) {
  for (const char* const pattern : {"a*b", "a?a?a?a?a?a?a?a?b", "a*a*a*a*a*b", "[\\w.]+@\\w+"}) {
    KeepPatterns patterns;
    ASSERT_EQ(patterns.add(pattern), "");
    EXPECT_EQ(patterns.find(std::string(1 << 18, 'a'), 0).bytes, 0u) << pattern;
  }
}

// A document, read in small parts.
std::vector<MarkedText> texts_of(const std::string& document, size_t* n_problems) {
  HtmlReader reader;
  std::vector<MarkedText> texts;
  for (size_t at = 0; at < document.size(); at += 7) reader.push(std::string_view(document).substr(at, 7));
  reader.finish();
  for (MarkedText text; reader.next(&text);) texts.push_back(text);
  *n_problems = reader.n_problems();
  return texts;
}

TEST(HtmlReader, CutsDocumentsIntoTexts) {
  const std::string object = "\xef\xbf\xbc";
  const struct {
    std::string document, texts;  // with / after each
    size_t n_problems;
  } cases[] = {{"<p>One <b>two</b>.</p><p>Three</p>", "One two./Three/", 0},
      {"<ul><li>a<li>b</ul><table><tr><td>c<td>d</table>", "a/b/c/d/", 0}, {"a<br>b<hr/>c", "a/b/c/", 0},
      {"one\ntwo <i>three</i>\n", "one/two three/", 0}, {"<div>one\n  two</div>\n", "one two/", 0},
      {"x &amp; &lt;y&gt; &eacute;&#233;&#xE9; &foo; &", "x & <y> ééé  &/", 0},
      {"use <code>a < b</code> now", "use " + object + " now/", 0},
      {"<b translate=\"no\">A <b>c</b></b> d", object + " d/", 0},
      {"<pre>a\n<b></pre>b<script>'<p>'</script>c<style>p{}</style>", "bc/", 0},
      {"<!DOCTYPE html><!-- <p> -->a<!-->--><?x?>b", "a/b/", 0}, {"<IMG ALT='a > b' src=x>c", "c/", 0},
      {"3 < 4 <", "3 < 4 /", 2}, {"a <b c", "a /", 1}, {"<b>a<i>b</b>c</i>", "abc/", 2}, {"<p><b>a</p></div>", "a/", 2},
      {"<code>a", "/", 1}};
  for (const auto& one : cases) {
    size_t n_problems = 0;
    std::string texts;
    for (const MarkedText& text : texts_of(one.document, &n_problems))
      if (!text.text.empty() || !text.marks.empty()) texts += text.text + '/';
    EXPECT_EQ(texts, one.texts) << one.document;
    EXPECT_EQ(n_problems, one.n_problems) << one.document;
  }
}

// Writes a document of one sentence with a translation: words and spaces, each word a token, and the source's word to
// which each of them attends (-1: none).
std::string written(
    const std::string& document, const std::string& target, const std::vector<int>& attended, size_t* n_unplaced) {
  KeepPatterns patterns;
  patterns.add_built_in();
  size_t n_problems = 0;
  MarkedText text = texts_of(document, &n_problems)[0];
  put_stand_ins(patterns, &text);
  Sentence sentence;
  sentence.bytes = text.text.size();
  const std::vector<Word> source = words_of(text.text);
  for (size_t i = 0; i < source.size(); ++i) {
    const bool has_space = i == 0 || source[i].begin > source[i - 1].end;
    sentence.pieces.push_back(
        (has_space ? "\xe2\x96\x81" : "") + text.text.substr(source[i].begin, source[i].end - source[i].begin));
  }
  sentence.source.resize(source.size());
  Found& result = sentence.found.emplace_back();
  result.text = target;
  for (const Word& word : words_of(target)) result.ends.push_back(word.end);
  EXPECT_EQ(result.ends.size(), attended.size()) << target;
  result.ids.resize(attended.size());
  result.attention.resize(attended.size() * source.size());
  for (size_t i = 0; i < attended.size(); ++i)
    if (attended[i] >= 0) result.attention[i * source.size() + static_cast<size_t>(attended[i])] = 1;
  MarkWriter writer(text);
  std::string out;
  writer.add(sentence, &out);
  writer.finish(&out);
  *n_unplaced = writer.n_unplaced();
  return out;
}

TEST(MarkWriter, PutsMarksWhereTheirWordsAre) {
  const struct {
    std::string document, target;
    std::vector<int> attended;
    std::string written;
    size_t n_unplaced;
  } cases[] = {{"a <b>red</b> car", "une voiture rouge", {0, 2, 1}, "une voiture <b>rouge</b>", 0},
      {"a <b><i>red</i> car</b>", "une voiture rouge", {0, 2, 1}, "une <b>voiture <i>rouge</i></b>", 0},
      {"<b>do not</b> go", "ne va pas", {1, 2, 1}, "<b>ne va pas</b>", 0},                  // one that is split
      {"<b>a b</b> <i>c d</i>", "u v w x", {0, 2, 1, 3}, "<b>u</b> <i>v w x</i>", 0},       // two that cross
      {"<i>a</i> <b>b</b> <u>c</u>", "u v w", {2, 1, 0}, "<u>u</u> <b>v</b> <i>w</i>", 0},  // reversed
      {"a <b></b>b <img src=x> c", "u v w", {2, 1, 0}, "<img src=x>u <b></b>v w", 0},       // empty ones
      {"see note<sup></sup> now", "note vue", {1, 0}, "note<sup></sup> vue", 0},
      {"un<b>believ</b>able, Tom", "incroyable, Tom", {0, 1, 2}, "<b>incroyable</b>, Tom", 0},  // whole words
      {"<a href=\"x?a&b\">R&amp;D</a> &lt; <b>Tom</b>", "Tom < R & D", {-1, 3, 0, 1, 2},
          "<b>Tom</b> &lt; <a href=\"x?a&b\">R &amp; D</a>", 0},
      {"a <b>b</b> c", "u w", {0, 2}, "u w<b></b>", 1},  // it has no place
      {"<b>a</i> c", "u w", {0, 1}, "<b>u</i> w", 0},    // broken
      {"Hi {name}!", "Salut Tom !", {0, 1, 2}, "Salut {name}!", 0},
      {"say ({name})", "dire ( Tom )", {0, 1, 2, 3}, "dire ({name})", 0},
      {"{name} is here", "Voici Tom", {1, 0}, "Voici {name}", 0},
      {"{name} is here", "Voici Tim", {1, 0}, "Voici {name}", 0},  // not copied
      {"{name} is here", "Voici", {1}, "Voici {name}", 1},         // lost
      {"<i>Tom, {x}</i>", "Boston, Tom", {2, 1, 0}, "<i>{x}, Tom</i>", 0},
      {"use <code>a&b</code>.", "Emploie Tom.", {0, 1, 2}, "Emploie <code>a&b</code>.", 0}};
  for (const auto& one : cases) {
    size_t n_unplaced = 0;
    EXPECT_EQ(written(one.document, one.target, one.attended, &n_unplaced), one.written) << one.document;
    EXPECT_EQ(n_unplaced, one.n_unplaced) << one.document;
  }
}

TEST(MarkWriter, TenThousandNestedElementsInOneSentence) {
  std::string begin, end;
  for (int i = 0; i < 10000; ++i) begin += "<b>", end += "</b>";
  size_t n_unplaced = 0;
  EXPECT_EQ(written(begin + "a" + end + " c", "w u", {1, 0}, &n_unplaced), "w " + begin + "u" + end);
}

TEST(HtmlReader, AMegabyteWithoutATag) {
  size_t n_problems = 0;
  for (const std::string& piece : {std::string("word "), std::string("< "), std::string("<a \""), std::string("&")}) {
    std::string document;
    while (document.size() < (size_t{1} << 20)) document += piece;
    size_t n = 0;
    for (const MarkedText& text : texts_of(document, &n_problems)) {
      n += text.before.size() + text.text.size();
      for (const Mark& mark : text.marks) n += mark.text.size();
    }
    EXPECT_GE(n + 1, document.size()) << piece;
  }
}
}}  // namespace goldcrest::host
