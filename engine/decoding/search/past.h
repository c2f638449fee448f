// SPDX-License-Identifier: Apache-2.0
// The past of a living hypothesis: the tokens that it was fed, including the start token.
//
// The past is not copied when beams are reordered. ancestor[t * beam_size + b] says which slot of the sentence holds
// hypothesis b's keys, values and input token at position t.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace goldcrest {
struct Past {
  const int32_t* tokens;    // slot s at position t: tokens[t * n_slots + s]
  const uint8_t* ancestor;  // [positions, beam_size] or null
  size_t n_slots, beam_size;
  uint32_t b;         // the hypothesis
  uint32_t position;  // the current one, its last

  // Returns the slot at position t. At the current position it is b's own, which the table lacks until a layer has run.
  uint32_t slot_at(uint32_t t) const { return ancestor && t < position ? ancestor[t * beam_size + b] : b; }
  int32_t token_at(uint32_t t) const { return tokens[t * n_slots + slot_at(t)]; }
};
}  // namespace goldcrest
