// SPDX-License-Identifier: Apache-2.0
// Records a search for inspection (limits.inspection, limits.alignment_layers): the log-probability of each token, and
// the slots that the tokens of a result came from; and the targets that goldcrest_score gives. Builds without
// GOLDCREST_INSPECTION have neither.
#pragma once

#include "base/build_options.h"
#include "decoding/search/past.h"
#include "layers/runtime.h"

namespace goldcrest {
// Each buffer is planned only if the limits ask for it.
struct RecordingRefs {
  BufferRef token_log_probs;       // float [target tokens, slots]: of the input token of each position and slot
  BufferRef hypothesis_log_probs;  // float [slots, target tokens]
  BufferRef hypothesis_slots;      // uint8 [slots, target tokens]
};

RecordingRefs plan_recording(Plan& plan);

inline bool records_token_scores(const goldcrest_limits& limits) {
  return kHasInspection && (limits.inspection & GOLDCREST_INSPECT_TOKEN_SCORES) != 0;
}
inline bool records_alignments(const goldcrest_limits& limits) {
  return kHasInspection && limits.alignment_layers != 0;
}

// The buffers of one sentence, or of the first of all. A buffer that the limits do not ask for is null.
struct RecordedPath {
  float* token_log_probs;       // for slot b's token at position t: [t * n_slots + b]
  float* hypothesis_log_probs;  // [beam_size, target tokens]
  uint8_t* hypothesis_slots;    // [beam_size, target tokens]
};

// Places the buffers of all sentences. A buffer that is not planned stays null.
void place_recording(const Runtime& runtime, const RecordingRefs& refs, RecordedPath* recording);

// Returns the buffers of the sentence with this first slot and first hypothesis token.
RecordedPath recorded_path(const RecordedPath& recording, size_t first_slot, size_t first_token);

// Records a finished hypothesis whose tokens begin at `first_token` of the sentence's: the log-probabilities and slots
// of its past, and the log-probability of its last token.
void record_finished(const RecordedPath& path, const Past& past, float last_log_prob, size_t first_token);

// The given targets, which are scored instead of searching (goldcrest_score).

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
