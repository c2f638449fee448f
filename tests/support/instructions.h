// SPDX-License-Identifier: Apache-2.0
// How many instructions a call takes, of programs that run in QEMU with the plugin instruction_counter.c.
#pragma once

#include <cstdint>
#include <functional>

namespace goldcrest::test {

// Throws std::runtime_error where nobody counts.
uint64_t count_instructions(const std::function<void()>& call);

}  // namespace goldcrest::test
