// SPDX-License-Identifier: Apache-2.0
// The ids with which a result begins whatever the model says: the file's prompt, and the caller's prefix
// (goldcrest_set_prefix). In builds without GOLDCREST_PROMPT the file's prompt is at most its forced first id, and
// there is no prefix.
#pragma once

#include "base/build_options.h"
#include "layers/runtime.h"

namespace goldcrest {
struct SearchOptions;

// The length of a caller's prefix (0: none) and its GOLDCREST_PREFIX_* flags.
class PrefixExtent {
 public:
  PrefixExtent() = default;
  PrefixExtent(uint32_t n, uint32_t flags) : bits_(n << 2 | flags) {}

  uint32_t n() const { return bits_ >> 2; }
  bool has(uint32_t flag) const { return (bits_ & flag) != 0; }
 private:
  uint32_t bits_ = 0;
};

// The pointer is null if the limits ask for no prefixes.
struct PrefixBuffers {
  int32_t* ids;     // [batch, prefix tokens]
  size_t capacity;  // prefix tokens of each

  int32_t* of(uint32_t sentence) const { return ids + sentence * capacity; }
};

// Plans int32 [batch, prefix tokens] if the limits ask for prefixes.
BufferRef plan_prefixes(Plan& plan);
void place_prefixes(const Runtime& runtime, const BufferRef& ref, PrefixBuffers* placed);

// The ids before the searched ones of a sentence. The file's are its forced first id, or the best of its first choices
// and its forced ids after it. They come first; the caller's replace them or follow.
struct Prompt {
  uint32_t n_file;       // the file's
  uint32_t n;            // all
  uint32_t n_uncounted;  // ids among them that no length counts
};

// Without GOLDCREST_PROMPT they are at most the forced first id.
Prompt prompt_of(const SearchOptions& options, const PrefixExtent& given);

// Returns the most tokens that a sentence may have: `most` and the ids that do not count, within the capacity. A
// caller's prefix is never cut.
uint32_t most_with_prompt(const Prompt& prompt, const PrefixExtent& given, uint32_t most, uint32_t capacity);
}  // namespace goldcrest
