// SPDX-License-Identifier: Apache-2.0
// safetensors: every element type, shards, and every way in which a header can be wrong.
#include "convert/support/read_container.h"
#include "sources/containers/tensor_source.h"
#include "sources/files/sha256.h"

namespace goldcrest::converter { namespace {
using namespace test;
using Safetensors = InFolder;

const std::vector<NamedTensor> kTensors = {
    {"b", {2, 3}, {0, 1, 2, 3, 4, 5}}, {"a", {2}, {7, 64}}, {"riscv_scalar", {}, {9}}, {"empty", {0, 4}, {}}};

void expect_tensors(const TensorSource& source) {
  for (const NamedTensor& expected : kTensors) {
    ASSERT_TRUE(source.has(expected.name));
    EXPECT_EQ(source.shape(expected.name), expected.shape);
    const Tensor tensor = source.load(expected.name);
    EXPECT_EQ(tensor.shape, expected.shape);
    EXPECT_EQ(tensor.values, expected.values) << expected.name;
  }
  EXPECT_EQ(source.names().size(), kTensors.size());
  EXPECT_FALSE(source.has("c"));
  expect_error([&] { source.load("c"); }, {"tensor \"c\" is missing"});
}

TEST_F(Safetensors, ReadsEveryElementType) {
  for (const ElementType type : {ElementType::kF64, ElementType::kF32, ElementType::kF16, ElementType::kBf16,
           ElementType::kI64, ElementType::kI32, ElementType::kI16, ElementType::kI8, ElementType::kU64,
           ElementType::kU32, ElementType::kU16, ElementType::kU8}) {
    std::ofstream stream(folder / "model.safetensors", std::ios::binary);
    write_safetensors(stream, kTensors, type);
    stream.close();
    expect_tensors(*open_safetensors(folder / "model.safetensors"));
  }
}

// Compares every binary16 number with its definition.
TEST_F(Safetensors, WidensHalfPrecisionExactly) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const auto element = static_cast<uint16_t>(half);
    float value = 0;
    widen(ElementType::kF16, &element, 1, &value);
    const int exponent = (half >> 10) & 31;
    const float mantissa = static_cast<float>(half & 1023);
    if (exponent == 31) {
      EXPECT_EQ(std::isinf(value), mantissa == 0.0f);
      EXPECT_EQ(std::isnan(value), mantissa != 0.0f);
    } else {
      const float magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
      EXPECT_EQ(value, half & 0x8000 ? -magnitude : magnitude) << half;
      EXPECT_EQ(std::signbit(value), half >= 0x8000);
    }
  }
}

TEST_F(Safetensors, ReadsShards) {
  write_shards(folder.path(), kTensors, 3);
  const auto source = open_tensors(folder.path());
  expect_tensors(*source);
  EXPECT_EQ(source->files().size(), 3u);
  EXPECT_EQ(source->file("a").filename(), "model-00002-of-00003.safetensors");
}

TEST_F(Safetensors, HashIsOfTheFilesInOrder) {
  const auto first = folder.write("1", "ab"), second = folder.write("2", "c"), all = folder.write("3", "abc");
  EXPECT_EQ(sha256_of_files({first, second}), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of_files({all}), sha256_of_files({first, second}));
}

struct BadHeader {
  const char* name;
  std::string header;
  size_t data_bytes;
  std::vector<std::string> words;
};

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "\"w\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

TEST_F(Safetensors, RefusesBadHeaders) {
  const std::string good = entry("F32", "[2]", "[0,8]");
  std::string deep(100'000, '[');
  const std::vector<BadHeader> cases = {
      {"not JSON", "{\"w\":", 8, {"not valid JSON"}},
      {"not an object", "[1]", 0, {"does not start with {"}},
      {"deep", "{\"w\":" + deep, 8, {"nested more than 8 levels"}},
      {"duplicate", "{" + good + "," + good + "}", 8, {"key \"w\" twice"}},
      {"no shape", "{\"w\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, {"dtype, shape and data_offsets"}},
      {"entry is a number", "{\"w\":7}", 8, {"dtype, shape and data_offsets"}},
      {"truncated", "{" + good + "}", 7, {"\"w\"", "within the 7 bytes", "truncated"}},
      {"too long", "{" + good + "}", 9, {"bytes, but its tensors end at"}},
      {"shape and bytes differ", "{" + entry("F32", "[3]", "[0,8]") + "}", 8,
          {"shape [3] of F32 needs 12 bytes, but data_offsets give it 8"}},
      {"huge shape", "{" + entry("F32", "[4294967296,4294967296]", "[0,8]") + "}", 8, {"too large"}},
      {"wrapping shape", "{" + entry("F32", "[9223372036854775808,2]", "[0,0]") + "}", 0, {"too large"}},
      {"negative size", "{" + entry("F32", "[-2]", "[0,8]") + "}", 8, {"not a non-negative integer"}},
      {"fractional size", "{" + entry("F32", "[2.0]", "[0,8]") + "}", 8, {"not a non-negative integer"}},
      {"offsets descend", "{" + entry("F32", "[2]", "[8,0]") + "}", 8, {"ascending offsets"}},
      {"offsets beyond 64 bit", "{" + entry("F32", "[2]", "[0,99999999999999999999]") + "}", 8, {"not a non-negative"}},
      {"overlap", "{" + good + ",\"v\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}}", 12, {"overlap"}},
      {"hole", "{" + good + ",\"v\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[12,16]}}", 16, {"leave a hole"}},
      {"hole at the start", "{" + entry("F32", "[1]", "[4,8]") + "}", 8, {"leave a hole"}},
      {"more keys", "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8,
          {"dtype, shape and"}},
      {"no dtype", "{\"w\":{\"type\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, {"dtype, shape and"}},
      {"no data_offsets", "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"offsets\":[0,8]}}", 8, {"dtype, shape and"}},
      {"shape by another name", "{\"w\":{\"dtype\":\"F32\",\"shapes\":[2],\"data_offsets\":[0,8]}}", 8,
          {"dtype, shape and"}},
      {"dtype is a number", "{\"w\":{\"dtype\":32,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, {"dtype, shape and"}},
      {"shape is a number", "{" + entry("F32", "2", "[0,8]") + "}", 8, {"shape is a JSON number, expected an array"}},
      {"one offset", "{" + entry("F32", "[2]", "[0]") + "}", 8, {"two ascending offsets"}},
      {"three offsets", "{" + entry("F32", "[2]", "[0,8,8]") + "}", 8, {"two ascending offsets"}},
      {"offset beyond the end", "{" + entry("F32", "[3]", "[0,12]") + "}", 8, {"two ascending offsets", "the 8 bytes"}},
      {"nested nine deep", "{\"__metadata__\":[[[[[[[[]]]]]]]]}", 0, {"nested more than 8 levels"}},
      {"name with control characters", "{\"\\u0007\\u001b[31m\":7}", 8, {"\\x07\\x1b[31m"}},
  };
  for (const BadHeader& bad : cases) {
    const auto path = folder.write("bad.safetensors", safetensors_bytes(bad.header, std::string(bad.data_bytes, '\0')));
    std::vector<std::string> words = bad.words;
    words.push_back("bad.safetensors");
    expect_error([&] { open_safetensors(path); }, words, bad.name);
  }
}

TEST_F(Safetensors, RefusesBadLengths) {
  const std::string good = safetensors_bytes("{}", "");
  EXPECT_NO_THROW(open_safetensors(folder.write("a.safetensors", good)));
  for (size_t n = 1; n < good.size(); ++n) {
    const auto path = folder.write("a.safetensors", good.substr(0, n));
    expect_error([&] { open_safetensors(path); }, {"a.safetensors"}, std::to_string(n));
  }
  const auto path = folder.write("a.safetensors", std::string(8, '\xff') + std::string(100, ' '));
  expect_error([&] { open_safetensors(path); }, {"header of 18446744073709551615 bytes"});
}

// Tests the last good value of each bound, and the next.
TEST_F(Safetensors, Bounds) {
  const auto message = [&](const std::string& bytes, uint64_t file_bytes) {
    const auto path = folder.write("a", bytes);
    std::filesystem::resize_file(path, file_bytes);
    return message_of_reading(open_safetensors, path);
  };
  EXPECT_EQ(message(std::string(7, '\0'), 7), ": has 7 bytes, too few for a safetensors file");
  EXPECT_EQ(message(std::string(8, '\0'), 8), ": the safetensors header does not start with {");
  const std::string is_long = " bytes, expected at most 16777216 and within the file's ";
  const auto of_header = [&](uint64_t header_bytes, uint64_t file_bytes) {
    return message(std::string(reinterpret_cast<const char*>(&header_bytes), 8), file_bytes);
  };
  EXPECT_EQ(of_header(16, 24), ": the safetensors header does not start with {");
  EXPECT_EQ(of_header(16, 23).find(": header of 16" + is_long + "23 bytes"), 0u);
  EXPECT_EQ(of_header(1 << 24, 18 << 20), ": the safetensors header does not start with {");
  EXPECT_EQ(of_header((1 << 24) + 1, 18 << 20).find(": header of 16777217" + is_long + "18874368 bytes"), 0u);
  const auto of_json = [&](const std::string& json) {
    const std::string bytes = safetensors_bytes(json, "");
    return message(bytes, bytes.size());
  };
  EXPECT_EQ(of_json("{\"__metadata__\":[[[[[[[]]]]]]]}"), "no error");
  const auto of_tensors = [&](size_t n) {
    std::string json = "{";
    for (size_t i = 0; i < n; ++i) json += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
    return of_json(json + "}");
  };
  EXPECT_EQ(of_tensors(100'000), ": tensor \"0\": its header entry is not an object of dtype, shape and data_offsets");
  EXPECT_EQ(of_tensors(100'001), ": 100001 tensors, expected at most 100000");
}

// The order in the header does not matter.
TEST_F(Safetensors, NamesAreInTheOrderOfTheirBytes) {
  const auto of = [](const char* name, const char* offsets) {
    return '"' + std::string(name) + "\"" + entry("F32", "[1]", offsets).substr(3);
  };
  const std::string empty = R"(:{"dtype":"F32","shape":[0],"data_offsets":[4,4]})";
  const auto path = folder.write("a.safetensors",
      safetensors_bytes(
          "{" + of("z", "[0,4]") + "," + of("a", "[4,8]") + ",\"y\"" + empty + ",\"x\"" + empty + "}", "12345678"));
  EXPECT_EQ(open_safetensors(path)->names(), (std::vector<std::string>{"z", "x", "y", "a"}));
}

TEST_F(Safetensors, NamesATypeThatHasNoFloatMeaning) {
  const auto path =
      folder.write("a.safetensors", safetensors_bytes("{" + entry("F8_E4M3", "[2]", "[0,2]") + "}", "xx"));
  const auto source = open_safetensors(path);
  expect_error([&] { source->load("w"); }, {"\"w\"", "F8_E4M3", "expected F32"});
}

TEST(Shards, RefusesBadIndexes) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{\"weight_map\":{\"w\":\"../model.safetensors\"}}", "expected a plain file name"},
      {"{\"weight_map\":{\"w\":\"/etc/passwd\"}}", "expected a plain file name"},
      {"{\"weight_map\":{\"w\":\"a\\u0000b\"}}", "expected a plain file name"},
      {"{\"weight_map\":{\"w\":\"..\"}}", "expected a plain file name"},
      {"{\"weight_map\":{\"w\":\"model.safetensors.index.json\"}}", "is missing"},
      {"{\"weight_map\":{\"w\":\"absent.safetensors\"}}", "download all files"},
      {"{\"weight_map\":{\"w\":7}}", "is not a text"},
      {"{\"weight_map\":{}}", "names 0 files"},
      {"{\"weight_map\":[]}", "no object \"weight_map\""},
      {"{\"weight_map\":{\"other\":\"one.safetensors\"}}", "tensor \"other\" is missing"},
  };
  const TemporaryFolder folder;
  std::ofstream stream(folder / "one.safetensors", std::ios::binary);
  write_safetensors(stream, kTensors, ElementType::kF32);
  stream.close();
  for (const auto& [index, words] : cases) {
    folder.write("model.safetensors.index.json", index);
    expect_error([&] { open_tensors(folder.path()); }, {words}, index);
  }
}
}}  // namespace goldcrest::converter
