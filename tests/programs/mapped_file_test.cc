// SPDX-License-Identifier: Apache-2.0
// The programs' mapped model: released pages leave the process's memory, and come back with the same bytes.
#include "examples/support/mapped_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <numeric>
#include <string>

#include "support/temporary_folder.h"

namespace goldcrest::test {
namespace {

constexpr size_t kBytes = size_t{4} << 20;

// Bytes of a mapped file in this process's memory, as the kernel counts them.
size_t resident_bytes(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  bool of_file = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) of_file = true;
    if (of_file && line.rfind("Rss:", 0) == 0) return std::stoul(line.substr(4)) * 1024;
  }
  ADD_FAILURE() << path << " is not mapped";
  return 0;
}

size_t sum_of(const MappedFile& file) {
  const auto* bytes = static_cast<const uint8_t*>(file.bytes());
  return std::accumulate(bytes, bytes + file.size(), size_t{0});
}

// If the system maps large pages, more than the released range leaves; all of it comes back.
TEST(MappedFileTest, ReleasedPagesLeaveTheMemoryAndComeBack) {
  const TemporaryFolder folder;
  std::string content(kBytes, 0);
  for (size_t i = 0; i < kBytes; ++i) content[i] = static_cast<char>(i * 7 / 5);
  const std::string path = folder.write("model", content);
  MappedFile file;
  ASSERT_EQ(file.open(path), "");
  const size_t sum = sum_of(file);
  ASSERT_EQ(resident_bytes(path), kBytes);

  const auto* bytes = static_cast<const uint8_t*>(file.bytes());
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  MappedFile::release(nullptr, bytes + 1, page - 1);  // no page begins in this range
  MappedFile::release(nullptr, bytes + 1, 0);
  EXPECT_EQ(resident_bytes(path), kBytes);
  MappedFile::release(nullptr, bytes + 1, page);  // the second page begins in this range
  EXPECT_LE(resident_bytes(path), kBytes - page);
  MappedFile::release(nullptr, bytes + kBytes / 4, kBytes / 2);
  EXPECT_LE(resident_bytes(path), kBytes / 2 - page);
  EXPECT_EQ(sum_of(file), sum);
  EXPECT_EQ(resident_bytes(path), kBytes);
}

}  // namespace
}  // namespace goldcrest::test
