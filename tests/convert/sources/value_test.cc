// SPDX-License-Identifier: Apache-2.0
// The value of settings and reports, and the JSON that is made from it.
#include "sources/values/value.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sources/values/json_text.h"

namespace goldcrest::converter {
namespace {

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

}  // namespace
}  // namespace goldcrest::converter
