// SPDX-License-Identifier: Apache-2.0
// What a search keeps for those who look inside (limits.inspection, limits.alignment_layers): the log-probability of
// each token, the slots that a result's tokens came from, and the targets that are followed in place of a search.
// Builds without GOLDCREST_INSPECTION have none of it.
#pragma once

#include "base/build_options.h"
#include "memory/plan.h"

namespace goldcrest {

// Each is planned only where the limits ask for it.
struct InspectionRefs {
  BufferRef token_log_probs;       // float [target tokens, slots]: of the input token of each position and slot
  BufferRef hypothesis_log_probs;  // float [slots, target tokens]
  BufferRef hypothesis_slots;      // uint8 [slots, target tokens]
  BufferRef targets;               // int32 [batch, target tokens]
  BufferRef target_lengths;        // uint32 [batch]; 0: no target
};

InspectionRefs plan_inspection(Plan& plan);

inline bool keeps_token_scores(const goldcrest_limits& limits) {
  return kHasInspection && (limits.inspection & GOLDCREST_INSPECT_TOKEN_SCORES) != 0;
}
inline bool keeps_targets(const goldcrest_limits& limits) {
  return kHasInspection && (limits.inspection & GOLDCREST_INSPECT_TARGETS) != 0;
}
inline bool keeps_alignments(const goldcrest_limits& limits) { return kHasInspection && limits.alignment_layers != 0; }

// A sentence's share; what is not kept is null.
struct KeptPath {
  float* token_log_probs = nullptr;       // of slot b's token at position t: [t * n_slots + b]
  float* hypothesis_log_probs = nullptr;  // [beam_size, target tokens]
  uint8_t* hypothesis_slots = nullptr;    // [beam_size, target tokens]
};

struct Search;
struct SentenceView;
struct Continuation;

KeptPath kept_path(const Search& search, uint32_t sentence);

// The log-probability of the token that slot b is fed at the next position.
void keep_log_prob(const Search& search, const SentenceView& view, uint32_t b, float log_prob);
// What is kept of a hypothesis that ends with `last`, in the place `storage`.
void keep_finished(const Search& search, const SentenceView& view, const Continuation& last, uint32_t storage);

// The target given for a sentence.
struct Target {
  int32_t* ids;  // [target tokens]
  uint32_t* n;   // 0: none
};
Target target_of(const Search& search, uint32_t sentence);

}  // namespace goldcrest
