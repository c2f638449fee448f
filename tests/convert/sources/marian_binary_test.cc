// SPDX-License-Identifier: Apache-2.0
// Marian's .bin: float32 and intgemm's int8, and every damage with its message.
#include "convert/support/read_container.h"
#include "host/wording.h"
#include "sources/containers/tensor_source.h"
#include "sources/values/json_text.h"
#include "support/marian_native.h"

namespace goldcrest::converter { namespace {
using namespace test;
using MarianBinary = InFolder;
using OpenTensors = InFolder;

constexpr size_t kHead = 16, kItem = 32;  // the file's head; an item: name, type, axes, data, eight bytes each

const std::vector<NamedTensor>& tensors() {
  static const std::vector<NamedTensor> kTensors = {{"Wemb", {3, 2}, {127, 2, 3, -4, 5, 6}},
      {"encoder_l1_self_Wq", {2, 3}, {1, 2, 3, -127, 5, 6}}, {"encoder_l1_self_bq", {1, 3}, {-1, 0.5f, 0}}};
  return kTensors;
}

std::string model(BinaryKind kind) { return binary_bytes(binary_items(tensors(), "type: transformer\n", kind)); }

std::string message_of(const std::string& bytes) {
  static const TemporaryFolder folder;
  return message_of_reading(open_marian_binary, folder.write("model.bin", bytes));
}

// The model with another 64-bit field.
std::string with_field(size_t at, uint64_t value) {
  std::string bytes = model(BinaryKind::kInt8);
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

TEST_F(MarianBinary, ReadsFloatAndInt8) {
  for (const BinaryKind kind : {BinaryKind::kFloat, BinaryKind::kInt8, BinaryKind::kInt8WithAlphas}) {
    const auto source = open_marian_binary(folder.write("model.bin", model(kind)));
    EXPECT_EQ(source->settings(), "type: transformer\n");
    EXPECT_FALSE(source->has("nothing"));
    expect_error([&] { source->load("nothing"); }, {"tensor \"nothing\" is missing"});
    ASSERT_EQ(source->names().size(), tensors().size());
    for (const NamedTensor& expected : tensors()) {
      const Tensor tensor = source->load(expected.name);
      EXPECT_EQ(tensor.shape, expected.shape) << expected.name;
      EXPECT_EQ(tensor.values, expected.values) << expected.name;  // the largest value is 127, so int8 loses nothing
      const bool is_float = kind == BinaryKind::kFloat || expected.shape[0] == 1;
      EXPECT_EQ(tensor.stored_scale, is_float ? std::vector<float>() : std::vector<float>{1}) << expected.name;
    }
  }
}

TEST_F(MarianBinary, AnInt8TensorKeepsItsScale) {
  const NamedTensor tensor = {"encoder_l1_self_Wq", {2, 2}, {0.31f, -0.2f, 0.05f, 0.1f}};
  const auto source =
      open_marian_binary(folder.write("model.bin", binary_bytes({int8_item(tensor, multiplier_of(tensor))})));
  const Tensor read = source->load(tensor.name);
  const float scale = 1 / (127.0f / 0.31f);
  EXPECT_EQ(read.stored_scale, std::vector<float>{scale});
  EXPECT_EQ(read.values, (std::vector<float>{127 * scale, -82 * scale, 20 * scale, 41 * scale}));
}

TEST_F(MarianBinary, SaysWhatIsDamaged) {
  const std::string truncated = "it is truncated or damaged";
  const uint64_t huge = uint64_t{1} << 62;
  EXPECT_EQ(message_of(with_field(0, 2)), ": is of version 2, expected 1");
  EXPECT_EQ(message_of(with_field(8, huge)),
      ": claims to hold 4611686018427387904 tensors, more than its 1043 bytes can: " + truncated);
  EXPECT_EQ(message_of(with_field(kHead, huge)),
      ": the name of tensor 0 has 4611686018427387904 bytes, expected 2 to 1024: it is damaged");
  EXPECT_EQ(message_of(with_field(kHead, 4)), ": the name of tensor 0 does not end in NUL: it is damaged");
  EXPECT_EQ(message_of(with_field(kHead + 16, huge)),
      ": tensor \"Wemb\": has 4611686018427387904 axes, expected at most 8: it is damaged");
  EXPECT_EQ(message_of(with_field(kHead + 24, huge)),
      ": tensor \"Wemb\": has 4611686018427387904 bytes at byte 256 of a file of 1043: " + truncated +
          "; download it again");
  EXPECT_EQ(message_of(with_field(kHead + 24, 8)),
      ": tensor \"Wemb\": has 8 bytes, but its shape [3, 2] needs 10: it is damaged");
  EXPECT_EQ(message_of(with_field(kHead + kItem + 8, 0x4102)),
      ": tensor \"encoder_l1_self_Wq\": has intgemm's 16-bit weights, which are not read; convert the .npz that the "
      "file was made from");
  EXPECT_EQ(message_of(with_field(kHead + kItem + 8, 0x1801)),
      ": tensor \"encoder_l1_self_Wq\": is packed for one processor (type 0x1801); convert the .npz that the file was "
      "made from");
  EXPECT_EQ(message_of(with_field(kHead + kItem + 8, 0x202)),
      ": tensor \"encoder_l1_self_Wq\": has the type 0x202 and the shape [2, 3]; float32 (0x404) and intgemm8 (0x4101) "
      "are read");
  EXPECT_EQ(message_of(with_field(kHead + 3 * kItem + 8, 0x404)),
      ": tensor \"special:model.yml\": has 19 bytes of type 0x404, expected at most 81920 of type 0x101");
  EXPECT_EQ(message_of(model(BinaryKind::kFloat) + "x"), ": has 1 bytes after its last tensor: it is damaged");
  const BinaryItem item = float_item(tensors()[2]);
  EXPECT_EQ(message_of(binary_bytes({item, item})), ": tensor \"encoder_l1_self_bq\": appears twice");
  BinaryItem negative = item;
  negative.shape = {-1, 3};
  EXPECT_EQ(
      message_of(binary_bytes({negative})), ": tensor \"encoder_l1_self_bq\": has a negative size: it is damaged");
  BinaryItem wide = item;
  wide.shape = {1 << 30, 1 << 30, 1 << 30};
  EXPECT_EQ(message_of(binary_bytes({wide})),
      ": tensor \"encoder_l1_self_bq\": has the shape [1073741824, 1073741824, 1073741824]: it is damaged");
}

std::string integer(uint64_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

// Tests the last good value of each bound, and the next.
TEST_F(MarianBinary, Bounds) {
  const std::string nameless = ": the name of tensor 0 has 0 bytes, expected 2 to 1024: it is damaged";
  const auto claiming = [](uint64_t n, size_t bytes) {
    return message_of(integer(1) + integer(n) + std::string(bytes - 16, '\0'));
  };
  EXPECT_EQ(claiming(100'000, 3'200'040), nameless);
  EXPECT_EQ(claiming(100'001, 3'200'064),
      ": claims to hold 100001 tensors, more than its 3200064 bytes can: it is truncated or damaged");
  EXPECT_EQ(claiming(2, 64).find(": the file ends at byte 64, but 64 bytes are expected at byte 16"), 0u);
  EXPECT_EQ(claiming(2, 63), ": claims to hold 2 tensors, more than its 63 bytes can: it is truncated or damaged");
  // A file without tensors: only the bytes before the data.
  const std::string none = integer(1) + integer(0);
  EXPECT_EQ(message_of(none + integer(3) + "abc"), "no error");
  EXPECT_EQ(message_of(none + integer(4) + "abc"),
      ": its data should begin 4 bytes after its names, but the file ends before that: it is truncated or damaged");
  BinaryItem item = float_item(tensors()[2]);
  item.name = "encoder" + std::string(1016, 'a');
  item.shape = {1, 1, 1, 1, 1, 1, 1, 3};
  EXPECT_EQ(message_of(binary_bytes({item})), "no error");
  item.name += "a";
  EXPECT_EQ(
      message_of(binary_bytes({item})), ": the name of tensor 0 has 1025 bytes, expected 2 to 1024: it is damaged");
  item.name = "";
  EXPECT_EQ(message_of(binary_bytes({item})), ": the name of tensor 0 has 1 bytes, expected 2 to 1024: it is damaged");
  item.name = "a";
  EXPECT_EQ(message_of(binary_bytes({item})), "no error");
  item.shape.push_back(1);
  EXPECT_EQ(message_of(binary_bytes({item})), ": tensor \"a\": has 9 axes, expected at most 8: it is damaged");
  item.shape = {INT32_MAX};
  EXPECT_EQ(message_of(binary_bytes({item})),
      format_text(": tensor \"a\": has {} bytes, but its shape [2147483647] needs 8589934588: it is damaged",
          item.data.size()));
  EXPECT_EQ(message_of(binary_bytes({settings_item(std::string(81'919, 'a'))})), "no error");
  EXPECT_EQ(message_of(binary_bytes({settings_item(std::string(81'920, 'a'))})),
      ": tensor \"special:model.yml\": has 81921 bytes of type 0x101, expected at most 81920 of type 0x101");
}

TEST_F(MarianBinary, ReadsHalvesAndDoubles) {
  for (const auto& [type, element] : {std::pair{0x402, ElementType::kF16}, std::pair{0x408, ElementType::kF64}}) {
    BinaryItem item = float_item(tensors()[2]);
    item.type = static_cast<uint64_t>(type);
    item.data = element_bytes_of(tensors()[2].values, element);
    const auto source = open_marian_binary(folder.write("model.bin", binary_bytes({item})));
    EXPECT_EQ(source->load(item.name).values, tensors()[2].values) << type;
    item.data.pop_back();
    EXPECT_NE(message_of(binary_bytes({item})), "no error");
  }
  for (const float multiplier : {0x1p-16f, 0x1p47f})
    EXPECT_EQ(message_of(binary_bytes({int8_item(tensors()[1], multiplier)})), "no error") << multiplier;
}

TEST_F(MarianBinary, SaysWhatIsNoIntgemm) {
  BinaryItem item = int8_item(tensors()[1], 1);
  const std::string name = ": tensor \"encoder_l1_self_Wq\": ";
  item.data[4] = '\x80';
  EXPECT_EQ(message_of(binary_bytes({item})), name + "byte 4 is -128, expected -127 to 127: it is damaged");
  for (const float multiplier : {0.0f, -1.0f, 1e-9f, 1e30f}) {
    EXPECT_EQ(message_of(binary_bytes({int8_item(tensors()[1], multiplier)})),
        name + format_text("its quantization multiplier is {}, expected a number from 2^-16 to 2^47", multiplier));
  }
}

TEST_F(MarianBinary, SurvivesDamage) { expect_damage_survived(model(BinaryKind::kInt8WithAlphas), message_of); }

// Kinds of paths: a file or directory of weights, a link into a cache, or something else.

std::string good_safetensors(float value) {
  std::ostringstream stream;
  write_safetensors(stream, {{"w", {1}, {value}}}, ElementType::kF32);
  return stream.str();
}

std::string good_zip(float value) {
  std::ostringstream stream;
  write_torch_zip(stream, {{"w", {1}, {value}}}, ElementType::kF32);
  return stream.str();
}

float first_value(const std::filesystem::path& path) { return open_tensors(path)->load("w").values.at(0); }

TEST_F(OpenTensors, KnowsFilesByContent) {
  EXPECT_EQ(first_value(folder.write("weights.pt", good_zip(1))), 1.0f);
  EXPECT_EQ(first_value(folder.write("weights.bin", good_safetensors(2))), 2.0f);
}

// Such a file begins with 80 02, 80 03, 80 04 or 80 05, as a pickle does.
TEST_F(OpenTensors, AHeaderOf640BytesIsNoPickle) {
  for (const size_t bytes : {640, 896, 1152, 1408}) {
    std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    header.resize(bytes, ' ');
    const std::string elements = element_bytes_of({5}, ElementType::kF32);
    EXPECT_EQ(first_value(folder.write("weights.bin", safetensors_bytes(header, elements))), 5.0f) << bytes;
  }
}

TEST_F(OpenTensors, PrefersSafetensorsInADirectory) {
  folder.write("checkpoint.pth", good_zip(1));
  EXPECT_EQ(first_value(folder.path()), 1.0f);
  folder.write("pytorch_model.bin", good_zip(2));
  EXPECT_EQ(first_value(folder.path()), 2.0f);
  folder.write("model.safetensors", good_safetensors(3));
  EXPECT_EQ(first_value(folder.path()), 3.0f);
}

TEST_F(OpenTensors, FollowsTheLinksOfACache) {
  std::filesystem::create_directories(folder / "blobs");
  std::filesystem::create_directories(folder / "snapshots/abc");
  folder.write("blobs/0123", good_zip(4));
  std::filesystem::create_symlink("../../blobs/0123", folder / "snapshots/abc/pytorch_model.bin");
  EXPECT_EQ(first_value(folder / "snapshots/abc"), 4.0f);
  std::filesystem::remove(folder / "blobs/0123");
  expect_error([&] { open_tensors(folder / "snapshots/abc"); }, {"symbolic link", "../../blobs/0123", "download"});
}

struct StandIn {
  const char* name;
  std::string content;
  std::vector<std::string> words;
};

TEST_F(OpenTensors, NamesWhatLiesInAFilesPlace) {
  const std::vector<StandIn> cases = {
      {"model.safetensors", "", {"empty", "download"}},
      {"model.safetensors", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n",
          {"Git LFS pointer", "git lfs pull"}},
      {"pytorch_model.bin", "\n <!DOCTYPE html><html><body>404", {"web page"}},
      {"pytorch_model.bin", "<html>sign in", {"web page"}},
      {"pytorch_model.bin", "<?xml version=\"1.0\"?><Error>", {"web page"}},
      {"pytorch_model.bin", std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15), {"truncated"}},
      {"pytorch_model.bin", std::string("\x80\x03}q\0.", 6), {"magic number", "torch.save(model.state_dict(), ...)"}},
      {"pytorch_model.bin", "nothing known", {"neither safetensors nor a zip"}},
      {"model.safetensors", "{\"w\": 1}", {"model.safetensors"}},
  };
  for (const StandIn& bad : cases) {
    const TemporaryFolder fresh;
    fresh.write(bad.name, bad.content);
    std::vector<std::string> words = bad.words;
    words.push_back(bad.name);
    expect_error([&] { open_tensors(fresh.path()); }, words, bad.content);
  }
}

TEST_F(OpenTensors, SaysWhatADirectoryLacks) {
  expect_error([&] { open_tensors(folder.path()); }, {"holds no weights", "pytorch_model.bin"});
  folder.write("tf_model.h5", "x");
  expect_error([&] { open_tensors(folder.path()); }, {"tf_model.h5", "not read"});
  folder.write("a.pt", good_zip(1));
  folder.write("b.pt", good_zip(1));
  expect_error([&] { open_tensors(folder.path()); }, {"several weight files", "a.pt", "b.pt"});
  expect_error([&] { open_tensors(folder / "absent.pt"); }, {"absent.pt", "No such file"});
  std::filesystem::create_directories(folder / "model.safetensors");
  expect_error([&] { open_tensors(folder.path()); }, {"model.safetensors", "not a regular file"});
}

TEST(Json, IsBounded) {
  expect_error([] { parse_json("{\"a\":{\"b\":1}}", 1, "here"); }, {"here", "nested more than 1"});
  expect_error([] { parse_json("{\"a\":1,\"a\":2}", 4, "here"); }, {"\"a\" twice"});
  expect_error([] { parse_json("{\"a\":NaN}", 4, "here"); }, {"not valid JSON"});
  expect_error([] { parse_json("\xff", 4, "here"); }, {"not valid JSON"});
  EXPECT_EQ(parse_json("{\"a\":{\"a\":1},\"b\":[{\"a\":2}]}", 4, "here")["b"][0]["a"], 2);
}

TEST(Messages, NamesAreShortAndPlain) {
  EXPECT_EQ(in_quotes("a\n\x1b"), "\"a\\x0a\\x1b\"");
  EXPECT_EQ(in_quotes(std::string(4096, 'a')), '"' + std::string(100, 'a') + "...\"");
  EXPECT_EQ(in_quotes(std::string(99, 'a') + "\xc3\xa9"), '"' + std::string(99, 'a') + "...\"");
  EXPECT_EQ(shape_text({2, 3}), "[2, 3]");
  EXPECT_EQ(list_in_quotes({"a", "b", "c"}, 2), "\"a\", \"b\" and 1 more");
}
}}  // namespace goldcrest::converter
