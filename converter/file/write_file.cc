// SPDX-License-Identifier: Apache-2.0
// Atomic replacement of a file: write beside it, sync, rename, sync the folder (POSIX).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "file/write.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* doing, int error) {
  throw Error("{}: {} failed: {}; the file was not written", path.string(), doing,
              std::generic_category().message(error));
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return descriptor_; }

  // Returns 0 or the error: some file systems report a failed write here.
  int close() {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result == 0 ? 0 : errno;
  }

 private:
  int descriptor_;
};

// Removes a name in a folder unless told to keep it.
class TemporaryName {
 public:
  TemporaryName(int folder, std::string name) : folder_(folder), name_(std::move(name)) {}
  ~TemporaryName() {
    if (!kept_) ::unlinkat(folder_, name_.c_str(), 0);
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  void keep() { kept_ = true; }

 private:
  int folder_;
  std::string name_;
  bool kept_ = false;
};

// Where `path` points when it is a symbolic link, also one to a file that does not exist yet.
fs::path follow_links(const fs::path& path) {
  constexpr int kMaxLinks = 40;  // Linux's own bound
  fs::path target = path;
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code error;
    if (!fs::is_symlink(target, error)) return target;
    const fs::path next = fs::read_symlink(target, error);
    if (error) fail(path, "following the symbolic link", error.value());
    target = target.parent_path() / next;  // `next` alone when it is absolute
  }
  throw Error("{}: more than {} symbolic links follow each other; give the file itself", path.string(), kMaxLinks);
}

// Opens a new file in `folder` under a name that nothing has. Returns the descriptor.
int create_beside(int folder, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = fmt::format(".goldcrest-{}-{}.partial", ::getpid(), attempt);
    const int descriptor = ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST || attempt == 1000) return descriptor;
  }
}

// Returns 0 or the error.
int write_all(int descriptor, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

void write_file(const fs::path& path, std::span<const uint8_t> bytes) {
  const fs::path target = follow_links(path);
  const std::string name = target.filename().string();
  struct stat existing = {};
  const bool exists = ::stat(target.c_str(), &existing) == 0;
  if (name.empty() || (exists && S_ISDIR(existing.st_mode))) {
    throw Error("{}: is a directory; give the name of a file", path.string());
  }
  if (exists && !S_ISREG(existing.st_mode)) throw Error("{}: is not a regular file; give another name", path.string());

  const fs::path folder_path = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const FileDescriptor folder(::open(folder_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) fail(path, "opening the directory", errno);

  std::string temporary;
  FileDescriptor file(create_beside(folder.get(), temporary));
  if (file.get() < 0) fail(path, "creating a file in the directory", errno);
  TemporaryName cleanup(folder.get(), temporary);

  if (const int error = write_all(file.get(), bytes)) fail(path, "writing", error);
  if (exists && ::fchmod(file.get(), existing.st_mode & 07777) != 0) fail(path, "setting the file's mode", errno);
  if (::fsync(file.get()) != 0) fail(path, "syncing to disk", errno);
  if (const int error = file.close()) fail(path, "closing", error);
  if (::renameat(folder.get(), temporary.c_str(), folder.get(), name.c_str()) != 0) fail(path, "renaming", errno);
  cleanup.keep();
  // The new file is in place; without this a power cut could bring the old one back. Some file systems cannot do it.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) {
    throw Error("{}: syncing the directory failed: {}; the file is complete but may not survive a power cut",
                path.string(), std::generic_category().message(errno));
  }
}

}  // namespace goldcrest::converter
