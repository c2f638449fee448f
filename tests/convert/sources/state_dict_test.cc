// SPDX-License-Identifier: Apache-2.0
// The choice of the state dict among a pickle's dictionaries, and the places of a tensor in its storage.
#include "sources/containers/state_dict.h"
#include "sources/containers/tensor_source.h"
#include "support/checkpoint_writer.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
using namespace test;

PickleWriter::Tensor six(const std::vector<uint64_t>& shape = {6}, const std::vector<uint64_t>& strides = {1}) {
  return {"FloatStorage", "0", 6, 0, shape, strides};
}

// Returns "read NAME NAME", or the message after "here: ".
std::string message_of(PickleWriter& pickle) {
  try {
    std::string names = "read";
    for (const StoredTensor& tensor : find_state_dict(read_pickle(pickle.finish(), "here"), "here"))
      names += " " + tensor.name;
    return names;
  } catch (const Error& error) {
    return std::string(error.what()).substr(6);
  }
}

// Puts a dictionary with a tensor into dictionaries of these names, the outermost first.
PickleWriter& nested(PickleWriter& pickle, const std::vector<std::string>& names, const std::string& tensor) {
  for (const std::string& name : names) pickle.text(name).raw("}(");
  pickle.text(tensor).tensor(six());
  return pickle.raw(std::string(names.size(), 'u'));
}

TEST(StateDictChoice, UsualNamesInTheirOrder) {
  const std::vector<std::string> usual = {
      "state_dict", "model_state_dict", "model", "module", "net", "network", "weights"};
  for (size_t i = 0; i < usual.size(); ++i) {
    PickleWriter pickle;
    pickle.raw("}(").text("step").tensor(six());
    for (size_t k = usual.size(); k-- > i;) nested(pickle, {usual[k]}, "of_" + usual[k]);
    EXPECT_EQ(message_of(pickle.raw("u")), "read of_" + usual[i]);
  }
}

TEST(StateDictChoice, HowDeep) {
  std::vector<std::string> names = {"a", "b", "c", "d"};
  PickleWriter four;
  EXPECT_EQ(message_of(nested(four.raw("}("), names, "w").raw("u")), "read w");
  names.push_back("e");
  PickleWriter five;
  EXPECT_EQ(message_of(nested(five.raw("}("), names, "w").raw("u")),
      "holds no dictionary from names to tensors; save the weights with torch.save(model.state_dict(), ...)");
}

TEST(StateDictChoice, SeveralAreNamedUpToEight) {
  for (const int n : {2, 8, 9, 10}) {
    PickleWriter pickle;
    pickle.raw("}(").text("x").raw("}(");
    std::string names;
    for (int i = 0; i < n; ++i) {
      const std::string name = "part" + std::to_string(i);
      nested(pickle, {name}, "w");
      if (i < 8) names += (i > 0 ? ", \"x." : "\"x.") + name + "\"";
    }
    if (n > 8) names += " and " + std::to_string(n - 8) + " more";
    EXPECT_EQ(message_of(pickle.raw("uu")),
        "holds several dictionaries of tensors (" + names +
            "), and none has a usual name; save the one to convert with torch.save(checkpoint[...], ...)");
  }
}

TEST(StateDictChoice, KeysThatAreTextsAndValuesThatAreTensors) {
  PickleWriter pickle;
  pickle.raw("}(").text("n").raw("K\1K\2").tensor(six()).raw("K\3}(").text("hidden").tensor(six()).raw("u");
  EXPECT_EQ(message_of(pickle.text("w").tensor(six()).raw("u")), "read w");
  PickleWriter without;
  without.raw("}(").text("n").raw("K\1K\2").tensor(six()).raw("u");
  EXPECT_EQ(message_of(without).find("holds no dictionary"), 0u);
}

// OpenNMT-py stores its generator next to its model.
TEST(StateDictChoice, AGenerator) {
  const auto checkpoint = [](const std::vector<std::string>& others, bool is_dict) {
    PickleWriter pickle;
    nested(pickle.raw("}("), {"model"}, "w");
    for (const std::string& name : others) pickle.text(name).raw("}");
    if (is_dict) nested(pickle, {"generator"}, "weight");
    else pickle.text("generator").raw("K\1");
    return message_of(pickle.raw("u"));
  };
  EXPECT_EQ(checkpoint({"opt", "vocab"}, true), "read w generator.weight");
  EXPECT_EQ(checkpoint({"opt", "vocab"}, false), "read w");
  EXPECT_EQ(checkpoint({"opt"}, true), "read w");
  EXPECT_EQ(checkpoint({"vocab"}, true), "read w");
  PickleWriter other;  // here the state dict is not the model
  nested(other.raw("}("), {"state_dict"}, "w").text("opt").raw("}").text("vocab").raw("}");
  EXPECT_EQ(message_of(nested(nested(other, {"model"}, "v"), {"generator"}, "weight").raw("u")), "read w");
}

TEST(StateDictChoice, HowManyTensors) {
  const auto with = [](size_t n) {
    PickleWriter pickle;
    pickle.raw("}").text("first").tensor(six()).raw("q\1s");
    for (size_t i = 1; i < n; ++i) pickle.text(std::to_string(i)).raw("h\1s");
    return message_of(pickle);
  };
  EXPECT_EQ(with(100'000).substr(0, 12), "read first 1");
  EXPECT_EQ(with(100'001), "has more than 100000 tensors");
}

std::string of_tensor(const PickleWriter::Tensor& tensor) {
  PickleWriter pickle;
  const std::string message = message_of(pickle.raw("}(").text("w").tensor(tensor).raw("u"));
  const std::string start = "tensor \"w\": ";
  return message.starts_with(start) ? message.substr(start.size()) : message;
}

TEST(StateDictTensors, WhereTheirElementsLie) {
  const auto lies = [](uint64_t elements, uint64_t offset, const std::vector<uint64_t>& shape,
                        const std::vector<uint64_t>& strides) {
    return of_tensor({"FloatStorage", "0", elements, offset, shape, strides});
  };
  EXPECT_EQ(lies(6, 0, {6}, {1}), "read w");
  EXPECT_EQ(lies(6, 5, {1}, {1}), "read w");
  EXPECT_EQ(lies(6, 6, {1}, {1}), "shape [1] with strides [1] at offset 6 does not fit its storage of 6 elements");
  EXPECT_EQ(lies(6, 7, {0, 4}, {9, 9}), "read w");   // it has no elements
  EXPECT_EQ(lies(6, 5, {1, 1}, {0, 99}), "read w");  // the stride of an axis with one element does not matter
  EXPECT_EQ(lies(7, 0, {3}, {3}), "read w");
  EXPECT_EQ(lies(6, 0, {3}, {3}), "shape [3] with strides [3] at offset 0 does not fit its storage of 6 elements");
  EXPECT_EQ(lies(8, 1, {3}, {3}), "read w");
  EXPECT_EQ(lies(7, 1, {3}, {3}), "shape [3] with strides [3] at offset 1 does not fit its storage of 7 elements");
  EXPECT_EQ(lies(7, 0, {3}, {4}), "shape [3] with strides [4] at offset 0 does not fit its storage of 7 elements");
  constexpr uint64_t kHuge = uint64_t{1} << 61;  // 4 * 2 * kHuge is 0 in 64 bits
  EXPECT_TRUE(has(lies(kHuge, 0, {5}, {2 * kHuge}), "does not fit its storage"));
  EXPECT_EQ(lies(12, 0, {2, 3, 2}, {1, 4, 2}), "read w");
  EXPECT_EQ(lies(12, 0, {2, 3, 2}, {1, 4, 1}),
      "strides [1, 4, 1] let elements share a place; save tensor.contiguous() instead");
  EXPECT_EQ(lies(12, 0, {2, 3, 2}, {1, 3, 2}),
      "strides [1, 3, 2] let elements share a place; save tensor.contiguous() instead");
  EXPECT_EQ(lies(5, 0, {6}, {1}), "shape [6] has more elements than its storage, 5");
  EXPECT_EQ(lies(6, 0, std::vector<uint64_t>(16, 1), std::vector<uint64_t>(16, 1)), "read w");
  EXPECT_EQ(lies(6, 0, {}, {}), "read w");
  EXPECT_EQ(lies(0, 0, {}, {}), "shape [] has more elements than its storage, 0");
  EXPECT_EQ(lies(6, 0, {1}, {}), "1 sizes but 0 strides");
}

TEST(StateDictTensors, WhatIsRead) {
  PickleWriter pickle;
  pickle.raw("}(").text("w").tensor({"HalfStorage", "key", 40, 3, {2, 5}, {7, 1}}).raw("u");
  const std::vector<StoredTensor> tensors = find_state_dict(read_pickle(pickle.finish(), "here"), "here");
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].name, "w");
  EXPECT_EQ(tensors[0].type, ElementType::kF16);
  EXPECT_EQ(tensors[0].storage, "key");
  EXPECT_EQ(tensors[0].storage_elements, 40u);
  EXPECT_EQ(tensors[0].offset, 3u);
  EXPECT_EQ(tensors[0].shape, (std::vector<uint64_t>{2, 5}));
  EXPECT_EQ(tensors[0].strides, (std::vector<uint64_t>{7, 1}));
}

TEST(StateDictTensors, WhatIsNone) {
  const auto made_of = [](const std::string& storage, const std::string& offset, const std::string& shape) {
    PickleWriter pickle;
    pickle.raw("}(").text("w").global("torch._utils", "_rebuild_tensor_v2").raw("(");
    if (storage.empty()) pickle.storage("FloatStorage", "0", 6);
    else pickle.raw(storage);
    return message_of(pickle.raw(offset + shape + ")tRu"));
  };
  const std::string no_storage = "tensor \"w\": it has no storage or its offset is not a non-negative integer";
  const std::string zero("K\0", 2);
  EXPECT_EQ(made_of("", zero, ")"), "read w");
  EXPECT_EQ(made_of("N", zero, ")"), no_storage);
  EXPECT_EQ(made_of("", "N", ")"), no_storage);
  EXPECT_EQ(made_of("", "J\xff\xff\xff\xff", ")"), no_storage);
  EXPECT_EQ(made_of("", zero, "]"), "tensor \"w\": shape: expected a tuple of at most 16 integers");
  EXPECT_EQ(made_of("", zero, "N\x85"), "tensor \"w\": shape: expected non-negative integers");
  EXPECT_EQ(made_of("", zero, "J\xff\xff\xff\xff\x85"), "tensor \"w\": shape: expected non-negative integers");
}

// Tensors as views of their storage in PyTorch's zip, and the size of a pickle that is read.

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
    test::expect_error([&] { open_tensors(path); },
        {bytes == 64u << 20 ? "has the operation 0x00" : "data.pkl has 67108865 bytes, expected at most 67108864"});
  }
}
}}  // namespace goldcrest::converter
