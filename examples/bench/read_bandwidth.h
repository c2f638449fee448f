// SPDX-License-Identifier: Apache-2.0
// How fast one core reads memory: the bound of a search that streams its weights.
#pragma once

#include <cstddef>

#include "timing.h"

namespace bench {

// Bytes per second of reading a buffer of `bytes` over and over; a buffer that fits a cache is read from there.
double read_bandwidth(size_t bytes, const Patience& patience);

}  // namespace bench
