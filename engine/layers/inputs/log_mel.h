// SPDX-License-Identifier: Apache-2.0
// Log-mel features of samples, in plain floats and in one order, so that every machine computes the same bits. The
// tables are the file's.                                                       Radford et al. 2022, section 2.2
#pragma once

#include "base/arithmetic.h"
#include "layers/inputs/spectrum.h"
#include "layers/runtime.h"
#include "model/frontend_view.h"

namespace goldcrest {
struct LogMel {
  // features [n_mels] <- log10 of each band's power in a frame, at least -10.
  void run(const Samples& window, uint32_t frame, float* features) const;

  const Runtime& runtime;
  const LogMelView& view;
  float* scratch;  // [log_mel_scratch_floats], aligned to 64 bytes
};

inline uint32_t log_mel_scratch_floats(const LogMelView& view) { return spectrum_floats(view.n_fft); }

// Returns the most multiply-accumulates that a frame takes.
uint32_t log_mel_macs(const LogMelView& view);

// Returns the end of a feature: at least the clip's largest less 8, then (x + 4) / 4.
inline float scale_log_mel(float feature, float largest) { return (larger(feature, largest - 8.0f) + 4.0f) * 0.25f; }
}  // namespace goldcrest
