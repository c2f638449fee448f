// SPDX-License-Identifier: Apache-2.0
// Models that an update refuses, as soon as it can, and models that a start gives up. The old model stays in use.
#include "base/crc32c.h"
#include "board.h"
#include "model_generated.h"
#include "support/test.h"
#include "unit/model/hostile_file.h"

namespace goldcrest::test {
namespace {
using converter::FileImage;

constexpr const char* kWord = "cat";

struct Refusal : testing::Test {
  Refusal() { board.settle(old_file.span()); }

  // The update ends with this status and reason, and the old model starts.
  void expect_refused(std::span<const uint8_t> model, int status, const std::string& reason) {
    EXPECT_EQ(board.install(model), status);
    EXPECT_EQ(board.reason(), reason);
    expect_old();
  }
  void expect_old() {
    ASSERT_EQ(board.start(), GOLDCREST_OK) << board.reason();
    EXPECT_EQ(hash_of(board.engine(), kWord), hash_of(old_file.span(), kWord));
    EXPECT_FALSE(board.is_misused());
  }

  const FileImage old_file = tested_tiny_file(1), new_file = tested_tiny_file(2);
  Board board = Board(new_file.size(), {1024, 256});
};

size_t section_start(const FileImage& file, uint32_t i) {
  return size_t{format::GetModel(file.bytes())->sections()->Get(i)->offset()} * 64;
}

TEST_F(Refusal, DamageIsFoundBeforeTheRestArrives) {
  for (size_t byte = 0; byte < new_file.size(); byte += 97) {
    FileImage damaged = new_file;
    damaged.bytes()[byte] ^= 4;
    EXPECT_EQ(board.install(damaged.span(), 64), GOLDCREST_ERROR_MODEL_CORRUPT) << byte;
  }
  expect_old();
  // Damages a byte of the metadata: no section is written.
  FileImage damaged = new_file;
  damaged.bytes()[20] ^= 4;
  const uint32_t before = board.n_writes();
  expect_refused(damaged.span(), GOLDCREST_ERROR_MODEL_CORRUPT, "metadata: checksum");
  const size_t pages = section_start(new_file, 0) / 256 + 1, sectors = section_start(new_file, 0) / 1024 + 2;
  EXPECT_LE(board.n_writes() - before, pages + sectors + 1);
  damaged = new_file;
  damaged.bytes()[section_start(new_file, 0)] ^= 4;
  expect_refused(damaged.span(), GOLDCREST_ERROR_MODEL_CORRUPT, "sections: checksum (0)");
}

TEST_F(Refusal, SizesAndTrailers) {
  const size_t room = board.model_bytes();
  FileImage large(room + 64);
  expect_refused(large.span(), GOLDCREST_ERROR_TOO_LONG, "update: larger than a slot (" + std::to_string(room) + ")");
  expect_refused(new_file.span().first(64), GOLDCREST_ERROR_MODEL_CORRUPT, "update: no model has such a size (64)");
  expect_refused(new_file.span().first(200), GOLDCREST_ERROR_MODEL_CORRUPT, "update: no model has such a size (200)");
  expect_refused(new_file.span().first(new_file.size() - 64), GOLDCREST_ERROR_MODEL_CORRUPT,
      "trailer: not found at the end of the file");
  FileImage newer = new_file;
  uint8_t* const trailer = newer.bytes() + newer.size() - kTrailerBytes;
  trailer[8] = 2;
  const uint32_t checksum = crc32c(0, trailer, 60);
  std::memcpy(trailer + 60, &checksum, sizeof checksum);
  expect_refused(newer.span(), GOLDCREST_ERROR_MODEL_VERSION, "trailer: format version unknown to this engine (2)");
}

TEST_F(Refusal, CallsOutOfOrder) {
  ModelUpdate update = {};
  update.slots = &board.slots();
  EXPECT_EQ(write_update(&update, new_file.bytes(), 1), GOLDCREST_ERROR_STATE);
  EXPECT_STREQ(update.detail.message, "update: none is under way");
  EXPECT_EQ(finish_update(&update), GOLDCREST_ERROR_STATE);
  const uint8_t* const trailer = new_file.span().last(kTrailerBytes).data();
  const size_t rest = new_file.size() - kTrailerBytes;
  ASSERT_EQ(begin_update(&update, &board.slots(), new_file.size(), trailer), GOLDCREST_OK);
  ASSERT_EQ(write_update(&update, new_file.bytes(), rest - 1), GOLDCREST_OK);
  EXPECT_EQ(finish_update(&update), GOLDCREST_ERROR_STATE);
  EXPECT_STREQ(update.detail.message, "update: the model has not arrived");
  EXPECT_EQ(update.detail.index, static_cast<int>(rest - 1));
  ASSERT_EQ(begin_update(&update, &board.slots(), new_file.size(), trailer), GOLDCREST_OK);
  EXPECT_EQ(write_update(&update, new_file.bytes(), rest + 1), GOLDCREST_ERROR_TOO_LONG);
  EXPECT_STREQ(update.detail.message, "update: more bytes than were announced");
  expect_old();
}

TEST_F(Refusal, AnUpdateWaitsForTheConfirmation) {
  ASSERT_EQ(board.install(new_file.span()), GOLDCREST_OK);
  EXPECT_EQ(board.confirm(), GOLDCREST_ERROR_STATE);
  EXPECT_EQ(board.reason(), "slots: no model was started");
  EXPECT_EQ(board.install(old_file.span()), GOLDCREST_ERROR_STATE);
  EXPECT_EQ(board.reason(), "update: the model that runs is not confirmed");
  ASSERT_EQ(board.start(), GOLDCREST_OK);
  EXPECT_EQ(hash_of(board.engine(), kWord), hash_of(new_file.span(), kWord));
  EXPECT_EQ(board.install(old_file.span()), GOLDCREST_ERROR_STATE);
  ASSERT_EQ(board.confirm(), GOLDCREST_OK);
  ASSERT_EQ(board.confirm(), GOLDCREST_OK);
  EXPECT_EQ(board.install(old_file.span()), GOLDCREST_OK);
}

// Right checksums of contents that no converter writes: nothing is wrong as it arrives, and the start gives it up.
TEST_F(Refusal, WhatDoesNotValidateIsRolledBack) {
  FileImage wrong = new_file;
  wrong.bytes()[section_start(wrong, 0)] = 0x80;  // -128
  repair_checksums(wrong);
  ASSERT_EQ(board.install(wrong.span()), GOLDCREST_OK) << board.reason();
  expect_old();
  expect_old();
  EXPECT_EQ(board.install(new_file.span()), GOLDCREST_OK) << "the old model is confirmed";
}

TEST_F(Refusal, WhatFailsItsSelfTestIsRolledBack) {
  const FileImage wrong = remade(new_file, [](format::ModelT& model) { model.self_test[0]->hash_low ^= 1; });
  ASSERT_EQ(board.install(wrong.span()), GOLDCREST_OK) << board.reason();
  expect_old();
  expect_old();
}

TEST_F(Refusal, WhatIsNotConfirmedIsRolledBack) {
  ASSERT_EQ(board.install(new_file.span()), GOLDCREST_OK);
  ASSERT_EQ(board.start(), GOLDCREST_OK);
  EXPECT_EQ(hash_of(board.engine(), kWord), hash_of(new_file.span(), kWord));
  expect_old();
  expect_old();
}

// The flash loses a bit of the running model: the previous model is still there.
TEST_F(Refusal, AModelThatIsDamagedLaterGivesWayToTheOneBefore) {
  board.settle(new_file.span());
  ModelRecord record;
  ASSERT_TRUE(read_record(&board.slots(), &record));
  board.flash().memory[slot_offset(&board.slots(), record.slot) + new_file.size() / 2] ^= 1;
  expect_old();
  // Now both models are damaged.
  board.flash().memory[slot_offset(&board.slots(), record.slot ^ 1) + old_file.size() / 2] ^= 1;
  EXPECT_EQ(board.start(), GOLDCREST_ERROR_MODEL_CORRUPT);
  EXPECT_EQ(board.engine(), nullptr);
}

// An unconfirmed model is better than none: it is given up when the other one has started, not before.
TEST_F(Refusal, AnUnconfirmedModelStaysWhereTheOtherIsDamaged) {
  ModelRecord record;
  ASSERT_TRUE(read_record(&board.slots(), &record));
  uint8_t& byte = board.flash().memory[slot_offset(&board.slots(), record.slot) + old_file.size() / 2];
  ASSERT_EQ(board.install(new_file.span()), GOLDCREST_OK);
  byte ^= 1;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(board.start(), GOLDCREST_OK) << board.reason();
    EXPECT_EQ(hash_of(board.engine(), kWord), hash_of(new_file.span(), kWord));
  }
  byte ^= 1;  // a bit that later reads right again
  expect_old();
  expect_old();
  byte ^= 1;
  EXPECT_EQ(board.start(), GOLDCREST_ERROR_MODEL_CORRUPT) << "the new model was given up";
}

// While an update arrives, start_model finds the running model damaged, and the arrived part is not yet a model.
TEST_F(Refusal, TheModelThatRunsIsDamagedDuringAnUpdate) {
  board.settle(new_file.span());
  ModelRecord record;
  ASSERT_TRUE(read_record(&board.slots(), &record));
  ModelUpdate update;
  const size_t rest = old_file.size() - kTrailerBytes;
  ASSERT_EQ(begin_update(&update, &board.slots(), old_file.size(), old_file.span().last(kTrailerBytes).data()), 0);
  ASSERT_EQ(write_update(&update, old_file.bytes(), rest / 2), GOLDCREST_OK);
  board.flash().memory[slot_offset(&board.slots(), record.slot) + new_file.size() / 2] ^= 1;
  EXPECT_EQ(board.start(), GOLDCREST_ERROR_MODEL_CORRUPT);
  ASSERT_EQ(write_update(&update, old_file.bytes() + rest / 2, rest - rest / 2), GOLDCREST_OK);
  ASSERT_EQ(finish_update(&update), GOLDCREST_OK) << update.detail.message;
  expect_old();
  expect_old();
}

// The same after all has arrived: then the new model starts, and the update has nothing more to do.
TEST_F(Refusal, TheModelThatRunsIsDamagedBeforeAnUpdateEnds) {
  board.settle(new_file.span());
  ModelRecord record;
  ASSERT_TRUE(read_record(&board.slots(), &record));
  ModelUpdate update;
  ASSERT_EQ(begin_update(&update, &board.slots(), old_file.size(), old_file.span().last(kTrailerBytes).data()), 0);
  ASSERT_EQ(write_update(&update, old_file.bytes(), old_file.size() - kTrailerBytes), GOLDCREST_OK);
  board.flash().memory[slot_offset(&board.slots(), record.slot) + new_file.size() / 2] ^= 1;
  expect_old();
  EXPECT_EQ(finish_update(&update), GOLDCREST_ERROR_STATE);
  EXPECT_STREQ(update.detail.message, "update: another model starts since it began");
  expect_old();
}

TEST_F(Refusal, PagesThatAreNotTaken) {
  const FlashDevice device = board.flash().device;
  for (const uint32_t page_bytes : {0u, 32u, 96u, 192u, 2048u}) {
    board.flash().device.page_bytes = page_bytes;
    EXPECT_EQ(board.install(new_file.span()), GOLDCREST_ERROR_ARGUMENT);
    EXPECT_EQ(board.reason(), "flash: page_bytes (" + std::to_string(page_bytes) + ")");
  }
  board.flash().device = device;
  expect_old();
}

// A boot loader that knows only some models.
struct KnownModels {
  std::vector<const FileImage*> files;
  static bool accepts(void* context, const uint8_t* model, size_t model_bytes) {
    for (const FileImage* file : static_cast<KnownModels*>(context)->files)
      if (file->size() == model_bytes && std::memcmp(file->bytes(), model, model_bytes) == 0) return true;
    return false;
  }
};

TEST_F(Refusal, WhatTheBootLoaderDoesNotKnow) {
  KnownModels known = {{&old_file}};
  board.slots().accepts = KnownModels::accepts;
  board.slots().context = &known;
  expect_refused(new_file.span(), GOLDCREST_ERROR_ARGUMENT, "signature: refused (1)");
  known.files = {&old_file, &new_file};
  board.settle(new_file.span());
  known.files = {&old_file};  // later it does not know the new model any more
  expect_old();
  known.files = {};
  EXPECT_EQ(board.start(), GOLDCREST_ERROR_ARGUMENT);
  EXPECT_EQ(board.reason(), "signature: refused (0)");
}

// A flash that reports a failure, or that loses what was written: each write in turn.
TEST_F(Refusal, FlashThatFails) {
  SimulatedFlash& flash = board.flash();
  const auto failing = [](void*, size_t, const uint8_t*, size_t) { return false; };
  const auto deaf = [](void*, size_t, const uint8_t*, size_t) { return true; };
  const auto program = flash.device.program;
  for (const auto wrong : {+failing, +deaf}) {
    flash.device.program = wrong;
    EXPECT_EQ(board.install(new_file.span()), GOLDCREST_ERROR_STATE);
    EXPECT_EQ(board.reason(), "flash: the trailer could not be written");
    flash.device.program = program;
    ModelUpdate update;
    ASSERT_EQ(begin_update(&update, &board.slots(), new_file.size(), new_file.span().last(kTrailerBytes).data()), 0);
    flash.device.program = wrong;
    EXPECT_EQ(write_update(&update, new_file.bytes(), 256), GOLDCREST_ERROR_STATE);
    EXPECT_STREQ(update.detail.message, "flash: a page could not be written");
    EXPECT_EQ(write_update(&update, new_file.bytes(), 256), GOLDCREST_ERROR_STATE);
    EXPECT_STREQ(update.detail.message, "update: none is under way");
    flash.device.program = program;
    ASSERT_EQ(begin_update(&update, &board.slots(), new_file.size(), new_file.span().last(kTrailerBytes).data()), 0);
    ASSERT_EQ(write_update(&update, new_file.bytes(), new_file.size() - kTrailerBytes), 0);
    flash.device.program = wrong;
    EXPECT_EQ(finish_update(&update), GOLDCREST_ERROR_STATE);
    EXPECT_STREQ(update.detail.message, "flash: a record could not be written");
    flash.device.program = program;
    expect_old();
    ASSERT_EQ(board.install(new_file.span()), GOLDCREST_OK);
    flash.device.program = wrong;
    EXPECT_EQ(board.start(), GOLDCREST_ERROR_STATE);
    EXPECT_EQ(board.reason(), "flash: a record could not be written");
    flash.device.program = program;
    ASSERT_EQ(board.start(), GOLDCREST_OK);
    flash.device.program = wrong;
    EXPECT_EQ(board.confirm(), GOLDCREST_ERROR_STATE);
    flash.device.program = program;
    expect_old();
  }
}
}  // namespace
}  // namespace goldcrest::test
