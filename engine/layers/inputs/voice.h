// SPDX-License-Identifier: Apache-2.0
// Silero's voice detector, version 6, in float32. 64 samples of the past and 512 new ones become four frames of 129
// magnitudes; four convolutions over time make one row of them, which a cell with memory (LSTM) turns into a
// probability.
#pragma once

#include "goldcrest/voice.h"

namespace goldcrest {
// Returns the probability that GOLDCREST_VOICE_SAMPLES samples of a stream are speech.
float detect_voice(goldcrest_voice& voice, const int16_t* samples);
}  // namespace goldcrest
