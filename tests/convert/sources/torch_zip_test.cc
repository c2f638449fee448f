// SPDX-License-Identifier: Apache-2.0
// PyTorch's zip and its older stream: files that torch.save wrote, and hostile zips and pickles. None may be executed
// or cause a crash.
#include "convert/support/read_container.h"
#include "sources/containers/tensor_source.h"
#include "support/checkpoint_writer.h"

namespace goldcrest::converter { namespace {
using namespace test;
using Pickle = InFolder;

const std::filesystem::path kWritten = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "tests/data/torch";

// tests/data/torch/make.py documents the contents of its files.
void expect_written_tensors(const TensorSource& source) {
  std::vector<float> weight(12), transposed(12), counted(12);
  for (size_t i = 0; i < 12; ++i) {
    weight[i] = static_cast<float>(i) / 8 - 0.5f;
    transposed[i % 4 * 3 + i / 4] = weight[i];
    counted[i] = static_cast<float>(i);
  }
  const std::vector<NamedTensor> expected = {{"weight", {3, 4}, weight}, {"transposed", {4, 3}, transposed},
      {"row", {4}, {0, 0.125f, 0.25f, 0.375f}}, {"half", {3, 4}, weight}, {"bfloat16", {3, 4}, weight},
      {"double", {3, 4}, weight}, {"long", {3, 4}, counted}, {"empty", {0, 5}, {}}};
  ASSERT_EQ(source.names().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(source.names()[i], expected[i].name);
    const Tensor tensor = source.load(expected[i].name);
    EXPECT_EQ(tensor.shape, expected[i].shape) << tensor.name;
    EXPECT_EQ(tensor.values, expected[i].values) << tensor.name;
  }
}

TEST(TorchZip, ReadsWhatTorchWrote) {
  expect_written_tensors(*open_tensors(kWritten / "nested.pt"));
  expect_written_tensors(*open_tensors(kWritten / "without_crc.pt"));
  expect_written_tensors(*open_tensors(kWritten / "legacy.pt"));
  EXPECT_EQ(open_tensors(kWritten / "legacy.pt")->stored_name("weight"), "weight");
}

TEST(TorchZip, NamesOtherFormatsOfTorch) {
  expect_error([] { open_tensors(kWritten / "script.pt"); }, {"script.pt", "TorchScript", "state_dict"});
}

// Every length that is too short gives an error.
TEST(TorchZip, RefusesTruncatedFiles) {
  for (const char* name : {"without_crc.pt", "legacy.pt"}) {
    const TemporaryFolder folder;
    std::filesystem::copy_file(kWritten / name, folder / "a.pt");
    for (uint64_t n = std::filesystem::file_size(folder / "a.pt"); n-- > 0;) {
      std::filesystem::resize_file(folder / "a.pt", n);
      expect_error([&] { open_tensors(folder / "a.pt"); }, {"a.pt"}, name + (" truncated to " + std::to_string(n)));
    }
  }
}

// Changes every byte in files without CRC-32: an error or some tensors, never a crash.
void survive_damage(const std::string& name) {
  const TemporaryFolder folder;
  std::filesystem::copy_file(kWritten / name, folder / "a.pt");
  std::fstream stream(folder / "a.pt", std::ios::binary | std::ios::in | std::ios::out);
  const std::string good((std::istreambuf_iterator<char>(stream)), {});
  const auto set_byte = [&](size_t at, char byte) {
    stream.seekp(static_cast<std::streamoff>(at)).put(byte).flush();
    ASSERT_TRUE(stream.good());
  };
  size_t refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    set_byte(at, static_cast<char>(good[at] ^ 0x41));
    refused += message_of_reading(open_tensors, folder / "a.pt") != "no error";
    set_byte(at, good[at]);
  }
  EXPECT_GT(refused, good.size() / 4) << name;  // the other bytes are values, padding, dates and versions
  EXPECT_NO_THROW(open_tensors(folder / "a.pt"));
}

TEST(TorchZip, SurvivesDamage) {
  survive_damage("without_crc.pt");
  survive_damage("legacy.pt");
}

// Writes a zip with this pickle and one storage "0" of 24 bytes.
std::filesystem::path write_pickle(const TemporaryFolder& folder, const std::string& pickle) {
  std::ofstream stream(folder / "a.pt", std::ios::binary);
  ZipWriter zip(stream);
  zip.add({"a/data.pkl", pickle});
  zip.add({"a/data/0", std::string(24, '\0')});
  zip.finish();
  stream.close();
  return folder / "a.pt";
}

// The parts of a file from before torch 1.6, with one storage "0" of six float32.
struct Stream {
  std::string magic = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.";
  std::string version = PickleWriter().raw("M\xe9\x03").finish();
  std::string machine = PickleWriter().raw("}").text("little_endian").raw("\x88s").finish();
  std::string object =
      PickleWriter().raw("}").text("w").tensor({"FloatStorage", "0", 6, 0, {6}, {1}}).raw("s").finish();
  std::string keys = PickleWriter().raw("]").text("0").raw("a").finish();
  std::string storages = std::string("\6\0\0\0\0\0\0\0", 8) + std::string(24, '\0');

  std::filesystem::path write(const TemporaryFolder& folder) const {
    std::ofstream(folder / "a.pt", std::ios::binary) << magic << version << machine << object << keys << storages;
    return folder / "a.pt";
  }
};

std::string one_tensor(const std::function<void(PickleWriter&)>& value) {
  PickleWriter pickle;
  pickle.raw("}").text("w");
  value(pickle);
  return pickle.raw("s").finish();
}

struct BadPickle {
  const char* name;
  std::string pickle;
  std::vector<std::string> words;
};

std::string pickle_of(const std::string& opcodes) { return PickleWriter().raw(opcodes).finish(); }

TEST_F(Pickle, RefusesCodeThatWouldRun) {
  const char* const gadgets[][2] = {{"os", "system"}, {"posix", "system"}, {"nt", "system"}, {"builtins", "eval"},
      {"builtins", "exec"}, {"__builtin__", "eval"}, {"builtins", "getattr"}, {"runpy", "_run_code"},
      {"subprocess", "Popen"}, {"bdb", "Bdb"}, {"torch.hub", "load"}, {"torch", "load"},
      {"torch.storage", "_load_from_bytes"}, {"collections", "OrderedDict.update"}, {"importlib", "import_module"},
      {"numpy.core.multiarray", "_reconstruct"}, {"torch._utils", "_rebuild_tensor_v2.__globals__"}, {"", ""}};
  for (const auto& [module, name] : gadgets) {
    PickleWriter pickle;
    pickle.global(module, name).raw("(").text("touch owned").raw("tR");
    const auto path = write_pickle(folder, pickle.finish());
    expect_error(
        [&] { open_tensors(path); }, {"a.pt", std::string(module) + "." + name, "nothing in it is executed"}, name);
  }
}

TEST(TorchStream, RefusesLies) {
  const TemporaryFolder folder;
  EXPECT_EQ(open_tensors(Stream().write(folder))->load("w").values, std::vector<float>(6, 0.0f));
  const auto refuse = [&](const std::vector<std::string>& words, const std::function<void(Stream&)>& change) {
    Stream stream;
    change(stream);
    const auto path = stream.write(folder);
    expect_error([&] { open_tensors(path); }, words, words[0]);
  };
  refuse({"begins without torch.save's magic number"}, [](Stream& s) { s.magic = PickleWriter().raw("K\1").finish(); });
  refuse({"not of version 1001"}, [](Stream& s) { s.version = PickleWriter().raw("K\1").finish(); });
  refuse({"big-endian"},
      [](Stream& s) { s.machine = PickleWriter().raw("}").text("little_endian").raw("\x89s").finish(); });
  refuse({"big-endian"}, [](Stream& s) { s.machine = PickleWriter().raw("}").finish(); });
  refuse({"the storage \"0\" has 7 elements, but its tensors say 6"}, [](Stream& s) { s.storages[0] = 7; });
  refuse({"elements, but its tensors say 6"}, [](Stream& s) { s.storages[7] = '\x7f'; });
  refuse({"and 23 bytes are left"}, [](Stream& s) { s.storages.pop_back(); });
  refuse({"has 1 bytes after its last storage"}, [](Stream& s) { s.storages += 'x'; });
  refuse({"no tensor has the storage \"1\""},
      [](Stream& s) { s.keys = PickleWriter().raw("]").text("1").raw("a").finish(); });
  refuse({"its storages are not a list"}, [](Stream& s) { s.keys = PickleWriter().raw("}").finish(); });
  refuse({"has no storage \"0\""}, [](Stream& s) {
    s.keys = PickleWriter().raw("]").finish();
    s.storages.clear();
  });
  refuse({"os.system", "nothing in it is executed"}, [](Stream& s) {
    s.object = PickleWriter().global("os", "system").raw("(").text("touch owned").raw("tR").finish();
  });
  refuse({"QInt8Storage"}, [](Stream& s) {
    s.object = PickleWriter().raw("}").text("w").tensor({"QInt8Storage", "0", 6, 0, {6}, {1}}).raw("s").finish();
  });
  refuse({"does not fit its storage"}, [](Stream& s) {
    s.object = PickleWriter().raw("}").text("w").tensor({"FloatStorage", "0", 6, 1, {6}, {1}}).raw("s").finish();
  });
}

TEST_F(Pickle, RefusesHostileStreams) {
  const std::string ordered_dict = "ccollections\nOrderedDict\n";
  std::string marks(65, '('), stack, memo;
  for (int i = 0; i < 100'001; ++i) stack += "N";
  const std::vector<BadPickle> cases = {
      {"empty", "", {"truncated"}},
      {"no stop", "\x80\x02}", {"truncated"}},
      {"protocol 4", std::string("\x80\x04.", 3), {"pickle protocol 4"}},
      {"stack global", pickle_of("NN\x93"), {"operation 0x93"}},
      {"INST", pickle_of("(ios\nsystem\n"), {"operation 0x69"}},
      {"OBJ", pickle_of("(o"), {"operation 0x6f"}},
      {"EXT1", pickle_of("\x82\x01"), {"operation 0x82"}},
      {"NEWOBJ_EX", pickle_of("\x92"), {"operation 0x92"}},
      {"FRAME", pickle_of("\x95"), {"operation 0x95"}},
      {"PERSID", pickle_of("Pabc\n"), {"operation 0x50"}},
      {"REDUCE of nothing", pickle_of("R"), {"not there"}},
      {"REDUCE of a dictionary", pickle_of("})R"), {"calls something unknown"}},
      {"OrderedDict with arguments", pickle_of(ordered_dict + "K\x01\x85R"), {"collections OrderedDict"}},
      {"new object of a tensor function", pickle_of("ctorch._utils\n_rebuild_tensor_v2\n)\x81"), {"not a dictionary"}},
      {"BUILD on a number", pickle_of("K\x01}b"), {"sets attributes"}},
      {"append to a dictionary", pickle_of("}Na"), {"not a list"}},
      {"set item of a list", pickle_of("]NNs"), {"not a list or a dictionary"}},
      {"odd set items", pickle_of("}(Nu"), {"not a list or a dictionary"}},
      {"mark never opened", pickle_of("t"), {"not opened"}},
      {"mark never closed", pickle_of("N("), {"exactly one value"}},
      {"two values", pickle_of("NN"), {"exactly one value"}},
      {"bytes after the end", pickle_of("}") + "}", {"exactly one value"}},
      {"takes below a mark", pickle_of("N(\x85"), {"not there"}},
      {"memo not stored", pickle_of("h\x05"), {"number 5, which was never stored"}},
      {"huge memo index", pickle_of("}r\xff\xff\xff\xff"), {"number 4294967295"}},
      {"huge text",
          "\x80\x02X\xff\xff\xff\x7f"
          "a.",
          {"text of 2147483647 bytes"}},
      {"deep", pickle_of(marks), {"nested more than 64"}},
      {"high stack", pickle_of(stack), {"more than 100000 values"}},
      {"name without an end",
          "\x80\x02"
          "ctorch",
          {"without an end"}},
      {"a list that contains itself",
          pickle_of("]q\x01h\x01"
                    "a"),
          {"holds no dictionary"}},
      {"a dictionary that contains itself",
          pickle_of("}q\x01U\x01"
                    "ah\x01s"),
          {"a.pt"}},
      {"no tensors", pickle_of("}"), {"holds no dictionary"}},
      {"a number", pickle_of("K\x01"), {"holds no dictionary"}},
      {"a list of a name and a tensor",
          PickleWriter().raw("](").text("w").tensor({"FloatStorage", "0", 6, 0, {6}, {1}}).raw("e").finish(),
          {"holds no dictionary"}},
  };
  for (const BadPickle& bad : cases) {
    const auto path = write_pickle(folder, bad.pickle);
    expect_error([&] { open_tensors(path); }, bad.words, bad.name);
  }
}

// A search that followed every path would take 100,000^4 steps.
TEST_F(Pickle, BoundsItsTime) {
  std::string items;
  for (int i = 0; i < 100'000; ++i) items += "h\x02h\x01s";
  const auto path = write_pickle(folder, pickle_of("}q\x01U\x01"
                                                   "aq\x02h\x01s" +
                                                   items));
  expect_error([&] { open_tensors(path); }, {"holds no dictionary"});
}

TEST_F(Pickle, BoundsItsMemory) {
  std::string lists;
  for (int i = 0; i < 2'100'000; ++i) lists += "]a";
  const auto path = write_pickle(folder, pickle_of("]" + lists));
  expect_error([&] { open_tensors(path); }, {"more than 2000000 values"});
}

TEST_F(Pickle, RefusesTensorsOutsideOfTheirStorage) {
  struct Case {
    const char* name;
    const char* key;
    uint64_t elements, offset;
    std::vector<uint64_t> shape, strides;
    std::vector<std::string> words;
  };
  constexpr uint64_t kHuge = uint64_t{1} << 62;
  const std::vector<Case> cases = {
      {"storage larger than its member", "0", 7, 0, {2}, {1}, {"needs 7 elements of 4 bytes", "24 bytes"}},
      {"no such member", "1", 6, 0, {6}, {1}, {"no member \"a/data/1\""}},
      {"key with a path", "../0", 6, 0, {6}, {1}, {"\"../0\"", "letters, digits"}},
      {"empty key", "", 6, 0, {6}, {1}, {"letters, digits"}},
      {"beyond the end", "0", 6, 1, {6}, {1}, {"does not fit"}},
      {"offset beyond the end", "0", 6, kHuge, {1}, {1}, {"does not fit"}},
      {"strided beyond the end", "0", 6, 0, {2, 2}, {5, 1}, {"does not fit"}},
      {"stride that wraps", "0", 6, 0, {3}, {kHuge}, {"does not fit"}},
      {"too many elements", "0", 6, 0, {7}, {1}, {"more elements than its storage"}},
      {"shape that wraps", "0", 6, 0, {uint64_t{1} << 32, uint64_t{1} << 32}, {1, 1}, {"more elements"}},
      {"expanded", "0", 6, 0, {6}, {0}, {"share a place"}},
      {"overlapping", "0", 6, 0, {2, 3}, {1, 1}, {"share a place"}},
      {"negative stride", "0", 6, 5, {6}, {~uint64_t{0}}, {"non-negative"}},
      {"negative offset", "0", 6, ~uint64_t{0}, {6}, {1}, {"offset is not a non-negative integer"}},
      {"negative size", "0", 6, 0, {~uint64_t{0}}, {1}, {"non-negative"}},
      {"negative elements", "0", ~uint64_t{0}, 0, {6}, {1}, {"storage"}},
      {"more strides", "0", 6, 0, {6}, {1, 1}, {"1 sizes but 2 strides"}},
      {"many axes", "0", 6, 0, std::vector<uint64_t>(17, 1), std::vector<uint64_t>(17, 1), {"at most 16"}},
  };
  for (const Case& bad : cases) {
    const auto path = write_pickle(folder, one_tensor([&](PickleWriter& pickle) {
      pickle.tensor({"FloatStorage", bad.key, bad.elements, bad.offset, bad.shape, bad.strides});
    }));
    expect_error([&] { open_tensors(path); }, bad.words, bad.name);
  }
}

TEST_F(Pickle, RefusesOtherThingsThanTensors) {
  const auto refuse = [&](const char* name, const std::vector<std::string>& words,
                          const std::function<void(PickleWriter&)>& value) {
    const auto path = write_pickle(folder, one_tensor(value));
    expect_error([&] { open_tensors(path); }, words, name);
  };
  refuse("quantized storage", {"\"w\"", "QInt8Storage", "float32"}, [](PickleWriter& pickle) {
    pickle.tensor({"QInt8Storage", "0", 6, 0, {6}, {1}});
  });
  refuse("persistent id of another kind", {"not a tensor's storage"}, [](PickleWriter& pickle) {
    pickle.raw("(").text("module").global("torch", "FloatStorage").text("0").text("cpu").integer(6).raw("tQ");
  });
  refuse("storage type that is a text", {"not a tensor's storage"}, [](PickleWriter& pickle) {
    pickle.raw("(").text("storage").text("FloatStorage").text("0").text("cpu").integer(6).raw("tQ");
  });
  refuse("tensor of a text", {"no storage"}, [](PickleWriter& pickle) {
    pickle.global("torch._utils", "_rebuild_tensor_v2").raw("(").text("0").integer(0).tuple({6}).tuple({1}).raw("tR");
  });
  refuse("tensor of two arguments", {"arguments that it does not take"}, [](PickleWriter& pickle) {
    pickle.global("torch._utils", "_rebuild_tensor_v2").raw("(").integer(0).integer(0).raw("tR");
  });
}

TEST(StateDict, IsFoundWhereTrainingScriptsPutIt) {
  const TemporaryFolder folder;
  const auto tensor = [](PickleWriter& pickle) { pickle.text("w").tensor({"FloatStorage", "0", 6, 0, {6}, {1}}); };
  const auto nested = [&](const std::vector<const char*>& keys) {
    PickleWriter pickle;
    pickle.raw("}(");
    for (const char* key : keys) {
      pickle.text(key).raw("}(");
      tensor(pickle);
      pickle.raw("u");
    }
    return write_pickle(folder, pickle.raw("u").finish());
  };
  EXPECT_TRUE(open_tensors(nested({"generator_a"}))->has("w"));
  EXPECT_TRUE(open_tensors(nested({"ema", "state_dict"}))->has("w"));
  PickleWriter beside;  // a tensor outside the state dict does not make the root one
  beside.raw("}(").text("step").tensor({"FloatStorage", "0", 6, 0, {}, {}}).text("model").raw("}(");
  tensor(beside);
  EXPECT_EQ(open_tensors(write_pickle(folder, beside.raw("uu").finish()))->names(), std::vector<std::string>{"w"});
  const auto path = nested({"first", "second"});
  expect_error([&] { open_tensors(path); }, {"several dictionaries", "\"first\"", "\"second\""});
  PickleWriter twice;
  twice.raw("}(");
  tensor(twice);
  tensor(twice);
  const auto duplicate = write_pickle(folder, twice.raw("u").finish());
  expect_error([&] { open_tensors(duplicate); }, {"tensor \"w\" twice"});
}

struct BadZip {
  const char* name;
  std::vector<ZipEntry> entries;
  std::vector<std::string> words;
};

TEST(Zip, RefusesWhatTorchDoesNotWrite) {
  const TemporaryFolder folder;
  const std::string pickle = one_tensor([](PickleWriter& p) { p.tensor({"FloatStorage", "0", 6, 0, {6}, {1}}); });
  const ZipEntry good = {"a/data.pkl", pickle}, storage = {"a/data/0", std::string(24, '\0')};
  const auto changed = [](ZipEntry entry, const std::function<void(ZipEntry&)>& change) {
    change(entry);
    return entry;
  };
  const std::vector<BadZip> cases = {
      {"compressed", {good, changed(storage, [](ZipEntry& e) { e.method = 8; })}, {"a/data/0", "compressed"}},
      {"encrypted", {good, changed(storage, [](ZipEntry& e) { e.flags = 1; })}, {"encrypted"}},
      {"twice", {good, storage, storage}, {"two members \"a/data/0\""}},
      {"size beyond the end", {good, changed(storage, [](ZipEntry& e) { e.extra_size = 1000; })},
          {"1024 bytes", "truncated"}},
      {"headers differ", {good, changed(storage, [](ZipEntry& e) { e.extra_central_size = 1; })},
          {"differs from the directory"}},
      {"overlap", {changed(good, [](ZipEntry& e) { e.extra_size = 60; }), storage}, {"overlap"}},
      {"points elsewhere", {good, changed(storage, [](ZipEntry& e) { e.is_hidden_start = true; })},
          {"differs from the directory"}},
      {"parent folder", {good, storage, {"a/../../etc/passwd", ""}}, {"leaves the archive"}},
      {"absolute name", {good, storage, {"/etc/passwd", ""}}, {"leaves the archive"}},
      {"backslash", {good, storage, {"a\\b", ""}}, {"leaves the archive"}},
      {"NUL", {good, storage, {std::string("a\0b", 3), ""}}, {"leaves the archive"}},
      {"no pickle", {storage}, {"0 members data.pkl"}},
      {"two pickles", {good, storage, {"b/data.pkl", pickle}}, {"2 members data.pkl"}},
      {"big endian", {good, storage, {"a/byteorder", "big"}}, {"big-endian"}},
      {"damaged pickle", {changed(good, [](ZipEntry& e) { e.crc_is_wrong = true; }), storage},
          {"a/data.pkl", "CRC-32"}},
  };
  for (const BadZip& bad : cases) {
    std::ofstream stream(folder / "a.pt", std::ios::binary);
    ZipWriter zip(stream);
    for (const ZipEntry& entry : bad.entries) zip.add(entry);
    zip.finish();
    stream.close();
    std::vector<std::string> words = bad.words;
    words.push_back("a.pt");
    expect_error([&] { open_tensors(folder / "a.pt"); }, words, bad.name);
  }
}

TEST(Zip, FindsDamagedStorages) {
  const TemporaryFolder folder;
  std::ostringstream stream;
  write_torch_zip(stream, {{"w", {3}, {1, 2, 3}}}, ElementType::kF32);
  std::string bytes = stream.str();
  const std::string value("\0\0\0\x40", 4);  // the float 2
  bytes[bytes.find(value) + 3] = '\x41';
  const auto path = folder.write("a.pt", bytes);
  const auto source = open_tensors(path);
  expect_error([&] { source->load("w"); }, {"a.pt", "archive/data/0", "CRC-32", "damaged"});
}

TEST(Zip, RefusesBytesAfterTheEnd) {
  const TemporaryFolder folder;
  std::ostringstream stream;
  write_torch_zip(stream, {{"w", {1}, {1}}}, ElementType::kF32);
  const auto path = folder.write("a.pt", stream.str() + "x");
  expect_error([&] { open_tensors(path); }, {"a.pt", "not at the end"});
}
}}  // namespace goldcrest::converter
