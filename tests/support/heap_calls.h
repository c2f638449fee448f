// SPDX-License-Identifier: Apache-2.0
// Counts all heap calls of a program that links heap_calls.cc: with glibc by definitions that replace the C library's,
// under AddressSanitizer by its hook.
#pragma once

#include <atomic>

namespace goldcrest::test {
extern std::atomic<long> heap_calls;
}  // namespace goldcrest::test
