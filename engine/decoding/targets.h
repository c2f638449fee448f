// SPDX-License-Identifier: Apache-2.0
// The given targets, which are scored instead of searching (goldcrest_score). Builds without GOLDCREST_INSPECTION have
// no targets.
#pragma once

#include "base/build_options.h"
#include "layers/runtime.h"

namespace goldcrest {

// Planned only if the limits ask for targets.
struct TargetRefs {
  BufferRef ids;      // int32 [batch, target tokens]
  BufferRef lengths;  // uint32 [batch]; 0: no target
};

TargetRefs plan_targets(Plan& plan);

inline bool takes_targets(const goldcrest_limits& limits) {
  return kHasInspection && (limits.inspection & GOLDCREST_INSPECT_TARGETS) != 0;
}

// The target given for a sentence.
struct Target {
  int32_t* ids;  // [target tokens]
  uint32_t* n;   // 0: none
};

// The pointers are null if the limits do not ask for targets.
struct TargetBuffers {
  int32_t* ids;       // [batch, target tokens]
  uint32_t* lengths;  // [batch]
  size_t capacity;    // target tokens of each

  Target of(uint32_t sentence) const { return {ids + sentence * capacity, lengths + sentence}; }
};

void place_targets(const Runtime& runtime, const TargetRefs& refs, TargetBuffers* placed);

}  // namespace goldcrest
