// SPDX-License-Identifier: Apache-2.0
// Marian's .npz as Marian and NumPy write it, and every damage with its message.
#include "convert/support/read_container.h"
#include "sources/containers/tensor_source.h"
#include "support/marian_native.h"

namespace goldcrest::converter { namespace {
using namespace test;

constexpr const char* kZipRemedy =
    "; expected a zip as NumPy and Marian write it: download it again, or save it again with numpy.savez";

const std::vector<NamedTensor>& npz_tensors() {
  static const std::vector<NamedTensor> kTensors = {
      {"Wemb", {3, 2}, {1, 2, 3, 4, 5, 6}}, {"decoder_ff_logit_out_b", {1, 3}, {-1, 0.5f, 0}}};
  return kTensors;
}

std::string zip_of(const std::vector<ZipEntry>& entries) {
  std::ostringstream stream;
  ZipWriter zip(stream);
  for (const ZipEntry& entry : entries) zip.add(entry);
  zip.finish();
  return stream.str();
}

// Opens the file and reads all of it. Returns the error's message after the file's name.
std::string npz_message(const std::string& bytes) {
  static const TemporaryFolder folder;
  return message_of_reading(open_marian_npz, folder.write("model.npz", bytes));
}

TEST(MarianNpz, ReadsStoredAndDeflatedArrays) {
  const TemporaryFolder folder;
  for (const bool is_deflated : {false, true}) {
    const auto source =
        open_marian_npz(folder.write("model.npz", npz_bytes(npz_tensors(), "type: transformer\n", is_deflated)));
    EXPECT_EQ(source->settings(), "type: transformer\n");
    ASSERT_EQ(source->names().size(), 2u);
    EXPECT_FALSE(source->has("nothing"));
    expect_error([&] { source->load("nothing"); }, {"tensor \"nothing\" is missing"});
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(source->names()[i], npz_tensors()[i].name);
      const Tensor tensor = source->load(npz_tensors()[i].name);
      EXPECT_EQ(tensor.shape, npz_tensors()[i].shape);
      EXPECT_EQ(tensor.values, npz_tensors()[i].values);
      EXPECT_TRUE(tensor.stored_scale.empty());
    }
  }
}

// tests/data/marian/make.py documents the contents.
TEST(MarianNpz, ReadsWhatNumPyWrote) {
  const std::filesystem::path folder = std::filesystem::path(GOLDCREST_SOURCE_DIR) / "tests/data/marian";
  for (const char* name : {"savez.npz", "savez_compressed.npz"}) {
    const auto source = open_marian_npz(folder / name);
    EXPECT_EQ(source->settings(), "type: transformer\n") << name;
    EXPECT_EQ(source->load("Wemb").values, (std::vector<float>{0, 0.5f, 1, 1.5f, 2, 2.5f})) << name;
    EXPECT_EQ(source->load("half").values, (std::vector<float>{0, 0.5f, 1, 1.5f, 2, 2.5f})) << name;
    EXPECT_EQ(source->shape("row"), (std::vector<uint64_t>{3})) << name;
  }
}

TEST(MarianNpz, SaysWhatAnArrayIsNot) {
  const std::string eight(8, '\0');
  const auto array = [](std::string bytes) { return zip_of({{"a.npy", std::move(bytes)}}); };
  const std::string member = ": the zip member \"a.npy\": ";
  EXPECT_EQ(npz_message(zip_of({{"a.txt", "x"}})),
      ": the zip member \"a.txt\": is not an array (.npy); a Marian model has only arrays");
  EXPECT_EQ(npz_message(array("no array")), member + "is not a NumPy array of version 1, 2 or 3");
  EXPECT_EQ(npz_message(array("\x93NUMPY\x09" + eight)), member + "is not a NumPy array of version 1, 2 or 3");
  EXPECT_EQ(npz_message(array(std::string("\x93NUMPY\x01\0\xff\x7f", 10))),
      member + "its header of 32767 bytes does not fit: it is damaged");
  EXPECT_EQ(npz_message(array(npy_bytes("<f4", {2}, eight, true))),
      member + "is in Fortran's order, which is not read; save it again with numpy.ascontiguousarray");
  EXPECT_EQ(npz_message(array(npy_bytes(">f4", {2}, eight))),
      member + "has elements of type \">f4\", expected <f4 (float32), <f2 or <f8");
  EXPECT_EQ(npz_message(array(npy_bytes("<f4", {3}, eight))),
      member + "has 8 bytes after its header, which its shape [3] of type \"<f4\" does not need: it is damaged");
  EXPECT_EQ(npz_message(array(npy_bytes("<f4", {uint64_t{1} << 40, uint64_t{1} << 40}, eight))),
      member +
          "has 8 bytes after its header, which its shape [1099511627776, 1099511627776] of type \"<f4\" does not need: "
          "it is damaged");
  for (const char* dict :
      {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
          "{'descr': '<f4', 'fortran_order': None, 'shape': (2,)}",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "__import__('os')",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} + x",
          "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}"}) {
    const std::string text = dict;
    EXPECT_EQ(
        npz_message(array(std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(text.size()) + '\0' + text + eight)),
        member + "its header is not that of a NumPy array: it is damaged")
        << dict;
  }
}

// A header of any version, with this dictionary unchanged.
std::string header(char version, const std::string& dict) {
  const uint64_t bytes = dict.size();
  return std::string("\x93NUMPY") + version + '\0' +
         std::string(reinterpret_cast<const char*>(&bytes), version == 1 ? 2 : 4) + dict;
}

TEST(MarianNpz, HeadersOfEveryVersionAndLength) {
  const TemporaryFolder folder;
  const std::string dict = "{ 'shape' :\n(2 , ),\"descr\":'<f4', 'fortran_order': False , } \n", elements = "abcdefgh";
  const auto of = [](const std::string& bytes) { return npz_message(zip_of({{"a.npy", bytes}})); };
  const std::string member = ": the zip member \"a.npy\": ",
                    damaged = member + "its header is not that of a NumPy array: it is damaged",
                    unknown = member + "is not a NumPy array of version 1, 2 or 3";
  for (char version = 0; version < 5; ++version)
    EXPECT_EQ(of(header(version, dict) + elements), version >= 1 && version <= 3 ? "no error" : unknown)
        << int{version};
  std::string minor = header(1, dict);
  minor[7] = 9;  // version 1.9
  EXPECT_EQ(of(minor + elements), "no error");
  EXPECT_EQ(of(header(1, "")), damaged);
  EXPECT_EQ(of(header(1, "").substr(0, 9)), unknown);
  EXPECT_EQ(of(header(2, "")), damaged);
  EXPECT_EQ(of(header(2, "").substr(0, 11)), unknown);
  const std::string empty = "{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}";
  EXPECT_EQ(of(header(1, empty)), "no error");  // the file ends with the header
  EXPECT_EQ(of(header(1, empty).substr(0, 60)),
      format_text("{}its header of {} bytes does not fit: it is damaged", member, empty.size()));
  for (const char version : {'\1', '\2'}) {
    const size_t most = version == 1 ? 10'002 : 10'000;
    std::string longest = dict;
    longest.resize(most, ' ');
    EXPECT_EQ(of(header(version, longest) + elements), "no error");
    longest += ' ';
    EXPECT_EQ(of(header(version, longest) + elements),
        format_text("{}its header of {} bytes does not fit: it is damaged", member, longest.size()));
  }
  for (const char* bad : {"{'descr': '<f4', 'fortran_order': False}", "{'descr': '<f4', 'shape': (2,)}",
           "{'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'other': 1}",
           "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "{'descr", "{'descr': <f4<}", "{'descr': '<f4\"}"})
    EXPECT_EQ(of(header(1, bad) + elements), damaged) << bad;
}

TEST(MarianNpz, SettingsAreBytesOfAnyKind) {
  const auto settings = [](const char* type, size_t bytes) {
    return npz_message(zip_of({{"special:model.yml.npy", npy_bytes(type, {bytes}, std::string(bytes, 'a'))}}));
  };
  for (const char* type : {"|i1", "|u1", "|b1", "<i1"}) EXPECT_EQ(settings(type, 20), "no error") << type;
  for (const char* type : {"|i2", "<i11", "i1", "|S1"}) {
    EXPECT_EQ(settings(type, 20), format_text(": the zip member \"special:model.yml.npy\": has elements of type "
                                              "\"{}\", expected <f4 (float32), <f2 or <f8",
                                      type));
  }
  const size_t most = 81'920 - (npy_bytes("|i1", {81'000}, "").size());
  EXPECT_EQ(settings("|i1", most), "no error");
  EXPECT_EQ(
      settings("|i1", most + 1), ": the zip member \"special:model.yml.npy\": has 81921 bytes, expected at most 81920");
  EXPECT_EQ(npz_message(zip_of({{"a.npy", npy_bytes("|i1", {2}, "ab")}})),
      ": the zip member \"a.npy\": has elements of type \"|i1\", expected <f4 (float32), <f2 or <f8");
}

TEST(MarianNpz, BombsAreRefusedBeforeTheyAreUnpacked) {
  ZipEntry bomb = deflated("a.npy", npy_bytes("<f4", {1 << 20}, std::string(4 << 20, '\0')));
  const std::string name = ": the zip member \"a.npy\"";
  EXPECT_EQ(
      npz_message(zip_of({bomb})), format_text("{} would unpack {} bytes to 4194432, which no model's weights do{}",
                                       name, bomb.bytes.size(), kZipRemedy));
  // A directory with a wrong size: unpacking stops at the size that it gives.
  ZipEntry liar = bomb;
  liar.contents->resize(256);
  liar.extra_contents_size = 0;
  EXPECT_EQ(npz_message(zip_of({liar})), name + " is not deflated as it says: it is damaged" + kZipRemedy);
  ZipEntry other{"a.npy", "x", 12};
  EXPECT_EQ(npz_message(zip_of({other})),
      name + " is compressed by method 12, and stored and deflated ones (0, 8) are read" + kZipRemedy);
  ZipEntry settings{"special:model.yml.npy", npy_bytes("|i1", {90'000}, std::string(90'000, 'a'))};
  EXPECT_EQ(npz_message(zip_of({settings})),
      ": the zip member \"special:model.yml.npy\": has 90128 bytes, expected at most 81920");
}

TEST(MarianNpz, ADeflatedMemberThatEndsEarlyOrLateIsDamaged) {
  const std::string name = ": the zip member \"a.npy\"", contents = npy_bytes("<f4", {2}, "abcdefgh");
  for (const int change : {-1, 1}) {
    ZipEntry entry = deflated("a.npy", contents);
    entry.extra_contents_size = change;
    EXPECT_EQ(npz_message(zip_of({entry})), name + " is not deflated as it says: it is damaged" + kZipRemedy) << change;
  }
  ZipEntry wrong = deflated("a.npy", contents);
  wrong.crc_is_wrong = true;
  EXPECT_TRUE(has(npz_message(zip_of({wrong})), "has CRC-32"));
}

TEST(MarianNpz, SurvivesDamage) {
  for (const bool is_deflated : {false, true})
    expect_damage_survived(npz_bytes(npz_tensors(), "type: transformer\n", is_deflated), npz_message);
}
}}  // namespace goldcrest::converter
