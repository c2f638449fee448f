// SPDX-License-Identifier: Apache-2.0
// Calls of the C API in any order, on any model, in memory of exactly the required size. Every function returns only
// the errors that its comment names, and its results are in range.
#pragma once

#include "fuzz/script.h"
#include "goldcrest/decoding.h"
#include "goldcrest/goldcrest.h"
#include "support/guarded_buffer.h"

namespace goldcrest::test {
// Plans the model's memory, starts an engine in it, and makes the calls of the script. If an engine would need too much
// work or memory, only plans it. Returns whether an engine ran.
bool call_engine(std::span<const uint8_t> model, Script& script);

// Calls with wrong arguments (engine_misuse.cc): each is refused in every state of the engine.

// Passes null pointers, and numbers outside of their enumeration. hears: the model takes sound, so it refuses all ids
// and texts.
void misuse_engine(goldcrest_engine* engine, bool hears);

// A lexicon in the program's memory, which changes at any time, also while searches use it.
class ChangingLexicon {
 public:
  // Writes parts of its arrays; half of the times it lets the engine take it.
  void change(Script& script, goldcrest_engine* engine);
 private:
  static constexpr uint32_t kNodes = 4, kEdges = 8;
  // Pages that are not mapped follow them.
  GuardedBuffer<uint32_t> first_edge_{kNodes + 1};
  GuardedBuffer<goldcrest_lexicon_edge> edges_{kEdges};
};

// Tries configurations that goldcrest_init refuses, made from a good one, and calls without an engine. Overwrites the
// engine's memory.
void misuse_init(const goldcrest_config& good);

// Sets sampling, streams, alternatives or sequences (goldcrest/decoding.h), with good arguments or bad ones.
void set_decoding(goldcrest_engine* engine, Script& script, const goldcrest_info& info);
}  // namespace goldcrest::test
