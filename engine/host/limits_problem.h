// SPDX-License-Identifier: Apache-2.0
// Checks the limits of a command line against a model file, and says which of them cut a text.
#pragma once

#include <string>

#include "goldcrest/goldcrest.h"

namespace goldcrest {

// Returns an error for the first limit that is not 0 and that the model or the engine does not allow:
// "--max-source is 5000; expected 1 to 64, the model's source positions". Returns "" if all are allowed.
std::string limits_problem(const goldcrest_info& info, const goldcrest_limits& limits);

// Returns why a text of n tokens was cut by an engine with these limits, and what to do:
// "cut at 20 tokens; raise --max-target, up to 64".
std::string cut_problem(const goldcrest_info& info, const goldcrest_limits& limits, uint32_t n);

}  // namespace goldcrest
