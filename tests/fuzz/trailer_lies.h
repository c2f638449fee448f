// SPDX-License-Identifier: Apache-2.0
// Files that are right but for what the trailer says of them, under its right checksum.
#pragma once

#include <cstdint>
#include <span>

namespace goldcrest::test {

// Each number of the trailer another, or the file shorter or longer than it: refused, with the error of the number.
// model: a good file.
void lie_in_trailers(std::span<const uint8_t> model);

}  // namespace goldcrest::test
