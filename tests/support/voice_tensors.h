// SPDX-License-Identifier: Apache-2.0
// A voice detector with Silero's names and shapes and seeded random weights.
#pragma once

#include "support/checkpoint_writer.h"

namespace goldcrest::test {
std::vector<NamedTensor> random_detector(uint64_t seed);
}  // namespace goldcrest::test
