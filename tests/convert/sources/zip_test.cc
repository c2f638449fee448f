// SPDX-License-Identifier: Apache-2.0
// Tests a zip's records field by field: the last good value, and the message about the next.
#include "sources/files/zip_directory.h"
#include "support/checkpoint_writer.h"
#include "support/expect_error.h"

namespace goldcrest::converter { namespace {
using namespace test;

std::string zip_integer(uint64_t value, size_t bytes) { return {reinterpret_cast<const char*>(&value), bytes}; }

// One of the extra fields.
std::string field(uint16_t id, const std::string& contents) {
  return zip_integer(id, 2) + zip_integer(contents.size(), 2) + contents;
}

// The contents of a member's two headers.
struct Header {
  std::string name = "a", extra, comment;
  uint16_t flags = 0, method = 0, disk = 0;
  uint32_t crc32 = 5, stored = 40, plain = 40, offset = 0;
};

std::string common_part(const Header& header) {
  return zip_integer(header.flags, 2) + zip_integer(header.method, 2) + std::string(4, '\0') +
         zip_integer(header.crc32, 4) + zip_integer(header.stored, 4) + zip_integer(header.plain, 4) +
         zip_integer(header.name.size(), 2) + zip_integer(header.extra.size(), 2);
}

std::string local_header(const Header& header) {
  return "PK\x03\x04" + zip_integer(20, 2) + common_part(header) + header.name + header.extra;
}

std::string central_header(const Header& header) {
  return "PK\x01\x02" + zip_integer(20, 4) + common_part(header) + zip_integer(header.comment.size(), 2) +
         zip_integer(header.disk, 2) + std::string(6, '\0') + zip_integer(header.offset, 4) + header.name +
         header.extra + header.comment;
}

// The directory's place and size in a zip's end record.
struct End {
  uint64_t members = 0, size = 0, offset = 0;
};

std::string end_record(const End& end) {
  return "PK\x05\x06" + std::string(4, '\0') + zip_integer(end.members, 2) + zip_integer(end.members, 2) +
         zip_integer(end.size, 4) + zip_integer(end.offset, 4) + std::string(2, '\0');
}

// The 64-bit record, which is stored at `at`, and the locator that points to it.
std::string wide_records(const End& end, uint64_t at) {
  return "PK\x06\x06" + zip_integer(44, 8) + std::string(12, '\0') + zip_integer(end.members, 8) +
         zip_integer(end.members, 8) + zip_integer(end.size, 8) + zip_integer(end.offset, 8) + "PK\x06\x07" +
         std::string(4, '\0') + zip_integer(at, 8) + zip_integer(1, 4);
}

struct Zip {
  Header local, central;
  std::string contents = std::string(40, '\0'), directory_tail;
  uint64_t members = 1;

  std::string before_end() const { return local_header(local) + contents + directory(); }
  std::string directory() const { return central_header(central) + directory_tail; }
  End end() const { return {members, directory().size(), before_end().size() - directory().size()}; }
  std::string bytes() const { return before_end() + end_record(end()); }
  void both(const std::function<void(Header&)>& change) {
    change(local);
    change(central);
  }
};

// Returns "no error", or the message without the remedy.
std::string zip_message(const std::string& bytes, std::vector<ZipMember>* members = nullptr) {
  const InputFile file("a.pt", "", bytes);
  const std::string message = test::error_of([&] {
    const std::vector<ZipMember> read = read_zip_directory(file);
    if (members != nullptr) *members = read;
  });
  return message.substr(0, message.find("; expected a zip as torch.save writes it"));
}

std::string message_of_changed(const std::function<void(Zip&)>& change) {
  Zip zip;
  change(zip);
  return zip_message(zip.bytes());
}

const char kMember[] = "a.pt: the zip member \"a\"";
const char kDiffers[] = "a.pt: the zip member \"a\" has a local header that differs from the directory";
const char kDamaged[] = "a.pt: the zip's directory is damaged";
const char kMisplaced[] = "a.pt: the zip's directory is not where its end record says";

TEST(ZipRecords, AMember) {
  Zip zip;
  zip.both([](Header& header) { header.method = 8, header.plain = 70, header.extra = field(7, "x"); });
  std::vector<ZipMember> members;
  EXPECT_EQ(zip_message(zip.bytes(), &members), "no error");
  ASSERT_EQ(members.size(), 1u);
  EXPECT_EQ(members[0].name, "a");
  EXPECT_EQ(members[0].offset, 30u + 1 + 5);
  EXPECT_EQ(members[0].size, 40u);
  EXPECT_EQ(members[0].plain_size, 70u);
  EXPECT_EQ(members[0].method, 8);
  EXPECT_EQ(members[0].crc32, 5u);
}

TEST(ZipRecords, BothHeadersAgree) {
  EXPECT_EQ(message_of_changed([](Zip&) {}), "no error");
  for (const auto& change : std::vector<std::function<void(Header&)>>{[](Header& h) { h.name[0] = 'b'; },
           [](Header& h) { h.flags = 2; }, [](Header& h) { h.method = 8; }, [](Header& h) { h.crc32 = 6; },
           [](Header& h) { h.stored = 39; }, [](Header& h) { h.plain = 41; },
           // Zeros here mean that the sizes follow the contents.
           [](Header& h) { h.crc32 = h.stored = h.plain = 0; }})
    EXPECT_EQ(message_of_changed([&](Zip& zip) { change(zip.local); }), kDiffers);
  const auto following = [](const std::function<void(Header&)>& change) {
    return message_of_changed([&](Zip& zip) {
      zip.both([](Header& header) { header.flags = 8; });
      change(zip.local);
    });
  };
  EXPECT_EQ(following([](Header&) {}), "no error");
  EXPECT_EQ(following([](Header& h) { h.crc32 = h.stored = h.plain = 0; }), "no error");
  EXPECT_EQ(following([](Header& h) { h.stored = h.plain = 0; }), kDiffers);
  EXPECT_EQ(following([](Header& h) { h.crc32 = h.plain = 0; }), kDiffers);
  EXPECT_EQ(following([](Header& h) { h.crc32 = h.stored = 0; }), kDiffers);
}

TEST(ZipRecords, FlagsSizesAndNames) {
  for (int bit = 0; bit < 16; ++bit) {
    const bool is_encrypted = bit == 0 || bit == 6 || bit == 13;
    const auto flags = static_cast<uint16_t>(1 << bit);
    EXPECT_EQ(message_of_changed([&](Zip& zip) { zip.both([&](Header& header) { header.flags = flags; }); }),
        is_encrypted ? std::string(kMember) + " is encrypted" : "no error")
        << bit;
  }
  EXPECT_EQ(message_of_changed([](Zip& zip) { zip.both([](Header& header) { header.plain = 41; }); }),
      std::string(kMember) + " has two sizes");
  for (const std::string name : {"", "/a", "a\\b", "..", "a/..", "../a", "a/../b"}) {
    EXPECT_TRUE(has(message_of_changed([&](Zip& zip) { zip.both([&](Header& header) { header.name = name; }); }),
        " has a name that leaves the archive"))
        << name;
  }
  for (const std::string name : {"a..", "..a/b", "a/...", "."})
    EXPECT_EQ(message_of_changed([&](Zip& zip) { zip.both([&](Header& header) { header.name = name; }); }), "no error");
}

TEST(ZipRecords, WhereAMemberLies) {
  EXPECT_EQ(message_of_changed([](Zip& zip) { zip.central.offset = 41; }), kDiffers);  // 30 bytes into its contents
  EXPECT_EQ(message_of_changed([](Zip& zip) { zip.central.offset = 42; }),
      std::string(kMember) + " starts outside of the members");
  for (const size_t bytes : {29u, 30u}) {
    const std::string directory = central_header({});
    EXPECT_EQ(zip_message(std::string(bytes, '\0') + directory + end_record({1, directory.size(), bytes})),
        bytes == 29 ? std::string(kMember) + " starts outside of the members" : kDiffers);
  }
  EXPECT_EQ(message_of_changed([](Zip& zip) { zip.contents.pop_back(); }),
      std::string(kMember) + " has 40 bytes, more than the file has there: it is truncated or damaged");
  const auto empty = [](Zip& zip) {
    zip.both([](Header& header) { header.stored = header.plain = 0; });
    zip.contents = "";
  };
  EXPECT_EQ(message_of_changed(empty), "no error");
  // The local header claims three bytes of an extra field; they belong to the directory.
  Zip zip;
  empty(zip);
  std::string bytes = zip.bytes();
  bytes[28] = 3;
  EXPECT_EQ(zip_message(bytes),
      std::string(kMember) + " has 0 bytes, more than the file has there: it is truncated or damaged");
}

TEST(ZipRecords, TheDirectory) {
  EXPECT_EQ(message_of_changed([](Zip& zip) { zip.central.comment = "xyz"; }), "no error");
  EXPECT_EQ(message_of_changed([](Zip& zip) { zip.central.disk = 1; }), "a.pt: the zip spans several disks");
  EXPECT_EQ(message_of_changed([](Zip& zip) { zip.members = 2; }), kDamaged);
  EXPECT_EQ(message_of_changed([](Zip& zip) { zip.members = 0; }),
      "a.pt: the zip's directory has bytes after its last member");
  const auto with_tail = [](const std::string& tail) {
    return message_of_changed([&](Zip& zip) { zip.directory_tail = tail, zip.members = 2; });
  };
  EXPECT_EQ(with_tail(std::string(46, '\0')), kDamaged);
  Header nameless;
  nameless.name = "";
  EXPECT_EQ(with_tail(central_header(nameless).substr(0, 45)), kDamaged);
  EXPECT_EQ(with_tail(central_header(nameless)), "a.pt: the zip member \"\" has a name that leaves the archive");
  for (const size_t field : {28u, 30u, 32u}) {  // lengths of the name, of the extra fields, of the comment
    Zip zip;
    zip.central.extra = "x", zip.central.comment = "y";
    std::string bytes = zip.bytes();
    EXPECT_EQ(zip_message(bytes), "no error");
    bytes[zip.end().offset + field] = 2;
    EXPECT_EQ(zip_message(bytes), kDamaged) << field;
  }
}

TEST(ZipRecords, TheEnd) {
  EXPECT_EQ(zip_message(end_record({})), "no error");
  EXPECT_EQ(zip_message(end_record({}).substr(0, 21)), "a.pt: the file is too short for a zip");
  const Zip zip;
  const std::string not_found =
      "a.pt: the zip's directory is not at the end of the file: it is truncated (download it again) or has a comment";
  for (const auto& [field, message] : std::vector<std::pair<size_t, std::string>>{{0, not_found}, {20, not_found},
           {4, "a.pt: the zip spans several disks"}, {6, "a.pt: the zip spans several disks"}, {12, kMisplaced},
           {16, kMisplaced}}) {
    std::string bytes = zip.bytes();
    ++bytes[zip.before_end().size() + field];
    EXPECT_EQ(zip_message(bytes), message) << field;
  }
  const End end = zip.end();
  const auto with_end = [&](const End& other) { return zip_message(zip.before_end() + end_record(other)); };
  EXPECT_EQ(with_end({1, end.size - 1, end.offset}), kMisplaced);
  EXPECT_EQ(with_end({1, end.size, end.offset - 1}), kMisplaced);
  EXPECT_EQ(with_end({1, (64 << 20) + 1, end.offset}), "a.pt: the zip's directory is too large");
  EXPECT_EQ(with_end({1, 64 << 20, end.offset}), kMisplaced);
}

TEST(ZipRecords, TheWideEnd) {
  EXPECT_EQ(zip_message(wide_records({}, 0) + end_record({})), "no error");
  const Zip zip;
  const End end = zip.end();
  const std::string before = zip.before_end();
  const auto with = [&](const End& wide, const End& narrow) {
    return zip_message(before + wide_records(wide, before.size()) + end_record(narrow));
  };
  EXPECT_EQ(with(end, end), "no error");
  EXPECT_EQ(with(end, {0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF}), "no error");
  const std::string disagree = "a.pt: the zip's two directory records disagree";
  EXPECT_EQ(with(end, {2, end.size, end.offset}), disagree);
  EXPECT_EQ(with(end, {1, end.size + 1, end.offset}), disagree);
  EXPECT_EQ(with(end, {1, end.size, end.offset + 1}), disagree);
  const End all = {0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF};
  EXPECT_EQ(with({200'001, end.size, end.offset}, all), "a.pt: the zip's directory is too large");
  EXPECT_EQ(with({200'000, end.size, end.offset}, all), kDamaged);
  EXPECT_EQ(with({1, end.size, before.size() + 1}, all), kMisplaced);
  const std::string good = before + wide_records(end, before.size()) + end_record(end);
  for (const size_t field : {0u, 24u, 32u, 64u}) {  // signature, members of this disk, members, the record's place
    std::string bytes = good;
    ++bytes[before.size() + field];
    EXPECT_EQ(zip_message(bytes), "a.pt: the zip's 64-bit directory record is damaged") << field;
  }
  std::string bytes = good;
  ++bytes[before.size() + 56];  // no locator points to the 64-bit record
  EXPECT_EQ(zip_message(bytes), kMisplaced);
}

TEST(ZipRecords, WideFieldsOfAMember) {
  const auto with_extra = [](const std::string& extra) {
    return message_of_changed([&](Zip& zip) { zip.both([&](Header& header) { header.extra = extra; }); });
  };
  EXPECT_EQ(with_extra("abc"), "no error");  // too short for a field
  EXPECT_EQ(with_extra(field(7, "")), "no error");
  EXPECT_EQ(with_extra(field(7, "abcdefgh") + field(1, "")), "no error");
  EXPECT_EQ(with_extra(field(7, "abc").substr(0, 6)), "a.pt: a zip member's extra field is damaged");
  // Every combination of the sizes and the place, in this order.
  for (int choice = 1; choice < 8; ++choice) {
    Zip zip;
    std::string local, central;
    if (choice & 1) {
      zip.local.plain = zip.central.plain = 0xFFFFFFFF;
      local = central = zip_integer(40, 8);
    }
    if (choice & 2) {
      zip.local.stored = zip.central.stored = 0xFFFFFFFF;
      local += zip_integer(40, 8), central += zip_integer(40, 8);
    }
    if (choice & 4) {
      zip.central.offset = 0xFFFFFFFF;
      central += zip_integer(0, 8);
    }
    for (const std::string& before : {std::string(), field(7, "x")}) {
      zip.local.extra = before + field(1, local);
      zip.central.extra = before + field(1, central) + field(1, std::string(8, '\7'));
      std::vector<ZipMember> members;
      EXPECT_EQ(zip_message(zip.bytes(), &members), "no error") << choice;
      ASSERT_EQ(members.size(), 1u);
      EXPECT_EQ(members[0].size, 40u);
      EXPECT_EQ(members[0].plain_size, 40u);
      central.pop_back();
      zip.central.extra = before + field(1, central) + field(7, "abcdefgh");
      EXPECT_EQ(zip_message(zip.bytes()), "a.pt: a zip member's 64-bit field is damaged") << choice;
      central.push_back('\0');
    }
  }
}

TEST(ZipContents, Checksum) {
  EXPECT_EQ(zip_crc32("123456789"), 0xCBF43926u);  // the usual check value of CRC-32
  EXPECT_EQ(zip_crc32("6789", zip_crc32("12345")), 0xCBF43926u);
  std::string contents(5 << 19, 'x');  // two blocks and a half
  ZipMember member{"a", 3, contents.size(), 0, contents.size(), zip_crc32(contents)};
  const auto is_found = [&] {
    const InputFile file("a.pt", "", "abc" + contents);
    try {
      check_stored(file, member);
      EXPECT_EQ(read_member(file, member), contents);
      return false;
    } catch (const Error&) {
      return true;
    }
  };
  EXPECT_FALSE(is_found());
  for (const size_t at : {size_t{0}, size_t{1} << 20, size_t{2} << 20, contents.size() - 1}) {
    contents[at] = 'y';
    EXPECT_TRUE(is_found()) << at;
    contents[at] = 'x';
  }
  member.crc32 = 0;  // no checksum is recorded
  contents[7] = 'y';
  EXPECT_FALSE(is_found());
}

TEST(ZipContents, BeginAsAZip) {
  EXPECT_TRUE(looks_like_zip(InputFile("a.pt", "", "PK\x03\x04")));
  EXPECT_FALSE(looks_like_zip(InputFile("a.pt", "", "PK\x03")));
  EXPECT_FALSE(looks_like_zip(InputFile("a.pt", "", "PK\x03\x05")));
}

// Zeros; one byte unpacks to a thousand of them.
TEST(ZipContents, HowMuchMayBeUnpacked) {
  const auto unpacks = [](uint64_t plain_bytes, uint64_t stored_bytes) {
    test::ZipEntry entry = test::deflated("a", std::string(plain_bytes, '\0'));
    entry.bytes.resize(std::max<size_t>(entry.bytes.size(), stored_bytes));
    const InputFile file("a.pt", "", entry.bytes);
    const uint64_t size = stored_bytes == 0 ? entry.bytes.size() : stored_bytes;
    try {
      read_member_start(file, {"a", 0, size, 8, plain_bytes, 0}, 10);
      return true;
    } catch (const Error& error) {
      EXPECT_TRUE(has(std::string(error.what()), "which no model's weights do")) << error.what();
      return false;
    }
  };
  EXPECT_TRUE(unpacks(1 << 20, 0));
  EXPECT_FALSE(unpacks((1 << 20) + 1, 0));
  EXPECT_TRUE(unpacks(2'000'000, 20'000));
  EXPECT_FALSE(unpacks(2'000'000, 19'999));
}

TEST(ZipContents, TheFirstBytes) {
  std::string contents;
  for (uint32_t i = 0, state = 1; i < 300'000; ++i) contents += static_cast<char>((state = state * 1664525 + 1) >> 24);
  for (const bool is_deflated : {false, true}) {
    const test::ZipEntry entry = is_deflated ? test::deflated("a", contents) : test::ZipEntry{"a", contents};
    const InputFile file("a.pt", "", entry.bytes);
    const ZipMember member{"a", 0, entry.bytes.size(), entry.method, contents.size(), 0};
    for (const size_t n : {size_t{0}, size_t{1}, size_t{100'000}, contents.size() - 1, contents.size()})
      EXPECT_EQ(read_member_start(file, member, n), contents.substr(0, n)) << n;
    EXPECT_EQ(read_member_start(file, member, contents.size() + 1), contents);
  }
}
}}  // namespace goldcrest::converter
