// SPDX-License-Identifier: Apache-2.0
// The power fails during any write of an update or of a start, at any byte of it. Then either the old model or the new
// one starts, whole, and it translates as it does elsewhere.
#include "base/hash.h"
#include "board.h"
#include "kernels/validation_sources.h"
#include "support/test.h"

namespace goldcrest::test {
namespace {
constexpr const char* kText = "cat";

// Reads a model file that an earlier test made; the environment names it.
converter::FileImage read_image(const char* variable, const std::string& ending) {
  const char* const path = std::getenv(variable);
  if (path == nullptr) throw std::runtime_error(std::string(variable) + " names no file; ctest does");
  std::ifstream file(path + ending, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  converter::FileImage image(bytes.size());
  std::copy(bytes.begin(), bytes.end(), image.bytes());
  return image;
}

enum class Model { kOld, kNew };

// An old model that runs, a new one, and the results of each.
struct Update {
  converter::FileImage old_file, new_file;
  FlashSizes sizes = {};
  uint64_t old_hash = hash_of(old_file.span(), kText), new_hash = hash_of(new_file.span(), kText);

  size_t model_bytes() const { return std::max(old_file.size(), new_file.size()); }

  // Starts a model after the power came back and returns which one it is. It is a failure if none starts.
  Model started(Board& board) const {
    board.power_on(0, 0);
    const int status = board.start();
    EXPECT_EQ(status, GOLDCREST_OK) << board.reason();
    if (status < 0) return Model::kOld;
    const uint64_t hash = hash_of(board.engine(), kText);
    EXPECT_TRUE(hash == old_hash || hash == new_hash) << "another model";
    return hash == new_hash ? Model::kNew : Model::kOld;
  }
};

// Cuts every write of the update after each of cut_bytes (more than the write has: after all of it). Cuts erasing and
// programming of the record at every byte. The new model is never confirmed, so the old one returns. Returns the number
// of cut updates.
int cut_every_write(const Update& update, const std::vector<size_t>& cut_bytes) {
  constexpr size_t kRecordBytes = 2 * sizeof(ModelRecord);
  Board board(update.model_bytes(), update.sizes);
  board.settle(update.old_file.span());
  board.power_on(0, 0);
  EXPECT_EQ(board.install(update.new_file.span()), GOLDCREST_OK) << board.reason();
  const uint32_t n_writes = board.n_writes();
  EXPECT_EQ(update.started(board), Model::kNew);
  EXPECT_EQ(update.started(board), Model::kOld) << "it was not confirmed";
  std::vector<size_t> every_byte;
  for (size_t n = 0; n <= kRecordBytes; ++n) every_byte.push_back(n);
  int n_cut = 0;
  for (uint32_t cut_at = 1; cut_at <= n_writes && !testing::Test::HasFailure(); ++cut_at) {
    for (const size_t n : cut_at + 1 < n_writes ? cut_bytes : every_byte) {
      SCOPED_TRACE(testing::Message() << "write " << cut_at << " of " << n_writes << ", byte " << n);
      board.power_on(cut_at, n);
      EXPECT_EQ(board.install(update.new_file.span()), GOLDCREST_ERROR_STATE);
      EXPECT_EQ(board.n_writes(), cut_at) << "nothing is written after an error";
      // The record is the last write: before it the old model starts, after it the new one, once.
      const Model model = update.started(board);
      if (cut_at < n_writes) {
        EXPECT_EQ(model, Model::kOld);
      }
      if (cut_at == n_writes && n >= kRecordBytes) {
        EXPECT_EQ(model, Model::kNew);
      }
      EXPECT_EQ(update.started(board), Model::kOld) << "it is not confirmed";
      ++n_cut;
    }
  }
  EXPECT_EQ(board.install(update.new_file.span()), GOLDCREST_OK) << "it still works after all these cuts";
  EXPECT_EQ(update.started(board), Model::kNew);
  EXPECT_EQ(board.confirm(), GOLDCREST_OK);
  EXPECT_EQ(update.started(board), Model::kNew);
  EXPECT_FALSE(board.is_misused()) << "writes follow the rules of NOR flash";
  return n_cut;
}

TEST(PowerCut, DuringEveryWriteOfAnUpdate) {
  const Update update = {tested_tiny_file(1), tested_tiny_file(2), {1024, 256}};
  const int n_cut = cut_every_write(update, {1, 130, 1024});
  std::printf("%d updates cut short\n", n_cut);
}

TEST(PowerCut, DuringEveryWriteOfAShippedModel) {
  const Update update = {read_image("G2P", ".gcst"), read_image("G2P_SMALL", ""), {4096, 1024}};
  const int n_cut = cut_every_write(update, {100});
  std::printf("%d updates cut short\n", n_cut);
}

// Cuts each write of a record by a start and a confirmation, or by two starts: two erasures and twice 64 bytes. The
// next start takes the model that would have started, or the old one if the new one has had its chance.
TEST(PowerCut, DuringStartAndConfirmation) {
  const Update update = {tested_tiny_file(1), tested_tiny_file(2), {1024, 256}};
  for (const bool confirms : {false, true}) {
    for (uint32_t cut_at = 1; cut_at <= 4; ++cut_at) {
      const bool erases = cut_at % 2 == 1;
      for (size_t cut_bytes = 0; cut_bytes <= (erases ? 1024 : 64); cut_bytes += erases ? 93 : 1) {
        SCOPED_TRACE(testing::Message() << "write " << cut_at << ", byte " << cut_bytes);
        Board board(update.model_bytes(), update.sizes);
        board.settle(update.old_file.span());
        ASSERT_EQ(board.install(update.new_file.span()), GOLDCREST_OK);
        board.power_on(cut_at, cut_bytes);
        const int first = board.start();
        if (first >= 0 && confirms) (void)board.confirm();
        if (first >= 0 && !confirms) (void)board.start();
        EXPECT_EQ(board.n_writes(), cut_at) << "the cut came, and nothing was written after it";
        const Model second = update.started(board), third = update.started(board);
        EXPECT_FALSE(second == Model::kOld && third == Model::kNew) << "a model that was given up does not return";
        EXPECT_FALSE(board.is_misused());
      }
    }
  }
}

// The first installation cannot go back to an older model.
TEST(PowerCut, DuringTheFirstInstallation) {
  const converter::FileImage file = tested_tiny_file(3);
  const uint64_t hash = hash_of(file.span(), kText);
  Board whole(file.size(), {1024, 256});
  ASSERT_EQ(whole.install(file.span()), GOLDCREST_OK);
  const uint32_t n_writes = whole.n_writes();
  for (uint32_t cut_at = 1; cut_at <= n_writes; ++cut_at) {
    Board board(file.size(), {1024, 256});
    board.power_on(cut_at, 33);
    EXPECT_EQ(board.install(file.span()), GOLDCREST_ERROR_STATE);
    board.power_on(0, 0);
    EXPECT_EQ(board.start(), GOLDCREST_ERROR_STATE);
    EXPECT_EQ(board.reason(), "slots: no model is installed");
    ASSERT_EQ(board.install(file.span()), GOLDCREST_OK);
    for (int i = 0; i < 3; ++i) {  // never confirmed
      ASSERT_EQ(board.start(), GOLDCREST_OK) << board.reason();
      EXPECT_EQ(hash_of(board.engine(), kText), hash);
    }
  }
}

// The golden hash (FORMAT.md, "Self-test") of a model that an update has brought.
TEST(Update, AnInstalledModelHasItsGoldenHash) {
  const converter::FileImage file = read_image("G2P", ".gcst"), small = read_image("G2P_SMALL", "");
  Board board(file.size());
  board.settle(small.span());
  board.settle(file.span());
  uint64_t hash = kHashStart, expected = 0;
  for (const std::string& word : read_validation_sources(GOLDCREST_SOURCE_DIR "/tests/data/g2p/valid.tsv", false))
    hash = hash_halves(hash, hash_of(board.engine(), word));
  std::ifstream(std::getenv("G2P") + std::string(".hash")) >> std::hex >> expected;
  EXPECT_EQ(hash, expected);
}
}  // namespace
}  // namespace goldcrest::test
