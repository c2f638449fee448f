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
#include <string>
#include <vector>

#include "file/write.h"
#include "goldcrest/goldcrest.h"
#include "model_generated.h"
#include "spec/error.h"
#include "support/random_spec.h"

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

// The engine takes the writer's files: full verification, the same bits in every layout, and both stages of the
// self-test.

// An engine with memory of its own over `image`, which must outlive it.
class TestEngine {
 public:
  explicit TestEngine(const FileImage& image) {
    const int64_t bytes = goldcrest_arena_bytes(image.bytes(), image.size(), nullptr);
    EXPECT_GT(bytes, 0);
    if (bytes <= 0) return;
    arena_ = FileImage(static_cast<size_t>(bytes));
    goldcrest_config config = {};
    config.model = image.bytes();
    config.model_bytes = image.size();
    config.arena = arena_.bytes();
    config.arena_bytes = arena_.size();
    config.detail = &detail_;
    EXPECT_EQ(goldcrest_init(&engine_, &config), GOLDCREST_OK) << detail_.message << " " << detail_.index;
  }

  goldcrest_engine* get() { return engine_; }
  bool ready() const { return engine_ != nullptr; }

  // Returns the greedy search of a source as a line of a self-test.
  SelfTestLine translate(const std::vector<uint32_t>& source) {
    goldcrest_search search = {};
    search.beam_size = 1;
    search.length_penalty = 1;
    search.flags = GOLDCREST_SEARCH_HASH_LOGITS;
    const std::vector<int32_t> ids(source.begin(), source.end());
    goldcrest_result result = {};
    EXPECT_EQ(goldcrest_set_search(engine_, &search), GOLDCREST_OK) << detail_.message;
    EXPECT_EQ(goldcrest_begin(engine_, ids.data(), ids.size()), 0) << detail_.message;
    EXPECT_EQ(goldcrest_run(engine_), GOLDCREST_DONE) << detail_.message;
    EXPECT_EQ(goldcrest_get_result(engine_, 0, 0, &result), GOLDCREST_OK) << detail_.message;
    return {source, {result.tokens, result.tokens + result.n_tokens}, result.logits_hash};
  }

 private:
  FileImage arena_{0};
  goldcrest_detail detail_ = {"", -1};
  goldcrest_engine* engine_ = nullptr;
};

FileImage image_of(const ModelSpec& spec, Layout layout, std::span<const SelfTestLine> lines = {}) {
  BuildOptions options;
  options.layout = layout;
  return assemble(build_payload(spec, options), lines);
}

// Includes models with one table for decoder and projection; the embedding then has the projection's layout.
std::vector<ModelSpec> specs() {
  std::vector<ModelSpec> specs = {test::random_spec(11), test::random_spec(12)};
  specs[1].projection.weight = specs[1].decoder.embedding;
  return specs;
}

TEST(WriteEngine, EveryLayoutGivesTheSameBits) {
  for (const ModelSpec& spec : specs()) {
    const FileImage first = image_of(spec, Layout::kN16K4), second = image_of(spec, Layout::kN4K16);
    TestEngine a(first), b(second);
    ASSERT_TRUE(a.ready() && b.ready());
    for (const std::vector<uint32_t>& source : {std::vector<uint32_t>{5, 3, 0}, {18, 1, 2, 9, 9, 4, 0}, {0}}) {
      const SelfTestLine x = a.translate(source), y = b.translate(source);
      EXPECT_FALSE(x.target.empty());
      EXPECT_NE(x.hash, 0u);
      EXPECT_EQ(x.target, y.target);
      EXPECT_EQ(x.hash, y.hash);
    }
  }
}

TEST(WriteEngine, InformationIsWhatWasWritten) {
  const Payload payload = build_payload(test::random_spec(11), {});
  const FileImage image = assemble(payload, {});
  goldcrest_info info = {};
  goldcrest_detail detail = {"", -1};
  ASSERT_EQ(goldcrest_model_info(image.bytes(), image.size(), &info, &detail), GOLDCREST_OK) << detail.message;
  EXPECT_EQ(info.weights_hash,
            (uint64_t{payload.metadata->weights_hash_high} << 32) | payload.metadata->weights_hash_low);
  EXPECT_EQ(info.file_bytes, image.size());
  EXPECT_EQ(info.source_vocab_size, 19u);
  EXPECT_EQ(info.target_vocab_size, 37u);
  EXPECT_EQ(info.decoder_start_id, 36);
  EXPECT_EQ(info.limits.max_target_tokens, 7u);
  EXPECT_STREQ(info.license, "CC0-1.0");
  EXPECT_STREQ(info.attribution, "");
}

TEST(WriteEngine, SelfTestLinesComeFromTheFirstStage) {
  const ModelSpec spec = test::random_spec(11);
  const FileImage first = image_of(spec, Layout::kN16K4);
  TestEngine engine(first);
  ASSERT_TRUE(engine.ready());
  std::vector<SelfTestLine> lines = {engine.translate({5, 3, 0}), engine.translate({7, 0})};

  const FileImage with = image_of(spec, Layout::kN4K16, lines);
  TestEngine tested(with);
  ASSERT_TRUE(tested.ready());
  goldcrest_detail detail = {"", -1};
  EXPECT_EQ(goldcrest_self_test(tested.get(), &detail), GOLDCREST_OK) << detail.message << " " << detail.index;

  lines[1].hash ^= 1;
  const FileImage wrong = image_of(spec, Layout::kN16K4, lines);
  TestEngine failing(wrong);
  ASSERT_TRUE(failing.ready());
  EXPECT_EQ(goldcrest_self_test(failing.get(), &detail), GOLDCREST_ERROR_SELF_TEST);
  EXPECT_EQ(detail.index, 1);
}

// A checksum or a check for zero covers every bit of a file. Flips each bit of every 211th byte and of the trailer.
TEST(WriteEngine, AFlippedBitIsRefused) {
  FileImage image = image_of(test::random_spec(11), Layout::kN16K4);
  goldcrest_config config = {};
  config.model = image.bytes();
  config.model_bytes = image.size();
  FileImage arena(static_cast<size_t>(goldcrest_arena_bytes(image.bytes(), image.size(), nullptr)));
  config.arena = arena.bytes();
  config.arena_bytes = arena.size();
  goldcrest_engine* engine = nullptr;
  ASSERT_EQ(goldcrest_init(&engine, &config), GOLDCREST_OK);
  for (size_t byte = 0; byte<image.size(); byte += byte + 192> image.size() ? 1 : 211) {
    for (int bit = 0; bit < 8; ++bit) {
      const auto mask = static_cast<uint8_t>(1 << bit);
      image.bytes()[byte] ^= mask;
      ASSERT_LT(goldcrest_init(&engine, &config), 0) << "byte " << byte << ", bit " << bit;
      image.bytes()[byte] ^= mask;
    }
  }
}

}  // namespace
}  // namespace goldcrest::converter
