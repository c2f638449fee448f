// SPDX-License-Identifier: Apache-2.0
// A file, or a zip's member in memory. It is read at given offsets, and every read is checked against its size.
#include "sources/files/input_file.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include "sources/sniffing/sniff_kinds.h"
#include "spec/error.h"

namespace goldcrest::converter {
InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)), name_(path_.string()) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    std::error_code ignored;
    if (errno == ENOENT && std::filesystem::is_symlink(path_, ignored)) {
      throw Error("{}: the symbolic link points to {}, which does not exist; download the file again", path_.string(),
          std::filesystem::read_symlink(path_, ignored).string());
    }
    throw Error("{}: cannot open: {}", path_.string(), std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw Error("{}: not a regular file", path_.string());
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::InputFile(std::filesystem::path path, const std::string& member, std::string bytes)
    : path_(std::move(path)), name_((path_ / member).string()), bytes_(std::move(bytes)), size_(bytes_.size()) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read(uint64_t offset, uint64_t n, void* bytes) const {
  if (offset > size_ || n > size_ - offset) {
    throw Error(
        "{}: the file ends at byte {}, but {} bytes are expected at byte {}: it is truncated or damaged; "
        "download it again",
        name_, size_, n, offset);
  }
  if (descriptor_ < 0) {
    std::copy_n(bytes_.data() + offset, n, static_cast<char*>(bytes));
    return;
  }
  auto* out = static_cast<char*>(bytes);
  while (n > 0) {
    const auto most = static_cast<size_t>(std::min<uint64_t>(n, uint64_t{1} << 30));
    const ssize_t got = ::pread(descriptor_, out, most, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw Error("{}: read failed at byte {}: {}", name_, offset,
          got < 0 ? std::strerror(errno) : "the file became shorter while it was read");
    }
    out += got;
    offset += static_cast<uint64_t>(got);
    n -= static_cast<uint64_t>(got);
  }
}

std::string InputFile::text(uint64_t offset, uint64_t n) const {
  std::string result(static_cast<size_t>(std::min(n, size_)), '\0');
  read(offset, n, result.data());
  return result;
}

void refuse_stand_in(const InputFile& file) {
  const Kind& kind = kind_of_id(kind_of_head(file.text(0, std::min<uint64_t>(file.size(), 512))));
  if (kind.id == KindId::kEmptyFile || kind.id == KindId::kLfsPointer || kind.id == KindId::kWebPage)
    throw Error("{}: {}; {}", file.name(), kind.description, kind.advice);
}

std::string read_small_file(const std::filesystem::path& path, uint64_t most_bytes) {
  return read_small_file(InputFile(path), most_bytes);
}

std::string read_small_file(const InputFile& file, uint64_t most_bytes) {
  if (file.size() > most_bytes)
    throw Error("{}: the file has {} bytes, expected at most {}", file.name(), file.size(), most_bytes);
  refuse_stand_in(file);
  return file.text(0, file.size());
}
}  // namespace goldcrest::converter
