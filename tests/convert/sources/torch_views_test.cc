// SPDX-License-Identifier: Apache-2.0
// Tensors as views of their storage in PyTorch's zip, and the size of a pickle that is read.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "sources/containers/tensor_source.h"
#include "support/checkpoint_writer.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace goldcrest::converter {
namespace {

using Floats = std::vector<float>;

// Reads a tensor with a storage that holds 0 to 11.
Floats seen(uint64_t offset, const std::vector<uint64_t>& shape, const std::vector<uint64_t>& strides) {
  const test::TemporaryFolder folder;
  std::ofstream stream(folder / "a.pt", std::ios::binary);
  test::ZipWriter zip(stream);
  test::PickleWriter pickle;
  zip.add({"a/data.pkl",
           pickle.raw("}").text("w").tensor({"FloatStorage", "0", 12, offset, shape, strides}).raw("s").finish()});
  zip.add({"a/data/0", test::element_bytes_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, ElementType::kF32)});
  zip.finish();
  stream.close();
  const auto source = open_tensors(folder / "a.pt");
  test::expect_error([&] { source->load("v"); }, {"tensor \"v\" is missing"});
  return source->load("w").values;
}

TEST(TorchZip, ViewsOfAStorage) {
  EXPECT_EQ(seen(3, {2, 3}, {3, 1}), (Floats{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(seen(3, {2, 1, 3}, {3, 50, 1}), (Floats{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(seen(1, {2}, {2}), (Floats{1, 3}));
  EXPECT_EQ(seen(1, {3, 2}, {3, 1}), (Floats{1, 2, 4, 5, 7, 8}));
  EXPECT_EQ(seen(0, {2, 3, 2}, {1, 4, 2}), (Floats{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(seen(11, {}, {}), Floats{11});
}

TEST(TorchZip, TheLargestPickle) {
  const test::TemporaryFolder folder;
  const auto path = folder / "a.pt";
  for (const uint32_t bytes : {64u << 20, (64u << 20) + 1}) {
    std::ofstream stream(path, std::ios::binary);
    test::ZipWriter zip(stream);
    zip.add({"a/data.pkl", std::string(bytes, '\0')});
    zip.finish();
    stream.close();
    test::expect_error(
        [&] { open_tensors(path); },
        {bytes == 64u << 20 ? "has the operation 0x00" : "data.pkl has 67108865 bytes, expected at most 67108864"});
  }
}

}  // namespace
}  // namespace goldcrest::converter
