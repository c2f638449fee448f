// SPDX-License-Identifier: Apache-2.0
// What callers ask for: defaults filled in, ranges checked.
#pragma once

#include "goldcrest/goldcrest.h"

namespace goldcrest {

// goldcrest_limits with the file's defaults. ERROR_ARGUMENT or ERROR_UNSUPPORTED with *detail (may be null).
int resolve_limits(const goldcrest_info& info, const goldcrest_limits& wanted, goldcrest_limits* limits,
                   goldcrest_detail* detail);

// goldcrest_search with the limits' defaults. ERROR_ARGUMENT with *detail (may be null).
int resolve_search(const goldcrest_limits& limits, const goldcrest_search& wanted, goldcrest_search* search,
                   goldcrest_detail* detail);

// The file's own search, as far as the limits reach.
goldcrest_search default_search(const goldcrest_info& info, const goldcrest_limits& limits);

}  // namespace goldcrest
