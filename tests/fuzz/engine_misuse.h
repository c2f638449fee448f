// SPDX-License-Identifier: Apache-2.0
// Calls with wrong arguments: each is refused in every state of the engine. Calls of goldcrest/decoding.h, good and
// bad.
#pragma once

#include "fuzz/script.h"
#include "goldcrest/goldcrest.h"

namespace goldcrest::test {

// Passes null pointers, and numbers outside of their enumeration.
void misuse_engine(goldcrest_engine* engine);

// Tries configurations that goldcrest_init refuses, made from a good one, and calls without an engine. Overwrites the
// engine's memory.
void misuse_init(const goldcrest_config& good);

// Sets sampling, streams, alternatives or sequences.
void set_decoding(goldcrest_engine* engine, Script& script, const goldcrest_info& info);

}  // namespace goldcrest::test
