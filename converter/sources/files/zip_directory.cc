// SPDX-License-Identifier: Apache-2.0
// The members of a zip, as torch.save and NumPy write it.
#include "sources/files/zip_directory.h"
#include <zlib.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <set>
#include "host/wording.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {
constexpr uint64_t kMostAtOnce = uint64_t{1} << 30;  // zlib counts in unsigned int

// A stream without zlib's own header, as in a zip.
class RawStream {
 public:
  RawStream() {
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~RawStream() { inflateEnd(&stream_); }
  RawStream(const RawStream&) = delete;
  RawStream& operator=(const RawStream&) = delete;
  z_stream& get() { return stream_; }
 private:
  z_stream stream_{};
};
}  // namespace

std::optional<std::string> inflate(std::string_view deflated, uint64_t n, bool is_whole) {
  RawStream raw;
  z_stream& stream = raw.get();
  std::string plain(n, '\0');
  char beyond = 0;  // receives a byte only if a whole stream has more than n bytes
  uint64_t read = 0, written = 0;
  int status = Z_OK;
  while (status == Z_OK && (written < n || is_whole)) {
    const auto in = static_cast<uInt>(std::min(deflated.size() - read, kMostAtOnce));
    const auto out = static_cast<uInt>(std::min(n - written, kMostAtOnce));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(deflated.data() + read));  // zlib does not write to it
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(out == 0 ? &beyond : plain.data() + written);
    stream.avail_out = out == 0 ? 1 : out;
    status = ::inflate(&stream, Z_NO_FLUSH);
    if (out == 0 && stream.avail_out == 0) return std::nullopt;
    read += in - stream.avail_in;
    written += out == 0 ? 0 : out - stream.avail_out;
  }
  const bool is_right = is_whole ? status == Z_STREAM_END && read == deflated.size() : status >= Z_OK;
  return is_right && written == n ? std::optional(std::move(plain)) : std::nullopt;
}

namespace {
constexpr uint32_t kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50, kLocator64Signature = 0x07064b50;
constexpr uint32_t kCentralSignature = 0x02014b50, kLocalSignature = 0x04034b50;
constexpr uint64_t kEndBytes = 22, kEnd64Bytes = 56, kLocator64Bytes = 20, kCentralBytes = 46, kLocalBytes = 30;
constexpr uint64_t kMaxMembers = 200'000, kMaxDirectoryBytes = uint64_t{64} << 20;
constexpr uint16_t kEncrypted = 1 | 1 << 6 | 1 << 13, kSizesFollow = 1 << 3;
constexpr uint16_t kZip64Field = 1;
constexpr uint32_t kIn64 = 0xFFFFFFFF;  // the value is in the zip64 field

template <typename Integer> Integer read_integer(std::string_view bytes, size_t at) {
  Integer value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

struct Directory {
  uint64_t offset = 0, size = 0, members = 0;
};

// One member, as the central directory or a local header describes it.
struct Header {
  std::string name;
  uint16_t flags = 0, method = 0;
  uint32_t crc32 = 0;
  uint64_t stored_bytes = 0, plain_bytes = 0, local_offset = 0;
};

[[noreturn]] void refuse(const InputFile& file, const std::string& why) {
  const std::filesystem::path extension = file.path().extension();
  const char* const remedy =
      extension == ".npz"
          ? "expected a zip as NumPy and Marian write it: download it again, or save it again with numpy.savez"
      : extension == ".argosmodel"
          ? "expected a zip as Argos Translate's packages are: download it again, or unpack it and give the folder"
          : "expected a zip as torch.save writes it: load it in PyTorch and save it again with torch.save, or convert "
            "it to safetensors";
  throw Error("{}: {}; {}", file.path().string(), why, remedy);
}

Directory find_directory(const InputFile& file) {
  if (file.size() < kEndBytes) refuse(file, "the file is too short for a zip");
  const uint64_t end_offset = file.size() - kEndBytes;
  const std::string end = file.text(end_offset, kEndBytes);
  if (read_integer<uint32_t>(end, 0) != kEndSignature || read_integer<uint16_t>(end, 20) != 0) {
    refuse(file,
        "the zip's directory is not at the end of the file: it is truncated (download it again) or has a comment");
  }
  if (read_integer<uint16_t>(end, 4) != 0 || read_integer<uint16_t>(end, 6) != 0)
    refuse(file, "the zip spans several disks");
  Directory directory{
      read_integer<uint32_t>(end, 16), read_integer<uint32_t>(end, 12), read_integer<uint16_t>(end, 10)};
  uint64_t directory_end = end_offset;
  if (end_offset >= kLocator64Bytes + kEnd64Bytes) {
    const std::string locator = file.text(end_offset - kLocator64Bytes, kLocator64Bytes);
    if (read_integer<uint32_t>(locator, 0) == kLocator64Signature) {
      directory_end = end_offset - kLocator64Bytes - kEnd64Bytes;
      const std::string end64 = file.text(directory_end, kEnd64Bytes);
      if (read_integer<uint64_t>(locator, 8) != directory_end || read_integer<uint32_t>(end64, 0) != kEnd64Signature ||
          read_integer<uint64_t>(end64, 24) != read_integer<uint64_t>(end64, 32))
        refuse(file, "the zip's 64-bit directory record is damaged");
      const Directory wide{
          read_integer<uint64_t>(end64, 48), read_integer<uint64_t>(end64, 40), read_integer<uint64_t>(end64, 32)};
      if ((directory.offset != kIn64 && directory.offset != wide.offset) ||
          (directory.size != kIn64 && directory.size != wide.size) ||
          (directory.members != 0xFFFF && directory.members != wide.members))
        refuse(file, "the zip's two directory records disagree");
      directory = wide;
    }
  }
  if (directory.size > kMaxDirectoryBytes || directory.members > kMaxMembers)
    refuse(file, "the zip's directory is too large");
  if (directory.offset > directory_end || directory.size != directory_end - directory.offset)
    refuse(file, "the zip's directory is not where its end record says");
  return directory;
}

// Replaces the sizes and the offset that are stored in the zip64 field. The field has only the marked ones, in this
// order.
void apply_zip64(const InputFile& file, std::string_view extra, Header& header) {
  std::array<uint64_t*, 3> fields = {&header.plain_bytes, &header.stored_bytes, &header.local_offset};
  for (size_t at = 0; at + 4 <= extra.size();) {
    const auto id = read_integer<uint16_t>(extra, at), size = read_integer<uint16_t>(extra, at + 2);
    at += 4;
    if (size > extra.size() - at) return refuse(file, "a zip member's extra field is damaged");
    if (id == kZip64Field) {
      size_t value_at = at;
      for (uint64_t* field : fields) {
        if (*field != kIn64) continue;
        if (value_at + 8 > at + size) refuse(file, "a zip member's 64-bit field is damaged");
        *field = read_integer<uint64_t>(extra, value_at);
        value_at += 8;
      }
      return;
    }
    at += size;
  }
}

void check_member(const InputFile& file, const Header& header) {
  const std::string subject = "the zip member " + in_quotes(header.name);
  const std::string& name = header.name;
  if (name.empty() || name.starts_with('/') || name.find('\\') != name.npos || name.find('\0') != name.npos ||
      ("/" + name + "/").find("/../") != name.npos)
    refuse(file, subject + " has a name that leaves the archive");
  if (header.flags & kEncrypted) refuse(file, subject + " is encrypted");
  if (header.method == 0 && header.stored_bytes != header.plain_bytes) refuse(file, subject + " has two sizes");
}

// Compares the local header with the directory's entry and returns the place of the member's bytes.
ZipMember locate(const InputFile& file, const Header& central, uint64_t directory_offset) {
  const std::string subject = "the zip member " + in_quotes(central.name);
  if (directory_offset < kLocalBytes || central.local_offset > directory_offset - kLocalBytes)
    refuse(file, subject + " starts outside of the members");
  const std::string fixed = file.text(central.local_offset, kLocalBytes);
  const uint64_t name_bytes = read_integer<uint16_t>(fixed, 26), extra_bytes = read_integer<uint16_t>(fixed, 28);
  const std::string names = file.text(central.local_offset + kLocalBytes, name_bytes + extra_bytes);
  Header local{names.substr(0, name_bytes), read_integer<uint16_t>(fixed, 6), read_integer<uint16_t>(fixed, 8),
      read_integer<uint32_t>(fixed, 14), read_integer<uint32_t>(fixed, 18), read_integer<uint32_t>(fixed, 22), 0};
  apply_zip64(file, std::string_view(names).substr(name_bytes), local);
  const bool sizes_follow = (local.flags & kSizesFollow) && !local.crc32 && !local.stored_bytes && !local.plain_bytes;
  if (read_integer<uint32_t>(fixed, 0) != kLocalSignature || local.name != central.name ||
      local.flags != central.flags || local.method != central.method ||
      (!sizes_follow && (local.crc32 != central.crc32 || local.stored_bytes != central.stored_bytes ||
                            local.plain_bytes != central.plain_bytes)))
    refuse(file, subject + " has a local header that differs from the directory");
  const uint64_t offset = central.local_offset + kLocalBytes + names.size();
  if (offset > directory_offset || central.stored_bytes > directory_offset - offset) {
    refuse(file, format_text("{} has {} bytes, more than the file has there: it is truncated or damaged", subject,
                     central.stored_bytes));
  }
  return {central.name, offset, central.stored_bytes, central.method, central.plain_bytes, central.crc32};
}

Header read_central(const InputFile& file, std::string_view directory, size_t& at) {
  if (directory.size() - at < kCentralBytes || read_integer<uint32_t>(directory, at) != kCentralSignature)
    refuse(file, "the zip's directory is damaged");
  const std::string_view fixed = directory.substr(at, kCentralBytes);
  const size_t name_bytes = read_integer<uint16_t>(fixed, 28), extra_bytes = read_integer<uint16_t>(fixed, 30),
               comment_bytes = read_integer<uint16_t>(fixed, 32);
  at += kCentralBytes;
  if (name_bytes + extra_bytes + comment_bytes > directory.size() - at) refuse(file, "the zip's directory is damaged");
  if (read_integer<uint16_t>(fixed, 34) != 0) refuse(file, "the zip spans several disks");
  Header header{std::string(directory.substr(at, name_bytes)), read_integer<uint16_t>(fixed, 8),
      read_integer<uint16_t>(fixed, 10), read_integer<uint32_t>(fixed, 16), read_integer<uint32_t>(fixed, 20),
      read_integer<uint32_t>(fixed, 24), read_integer<uint32_t>(fixed, 42)};
  apply_zip64(file, directory.substr(at + name_bytes, extra_bytes), header);
  at += name_bytes + extra_bytes + comment_bytes;
  return header;
}

void check_crc32(const InputFile& file, const ZipMember& member, uint32_t found) {
  if (member.crc32 == 0 || found == member.crc32) return;
  throw Error("{}: the zip member {} has CRC-32 {:08x}, expected {:08x}: the file is damaged, download it again",
      file.path().string(), in_quotes(member.name), found, member.crc32);
}
}  // namespace

uint32_t zip_crc32(std::string_view bytes, uint32_t before) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xEDB88320u : table[i] >> 1;
    }
    return table;
  }();
  uint32_t crc = ~before;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ crc >> 8;
  return ~crc;
}

bool looks_like_zip(const InputFile& file) {
  return file.size() >= 4 && read_integer<uint32_t>(file.text(0, 4), 0) == kLocalSignature;
}

std::vector<ZipMember> read_zip_directory(const InputFile& file) {
  const Directory directory = find_directory(file);
  const std::string bytes = file.text(directory.offset, directory.size);
  std::vector<ZipMember> members;
  std::vector<std::pair<uint64_t, uint64_t>> extents;  // start of the header, end of the bytes
  std::set<std::string> names;
  size_t at = 0;
  for (uint64_t i = 0; i < directory.members; ++i) {
    const Header header = read_central(file, bytes, at);
    check_member(file, header);
    if (!names.insert(header.name).second) refuse(file, "the zip has two members " + in_quotes(header.name));
    members.push_back(locate(file, header, directory.offset));
    extents.emplace_back(header.local_offset, members.back().offset + members.back().size);
  }
  if (at != bytes.size()) refuse(file, "the zip's directory has bytes after its last member");
  std::sort(extents.begin(), extents.end());
  for (size_t i = 1; i < extents.size(); ++i)
    if (extents[i].first < extents[i - 1].second) refuse(file, "the zip's members overlap");
  return members;
}

void refuse_compressed(const InputFile& file, const std::vector<ZipMember>& members) {
  for (const ZipMember& member : members)
    if (member.method != 0) refuse(file, format_text("the zip member {} is compressed", in_quotes(member.name)));
}

std::string read_member_start(const InputFile& file, const ZipMember& member, uint64_t n) {
  constexpr uint64_t kDeflated = 8, kFreeBytes = uint64_t{1} << 20, kMostRatio = 100;
  const std::string subject = "the zip member " + in_quotes(member.name);
  n = std::min(n, member.plain_size);
  if (member.method == 0) return file.text(member.offset, n);
  if (member.method != kDeflated) {
    refuse(file, format_text("{} is compressed by method {}, and stored and deflated ones (0, 8) are read", subject,
                     member.method));
  }
  if (member.plain_size > kFreeBytes && member.plain_size / kMostRatio > member.size) {
    refuse(file, format_text("{} would unpack {} bytes to {}, which no model's weights do", subject, member.size,
                     member.plain_size));
  }
  const uint64_t stored = n == member.plain_size ? member.size : std::min(member.size, 2 * n + kFreeBytes / 16);
  const std::optional<std::string> start = inflate(file.text(member.offset, stored), n, n == member.plain_size);
  if (!start) refuse(file, subject + " is not deflated as it says: it is damaged");
  return *start;
}

std::string read_member(const InputFile& file, const ZipMember& member) {
  std::string bytes = read_member_start(file, member, member.plain_size);
  check_crc32(file, member, zip_crc32(bytes));
  return bytes;
}

void check_stored(const InputFile& file, const ZipMember& member) {
  constexpr uint64_t kBlock = uint64_t{1} << 20;
  uint32_t crc = 0;
  for (uint64_t done = 0; done < member.size; done += kBlock)
    crc = zip_crc32(file.text(member.offset + done, std::min(kBlock, member.size - done)), crc);
  check_crc32(file, member, crc);
}
}  // namespace goldcrest::converter
