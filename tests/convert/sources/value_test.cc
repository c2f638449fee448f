// SPDX-License-Identifier: Apache-2.0
// The value of settings and reports, and the JSON that is made from it.
#include "sources/values/value.h"
#include "sources/containers/tensor_source.h"
#include "sources/values/json_text.h"
#include "sources/values/yaml_text.h"
#include "support/checkpoint_writer.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
TEST(Value, HasOneKind) {
  EXPECT_TRUE(Value().is_null());
  EXPECT_TRUE(Value(nullptr).is_null());
  EXPECT_TRUE(Value(false).is_flag());
  EXPECT_TRUE(Value("").is_text());
  EXPECT_TRUE(Value::list().is_list());
  EXPECT_TRUE(Value::map().is_map());
  EXPECT_TRUE(Value(1.0f).is_number());
  EXPECT_FALSE(Value(1.0f).is_integer());
  EXPECT_TRUE(Value(-1).is_integer());
  EXPECT_TRUE(Value(-1).is_number());
  EXPECT_FALSE(Value(-1).is_natural());
  EXPECT_TRUE(Value(UINT64_MAX).is_natural());
  EXPECT_FALSE(Value(true).is_number());
}

TEST(Value, KeepsEveryInteger) {
  EXPECT_EQ(Value(UINT64_MAX).natural(), UINT64_MAX);
  EXPECT_EQ(Value(INT64_MIN).integer(), INT64_MIN);
  EXPECT_EQ(Value(INT64_MIN).number(), std::ldexp(-1.0, 63));
  EXPECT_EQ(Value(UINT64_MAX).number(), std::ldexp(1.0, 64));
  EXPECT_EQ(write_json(Value::list({UINT64_MAX, INT64_MIN, int8_t{-1}, 0})),
      "[18446744073709551615,-9223372036854775808,-1,0]");
}

TEST(Value, AMapKeepsItsOrderAndFindsItsKeys) {
  Value map;
  for (int i = 0; i < 100; ++i) map["key" + std::to_string((i * 37) % 100)] = i;
  EXPECT_EQ(map.size(), 100u);
  EXPECT_EQ(map.keys()[1], "key37");
  EXPECT_EQ(map["key37"], 1);
  map["key37"] = "again";
  EXPECT_EQ(map.size(), 100u);
  EXPECT_EQ(map.find("key100"), nullptr);
  EXPECT_EQ(Value(5).find("key"), nullptr);
  int n = 0;
  for (const auto& [key, value] : map.members()) {
    EXPECT_EQ(&value, map.find(key));
    ++n;
  }
  EXPECT_EQ(n, 100);
}

TEST(Value, ACopyIsItsOwn) {
  Value first = {{"list", Value::list({1, Value{{"a", "b"}}})}};
  Value second = first;
  EXPECT_EQ(first, second);
  second["list"][1]["a"] = 7;
  EXPECT_EQ(first["list"][1]["a"], "b");
  EXPECT_FALSE(first == second);
  second = second["list"];  // the new value is a part of the old one
  EXPECT_EQ(second[0], 1);
}

TEST(Value, EqualsByContents) {
  EXPECT_EQ((Value{{"a", 1}, {"b", 2}}), (Value{{"b", 2}, {"a", 1}}));
  EXPECT_FALSE((Value{{"a", 1}}) == (Value{{"b", 1}}));
  EXPECT_FALSE(Value::list({1, 2}) == Value::list({2, 1}));
  EXPECT_EQ(Value(1), Value(1.0));
  EXPECT_FALSE(Value(0) == Value(false));
  EXPECT_FALSE(Value(-1) == Value(UINT64_MAX));
  EXPECT_FALSE(Value() == Value::list());
}

TEST(Value, UpdatePutsMapsTogether) {
  Value settings = {{"a", 1}, {"tensors", {{"x", "1"}, {"y", "2"}}}, {"b", Value::list({1})}};
  update(settings, {{"tensors", {{"y", "3"}, {"z", "4"}}}, {"b", Value::list({2, 3})}, {"c", nullptr}});
  EXPECT_EQ(write_json(settings), R"({"a":1,"tensors":{"x":"1","y":"3","z":"4"},"b":[2,3],"c":null})");
}

TEST(Value, IsWrittenAsItIsRead) {
  const std::string text = R"({"z":[null,true,-2,1.5,1e-05,"a\"é"],"a":{}})";
  EXPECT_EQ(write_json(parse_json(text, 4, "text")), text);
  EXPECT_EQ(write_json(Value{{"a", Value::list({1})}}, {1}), "{\n \"a\": [\n  1\n ]\n}");
  EXPECT_EQ(write_json("é", {-1, true}), "\"\\u00e9\"");
  EXPECT_EQ(write_json("a\xff"), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(write_json(std::numeric_limits<double>::quiet_NaN()), "null");
}

// Settings that toolkits save with their tensors, as JSON; and tensors that refer to one place of a file.

using namespace std::string_literals;
using test::PickleWriter;

// Returns the settings of a checkpoint with one tensor, whose outermost dictionary also has `more`.
std::string settings_with(const std::string& more) {
  const test::TemporaryFolder folder;
  PickleWriter pickle;
  pickle.raw("}(").text("model").raw("}").text("w").tensor({"FloatStorage", "0", 1, 0, {1}, {1}}).raw("s").raw(more);
  std::ofstream stream(folder / "a.pt", std::ios::binary);
  test::ZipWriter zip(stream);
  zip.add({"a/data.pkl", pickle.raw("u").finish()});
  zip.add({"a/data/0", std::string(4, '\0')});
  zip.finish();
  stream.close();
  return write_json(open_tensors(folder / "a.pt")->settings());
}

std::string text(const std::string& value) {
  const std::string pickle = PickleWriter().text(value).finish();
  return pickle.substr(2, pickle.size() - 3);  // without the protocol and the end
}

TEST(SavedSettings, ValuesOfEveryKind) {
  EXPECT_EQ(settings_with(""), "{}");
  EXPECT_EQ(settings_with(text("vocab") + "N" + text("other") + "K\x01" + text("args") + "K\x02"),
      R"({"args":2,"vocab":null})");
  const std::string one = "G\x3f\xf8\0\0\0\0\0\0"s, wide = "\x8a\x09" + std::string(9, '\1');
  EXPECT_EQ(settings_with(text("opt") + "(N\x88\x89K\xffJ\xfe\xff\xff\xff" + one + wide + text("a\"\n") + "](K\1e)t"),
      R"({"opt":[null,true,false,255,-2,1.5,null,"a\"\n",[1],[]]})");
  // The last value of a repeated key wins. Keys that are not texts are dropped, and a tensor becomes null.
  PickleWriter tensor;
  tensor.tensor({"FloatStorage", "0", 1, 0, {1}, {1}});
  const std::string of_tensor = tensor.finish();
  EXPECT_EQ(settings_with(text("cfg") + "}(" + text("b") + "K\1" + "K\7K\7" + text("a") +
                          of_tensor.substr(2, of_tensor.size() - 3) + text("b") + "K\2u"),
      R"({"cfg":{"a":null,"b":2}})");
}

TEST(SavedSettings, ObjectsAreTheirAttributes) {
  EXPECT_EQ(settings_with(text("args") + "cargparse\nNamespace\n)\x81}" + text("heads") + "K\4sb"),
      R"({"args":{"heads":4}})");
  EXPECT_EQ(settings_with(text("opt") + "(ccollections\nOrderedDict\n)R" +
                          "ccollections\ndefaultdict\nctorchtext.vocab\n_default_unk_index\n\x85R" +
                          "ccollections\nCounter\n}" + text("a") + "K\1s\x85R" + "c__builtin__\nset\n](K\1K\2e\x85Rt"),
      R"({"opt":[{},{},{"a":1},[1,2]]})");
}

TEST(SavedSettings, AStateOfTrainingIsPassedOver) {
  const std::string dtype = "cnumpy\ndtype\n" + text("f8") + "K\0K\1\x87R"s + "(K\3" + text("<") + "NNNtb";
  const std::string bytes = "c_codecs\nencode\n" + text("12345678") + text("latin1") + "\x86R";
  EXPECT_EQ(settings_with(text("extra_state") + "}" + text("loss") + "cnumpy.core.multiarray\nscalar\n" + dtype +
                          bytes + "\x86Rs" + text("meter") + "cfairseq.meters\nAverageMeter\n)\x81}" + text("sum") +
                          "K\1sb" + text("place") + "ctorch\ndevice\n" + text("cpu") + "\x85R"),
      "{}");
}

// Lists in lists: a list within twelve others is dropped.
TEST(SavedSettings, DepthIsBounded) {
  const std::string deep = std::string(20, ']') + std::string(19, 'a');
  EXPECT_EQ(
      settings_with(text("opt") + deep), R"({"opt":)" + std::string(13, '[') + "null" + std::string(13, ']') + "}");
}

TEST(TorchZip, TiedTensorsAreOnePlace) {
  const test::TemporaryFolder folder;
  std::ofstream stream(folder / "a.pt", std::ios::binary);
  test::write_torch_zip(
      stream, {{"a", {2, 2}, {1, 2, 3, 4}}, {"b", {2, 2}, {1, 2, 3, 4}}}, ElementType::kF32, {{"tied", 0}});
  stream.close();
  const auto source = open_tensors(folder / "a.pt");
  EXPECT_EQ(source->stored_name("tied"), "a");
  EXPECT_EQ(source->stored_name("a"), "a");
  EXPECT_EQ(source->stored_name("b"), "b");
}

// YAML as values: the types of scalars, and every hostile text with its message.

std::string yaml_message(const std::string& text, const YamlBounds& bounds = kYamlSettings) {
  return test::error_of([&] { parse_yaml(text, bounds, "a.yml"); });
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
  EXPECT_EQ(yaml_message("a: &x [1]\nb: *x\n"), "a.yml: line 1 has an anchor, which is not read");
  EXPECT_EQ(
      yaml_message("a: 1\nb: *x\n"), "a.yml: line 2, column 4: is not YAML: the referenced anchor is not defined");
  EXPECT_EQ(
      yaml_message("a: !!binary 5\n"), "a.yml: line 1 has the tag \"tag:yaml.org,2002:binary\", which is not read");
  EXPECT_EQ(yaml_message("a: !mine [1]\n"), "a.yml: line 1 has the tag \"!mine\", which is not read");
  EXPECT_EQ(yaml_message("a: 1\na: 2\n"), "a.yml: line 2 has the key \"a\" again");
  EXPECT_EQ(yaml_message("? [1]\n: 2\n"), "a.yml: line 1 has a key that is not a text");
  EXPECT_EQ(yaml_message("a: 1\n---\nb: 2\n"), "a.yml: holds several documents, expected one");
  EXPECT_EQ(yaml_message(""), "a.yml: is empty");
  EXPECT_EQ(yaml_message(std::string("a: \0", 4)), "a.yml: is not YAML: it has a NUL byte");
  EXPECT_EQ(yaml_message("a: [1, 2\n"), "a.yml: line 2, column 1: is not YAML: end of sequence flow not found");
  EXPECT_EQ(yaml_message(std::string(70'000, 'x')), "a.yml: has 70000 bytes, expected at most 65536");
  EXPECT_EQ(
      test::error_of([] { parse_yaml_settings("[1]", "a.yml"); }), "a.yml: found a YAML array, expected a mapping");
}

// A small text can have great depth, many values or many aliases.
TEST(Yaml, BombsEndEarly) {
  EXPECT_EQ(yaml_message(std::string(9, '[') + std::string(9, ']')), "a.yml: line 1 has more than 8 levels");
  EXPECT_EQ(yaml_message(std::string(60'000, '[')), "a.yml: line 1 has a key that is not a text");  // the next level's
  std::string many = "[0";
  for (int i = 0; i < 20'000; ++i) many += ",0";
  EXPECT_EQ(yaml_message(many + "]"), "a.yml: line 1 has more than 10000 values");
  std::string laughs = "a: &a [x,x,x]\n";
  for (char c = 'b'; c < 'j'; ++c) laughs += format_text("{0}: &{0} [*{1},*{1},*{1}]\n", c, static_cast<char>(c - 1));
  EXPECT_EQ(yaml_message(laughs), "a.yml: line 1 has an anchor, which is not read");
}

// Cuts a text at every length and changes each byte: a value or an Error, no other exception.
TEST(Yaml, DamagedTextsDoNoHarm) {
  const std::string text = "a: \"x\\n\"\nb:\n  - 1\n  - {c: 'd', e: [2.5, ~]}\n? f\n: |\n  block\n  text\n# end\n";
  for (size_t n = 0; n < text.size(); ++n) yaml_message(text.substr(0, n));
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char c : {'\xff', '\x80', '[', '{', '\'', '"', '&', '*', '!', '\t', ':'}) {
      std::string changed = text;
      changed[i] = c;
      yaml_message(changed);
    }
  }
}
}}  // namespace goldcrest::converter
