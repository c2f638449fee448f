// SPDX-License-Identifier: Apache-2.0
#include "fuzz/damaged_flash.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "api/engine.h"
#include "base/align.h"
#include "fuzz/metadata_tree.h"
#include "goldcrest/check.h"
#include "support/guarded_buffer.h"

namespace goldcrest::test {
namespace {

constexpr size_t kTrailerBytes = 64;

template <typename Element>
Element& changeable(const Element& element) {
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
  for (const format::Section* section : *flash.model().sections()) {
    if (section->size() > 0) places.push_back(size_t{section->offset()} * kAlignment);
  }
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
  for (uint32_t i = 0; i < count_self_tests(engine->runtime.file); ++i) {
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
  for (uint32_t i = 0; i < count_self_tests(engine->runtime.file); ++i)
    changeable(*flash.model().self_test()->Get(i)->source()->data()) = UINT32_MAX;
  expect_self_test(flash, engine, GOLDCREST_ERROR_TOKEN_RANGE);
  if (flash.model().tokenizer() == nullptr || goldcrest_begin_text(engine, "a", 1) < 0) return;
  auto& tokenizer = reinterpret_cast<flatbuffers::Table&>(changeable(*flash.model().tokenizer()));
  if (tokenizer.SetField(format::Tokenizer::VT_KIND, uint8_t{99}, uint8_t{0}))
    require(goldcrest_begin_text(engine, "a", 1) == GOLDCREST_ERROR_UNSUPPORTED,
            "begin_text: an unknown kind of tokenizer");
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

}  // namespace goldcrest::test
