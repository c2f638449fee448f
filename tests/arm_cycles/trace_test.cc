// SPDX-License-Identifier: Apache-2.0
// Reads files of tracer.c that are written by hand.
#include "arm_cycles/trace.h"

#include <gtest/gtest.h>

#include <fstream>
#include <istream>
#include <stdexcept>

#include "support/temporary_folder.h"

namespace arm_cycles {
namespace {

template <typename T>
void write(const std::string& path, const std::vector<T>& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
}

// Writes two blocks, two instructions at address 100 and one at 108, and a third that never runs and does not decode.
std::string write_trace(const std::string& folder, const std::vector<uint32_t>& runs) {
  std::string prefix = folder + "/t";
  write<uint64_t>(prefix + ".blocks", {100, 0, 2, 108, 8, 1, 500, 12, 1});
  write<uint32_t>(prefix + ".runs", runs);
  std::ofstream(prefix + ".listing") << "\nt.code:     file format binary\n\n0000000000000000 <.data>:\n"
                                     << "       0:\tadd\tx1, x1, x2\n       4:\tldr\tq0, [x1]\n       8:\tnop\n"
                                     << "       c:\tfrobnicate\tx0\n";
  return prefix;
}

TEST(Trace, SectionsOfBlocksInTheirOrder) {
  const goldcrest::test::TemporaryFolder folder;
  const std::string prefix = write_trace(folder.path().string(), {0xffffffff, 0, 1, 0, 0xffffffff, 1});
  const TraceFile file(prefix, decode);
  ASSERT_EQ(file.sections(), 2u);
  const Trace first = file.trace(0);
  const auto& steps = first.steps;
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(first.instructions.size(), 3u);
  EXPECT_EQ(first.instructions[1].kind, Kind::kLoadQ);
  EXPECT_EQ(steps[3].instruction, steps[0].instruction);
  EXPECT_FALSE(steps[1].jumped);  // 108 follows 104
  EXPECT_TRUE(steps[2].jumped);   // back to 100
  EXPECT_EQ(file.trace(1).steps.size(), 1u);
  EXPECT_EQ(file.blocks(1), std::u32string_view(U"\1"));
}

TEST(Trace, LinesOfSections) {
  const goldcrest::test::TemporaryFolder folder;
  const std::string prefix = write_trace(folder.path().string(), {0xffffffff, 0, 0xffffffff, 1});
  const TraceFile file(prefix, decode);
  const auto numbers = [&](const char* lines) {
    std::ofstream(prefix + ".names") << lines;
    std::vector<int> found(2);
    try {
      file.for_sections([&](std::istream& words, size_t section) { words >> found[section]; });
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), prefix + ".names: does not fit the trace");
      found.clear();
    }
    return found;
  };
  EXPECT_EQ(numbers("5\n7 more\n"), std::vector<int>({5, 7}));
  for (const char* lines : {"5\n", "5\n7\n8\n", "5\nseven\n"}) EXPECT_TRUE(numbers(lines).empty()) << lines;
}

TEST(Trace, DamagedFilesAreRefused) {
  const goldcrest::test::TemporaryFolder folder;
  EXPECT_THROW(TraceFile(write_trace(folder.path().string(), {0}), decode), std::runtime_error);
  EXPECT_THROW(TraceFile(write_trace(folder.path().string(), {0xffffffff, 3}), decode), std::runtime_error);
  EXPECT_THROW(TraceFile(write_trace(folder.path().string(), {0xffffffff, 2}), decode).trace(0), std::runtime_error);
  EXPECT_THROW(TraceFile(folder / "none", decode), std::runtime_error);
}

}  // namespace
}  // namespace arm_cycles
