// SPDX-License-Identifier: Apache-2.0
// Calls of the C API in any order, on any model, in memory of exactly the required size. Every function returns only
// the errors that its comment names, and its results are in range.
#pragma once

#include <span>

#include "fuzz/script.h"
#include "goldcrest/goldcrest.h"

namespace goldcrest::test {

// Plans the model's memory, starts an engine in it, and makes the calls of the script. If an engine would need too much
// work or memory, only plans it. Returns whether an engine ran.
bool call_engine(std::span<const uint8_t> model, Script& script);

// Calls with wrong arguments (engine_misuse.cc): each is refused in every state of the engine.

// Passes null pointers, and numbers outside of their enumeration. hears: the model takes sound, so it refuses all ids
// and texts.
void misuse_engine(goldcrest_engine* engine, bool hears);

// Tries configurations that goldcrest_init refuses, made from a good one, and calls without an engine. Overwrites the
// engine's memory.
void misuse_init(const goldcrest_config& good);

// Sets sampling, streams, alternatives or sequences (goldcrest/decoding.h), with good arguments or bad ones.
void set_decoding(goldcrest_engine* engine, Script& script, const goldcrest_info& info);

}  // namespace goldcrest::test
