// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace goldcrest::converter {

// part / whole; 1 if the whole is 0.
inline double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace goldcrest::converter
