// SPDX-License-Identifier: Apache-2.0
#include "fuzz/damaged_flash.h"
#include <sys/mman.h>
#include "api/engine.h"
#include "base/align.h"
#include "base/crc32c.h"
#include "fuzz/metadata_tree.h"
#include "goldcrest/check.h"
#include "support/guarded_buffer.h"

namespace goldcrest::test {
namespace {
constexpr size_t kTrailerBytes = 64;

template <typename Element> Element& changeable(const Element& element) {
  return const_cast<Element&>(element);  // the element is in this file's own copy, which is not constant
}

// A copy of a good file, and an engine that is started on it.
class Flash {
 public:
  explicit Flash(const goldcrest_config& good) : bytes_(good.model_bytes), config_(good) {
    std::memcpy(bytes_.get(), good.model, good.model_bytes);
    config_.model = bytes_.get();
    config_.detail = nullptr;
  }

  uint8_t* bytes() { return bytes_.get(); }
  const uint8_t* bytes() const { return bytes_.get(); }
  size_t size() const { return bytes_.size(); }
  goldcrest_config& config() { return config_; }
  const format::Model& model() const { return *format::GetModel(bytes_.get()); }

  int check(size_t end, goldcrest_check* state) const {
    return goldcrest_check_weights(bytes_.get(), size(), end, state, nullptr);
  }
  int check_all() const {
    goldcrest_check state = {};
    return check(size(), &state);
  }
  goldcrest_engine* start() const {
    goldcrest_engine* engine = nullptr;
    require(goldcrest_init(&engine, &config_) == GOLDCREST_OK, "init: the copy of a good file");
    return engine;
  }
 private:
  GuardedBuffer<uint8_t> bytes_;
  goldcrest_config config_;
};

uint32_t metadata_bytes_of(const Flash& flash) {
  uint32_t n = 0;
  std::memcpy(&n, flash.bytes() + flash.size() - kTrailerBytes + 12, sizeof n);
  return n;
}

// The first slice ends with the metadata, before its padding.
void check_in_two_slices(const Flash& flash) {
  goldcrest_check state = {};
  const int first = flash.check(metadata_bytes_of(flash), &state);
  require(first == GOLDCREST_WORKING && flash.check(flash.size(), &state) == GOLDCREST_DONE,
      "check_weights: in two slices");
}

// Changes a byte that no slice has read yet.
void damage_between_slices(Flash& flash) {
  std::vector<size_t> places = {8, flash.size() - 1};  // in the metadata and in the trailer
  for (const format::Section* section : *flash.model().sections())
    if (section->size() > 0) places.push_back(size_t{section->offset()} * kAlignment);
  for (const size_t at : places) {
    goldcrest_check state = {};
    const size_t end = std::min(at, flash.size() - kTrailerBytes - 1);
    require(flash.check(end, &state) == GOLDCREST_WORKING, "check_weights: up to a byte");
    uint8_t& byte = flash.bytes()[at];
    const uint8_t before = byte;
    byte ^= 1;
    require(flash.check(flash.size(), &state) == GOLDCREST_ERROR_MODEL_CORRUPT, "check_weights: a byte that changed");
    byte = before;
  }
}

// Writes a weight that no file has, and leaves the old checksum.
void damage_weights(Flash& flash) {
  const format::Section& weights = *flash.model().sections()->Get(0);
  if (weights.size() == 0) return;
  uint8_t& byte = flash.bytes()[size_t{weights.offset()} * kAlignment];
  const uint8_t before = byte;
  byte = byte == 0x80 ? 0 : 0x80;
  goldcrest_config full = flash.config();
  full.verify = GOLDCREST_VERIFY_FULL;
  goldcrest_engine* none = nullptr;
  require(goldcrest_init(&none, &full) == GOLDCREST_ERROR_MODEL_CORRUPT, "init: a weight that changed");
  byte = before;
}

// Returns whether the metadata is as FlatBuffers' builder writes it, so that no two fields share bytes.
bool is_plain(const Flash& flash) {
  const flatbuffers::DetachedBuffer again = write_metadata(read_metadata(flash.bytes()));
  return again.size() == metadata_bytes_of(flash) && std::memcmp(again.data(), flash.bytes(), again.size()) == 0;
}

// The self-test gives `error` if it has a line that fits the limits.
void expect_self_test(const Flash& flash, goldcrest_engine* engine, int error) {
  const goldcrest_limits& limits = engine->runtime.limits;
  bool runs = false;
  for (uint32_t i = 0; i < count_self_tests(engine->runtime.model.file); ++i) {
    const format::SelfTestLine& line = *flash.model().self_test()->Get(i);
    runs |= line.source()->size() <= limits.max_source_tokens && line.target()->size() <= limits.max_target_tokens;
  }
  require(goldcrest_self_test(engine, nullptr) == (runs ? error : GOLDCREST_ERROR_TOO_LONG), "self_test: its error");
}

// Translating gives `error` if the engine takes text.
void expect_translation(goldcrest_engine* engine, int error) {
  char out[64];
  const int begun = goldcrest_begin_text(engine, "a", 1);
  require(goldcrest_translate(engine, "a", 1, out, sizeof out) == (begun < 0 ? begun : error), "translate: its error");
}

// Damages metadata that the self-test and the tokenizer read again.
void damage_metadata(Flash& flash, goldcrest_engine* engine) {
  format::Generation& generation = changeable(*flash.model().generation());
  const float penalty = generation.length_penalty();
  auto& table = reinterpret_cast<flatbuffers::Table&>(generation);
  if (table.SetField(format::Generation::VT_LENGTH_PENALTY, 99.0f, 1.0f)) {
    expect_self_test(flash, engine, GOLDCREST_ERROR_ARGUMENT);
    table.SetField(format::Generation::VT_LENGTH_PENALTY, penalty, 1.0f);
  }
  for (uint32_t i = 0; i < count_self_tests(engine->runtime.model.file); ++i)
    changeable(*flash.model().self_test()->Get(i)->source()->data()) = UINT32_MAX;
  expect_self_test(flash, engine, GOLDCREST_ERROR_TOKEN_RANGE);
  if (flash.model().tokenizer() == nullptr || goldcrest_begin_text(engine, "a", 1) < 0) return;
  auto& tokenizer = reinterpret_cast<flatbuffers::Table&>(changeable(*flash.model().tokenizer()));
  if (!tokenizer.SetField(format::Tokenizer::VT_KIND, uint8_t{99}, uint8_t{0})) return;
  const bool is_refused = goldcrest_begin_text(engine, "a", 1) == GOLDCREST_ERROR_UNSUPPORTED;
  require(is_refused || has_feature(flash.model().features(), kFeatureAddedTokens),
      "begin_text: an unknown kind of tokenizer");  // an added token can be the whole text
}

// Damages the engine's own copy of its limits and its state.
void damage_object(const Flash& flash, goldcrest_engine* engine) {
  const goldcrest_limits limits = engine->runtime.limits;
  engine->runtime.limits.n_best = 0;
  expect_translation(engine, GOLDCREST_ERROR_ARGUMENT);
  expect_self_test(flash, engine, GOLDCREST_ERROR_ARGUMENT);
  if (flash.model().tokenizer() == nullptr) {
    engine->runtime.limits.max_source_bytes = 1;
    require(goldcrest_begin_text(engine, "a", 1) == GOLDCREST_ERROR_UNSUPPORTED, "begin_text: no tokenizer");
  }
  engine->runtime.limits = limits;
  engine->state = static_cast<EngineState>(99);
  require(goldcrest_step(engine, nullptr) == GOLDCREST_ERROR_STATE, "step: an invalid state");
  goldcrest_reset(engine);
}
}  // namespace

void damage_flash(const goldcrest_config& good) {
  Flash flash(good);
  if (flash.check_all() == GOLDCREST_DONE) {
    check_in_two_slices(flash);
    damage_between_slices(flash);
    damage_weights(flash);
  }
  // A program that resets the engine while it encodes the source.
  goldcrest_engine* forgetful = nullptr;
  flash.config().idle_weights = [](void* engine, const void*, size_t) {
    goldcrest_reset(*static_cast<goldcrest_engine**>(engine));
  };
  flash.config().idle_context = &forgetful;
  goldcrest_engine* const engine = flash.start();
  forgetful = engine;
  expect_translation(engine, GOLDCREST_ERROR_STATE);
  expect_self_test(flash, engine, GOLDCREST_ERROR_STATE);
  forgetful = nullptr;
  damage_object(flash, engine);
  if (is_plain(flash)) damage_metadata(flash, engine);
}

namespace {
// Offsets of FORMAT.md's table of the trailer.
constexpr size_t kVersionAt = 8, kMetadataBytesAt = 12, kTotalBytesAt = 16, kReservedAt = 28, kChecksumAt = 60;

template <typename Value> void set(uint8_t* trailer, size_t at, Value value) {
  std::memcpy(trailer + at, &value, sizeof value);
  const uint32_t checksum = crc32c(0, trailer, kChecksumAt);
  std::memcpy(trailer + kChecksumAt, &checksum, sizeof checksum);
}

void expect_refused(const uint8_t* model, uint64_t bytes, int error) {
  goldcrest_info info;
  require(goldcrest_model_info(model, static_cast<size_t>(bytes), &info, nullptr) == error,
      "a wrong number in the trailer is refused");
}

// Changes one number of the good file's trailer.
template <typename Value> void lie(std::span<const uint8_t> model, size_t at, Value value, int error) {
  GuardedBuffer<uint8_t> file(model.size());
  std::copy(model.begin(), model.end(), file.begin());
  set(file.get() + file.size() - kTrailerBytes, at, value);
  expect_refused(file.get(), file.size(), error);
}

// Leaves only the metadata, so that the first section begins after the file's end.
void cut_behind_metadata(std::span<const uint8_t> model, uint32_t metadata_bytes) {
  const size_t bytes = metadata_bytes + kTrailerBytes;
  GuardedBuffer<uint8_t> file(align_bytes(bytes));
  std::copy_n(model.begin(), metadata_bytes, file.begin());
  uint8_t* const trailer = file.get() + metadata_bytes;
  std::memcpy(trailer, model.data() + model.size() - kTrailerBytes, kTrailerBytes);
  set(trailer, kTotalBytesAt, uint64_t{bytes});
  expect_refused(file.get(), bytes, GOLDCREST_ERROR_MODEL_CORRUPT);
}

// A file of 2 GiB and more that consists of a trailer, with more metadata than a FlatBuffer may have.
void lengthen_metadata(const uint8_t* good_trailer) {
  constexpr uint64_t kMetadataBytes = FLATBUFFERS_MAX_BUFFER_SIZE, kBytes = kMetadataBytes + kTrailerBytes;
  if (kBytes > SIZE_MAX / 2) return;
  void* const file =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (file == MAP_FAILED) return;
  uint8_t* const trailer = static_cast<uint8_t*>(file) + kMetadataBytes;
  std::memcpy(trailer, good_trailer, kTrailerBytes);
  set(trailer, kMetadataBytesAt, static_cast<uint32_t>(kMetadataBytes));
  set(trailer, kTotalBytesAt, kBytes);
  expect_refused(static_cast<const uint8_t*>(file), kBytes, GOLDCREST_ERROR_MODEL_CORRUPT);
  ::munmap(file, kBytes);
}
}  // namespace

void lie_in_trailers(std::span<const uint8_t> model) {
  constexpr int kCorrupt = GOLDCREST_ERROR_MODEL_CORRUPT, kVersion = GOLDCREST_ERROR_MODEL_VERSION;
  const uint8_t* const trailer = model.data() + model.size() - kTrailerBytes;
  uint32_t metadata_bytes = 0;
  std::memcpy(&metadata_bytes, trailer + kMetadataBytesAt, sizeof metadata_bytes);
  lie(model, kVersionAt, uint32_t{0}, kVersion);
  lie(model, kVersionAt, uint32_t{GOLDCREST_FORMAT_VERSION + 1}, kVersion);
  lie(model, kTotalBytesAt, uint64_t{model.size() + 1}, kCorrupt);
  lie(model, kReservedAt, uint8_t{1}, kCorrupt);
  lie(model, kMetadataBytesAt, uint32_t{15}, kCorrupt);
  lie(model, kMetadataBytesAt, static_cast<uint32_t>(model.size() - kTrailerBytes + 1), kCorrupt);
  if (metadata_bytes % GOLDCREST_ALIGN != 0) cut_behind_metadata(model, metadata_bytes);
  lengthen_metadata(trailer);
}
}  // namespace goldcrest::test
