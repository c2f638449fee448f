// SPDX-License-Identifier: Apache-2.0
// Counts all heap calls of a program that heap_calls.cc is linked into: with glibc by definitions that stand in front
// of the C library's, under AddressSanitizer by its hook.
#pragma once

#include <atomic>

namespace goldcrest::test {

extern std::atomic<long> heap_calls;

}  // namespace goldcrest::test
