// SPDX-License-Identifier: Apache-2.0
// YAML as values: the types of scalars, and every hostile text with its message.
#include <gtest/gtest.h>

#include "sources/values/yaml_text.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

std::string message_of(const std::string& text, const YamlBounds& bounds = kYamlSettings) {
  try {
    parse_yaml(text, bounds, "a.yml");
    return "read";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Yaml, TypesPlainScalarsAsTheCoreSchemaDoes) {
  const Value value = parse_yaml_settings(
      "text: dan\nyes: n\nquoted: \"5\"\nsingle: 'true'\nnumber: 256\nnegative: -3\nplus: +4\nreal: 2.5\n"
      "exponent: 1e-6\nflag: true\nother: FALSE\nnothing: ~\nabsent:\nempty: \"\"\nversion: v1.9.56 94aeaa46\n"
      "list: []\nblock:\n  - 32000\n  - x\nmap: {a: 1}\nhuge: 99999999999999999999\n",
      "a.yml");
  EXPECT_EQ(value["text"], "dan");
  EXPECT_EQ(value["yes"], "n");
  EXPECT_EQ(value["quoted"], "5");
  EXPECT_EQ(value["single"], "true");
  EXPECT_EQ(value["number"], 256u);
  EXPECT_TRUE(value["number"].is_natural());
  EXPECT_EQ(value["negative"], -3);
  EXPECT_EQ(value["plus"], 4u);
  EXPECT_EQ(value["real"], 2.5);
  EXPECT_EQ(value["exponent"], 1e-6);
  EXPECT_EQ(value["flag"], true);
  EXPECT_EQ(value["other"], false);
  EXPECT_TRUE(value["nothing"].is_null());
  EXPECT_TRUE(value["absent"].is_null());
  EXPECT_EQ(value["empty"], "");
  EXPECT_EQ(value["version"], "v1.9.56 94aeaa46");
  EXPECT_EQ(value["list"], Value::list());
  EXPECT_EQ(value["block"], Value::list({32000, "x"}));
  EXPECT_EQ(value["map"], (Value{{"a", 1}}));
  EXPECT_EQ(value["huge"], 1e20);
}

TEST(Yaml, KeysAreTexts) {
  EXPECT_EQ(parse_yaml_settings("5: 0\ntrue: 1\nnull: 2\n\"~\": 3\n", "a.yml"),
            (Value{{"5", 0}, {"true", 1}, {"null", 2}, {"~", 3}}));
}

TEST(Yaml, SaysWhatItRefuses) {
  EXPECT_EQ(message_of("a: &x [1]\nb: *x\n"), "a.yml: line 1 has an anchor, which is not read");
  EXPECT_EQ(message_of("a: 1\nb: *x\n"), "a.yml: line 2, column 4: is not YAML: the referenced anchor is not defined");
  EXPECT_EQ(message_of("a: !!binary 5\n"), "a.yml: line 1 has the tag \"tag:yaml.org,2002:binary\", which is not read");
  EXPECT_EQ(message_of("a: !mine [1]\n"), "a.yml: line 1 has the tag \"!mine\", which is not read");
  EXPECT_EQ(message_of("a: 1\na: 2\n"), "a.yml: line 2 has the key \"a\" again");
  EXPECT_EQ(message_of("? [1]\n: 2\n"), "a.yml: line 1 has a key that is not a text");
  EXPECT_EQ(message_of("a: 1\n---\nb: 2\n"), "a.yml: holds several documents, expected one");
  EXPECT_EQ(message_of(""), "a.yml: is empty");
  EXPECT_EQ(message_of(std::string("a: \0", 4)), "a.yml: is not YAML: it has a NUL byte");
  EXPECT_EQ(message_of("a: [1, 2\n"), "a.yml: line 2, column 1: is not YAML: end of sequence flow not found");
  EXPECT_EQ(message_of(std::string(70'000, 'x')), "a.yml: has 70000 bytes, expected at most 65536");
  try {
    parse_yaml_settings("[1]", "a.yml");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a.yml: found a YAML array, expected a mapping");
  }
}

// A small text can have great depth, many values or many aliases.
TEST(Yaml, BombsEndEarly) {
  EXPECT_EQ(message_of(std::string(9, '[') + std::string(9, ']')), "a.yml: line 1 has more than 8 levels");
  EXPECT_EQ(message_of(std::string(60'000, '[')), "a.yml: line 1 has a key that is not a text");  // of the next level
  std::string many = "[0";
  for (int i = 0; i < 20'000; ++i) many += ",0";
  EXPECT_EQ(message_of(many + "]"), "a.yml: line 1 has more than 10000 values");
  std::string laughs = "a: &a [x,x,x]\n";
  for (char c = 'b'; c < 'j'; ++c) laughs += format_text("{0}: &{0} [*{1},*{1},*{1}]\n", c, static_cast<char>(c - 1));
  EXPECT_EQ(message_of(laughs), "a.yml: line 1 has an anchor, which is not read");
}

// Cuts a text at every length and changes each byte: a value or an Error, no other exception.
TEST(Yaml, DamagedTextsDoNoHarm) {
  const std::string text = "a: \"x\\n\"\nb:\n  - 1\n  - {c: 'd', e: [2.5, ~]}\n? f\n: |\n  block\n  text\n# end\n";
  for (size_t n = 0; n < text.size(); ++n) message_of(text.substr(0, n));
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'\xff', '\x80', '[', '{', '\'', '"', '&', '*', '!', '\t', ':'}) {
      std::string changed = text;
      changed[i] = c;
      message_of(changed);
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
