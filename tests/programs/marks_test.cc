// SPDX-License-Identifier: Apache-2.0
// goldcrest-translate --html, --keep and --glossary with the shipped English-French model.
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
std::string file_of(const TemporaryFolder& folder, const std::string& content) {
  const std::string path = folder.path() / "file.tsv";
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

std::string without_tags(std::string text) {
  for (size_t at = 0; (at = text.find('<')) != std::string::npos;) text.erase(at, text.find('>', at) + 1 - at);
  return text;
}

TEST(Marks, AWholePageKeepsItsTags) {
  const std::string page =
      "<!DOCTYPE html>\n<html><body class=\"x\">\n  <h1>Where is the station?</h1>\n<p>I <i>love</i>\n   <b>Tom</b> "
      "&amp; Mary. Let's go <u>home</u>.<br>I like <code>f(<a>)</code>.</p>\n<pre>as  <b>is</b>\n</pre><!-- no -->\n"
      "<script>if (a<b) x();</script></body></html>\n";
  const std::string expected =
      "<!DOCTYPE html>\n<html><body class=\"x\">\n  <h1>Où se trouve la gare ?</h1>\n<p>J'<i>adore</i> <b>Tom</b> à "
      "Mary. Allons à <u>la maison</u>.<br>J'aime <code>f(<a>)</code>.</p>\n<pre>as  <b>is</b>\n</pre><!-- no "
      "-->\n<script>if (a<b) x();</script></body></html>\n";
  const Outcome outcome = translate("enfr", {"--html"}, page);
  EXPECT_EQ(outcome.out, expected);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(translate("enfr", {"--html", "--batch", "4", "--threads", "2"}, page).out, expected);
}

TEST(Marks, TextIsThatWithoutTags) {
  const std::string tagged =
      "<b>Tom</b> gave <i>Mary</i> a <a href=\"x\">red <u>book</u></a>.\n<b>I'm hungry. Let's</b> go home.\n";
  const Outcome outcome = translate("enfr", {"--html"}, tagged);
  EXPECT_EQ(without_tags(outcome.out), translate("enfr", {}, without_tags(tagged)).out);
  EXPECT_EQ(lines_of(outcome.out)[1], "<b>J'ai faim. Allons</b> à la maison.");
}

TEST(Marks, WhatIsNotWellFormedIsSaidAndNotLost) {
  const struct {
    std::string page, message;
  } cases[] = {{"I love\n<b>Tom</i>.", "line 2: </i> ends no element; 1 more"},
      {"<i><b>Tom</i></b> is here.", "line 1: <b> is not closed; 1 more"}, {"Tom < Mary.\n", "line 1: < without a tag"},
      {"Tom is here. <script>x", "line 1: <script> is not closed"}};
  for (const auto& one : cases) {
    const Outcome outcome = translate("enfr", {"--html"}, one.page);
    EXPECT_EQ(outcome.status, 3) << one.page;
    EXPECT_EQ(outcome.err, "goldcrest-translate: warning: standard input: not well-formed: " + one.message + "\n");
    EXPECT_TRUE(has(outcome.out, "Tom"));
    for (const char* const tag : {"<b>", "</b>", "<i>", "</i>", "<script>x"})
      EXPECT_EQ(has(outcome.out, tag), has(one.page, tag)) << outcome.out;
  }
  const Outcome outcome =
      with_status(3, translate("enfr", {"--html", "--max-source", "4", "--no-split"}, "<b>I'm very</b> hungry, Tom."));
  EXPECT_EQ(outcome.out, "<b>I'm very</b> hungry, Tom.");
}

TEST(Marks, PlaceholdersSurvive) {
  EXPECT_EQ(translate("enfr", {"--keep", "built-in"}, "I love {name}!\n\nWhere is %1$s? I'm in <x id=1/>.\n").out,
      "J'adore {name}!\n\nOù est %1$s? Je suis à <x id=1/>.\n");
  EXPECT_EQ(translate("enfr", {"--html", "--keep", "Z\\d+", "--keep", "@\\w+"}, "I love <b>Z80</b> &amp; @you.").out,
      "J'adore <b>Z80</b> à @you.");
  EXPECT_TRUE(has(with_status(2, translate("enfr", {"--keep", ".*"}, "")).err, "matches the empty text"));
}

TEST(Marks, TermsAppearOnce) {
  const TemporaryFolder folder;
  const std::string terms = "dog\tchat|chien\r\nhungry\tgrosse faim\n\nbus stop\tlieu secret\nmirror\tmiroir\n";
  const std::string lines =
      "I'm hungry. The dog is hungry.\nDog is big.\nMy <b>dog</b> sleeps\nWhere is the bus stop?\nLook in the "
      "mirror.\n";
  const std::string expected =
      "J'ai grosse faim. Le chien a grosse faim.\nChat est gros.\nMon <b>chien</b> dort.\nOù se trouve le lieu secret "
      "?\n"
      "Regarde dans le miroir.\n";
  const std::string file = file_of(folder, terms);
  EXPECT_EQ(translate("enfr", {"--html", "--glossary", file}, lines).out, expected);
  EXPECT_EQ(translate("enfr", {"--html", "--glossary", file, "--batch", "4"}, lines).out, expected);
  EXPECT_EQ(lines_of(translate("enfr", {"--glossary", file}, lines).out)[3], lines_of(expected)[3]);
}

TEST(Marks, GlossariesAreRefusedWithTheLine) {
  const TemporaryFolder folder;
  const struct {
    std::string lines, message;
  } cases[] = {
      {"dog\tchien\ncat chat\n", "line 2: no tab; expected a phrase of the source, a tab, and its translation"},
      {"dog\tchien\ndog\tchien\ndog\tchat\n", "line 3: \"dog\" has another translation on a line before"},
      {"dog\t豆腐\n", "line 1: the model's vocabulary has no pieces for \"豆腐\""},
      {"dog\tchien|\n", "line 1: a form after the tab is empty"}, {"\tchien\n", "line 1: no phrase before the tab"},
      {"dog\t\xff\n", "line 1: not UTF-8 at byte 5"},
      {"\n", "no terms; expected one a line: a phrase, a tab, its translation"}};
  for (const auto& one : cases) {
    const std::string file = file_of(folder, one.lines);
    const Outcome outcome = translate("enfr", {"--glossary", file}, "Hello.\n");
    EXPECT_EQ(outcome.status, 1) << one.lines;
    EXPECT_EQ(outcome.err, "goldcrest-translate: " + file + ": " + one.message + "\n");
    EXPECT_EQ(outcome.out, "");
  }
}
}}  // namespace goldcrest::test
