// SPDX-License-Identifier: Apache-2.0
// Atomic replacement of a file: write next to it, sync, rename, sync the folder (POSIX). The new file is locked while
// its writer lives, so a later writer can tell whether it was abandoned.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
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
  throw Error(
      "{}: {} failed: {}; the file was not written", path.string(), doing, std::generic_category().message(error));
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
 private:
  int descriptor_;
};

// Removes a name in a folder on destruction, unless told to keep it.
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

// Returns the target of `path` if it is a symbolic link, even to a file that does not exist yet.
fs::path follow_links(const fs::path& path) {
  constexpr int kMaxLinks = 40;  // Linux's own bound
  fs::path target = path;
  for (int i = 0; i < kMaxLinks; ++i) {
    std::error_code error;
    if (!fs::is_symlink(target, error)) return target;
    const fs::path next = fs::read_symlink(target, error);
    if (error) fail(path, "following the symbolic link", error.value());
    target = target.parent_path() / next;  // `next` itself if it is absolute
  }
  throw Error("{}: more than {} symbolic links follow each other; give the file itself", path.string(), kMaxLinks);
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

bool is_partial(const std::string& name) { return name.starts_with(".goldcrest-") && name.ends_with(".partial"); }

// Removes files that a killed writer left in the folder. A live writer holds a lock on its file.
void remove_abandoned(const fs::path& folder_path, int folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder_path, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!is_partial(name)) continue;
    const FileDescriptor file(::openat(folder, name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlinkat(folder, name.c_str(), 0);
  }
}

// Creates and locks a file in `folder` under a new name. Returns the descriptor.
int create_beside(int folder, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = format_text(".goldcrest-{}-{}.partial", ::getpid(), attempt);
    const int descriptor = ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool is_last = attempt == 1000;
    if (descriptor < 0 && (errno != EEXIST || is_last)) return -1;
    if (descriptor < 0) continue;
    // Without locks, no writer takes the file for abandoned either.
    struct stat now = {};
    const bool is_taken = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const bool is_removed = ::fstat(descriptor, &now) == 0 && now.st_nlink == 0;
    if ((!is_taken && !is_removed) || is_last) return descriptor;
    ::close(descriptor);  // another run took it for abandoned before it was locked
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

// A new file next to its final place. The destructor removes it unless it was moved there.
class NewFile {
 public:
  // Throws Error if `path` cannot be written.
  explicit NewFile(const fs::path& path)
      : path_(path),
        target_(file_of(path)),
        folder_(open_folder()),
        file_(create()),
        temporary_(folder_.get(), name_) {}

  void write(std::span<const uint8_t> bytes) {
    if (const int error = write_all(file_.get(), bytes)) fail(path_, "writing", error);
    struct stat existing = {};
    const bool exists = ::stat(target_.c_str(), &existing) == 0;
    if (exists && ::fchmod(file_.get(), existing.st_mode & 07777) != 0) fail(path_, "setting the file's mode", errno);
    if (::fsync(file_.get()) != 0) fail(path_, "syncing to disk", errno);
    // Some file systems report a failed write when the file is closed. This closes a second descriptor, so that the
    // lock stays.
    const int second = ::dup(file_.get());
    if (second < 0 || ::close(second) != 0) fail(path_, "closing", errno);
  }

  void put_in_place() {
    if (::renameat(folder_.get(), name_.c_str(), folder_.get(), target_.filename().c_str()) != 0)
      fail(path_, "renaming", errno);
    temporary_.keep();
    // The new file is in place; without this sync a power cut could bring the old one back. Some file systems cannot do
    // it.
    if (::fsync(folder_.get()) != 0 && errno != EINVAL) {
      throw Error("{}: syncing the directory failed: {}; the file is complete but may not survive a power cut",
          path_.string(), std::generic_category().message(errno));
    }
  }
 private:
  // Returns the file's place, where there may be nothing or a regular file.
  static fs::path file_of(const fs::path& path) {
    fs::path target = follow_links(path);
    struct stat existing = {};
    const bool exists = ::stat(path.c_str(), &existing) == 0;
    if (target.filename().empty() || (exists && S_ISDIR(existing.st_mode)))
      throw Error("{}: is a directory; give the name of a file", path.string());
    if (exists && !S_ISREG(existing.st_mode))
      throw Error("{}: is not a regular file; give another name", path.string());
    return target;
  }

  int open_folder() const {
    const fs::path folder = folder_of(target_);
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) fail(path_, "opening the directory", errno);
    remove_abandoned(folder, descriptor);
    return descriptor;
  }

  int create() {
    const int descriptor = create_beside(folder_.get(), name_);
    if (descriptor < 0) fail(path_, "creating a file in the directory", errno);
    return descriptor;
  }

  fs::path path_, target_;
  std::string name_;  // the file's name before it is in place
  FileDescriptor folder_, file_;
  TemporaryName temporary_;
};
}  // namespace

void check_can_write(const fs::path& path) { const NewFile removed_at_once(path); }

void check_space(const fs::path& path, uint64_t bytes) {
  struct statvfs file_system = {};
  const fs::path folder = folder_of(follow_links(path));
  if (::statvfs(folder.c_str(), &file_system) != 0) return;  // the write reports it
  const uint64_t free_bytes = uint64_t{file_system.f_bavail} * file_system.f_frsize;
  if (free_bytes < bytes) {
    throw Error("{}: needs {} bytes, and the disk has {} bytes free; the file was not written", path.string(), bytes,
        free_bytes);
  }
}

void write_file(const fs::path& path, std::span<const uint8_t> bytes) {
  NewFile file(path);
  file.write(bytes);
  file.put_in_place();
}
}  // namespace goldcrest::converter
