// SPDX-License-Identifier: Apache-2.0
// The planner turns buffers with a size and a lifetime into offsets in the caller's memory. It knows no layer.
//
// Buffers that live always come first. The phases text, encode and decode share the bytes after them. Each buffer
// belongs to the main region or to the scratch region; in a single arena the scratch follows the main part.
#pragma once

#include <stdint.h>
#include "base/align.h"
#include "goldcrest/goldcrest.h"

namespace goldcrest {
enum class Phase : uint8_t { kAlways, kText, kEncode, kDecode };
constexpr int kPhases = 4;
enum class Region : uint8_t { kMain, kScratch };
constexpr int kRegions = 2;

// The place of a buffer: it starts `offset` units of 64 bytes after the start of its region's part for its phase. If
// each task has a buffer of its own, task i's starts i * task_stride units further.
struct BufferRef {
  uint32_t offset;
  uint32_t task_stride;  // 0: the tasks share one
  Region region;
  Phase phase;
};

// The bytes of a buffer are constant + coefficient * the product of the factors (goldcrest_factor;
// GOLDCREST_FACTOR_NONE is 1). With GOLDCREST_FACTOR_THREADS each task has a buffer of this size.
struct BufferSize {
  uint64_t constant = 0;
  uint64_t coefficient = 0;
  uint8_t factors[4] = {0, 0, 0, 0};
};

class Plan {
 public:
  explicit Plan(const goldcrest_limits& limits) : limits_(limits) {}

  // Places a buffer and returns its place. `name` must be a string literal.
  BufferRef add(const char* name, Phase phase, Region region, const BufferSize& size);

  // Calls `visit` for every buffer that is added later. Needs the bytes of a finished plan for the same limits.
  void report_to(goldcrest_plan_function visit, void* context, const Plan& finished) {
    visit_ = visit;
    visit_context_ = context;
    finished_ = &finished;
  }

  const goldcrest_limits& limits() const { return limits_; }
  // Returns whether a size did not fit 64 bits, or an offset did not fit 32.
  bool overflowed() const { return overflowed_; }
  uint64_t used(Region region, Phase phase) const { return used_[static_cast<int>(region)][static_cast<int>(phase)]; }

  // Return the bytes of the longest phase: in one region, or in both together.
  uint64_t longest_phase(Region region) const;
  uint64_t longest_phase() const;
  // Returns the offset in bytes of a region's part for a phase, in a single arena.
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
