// SPDX-License-Identifier: Apache-2.0
// Memory that changes under the engine. A copy of a good file changes while its checksums are checked, or after an
// engine has started on it. Numbers of the engine's object change, too.
#pragma once

#include <cstdint>
#include <span>
#include "goldcrest/goldcrest.h"

namespace goldcrest::test {
// Damages memory; the check or the call that meets the damage must find it. `good` is a configuration that
// goldcrest_init takes; its memory is used.
void damage_flash(const goldcrest_config& good);

// Files that are right except for a wrong number in the trailer, under a right checksum.

// Changes each number of the trailer, and makes the file shorter and longer than it says. Each file is refused with
// that number's error. `model` is a good file.
void lie_in_trailers(std::span<const uint8_t> model);
}  // namespace goldcrest::test
