// SPDX-License-Identifier: Apache-2.0
// Whisper's log-mel features.
#pragma once

#include "spec/spec.h"

namespace goldcrest::converter {

// Returns frames of 400 samples at 16 kHz, one each 160, with a periodic Hann window and `bands` mel bands.
LogMelSpec whisper_log_mel(uint32_t bands);

}  // namespace goldcrest::converter
