// SPDX-License-Identifier: Apache-2.0
// Pickles: the value that each operation makes, and every bound at its last good value and the next.
#include "sources/values/pickle.h"
#include "support/checkpoint_writer.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
using namespace std::string_literals;
using namespace test;

std::string integer(uint64_t value, size_t bytes) { return {reinterpret_cast<const char*>(&value), bytes}; }

// The value as text: None, True, 1, 1.5, 'a', (1,), [1,], {1:2,}, <torch FloatStorage>, storage 0 of 6, tensor, other.
std::string text_of(const PickleDocument& document, const PickleNode& node) {
  std::string items;
  for (size_t i = 0; i < node.items.size(); ++i) {
    const bool is_key = node.kind == PickleKind::kDict && i % 2 == 0;
    items += text_of(document, document.node(node.items[i])) + (is_key ? ":" : ",");
  }
  const bool has_integer =
      node.kind == PickleKind::kBool || node.kind == PickleKind::kInteger || node.kind == PickleKind::kStorage;
  EXPECT_TRUE(has_integer || node.integer == 0);
  switch (node.kind) {
    case PickleKind::kNone: return "None";
    case PickleKind::kBool: return node.integer ? "True" : "False";
    case PickleKind::kInteger: return std::to_string(node.integer);
    case PickleKind::kNumber: return std::isnan(node.number) ? "wide" : std::to_string(node.number);
    case PickleKind::kText: return "'" + node.text + "'";
    case PickleKind::kTuple: return "(" + items + ")";
    case PickleKind::kList: return "[" + items + "]";
    case PickleKind::kDict: return node.text + "{" + items + "}";
    case PickleKind::kGlobal: return "<" + node.text + ">";
    case PickleKind::kStorage: return "storage " + node.text + " of " + std::to_string(node.integer);
    case PickleKind::kTensor: return "tensor(" + items + ")";
    case PickleKind::kOther: return "other";
  }
  return "";
}

// Reads opcodes without protocol and stop. Returns the value, or the message up to its first "(at byte".
std::string read(const std::string& opcodes) {
  std::string text;
  const std::string message = test::error_of([&] {
    const PickleDocument document = read_pickle("\x80\x02" + opcodes + ".", "here");
    text = text_of(document, document.node(document.root));
  });
  return message == "no error" ? text : message.substr(0, message.find(" (at byte"));
}

std::string repeated(const std::string& text, size_t n) {
  std::string all;
  for (size_t i = 0; i < n; ++i) all += text;
  return all;
}

TEST(PickleOperations, WhatEachMakes) {
  const std::string global = "ctorch\nFloatStorage\n", dict = "ccollections\nOrderedDict\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"N", "None"},
      {"\x88", "True"},
      {"\x89", "False"},
      {"J\xfe\xff\xff\xff", "-2"},
      {"J\x01\x02\x03\x04", "67305985"},
      {"K\xff", "255"},
      {"M\xfe\xff", "65534"},
      {"G\xc0\x09\0\0\0\0\0\0"s, "-3.125000"},
      {"\x8a\0"s, "0"},
      {"\x8a\x01\xff", "-1"},
      {"\x8a\x02\xff\x7f", "32767"},
      {"\x8a\x08\0\0\0\0\0\0\0\x80"s, "-9223372036854775808"},
      {"\x8a\x09\0\0\0\0\0\0\0\0\1"s, "wide"},
      {"X\x03\0\0\0abc"s, "'abc'"},
      {"U\x02"
       "de",
          "'de'"},
      {")", "()"},
      {"(K\1K\2t", "(1,2,)"},
      {"K\1\x85", "(1,)"},
      {"K\1K\2\x86", "(1,2,)"},
      {"K\1K\2K\3\x87", "(1,2,3,)"},
      {"]", "[]"},
      {"]K\1a(K\2K\3e", "[1,2,3,]"},
      {"}", "{}"},
      {"}K\1K\2s(K\3K\4K\5K\6u", "{1:2,3:4,5:6,}"},
      {"K\1q\x07h\x07\x86", "(1,1,)"},
      {"K\1r\xff\xff\0\0j\xff\xff\0\0\x86"s, "(1,1,)"},
      {"K\1q\0K\2q\0h\0\x87"s, "(1,2,2,)"},
      {global, "<torch FloatStorage>"},
      {dict + ")R", "{}"},
      {dict + "\x81", "here: takes values that are not there: it is damaged"},
      {dict + ")\x81", "{}"},
      {"ccollections\ndefaultdict\nK\1\x85R", "{}"},
      {"ccollections\nCounter\n}\x85R", "{}"},
      {"ccollections\nCounter\n}}\x86R", "here: calls \"collections Counter\" with arguments that it does not take"},
      {"cargparse\nNamespace\n)\x81}K\1K\2sb", "argparse Namespace{1:2,}"},
      {"cargparse\nNamespace\n)\x81K\1b", "here: sets attributes that are not a dictionary"},
      {"cargparse\nNamespace\nK\1\x81", "here: makes an object that is not a dictionary"},
      {"cargparse\nNamespace\nK\1\x85\x81", "here: makes an object that is not a dictionary"},
      {"ctorch\ndevice\n)\x81", "here: makes an object that is not a dictionary"},
      {"K\1)\x81", "here: makes an object that is not a dictionary"},
      {"cargparse\nNamespace\n)R", "here: calls \"argparse Namespace\" with arguments that it does not take"},
      {"K\1)R", "here: calls something unknown"},
      {dict + "K\1R", "here: calls something unknown"},
      {"ctorch\ndevice\nK\1\x85R", "other"},
      {"ctorch\ndevice\n)R}b", "other"},
      {"}K\1K\2s}K\3K\4sb", "{1:2,}"},  // a dictionary's attributes
      {"]}b", "here: sets attributes of an unknown object"},
  };
  for (const auto& [opcodes, expected] : cases) EXPECT_EQ(read(opcodes), expected) << opcodes;
}

TEST(PickleOperations, Protocols) {
  for (int protocol = 0; protocol < 6; ++protocol) {
    const std::string value = read("\x80" + integer(static_cast<uint64_t>(protocol), 1) + "N");
    if (protocol == 2 || protocol == 3) {
      EXPECT_EQ(value, "None");
    } else {
      EXPECT_EQ(value.find("here: is of pickle protocol " + std::to_string(protocol)), 0u) << value;
    }
  }
}

TEST(PickleOperations, WhereAnErrorIs) {
  expect_error([] { read_pickle("\x80\x02NN\x93.", "here"); }, {"(at byte 4)"});
}

TEST(PickleOperations, Storages) {
  const std::string kind = "X\7\0\0\0storage"s, type = "ctorch\nFloatStorage\n", key = "X\1\0\0\0k"s,
                    place = "X\3\0\0\0cpu"s;
  const auto of = [&](const std::string& items) { return read("(" + items + "tQ"); };
  EXPECT_EQ(of(kind + type + key + place + "K\6"), "storage k of 6");
  EXPECT_EQ(of(kind + type + key + place + "K\0"s), "storage k of 0");
  EXPECT_EQ(of(kind + type + "X\4\0\0\0a_0Z"s + place + "K\6"), "storage a_0Z of 6");
  const std::string no_storage = "here: refers to something that is not a tensor's storage";
  for (const std::string& items :
      std::vector<std::string>{kind + type + key + place, kind + type + key + place + "K\6K\6",
          type + type + key + place + "K\6", key + type + key + place + "K\6", kind + kind + key + place + "K\6",
          kind + "ctorch\ndevice\n" + key + place + "K\6", kind + type + type + place + "K\6",
          kind + type + key + place + key, kind + type + key + place + "J\xff\xff\xff\xff"})
    EXPECT_EQ(of(items), no_storage);
  EXPECT_EQ(read("](" + kind + type + key + place + "K\6eQ"), no_storage);
  for (const std::string& bad : {"a/"s, "a."s, "\x80"s, "\xe9"s, "a\0"s, " "s})
    EXPECT_EQ(
        of(kind + type + "X" + integer(bad.size(), 4) + bad + place + "K\6").find("here: refers to the storage"), 0u);
}

TEST(PickleOperations, Tensors) {
  const std::string function = "ctorch._utils\n_rebuild_tensor_v2\n",
                    refused = "here: calls \"torch._utils _rebuild_tensor_v2\" with arguments that it does not take";
  EXPECT_EQ(read(function + "(NNNtR"), refused);
  const std::string tensor = function + "(NK\1))tR";
  EXPECT_EQ(read(tensor), "tensor(None,1,(),(),)");
  EXPECT_EQ(read(function + "(NK\1))K\5K\6tR"), "tensor(None,1,(),(),)");
  EXPECT_EQ(read(tensor + "}b"), "tensor(None,1,(),(),)");
  const std::string parameter = "ctorch._utils\n_rebuild_parameter\n";
  EXPECT_EQ(read(parameter + tensor + "\x85R"), "tensor(None,1,(),(),)");
  EXPECT_EQ(read(parameter + "(" + tensor + "\x88}tR"), "tensor(None,1,(),(),)");
  EXPECT_TRUE(has(read(parameter + ")R"), "arguments that it does not take"));
  EXPECT_TRUE(has(read(parameter + "N\x85R"), "arguments that it does not take"));
}

TEST(PickleBounds, Texts) {
  const auto text = [](size_t bytes) { return read("X" + integer(bytes, 4) + std::string(bytes, 'a')); };
  EXPECT_EQ(text(4096).size(), 4098u);
  EXPECT_EQ(text(4097), "here: has a text of 4097 bytes, expected at most 4096");
  EXPECT_TRUE(has(read("c" + std::string(4095, 'a') + "\nb\n"), "is not part of a state dict"));
  EXPECT_EQ(read("c" + std::string(4096, 'a') + "\nb\n"), "here: has a name without an end");
  EXPECT_EQ(read("comegaconf.dictconfig\nDictConfig\n").find("here: asks for \"omegaconf.dictconfig.DictConfig\""), 0u);
}

TEST(PickleBounds, StackMarksAndMemory) {
  const std::string no_one_value = "here: does not end with exactly one value";
  EXPECT_EQ(read(std::string(100'000, 'N')), no_one_value);
  EXPECT_EQ(read(std::string(100'001, 'N')), "here: needs a stack of more than 100000 values");
  EXPECT_EQ(read(std::string(64, '(')), no_one_value);
  EXPECT_EQ(read(std::string(65, '(')), "here: is nested more than 64 levels deep");
  EXPECT_EQ(read("Nr" + integer(999'999, 4) + "j" + integer(999'999, 4) + "\x86"), "(None,None,)");
  EXPECT_EQ(read("Nr" + integer(1'000'000, 4)), "here: remembers value number 1000000, expected less than 1000000");
}

TEST(PickleBounds, Values) {
  // The first five values exist from the start.
  EXPECT_EQ(read("]q\1" + repeated("]a", 1'999'994)).size(), 2u + 3 * 1'999'994);
  EXPECT_EQ(read("]q\1" + repeated("]a", 1'999'995)), "here: has more than 2000000 values");
  const std::string half = "}q\1(" + repeated("NN", 500) + "u" + "cargparse\nNamespace\n)\x81";
  EXPECT_TRUE(has(read(half + repeated("h\1b", 2000) + "\x86"), "argparse Namespace{None:None,"));
  EXPECT_EQ(read(half + repeated("h\1b", 2001)), "here: sets more than 2000000 attributes");
}

TEST(PickleBounds, Operations) {
  // The protocol, the value and the stop count, too.
  EXPECT_EQ(read("N" + repeated("q\1", 9'999'997)), "None");
  EXPECT_EQ(read("N" + repeated("q\1", 9'999'998)), "here: has more than 10000000 operations");
}

TEST(PickleBounds, Ends) {
  const std::string value = "\x80\x02X\x03\0\0\0abc."s;
  for (size_t n = 0; n < value.size(); ++n) EXPECT_THROW(read_pickle(value.substr(0, n), "here"), Error) << n;
  EXPECT_NO_THROW(read_pickle(value, "here"));
}

TEST(PickleDocuments, TheLastOfEqualKeys) {
  const PickleDocument document = read_pickle("\x80\x02}(K\1K\2U\1aK\3U\1bK\4U\1aK\5u.", "here");
  const PickleNode& dict = document.node(document.root);
  EXPECT_EQ(document.member(dict, "a")->integer, 5);
  EXPECT_EQ(document.member(dict, "b")->integer, 4);
  EXPECT_EQ(document.member(dict, "c"), nullptr);
  EXPECT_EQ(document.member(dict, ""), nullptr);
  EXPECT_EQ(document.member(*document.member(dict, "a"), "a"), nullptr);
  const PickleDocument list = read_pickle("\x80\x02](U\1aK\3e.", "here");
  EXPECT_EQ(list.member(list.node(list.root), "a"), nullptr);
}
}}  // namespace goldcrest::converter
