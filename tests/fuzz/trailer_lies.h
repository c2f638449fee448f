// SPDX-License-Identifier: Apache-2.0
// Files that are right except for a wrong number in the trailer, under a right checksum.
#pragma once

#include <cstdint>
#include <span>

namespace goldcrest::test {

// Changes each number of the trailer, and makes the file shorter and longer than it says. Each file is refused with
// that number's error. `model` is a good file.
void lie_in_trailers(std::span<const uint8_t> model);

}  // namespace goldcrest::test
