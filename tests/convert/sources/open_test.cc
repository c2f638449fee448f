// SPDX-License-Identifier: Apache-2.0
// Kinds of paths: a file or directory of weights, a link into a cache, or something else.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "sources/containers/tensor_source.h"
#include "sources/messages/messages.h"
#include "sources/values/json_text.h"
#include "support/checkpoint_writer.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

using test::TemporaryFolder;

std::string good_safetensors(float value) {
  std::ostringstream stream;
  test::write_safetensors(stream, {{"w", {1}, {value}}}, ElementType::kF32);
  return stream.str();
}

std::string good_zip(float value) {
  std::ostringstream stream;
  test::write_torch_zip(stream, {{"w", {1}, {value}}}, ElementType::kF32);
  return stream.str();
}

float first_value(const std::filesystem::path& path) { return open_tensors(path)->load("w").values.at(0); }

TEST(OpenTensors, KnowsFilesByContent) {
  const TemporaryFolder folder;
  EXPECT_EQ(first_value(folder.write("weights.pt", good_zip(1))), 1.0f);
  EXPECT_EQ(first_value(folder.write("weights.bin", good_safetensors(2))), 2.0f);
}

// Such a file begins with 80 02, 80 03, 80 04 or 80 05, as a pickle does.
TEST(OpenTensors, AHeaderOf640BytesIsNoPickle) {
  const TemporaryFolder folder;
  for (const size_t bytes : {640, 896, 1152, 1408}) {
    std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
    header.resize(bytes, ' ');
    const std::string elements = test::element_bytes_of({5}, ElementType::kF32);
    EXPECT_EQ(first_value(folder.write("weights.bin", test::safetensors_bytes(header, elements))), 5.0f) << bytes;
  }
}

TEST(OpenTensors, PrefersSafetensorsInADirectory) {
  const TemporaryFolder folder;
  folder.write("checkpoint.pth", good_zip(1));
  EXPECT_EQ(first_value(folder.path()), 1.0f);
  folder.write("pytorch_model.bin", good_zip(2));
  EXPECT_EQ(first_value(folder.path()), 2.0f);
  folder.write("model.safetensors", good_safetensors(3));
  EXPECT_EQ(first_value(folder.path()), 3.0f);
}

TEST(OpenTensors, FollowsTheLinksOfACache) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "blobs");
  std::filesystem::create_directories(folder / "snapshots/abc");
  folder.write("blobs/0123", good_zip(4));
  std::filesystem::create_symlink("../../blobs/0123", folder / "snapshots/abc/pytorch_model.bin");
  EXPECT_EQ(first_value(folder / "snapshots/abc"), 4.0f);
  std::filesystem::remove(folder / "blobs/0123");
  test::expect_error([&] { open_tensors(folder / "snapshots/abc"); },
                     {"symbolic link", "../../blobs/0123", "download"});
}

struct StandIn {
  const char* name;
  std::string content;
  std::vector<std::string> words;
};

TEST(OpenTensors, NamesWhatLiesInAFilesPlace) {
  const std::vector<StandIn> cases = {
      {"model.safetensors", "", {"empty", "download"}},
      {"model.safetensors",
       "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n",
       {"Git LFS pointer", "git lfs pull"}},
      {"pytorch_model.bin", "\n <!DOCTYPE html><html><body>404", {"web page"}},
      {"pytorch_model.bin", "<html>sign in", {"web page"}},
      {"pytorch_model.bin", "<?xml version=\"1.0\"?><Error>", {"web page"}},
      {"pytorch_model.bin",
       std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.", 15),
       {"before version 1.6", "save it again"}},
      {"pytorch_model.bin", std::string("\x80\x03}q\0.", 6), {"before version 1.6"}},
      {"pytorch_model.bin", "nothing known", {"neither safetensors nor a zip"}},
      {"model.safetensors", "{\"w\": 1}", {"model.safetensors"}},
  };
  for (const StandIn& bad : cases) {
    const TemporaryFolder folder;
    folder.write(bad.name, bad.content);
    std::vector<std::string> words = bad.words;
    words.push_back(bad.name);
    test::expect_error([&] { open_tensors(folder.path()); }, words, bad.content);
  }
}

TEST(OpenTensors, SaysWhatADirectoryLacks) {
  const TemporaryFolder folder;
  test::expect_error([&] { open_tensors(folder.path()); }, {"holds no weights", "pytorch_model.bin"});
  folder.write("tf_model.h5", "x");
  test::expect_error([&] { open_tensors(folder.path()); }, {"tf_model.h5", "not read"});
  folder.write("a.pt", good_zip(1));
  folder.write("b.pt", good_zip(1));
  test::expect_error([&] { open_tensors(folder.path()); }, {"several weight files", "a.pt", "b.pt"});
  test::expect_error([&] { open_tensors(folder / "absent.pt"); }, {"absent.pt", "No such file"});
  std::filesystem::create_directories(folder / "model.safetensors");
  test::expect_error([&] { open_tensors(folder.path()); }, {"model.safetensors", "not a regular file"});
}

TEST(Json, IsBounded) {
  test::expect_error([] { parse_json("{\"a\":{\"b\":1}}", 1, "here"); }, {"here", "nested more than 1"});
  test::expect_error([] { parse_json("{\"a\":1,\"a\":2}", 4, "here"); }, {"\"a\" twice"});
  test::expect_error([] { parse_json("{\"a\":NaN}", 4, "here"); }, {"not valid JSON"});
  test::expect_error([] { parse_json("\xff", 4, "here"); }, {"not valid JSON"});
  EXPECT_EQ(parse_json("{\"a\":{\"a\":1},\"b\":[{\"a\":2}]}", 4, "here")["b"][0]["a"], 2);
}

TEST(Messages, NamesAreShortAndPlain) {
  EXPECT_EQ(in_quotes("a\n\x1b"), "\"a\\x0a\\x1b\"");
  EXPECT_EQ(in_quotes(std::string(4096, 'a')), '"' + std::string(100, 'a') + "...\"");
  EXPECT_EQ(in_quotes(std::string(99, 'a') + "\xc3\xa9"), '"' + std::string(99, 'a') + "...\"");
  EXPECT_EQ(shape_text({2, 3}), "[2, 3]");
  EXPECT_EQ(list_in_quotes({"a", "b", "c"}, 2), "\"a\", \"b\" and 1 more");
}

}  // namespace
}  // namespace goldcrest::converter
