// SPDX-License-Identifier: Apache-2.0
// Fills in the defaults of a caller's limits and search options, and checks their ranges.
#pragma once

#include "goldcrest/goldcrest.h"

namespace goldcrest {
// *limits <- `wanted` with the file's defaults. ERROR_ARGUMENT or ERROR_UNSUPPORTED with `detail`.
int resolve_limits(
    const goldcrest_info& info, const goldcrest_limits& wanted, goldcrest_limits* limits, goldcrest_detail& detail);

// *search <- `wanted` with the limits' defaults; the file's rules are not filled in. ERROR_ARGUMENT or
// ERROR_UNSUPPORTED with `detail` leave *search as it was.
int resolve_search(
    const goldcrest_limits& limits, const goldcrest_search& wanted, goldcrest_search* search, goldcrest_detail& detail);

// The engine's options become the file's own, cut to the limits.
void take_default_search(goldcrest_engine* engine);
}  // namespace goldcrest
