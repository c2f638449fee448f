// SPDX-License-Identifier: Apache-2.0
// A simulated board: flash whose power fails when a test says so, models to install, and the results of each model.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "model_slots.h"
#include "model_update.h"
#include "simulated_flash.h"
#include "support/guarded_buffer.h"
#include "support/tiny_model.h"

namespace goldcrest::test {
// A small model with random weights and a right self-test. Other seeds give other models.
converter::FileImage tested_tiny_file(uint64_t seed);

// Returns the hash of an engine's logits for a text, greedily.
uint64_t hash_of(goldcrest_engine* engine, const std::string& text);

// The same for a model in this machine's memory.
uint64_t hash_of(std::span<const uint8_t> model, const std::string& text);

struct FlashSizes {
  uint32_t sector_bytes = 4096, page_bytes = 256;
};

class Board {
 public:
  // Its slots take models of this many bytes.
  explicit Board(size_t model_bytes, const FlashSizes& sizes = {});

  // Turns the power on. It fails during write number cut_at, after cut_bytes of that write; 0: it stays on.
  void power_on(uint32_t cut_at, size_t cut_bytes) { simulated_power_on(&flash_, cut_at, cut_bytes); }
  // Sends a model, its trailer first, in chunks of chunk_bytes. Returns a status; detail() has more.
  int install(std::span<const uint8_t> model, size_t chunk_bytes = 1000);
  // Starts an engine. Returns a status.
  int start();
  int confirm() { return confirm_model(&slots_, &detail_); }
  // Installs, starts and confirms. Throws std::runtime_error.
  void settle(std::span<const uint8_t> model);

  goldcrest_engine* engine() const { return engine_; }
  const goldcrest_detail& detail() const { return detail_; }
  // Returns the message, followed by the index in brackets if there is one.
  std::string reason() const;
  uint32_t n_writes() const { return flash_.n_writes; }
  bool is_misused() const { return flash_.is_misused; }
  SimulatedFlash& flash() { return flash_; }
  ModelSlots& slots() { return slots_; }
  size_t model_bytes() const { return slot_bytes(&slots_); }

 private:
  GuardedBuffer<uint8_t> memory_, arena_;
  SimulatedFlash flash_ = {};
  ModelSlots slots_ = {};
  goldcrest_detail detail_ = {};
  goldcrest_engine* engine_ = nullptr;
};
}  // namespace goldcrest::test
