// SPDX-License-Identifier: Apache-2.0
// Calls with arguments that no call takes: each is refused, whatever the engine's state.
#pragma once

#include "goldcrest/goldcrest.h"

namespace goldcrest::test {

// Nulls, and numbers that are none of an enumeration.
void misuse_engine(goldcrest_engine* engine);

// Configurations that goldcrest_init refuses, made from one that it takes, and calls without an engine. What is in the
// engine's memory is lost.
void misuse_init(const goldcrest_config& good);

}  // namespace goldcrest::test
