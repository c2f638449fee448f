// SPDX-License-Identifier: Apache-2.0
// Atomic writing: after any failure there is the whole file or none.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "file/write.h"
#include "spec/error.h"

namespace goldcrest::converter {
namespace {

namespace fs = std::filesystem;

class WriteFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "goldcrest_write_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void put(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  static void write(const fs::path& path, const std::string& text) {
    write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  // Writes `text` and expects an Error that contains `words`.
  static void expect_error(const fs::path& path, const std::string& text, const std::string& words) {
    try {
      write(path, text);
      ADD_FAILURE() << path << " was written";
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(words), std::string::npos) << message;
      EXPECT_EQ(message.find(path.string()), 0u) << message;
    }
  }
  // Counts the names in the folder, including what a failure left behind.
  size_t count_entries() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(WriteFile, NewFileAndReplacement) {
  const fs::path path = folder_ / "model.gcst";
  const std::string large(3 << 20, 'x');
  write(path, large);
  EXPECT_EQ(read(path), large);
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  write(path, "second");
  EXPECT_EQ(read(path), "second");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(count_entries(), 1u);
}

TEST_F(WriteFile, NewFileHasTheUsersMode) {
  const mode_t before = ::umask(027);
  write(folder_ / "model.gcst", "x");
  ::umask(before);
  EXPECT_EQ(static_cast<unsigned>(fs::status(folder_ / "model.gcst").permissions()), 0640u);
}

TEST_F(WriteFile, SymbolicLinksAreFollowed) {
  fs::create_directory(folder_ / "store");
  put(folder_ / "store" / "old", "old");
  fs::create_symlink("store/old", folder_ / "link");
  write(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(folder_ / "store" / "old"), "new");

  fs::create_symlink(folder_ / "store" / "later", folder_ / "dangling");
  write(folder_ / "dangling", "made");
  EXPECT_EQ(read(folder_ / "store" / "later"), "made");

  fs::create_symlink("loop", folder_ / "loop");
  expect_error(folder_ / "loop", "x", "more than 40 symbolic links");
}

TEST_F(WriteFile, DirectoriesAndOtherKindsAreRefused) {
  expect_error(folder_, "x", "is a directory; give the name of a file");
  expect_error(folder_ / "", "x", "is a directory; give the name of a file");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_error(folder_ / "pipe", "x", "is not a regular file");
  EXPECT_EQ(count_entries(), 1u);
}

TEST_F(WriteFile, MissingFolder) {
  expect_error(folder_ / "no" / "model.gcst", "x", "opening the directory failed: No such file or directory");
  put(folder_ / "file", "x");
  expect_error(folder_ / "file" / "model.gcst", "x", "opening the directory failed: Not a directory");
}

TEST_F(WriteFile, UnwritableFolder) {
  put(folder_ / "model.gcst", "old");
  fs::permissions(folder_, fs::perms{0555});
  const bool is_root = ::geteuid() == 0;  // no mode stops root
  constexpr uid_t kNobody = 65534;
  if (is_root) {
    ASSERT_EQ(::seteuid(kNobody), 0);
  }
  expect_error(folder_ / "model.gcst", "new", "creating a file in the directory failed: Permission denied");
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(read(folder_ / "model.gcst"), "old");
  EXPECT_EQ(count_entries(), 1u);
}

TEST_F(WriteFile, AWriteThatFailsHalfwayLeavesTheOldFile) {
  const fs::path path = folder_ / "model.gcst";
  put(path, "old");
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {1 << 16, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  expect_error(path, std::string(1 << 20, 'n'), "writing failed: File too large; the file was not written");
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(count_entries(), 1u);
}

TEST_F(WriteFile, SpaceIsAskedForBeforehand) {
  const fs::path path = folder_ / "model.gcst";
  check_space(path, 1);
  try {
    check_space(path, UINT64_MAX);
    ADD_FAILURE() << "no disk has that much space";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(path.string() + ": needs 18446744073709551615 bytes, and the disk has "))
        << message;
    EXPECT_TRUE(message.ends_with(" bytes free; the file was not written")) << message;
  }
  check_can_write(path);
  EXPECT_EQ(count_entries(), 0u);
}

TEST_F(WriteFile, WhatAKilledWriterLeftGoesWithTheNextOne) {
  const fs::path path = folder_ / "model.gcst";
  const std::string large(1 << 20, 'n');
  const pid_t child = ::fork();
  if (child == 0) {
    // SIGXFSZ ends the process in the middle of its write, as SIGKILL would.
    const rlimit small = {1 << 16, RLIM_INFINITY};
    std::signal(SIGXFSZ, SIG_DFL);
    if (::setrlimit(RLIMIT_FSIZE, &small) == 0) write(path, large);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(count_entries(), 1u);
  EXPECT_TRUE(fs::directory_iterator(folder_)->path().filename().string().ends_with(".partial"));
  write(path, "whole");
  EXPECT_EQ(count_entries(), 1u);
  EXPECT_EQ(read(path), "whole");
}

TEST_F(WriteFile, APartialFileOfAWriterThatLivesStays) {
  const fs::path partial = folder_ / ".goldcrest-1-0.partial";
  put(partial, "being written");
  const int descriptor = ::open(partial.c_str(), O_WRONLY);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::flock(descriptor, LOCK_EX | LOCK_NB), 0);
  put(folder_ / ".goldcrest-1-0.other", "the user's");
  write(folder_ / "model.gcst", "x");
  EXPECT_EQ(read(partial), "being written");
  ::close(descriptor);
  write(folder_ / "model.gcst", "x");
  EXPECT_FALSE(fs::exists(partial));
  EXPECT_EQ(count_entries(), 2u);
}

}  // namespace
}  // namespace goldcrest::converter
