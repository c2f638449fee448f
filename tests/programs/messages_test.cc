// SPDX-License-Identifier: Apache-2.0
// Text of untrusted files, and errors of the engine, as the programs print them.
#include "host/messages.h"
#include <unistd.h>
#include <chrono>
#include <thread>
#include "convert/support/shipped_model.h"
#include "converter/file/write.h"
#include "host/model_memory.h"
#include "host/thread_pool.h"
#include "model_generated.h"
#include "programs/models.h"
#include "support/test.h"

namespace goldcrest::test { namespace {
TEST(Printable, InspectShowsAHostileFileHarmlessly) {
  const converter::Payload payload = converter::build_payload(shipped_model("g2p").spec, {});
  payload.metadata->provenance->name = "g2p\narena        0 bytes";
  payload.metadata->provenance->license = "\x1b]0;title\a";
  payload.metadata->provenance->attribution = "caf\xe9 \\ \u202e";
  payload.metadata->provenance->source_language = "\r\x1b[2K";
  const TemporaryFolder folder;
  const std::string path = folder / "hostile.gcst";
  converter::write_file(path, converter::assemble(payload, {}).span());
  const Outcome outcome = with_status(0, run(inspect_program(), {path}));
  for (const char* line : {"\nname         g2p\\x0aarena        0 bytes\n", "\nlicence      \\x1b]0;title\\x07\n",
           "\nattribution  caf\\xe9 \\ \\xe2\\x80\\xae\n", "\nlanguages    \\x0d\\x1b[2K -> ARPAbet\n"})
    EXPECT_TRUE(has(outcome.out, line)) << line << "in" << outcome.out;
  for (const char c : outcome.out) EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << static_cast<int>(c);
}

TEST(DescribeError, NamesStatusReasonAndIndex) {
  EXPECT_EQ(describe_error(GOLDCREST_ERROR_STATE, {"", -1}), "call does not fit the engine's state");
  EXPECT_EQ(describe_error(GOLDCREST_ERROR_STATE, {nullptr, -1}), "call does not fit the engine's state");
  EXPECT_EQ(describe_error(GOLDCREST_ERROR_TOKEN_RANGE, {"source: id outside the vocabulary", 0}),
      "token id out of range: source: id outside the vocabulary (0)");
  EXPECT_EQ(describe_error(GOLDCREST_ERROR_ARENA_TOO_SMALL, {"arena: smaller than goldcrest_plan_memory says", 43264}),
      "arena too small: arena: smaller than goldcrest_plan_memory says (43264 bytes)");
}

// The programs' mapped model: released pages leave the process's memory, and come back with the same bytes.

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

// The programs' thread pool runs every task once. At the end all are done and visible, on any thread.

// One entry for each task; plain memory, so that a sanitizer sees a missing order.
struct Counts {
  std::vector<size_t> values;
  static void add(void* counts, size_t i) { static_cast<Counts*>(counts)->values[i] += i + 1; }
};

TEST(ThreadPoolTest, EveryTaskRunsOnce) {
  for (const uint32_t threads : {2u, 3u, 5u, 64u}) {
    ThreadPool pool;
    ASSERT_EQ(pool.start(threads), "");
    EXPECT_EQ(pool.threads(), threads);
    Counts counts;
    for (size_t n = 0; n <= 64; ++n) {
      for (int again = 1; again <= 20; ++again) {
        if (again == 1) counts.values.assign(n, 0);
        pool.parallel_for()(pool.context(), Counts::add, &counts, n);
        for (size_t i = 0; i < n; ++i)
          ASSERT_EQ(counts.values[i], (i + 1) * static_cast<size_t>(again)) << n << " tasks, " << threads << " threads";
      }
    }
  }
}

TEST(ThreadPoolTest, SleepingThreadsWakeUp) {
  ThreadPool pool;
  ASSERT_EQ(pool.start(4), "");
  Counts counts = {std::vector<size_t>(8)};
  for (size_t again = 1; again <= 5; ++again) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // longer than idle threads look for work
    pool.parallel_for()(pool.context(), Counts::add, &counts, counts.values.size());
    for (size_t i = 0; i < counts.values.size(); ++i) EXPECT_EQ(counts.values[i], (i + 1) * again);
  }
}

// While its tasks take time, more than one thread runs them.
TEST(ThreadPoolTest, ThreadsShareTheTasks) {
  ThreadPool pool;
  ASSERT_EQ(pool.start(4), "");
  std::vector<std::thread::id> runners(16);
  const auto work = [](void* context, size_t i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    (*static_cast<std::vector<std::thread::id>*>(context))[i] = std::this_thread::get_id();
  };
  pool.parallel_for()(pool.context(), work, &runners, runners.size());
  const std::set<std::thread::id> different(runners.begin(), runners.end());
  EXPECT_GT(different.size(), 1u);
  EXPECT_LE(different.size(), 4u);
  EXPECT_EQ(different.count(std::thread::id()), 0u) << "a task did not run";
}

TEST(ThreadPoolTest, CountsOfThreads) {
  ThreadPool one, all, none, many;
  EXPECT_EQ(one.start(1), "");
  EXPECT_EQ(one.threads(), 1u);
  EXPECT_EQ(one.parallel_for(), nullptr);
  EXPECT_EQ(all.start(0), "");
  EXPECT_EQ(all.threads(), std::min(64u, std::max(1u, std::thread::hardware_concurrency())));
  EXPECT_EQ(none.threads(), 1u) << "not started";
  EXPECT_NE(many.start(65), "");
}
}}  // namespace goldcrest::test
