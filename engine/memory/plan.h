// SPDX-License-Identifier: Apache-2.0
// The planner: buffers with a size and a lifetime become offsets in the caller's memory. It knows no layer.
//
// Buffers that live always lie first. Those of the phases text, encode and decode lie over each other behind them. Each
// buffer belongs to the main region or to the scratch region; with a single arena the scratch follows the main part.
#pragma once

#include <cstdint>

#include "base/align.h"
#include "goldcrest/goldcrest.h"

namespace goldcrest {

enum class Phase : uint8_t { kAlways, kText, kEncode, kDecode };
constexpr int kPhases = 4;
enum class Region : uint8_t { kMain, kScratch };
constexpr int kRegions = 2;

// Where a buffer lies: `offset` 64-byte units behind the start of its region's part for its phase. Of a buffer for each
// task, task i's lies i * task_stride units further.
struct BufferRef {
  uint32_t offset;
  uint32_t task_stride;  // 0: the tasks share one
  Region region;
  Phase phase;
};

// Bytes of a buffer: constant + coefficient * the product of the factors (goldcrest_factor, GOLDCREST_FACTOR_NONE is
// 1). GOLDCREST_FACTOR_THREADS makes it a buffer for each task.
struct BufferSize {
  uint64_t constant = 0;
  uint64_t coefficient = 0;
  uint8_t factors[4] = {0, 0, 0, 0};
};

class Plan {
 public:
  explicit Plan(const goldcrest_limits& limits) : limits_(limits) {}

  // Places a buffer and returns where. `name` is a string literal.
  BufferRef add(const char* name, Phase phase, Region region, const BufferSize& size);

  // Calls `visit` for every further buffer; needs the bytes of a finished plan for the same limits.
  void report_to(goldcrest_plan_function visit, void* context, const Plan& finished) {
    visit_ = visit;
    visit_context_ = context;
    finished_ = &finished;
  }

  const goldcrest_limits& limits() const { return limits_; }
  // A size did not fit 64 bits, or an offset its 32.
  bool overflowed() const { return overflowed_; }
  uint64_t used(Region region, Phase phase) const { return used_[static_cast<int>(region)][static_cast<int>(phase)]; }

  // Bytes of the longest phase: in one region, and of both together.
  uint64_t longest_phase(Region region) const;
  uint64_t longest_phase() const;
  // Offset in bytes at which a region's part for a phase begins, all in one arena.
  uint64_t part_offset(Region region, Phase phase) const;

 private:
  uint64_t factor_value(uint8_t factor) const;

  goldcrest_limits limits_;
  uint64_t used_[kRegions][kPhases] = {};
  bool overflowed_ = false;
  goldcrest_plan_function visit_ = nullptr;
  void* visit_context_ = nullptr;
  const Plan* finished_ = nullptr;
};

}  // namespace goldcrest
