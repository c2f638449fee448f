// SPDX-License-Identifier: Apache-2.0
// Memory that changes under the engine: a copy of a good file while its checksums are checked or after an engine has
// started on it, and numbers of the engine's object.
#pragma once

#include "goldcrest/goldcrest.h"

namespace goldcrest::test {

// Damages memory; the check or the call that meets the damage must find it. `good` is a configuration that
// goldcrest_init takes; its memory is used.
void damage_flash(const goldcrest_config& good);

}  // namespace goldcrest::test
