// SPDX-License-Identifier: Apache-2.0
// Gives a transcriber a whole recording, part by part, with the memory of one part.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include "host/speech/transcriber.h"
#include "host/speech/utterances.h"

namespace goldcrest::host {
struct Hearing {
  // Reads up to n samples at the model's rate. Returns how many; fewer only at the end.
  std::function<size_t(int16_t* samples, size_t n)> read;
  bool has_gate = true;              // parts without speech are left out
  bool at_pauses = true;             // an utterance ends at a pause; else as late as possible
  bool takes_windows = true;         // a model that writes times cuts the sound itself, where no detector does
  goldcrest_voice* voice = nullptr;  // a detector whose stream begins
  // Hears a part; *made <- its text. Returns why it cannot, or "", as the next does.
  std::function<std::string(const Utterance& part, Purpose purpose, Transcription* made)> hear;
  // Looks at an utterance that goes on, after each tenth of a second.
  std::function<std::string(const UtteranceCutter& cutter)> look = {};
};

// Hears all samples; up to an interrupt, with what is certain then. *n_samples <- how many. Returns the first problem,
// or
// "".
std::string hear_recording(const Hearing& hearing, const Transcriber& transcriber, uint64_t* n_samples);

// Returns a segment of a part with its times in seconds of the recording, which begins at `begin`, where its speech is.
Segment placed(const Segment& segment, const Utterance& part, double begin, uint32_t sample_rate);
}  // namespace goldcrest::host
