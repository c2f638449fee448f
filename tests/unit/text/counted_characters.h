// SPDX-License-Identifier: Apache-2.0
// Counts every character that a program reads that counted_characters.cc is linked into.
#pragma once

#include <cstdint>

namespace goldcrest::test {

extern uint64_t characters_read;

}  // namespace goldcrest::test
