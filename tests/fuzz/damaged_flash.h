// SPDX-License-Identifier: Apache-2.0
// Memory that changes under the engine: a copy of a good file while its checksums are checked, and after an engine has
// started on it; numbers of the engine's object.
#pragma once

#include "goldcrest/goldcrest.h"

namespace goldcrest::test {

// Each change is found, or told by the call that meets it. good: a configuration that goldcrest_init takes, whose
// memory this uses.
void damage_flash(const goldcrest_config& good);

}  // namespace goldcrest::test
