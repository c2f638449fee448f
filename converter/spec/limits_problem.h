// SPDX-License-Identifier: Apache-2.0
// Limits of a command line that a model file cannot have.
#pragma once

#include <string>

#include "goldcrest/goldcrest.h"

namespace goldcrest::converter {

// "--max-source is 5000; expected 1 to 64, the model's source positions": the first of the given limits (not 0) that
// the model or the engine does not allow, by its option; "" where all are allowed.
std::string limits_problem(const goldcrest_info& info, const goldcrest_limits& limits);

}  // namespace goldcrest::converter
